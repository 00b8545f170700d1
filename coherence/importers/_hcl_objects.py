"""Objects of Kubernetes as Terraform's provider writes them: names with `_`, and a block is a list of objects.

SOURCE: hashicorp/kubernetes provider 2.x: kubernetes_manifest, kubernetes_deployment_v1,
kubernetes_horizontal_pod_autoscaler_v2, kubernetes_pod_disruption_budget_v1 and their older names.
"""

from __future__ import annotations

import re

from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView
from coherence.importers._sketch import entry
from coherence.language.document import Items, Node, Scalar, Table

PREFIX = "kubernetes_"
KINDS = {
    "deployment": ("apps/v1", "Deployment"),
    "stateful_set": ("apps/v1", "StatefulSet"),
    "daemonset": ("apps/v1", "DaemonSet"),
    "daemon_set": ("apps/v1", "DaemonSet"),
    "horizontal_pod_autoscaler": ("autoscaling/v2", "HorizontalPodAutoscaler"),
    "pod_disruption_budget": ("policy/v1", "PodDisruptionBudget"),
    "cron_job": ("batch/v1", "CronJob"),
    "limit_range": ("v1", "LimitRange"),
    "service": ("v1", "Service"),
}
SEVERAL = {
    "container": "containers", "init_container": "initContainers", "volume": "volumes", "port": "ports",
    "volume_mount": "volumeMounts", "metric": "metrics", "policy": "policies", "limit": "limits",
    "toleration": "tolerations",
}  # fmt: skip
LISTS = ("env", "env_from", "http_header", "match_expressions", "command", "args")
AS_WRITTEN = (
    "labels",
    "annotations",
    "match_labels",
    "requests",
    "limits",
    "selector",
    "data",
    "default",
    "max",
    "min",
)


def is_object(kind: str) -> bool:
    """Returns whether a resource is an object of Kubernetes."""
    return kind.startswith(PREFIX)


def object_of(kind: str, values: FieldView) -> Table | None:
    """Returns the object that a resource is; of a kind that is not known here, one that is listed as such."""
    if kind in ("kubernetes_manifest", "kubectl_manifest"):
        values.use("manifest", "object")
        manifest = values.node.get("manifest") or values.node.get("object")
        return _copy(manifest) if isinstance(manifest, Table) else None
    values.use(*values.node.entries)
    short = re.sub(r"_v[0-9]+(?:(?:alpha|beta)[0-9]+)?$", "", kind.removeprefix(PREFIX))
    version, name = KINDS.get(short, ("kubernetes", "".join(word.capitalize() for word in short.split("_"))))
    place = values.node.place
    body = _spelled(values.node)
    metric = body.get("spec")
    if isinstance(metric, Table) and name == "HorizontalPodAutoscaler" and "metrics" in metric:
        _single(metric)
    return Table(
        {"apiVersion": Scalar(version, place), "kind": Scalar(name, place), **body.entries}, dict(body.keys), place
    )


def _copy(manifest: Table) -> Table:
    """Returns a mapping of which another part may be taken out: a document stays as it was read."""
    entries = {key: _copy(node) if isinstance(node, Table) else node for key, node in manifest.entries.items()}
    return Table(entries, dict(manifest.keys), manifest.place)


def _single(spec: Table) -> None:
    """A metric of an autoscaler has a block that is named `metric` as well, of which there is one."""
    for metric in spec.entries["metrics"] if isinstance(spec.entries["metrics"], Items) else ():
        for source in metric.entries.values() if isinstance(metric, Table) else ():
            inner = source.entries.pop("metrics", None) if isinstance(source, Table) else None
            if isinstance(source, Table) and isinstance(inner, Items) and len(inner):
                source.entries["metric"] = inner.items[0]


def _spelled(table: Table) -> Table:
    """Returns a mapping with the names of the API; blocks that are not there are left out."""
    values: dict[str, Node | None] = {}
    for key, node in table.entries.items():
        if isinstance(node, Scalar) and node.is_null():
            continue
        if key in AS_WRITTEN and isinstance(node, Table):
            values[key if key != "match_labels" else "matchLabels"] = node
        else:
            values[SEVERAL.get(key, _camel(key)) if _is_list(key, node) else _camel(key)] = _block(key, node)
    return entry(table.place, values)


def _is_list(key: str, node: Node) -> bool:
    return key in SEVERAL and isinstance(node, Items)


def _block(key: str, node: Node) -> Node | None:
    if isinstance(node, Table):
        return _spelled(node)
    if not isinstance(node, Items):
        return node
    items: list[Node] = [_spelled(item) if isinstance(item, Table) else item for item in node]
    if key in SEVERAL or key in LISTS or not all(isinstance(item, Table) for item in items):
        return Items(items, node.place) if items else None
    return items[0] if items else None


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def name_of(item: Table) -> str:
    """Returns the name of an object."""
    return _path(item, "metadata", "name")


def scaled_by(item: Table) -> list[str]:
    """Returns the workload that an autoscaler scales."""
    name = _path(item, "spec", "scaleTargetRef", "name")
    return [name] if name else []


def without_replicas(item: Table) -> Place | None:
    """Takes the number of replicas out of a workload, and returns where it stood."""
    spec = item.get("spec")
    node = spec.entries.pop("replicas", None) if isinstance(spec, Table) else None
    return node.place if node is not None else None


def _path(item: Table, *keys: str) -> str:
    node: Node | None = item
    for key in keys:
        node = node.get(key) if isinstance(node, Table) else None
    return node.text if isinstance(node, Scalar) else ""
