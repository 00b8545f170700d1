"""LimitRange: what one container, or one pod, of a namespace may request at the least and at the most.

The API server refuses a pod beyond it, so a stated request is compared with it; what a VerticalPodAutoscaler writes is
cut to it.  A limit counts for the request that is not written, and a request never exceeds its limit.

SOURCE: Kubernetes documentation, Limit Ranges; API core/v1 LimitRangeItem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coherence.importers._kubernetes import Manifest
from coherence.importers._names import agree, sanitised
from coherence.importers._quantities import added, as_amount
from coherence.importers._sketch import Allowance, Container, Pods, Sketch
from coherence.language.document import Scalar

KIND = "LimitRange"
GROUPS = ("v1",)
SPELLING: Mapping[str, str] = {"at_most": "max", "at_least": "min"}
KEYS = (("max", False), ("min", True))
UNREQUESTED = "nothing among these files requests it"
DEFAULTS = "what a container gets that states nothing is not modelled"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the bounds, for whoever writes requests."""
    sketch.bounds += _bounds(manifest)


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Adds a limit on each stated request of a resource that is bounded."""
    near = [pods for pods in sketch.pods if agree(manifest.namespace, pods.namespace)]
    for bound in _bounds(manifest):
        requests = [(pods, name, stated) for pods in near for name, stated in _stated(bound, pods)]
        for pods, name, stated in requests:
            _limit(bound, pods, name, stated, sketch)
        if not requests:
            words = f"{manifest.title}: {'least' if bound.is_least else 'most'} of {bound.resource} ({UNREQUESTED})"
            sketch.not_modelled.append((bound.amount.place, words))


def _bounds(manifest: Manifest) -> Iterator[Allowance]:
    """Yields the bounds on containers and pods; those of volumes are listed."""
    for item in manifest.spec.tables("limits"):
        kind = item.required("type")
        for key in ("default", "defaultRequest", "maxLimitRequestRatio"):
            item.remark(key, DEFAULTS if key != "maxLimitRequestRatio" else "a ratio of limit and request")
        for key, is_least in KEYS if kind is not None and kind.text in ("Container", "Pod") else ():
            resources = item.table(key)
            for resource in resources.node.entries if resources else ():
                stated = resources.quantity(resource) if resources else None
                if kind is not None and stated is not None:
                    yield Allowance(manifest.namespace, kind.text == "Pod", resource, stated, is_least)


def _stated(bound: Allowance, pods: Pods) -> Iterator[tuple[str, Scalar]]:
    """Yields what is requested of the resource, by each container or by the pod, with the name of the number."""
    stating = [container for container in pods.containers if bound.resource in container.requests]
    requests = [(container, container.requests[bound.resource]) for container in stating]
    if bound.per_pod and requests:
        total = added((bound.resource, request) for _, request in requests)
        yield "pod", as_amount(total[bound.resource], bound.resource)
    for container, request in () if bound.per_pod else requests:
        yield _label(container, pods), as_amount(request, bound.resource)


def _label(container: Container, pods: Pods) -> str:
    return sanitised(container.name) if len(pods.containers) > 1 else ""


def _limit(bound: Allowance, pods: Pods, name: str, stated: Scalar, sketch: Sketch) -> None:
    """Adds a limit on a number that stands in the component; one that a loop writes has a limit of its own."""
    key = sanitised(" ".join(filter(None, (name, bound.resource, "stated"))))
    if sketch.get("components", pods.thing) is None:
        return
    sketch.state(pods.thing, key, stated)
    amount = as_amount(bound.amount, bound.resource)
    least, most, end = (amount, "", "least") if bound.is_least else (None, amount, "most")
    name, counted = f"{pods.thing}_{key}_{end}", f"{pods.thing}.{key}"
    sketch.put_limit(name, counted, most, place=amount.place, layer="orchestration", at_least=least)
