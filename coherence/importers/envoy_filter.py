"""EnvoyFilter of Istio: patches of what Istio makes for its proxies; time limits, retries, limits of one host are read.

A patch of the routes to one host (`virtual host`) changes the calls to it, where a VirtualService makes them, or those
that Istio makes by itself.  A patch of a cluster limits its host.  Every other patch is listed with the time limits and
retries that stand in it.

SOURCE: Istio documentation, EnvoyFilter: applyTo, match, patch.operation; a virtual host is named `host:port`, a
cluster `direction|port|subset|host`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherence.importers._envoy_resources import add_cluster_limits, stated_deadline, stated_retries
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Items, Node, Scalar, Table

KIND = "EnvoyFilter"
GROUPS = ("networking.istio.io",)
SPELLING = {"deadline": "timeout", "per_try": "per_try_timeout", "tries": "num_retries"}
PART = "istio_retry"
CLUSTER, ROUTES = "CLUSTER", ("HTTP_ROUTE", "VIRTUAL_HOST")
CHANGES = "MERGE"
ABOUT_TIME = re.compile(r".*(timeout|retr|max_.*(requests|connections|retries|duration)|outlier_detection|idle).*")


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the limits of clusters; routes follow when all calls are known."""
    for patch in _patches(manifest):
        cluster, host = patch.inner("patch", "value"), _cluster_host(patch)
        if _is(patch, CLUSTER) and cluster is not None and host is not None:
            thing = sketch.names.host(host.text, manifest.namespace)
            sketch.mention(thing, host.place, f"host {host.text}")
            _note(patch)
            add_cluster_limits(cluster, thing, sketch)


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Changes the calls to the hosts of routes, and lists what else is patched."""
    for patch in _patches(manifest):
        value, host = patch.inner("patch", "value"), _routed_host(patch)
        if value is not None and host is not None and _is(patch, *ROUTES):
            _note(patch)
            _change(host, value, sketch)
    for patch in manifest.spec.tables("configPatches"):
        _list_times(patch)


def _patches(manifest: Manifest) -> Iterator[FieldView]:
    """Yields the patches that change what is there for all proxies; those of some workloads' proxies are listed."""
    if "workloadSelector" not in manifest.spec and "targetRefs" not in manifest.spec:
        yield from manifest.spec.tables("configPatches")


def _is(patch: FieldView, *kinds: str) -> bool:
    inner = patch.node.get("patch")
    return word(patch.node, "applyTo") in kinds and isinstance(inner, Table) and word(inner, "operation") == CHANGES


def _note(patch: FieldView) -> None:
    """Notes that a patch is read: what it is applied to, and by what it finds that."""
    patch.use("applyTo")
    for keys in (("match",), ("match", "cluster"), ("match", "routeConfiguration"), ("patch",)):
        inner = patch.inner(*keys)
        if inner is not None:
            inner.pass_over("context", "proxy", "portNumber", "portName", "gateway", "name")
            inner.use("operation")


def _cluster_host(patch: FieldView) -> Scalar | None:
    """Returns the host of a cluster, where the match names all that it has."""
    cluster = patch.inner("match", "cluster")
    if cluster is None or "subset" in cluster:
        return None
    name = cluster.scalar("name")
    parts = name.text.split("|") if name is not None else []
    if name is not None and len(parts) == 4 and not parts[2]:
        return respelled(name, parts[3])
    return cluster.scalar("service")


def _routed_host(patch: FieldView) -> Scalar | None:
    """Returns the host of all routes of a virtual host."""
    virtual = patch.inner("match", "routeConfiguration", "vhost")
    name = virtual.scalar("name") if virtual is not None else None
    host = name.text.rpartition(":")[0] if name is not None else ""
    if name is None or not host or "|" in host or (virtual is not None and "route" in virtual):
        return None
    return respelled(name, host)


def _change(host: Scalar, value: FieldView, sketch: Sketch) -> None:
    """Puts what a patch states into the calls to a host; without any, into that of the clients of the mesh."""
    thing = sketch.names.host(host.text, value.manifest.namespace)
    action = value.table("route") or value
    retries = action.table("retry_policy")
    stated: dict[str, Node | None] = {"deadline": stated_deadline(action) if action is not value else None}
    stated |= stated_retries(retries) if retries is not None else {}
    values = {key: node for key, node in stated.items() if node is not None}
    calls = [call for call in sketch.calls if isinstance(to := call.get("to"), Scalar) and to.text == thing]
    if values and not calls:
        place = value.node.place
        sketch.mention(thing, host.place, f"host {host.text}")
        ends = {"from": Scalar("clients", place), "to": respelled(host, thing), "uses": Scalar(PART, place)}
        sketch.calls.append(entry(place, ends))
        calls = sketch.calls[-1:]
    for call in calls:
        call.entries.update(values)
        call.keys.update({key: node.place for key, node in values.items()})


def _list_times(patch: FieldView) -> None:
    """Lists each time limit, retry and limit of a patch that is not read, by its own line."""
    manifest = patch.manifest
    value = patch.node.get("patch")
    for path, node in _walk(value, patch.at("patch")) if value is not None else ():
        key = path.rpartition(".")[2]
        if ABOUT_TIME.fullmatch(key) and not any(used.startswith(path) for used in manifest.used):
            kind = word(patch.node, "applyTo")
            manifest.remarks.append((node.place, f"{manifest.title}: {path} (a patch of {kind} that is not modelled)"))
            manifest.used.add(path)


def _walk(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """Yields each path below a node, in the order of the file."""
    if isinstance(node, Table):
        for key, child in node.entries.items():
            yield f"{path}.{key}", child
            yield from _walk(child, f"{path}.{key}")
    elif isinstance(node, Items):
        for number, child in enumerate(node):
            yield from _walk(child, f"{path}[{number}]")
