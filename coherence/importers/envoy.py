"""Envoy: routes as calls with their time limits and retries; clusters with breakers, retry budgets and ejection.

A route calls its cluster; a cluster whose endpoints share one host name is that host.  Without `timeout` a route has
15 s over all tries, and none with 0; without a retry policy of its own or of its virtual host nothing is retried.

SOURCE: Envoy API v3, route.RouteAction, route.RetryPolicy, cluster.CircuitBreakers, cluster.OutlierDetection.
Defaults are in the parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.importers import _envoy_words as envoy
from coherence.importers._addresses import RunningProxy, runner_of, target_of
from coherence.importers._envoy_resources import add_cluster_limits, route_policy
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Items, Node, Scalar, Table

KIND = "Envoy"
VARIANTS = True  # each proxy is one of its own
SPELLING = {"deadline": "timeout", "per_try": "per_try_timeout", "tries": "num_retries"}
IN_CONFIG_MAP = "envoy"
SECTIONS = ("listeners", "clusters")
TYPES = ("envoy.config.route.v3.", "envoy.config.listener.v3.", "envoy.config.cluster.v3.")


def recognises(root: Table) -> bool:
    """Returns whether a document is a bootstrap, or a list of resources, of Envoy."""
    static, resources = root.get("static_resources") or root.get("staticResources"), root.get("resources")
    if isinstance(static, Table):
        return any(key in static for key in SECTIONS)
    return isinstance(resources, Items) and any(_type(item).startswith(TYPES) for item in resources)


def _type(node: Node) -> str:
    """Returns `envoy.config.route.v3.RouteConfiguration` of a node that says its type."""
    stated = node.get("@type") if isinstance(node, Table) else None
    return stated.text.rpartition("/")[2] if isinstance(stated, Scalar) else ""


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the clusters."""
    manifest.root = envoy.snake_case(manifest.root)
    static, proxy = manifest.top.table("static_resources"), _proxy(manifest, sketch)
    for cluster in [*(static.tables("clusters") if static else ()), *_resources(manifest, "envoy.config.cluster.v3.")]:
        name = cluster.required("name")
        if name is not None:
            sketch.clusters.setdefault(name.text, {})[proxy.thing.text] = _cluster(cluster, name, proxy, sketch)


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the calls of every route to its clusters, which may stand in other files."""
    static, proxy = manifest.top.table("static_resources"), _proxy(manifest, sketch)
    for hosts in [*_routes(manifest, static), *_resources(manifest, "envoy.config.route.v3.")]:
        for host in hosts.tables("virtual_hosts"):
            for route in host.tables("routes"):
                _calls(route, host.table("retry_policy"), proxy.thing, sketch)


def _resources(manifest: Manifest, kind: str) -> list[FieldView]:
    """Returns the resources of one type in a file of them."""
    return [view for view in manifest.top.tables("resources") if _type(view.node).startswith(kind)]


def _routes(manifest: Manifest, static: FieldView | None) -> Iterator[FieldView]:
    """Yields the route configuration of each HTTP connection manager of the listeners."""
    listeners = static.tables("listeners") if static else []
    for listener in [*listeners, *_resources(manifest, "envoy.config.listener.v3.")]:
        for chain in listener.tables("filter_chains"):
            for connection in chain.tables("filters"):
                routes = connection.inner("typed_config", "route_config")
                if routes is not None:
                    yield routes


def _proxy(manifest: Manifest, sketch: Sketch) -> RunningProxy:
    """Returns the thing that the proxy is: what mounts its file, else one named by its node's cluster or id."""
    node = manifest.top.table("node")
    stated = (node.scalar("cluster") or node.scalar("id")) if node else None
    return runner_of(manifest, stated or manifest.name, sketch)


def _cluster(cluster: FieldView, name: Scalar, proxy: RunningProxy, sketch: Sketch) -> str:
    """Adds what a cluster says of its hosts, and returns the thing that they are."""
    hosts = [address.text for address in _addresses(cluster)] or _discovered(cluster, proxy, sketch)
    thing = target_of(hosts, name, proxy, sketch, kind="cluster")
    sketch.ways.setdefault(thing, set()).add(f"{name.place} {name.text}")
    add_cluster_limits(cluster, thing, sketch)
    return thing


def _discovered(cluster: FieldView, proxy: RunningProxy, sketch: Sketch) -> list[str]:
    """Returns the host that the name of a service to discover is, where a workload has that name.

    `web.shop.svc.cluster.local`; from Istio `outbound|80||web.shop.svc.cluster.local`.
    """
    discovery = cluster.table("eds_cluster_config")
    name = discovery.scalar("service_name") if discovery else None
    host = name.text.rpartition("|")[2] if name is not None else ""
    return [host] if host and sketch.names.addresses.behind(host, proxy.namespace) is not None else []


def _addresses(cluster: FieldView) -> Iterator[Scalar]:
    assignment = cluster.table("load_assignment")
    for group in assignment.tables("endpoints") if assignment else ():
        for endpoint in group.tables("lb_endpoints"):
            socket = endpoint.inner("endpoint", "address", "socket_address")
            address = socket.scalar("address") if socket else None
            if address is not None:
                yield address


def _calls(route: FieldView, inherited: FieldView | None, proxy: Scalar, sketch: Sketch) -> None:
    """Adds a call of the proxy to each cluster that a route names."""
    action = route.table("route")
    if action is None:
        return
    weighted = action.table("weighted_clusters")
    views = [action, *(weighted.tables("clusters") if weighted else ())]
    named = [cluster for view, key in zip(views, ["cluster", *["name"] * len(views)], strict=False)
             if (cluster := view.scalar(key)) is not None]  # fmt: skip
    policy = route_policy(action, action.table("retry_policy") or inherited) if named else {}
    for cluster in named:
        thing = _thing_of(cluster, proxy.text, sketch)
        sketch.calls.append(entry(action.node.place, {"from": proxy, "to": respelled(cluster, thing), **policy}))


def _thing_of(cluster: Scalar, proxy: str, sketch: Sketch) -> str:
    """Returns the thing that a cluster is: that of this proxy, else the only one of its name, else one of its own."""
    known = sketch.clusters.get(cluster.text, {})
    thing = known.get(proxy) or (next(iter(known.values())) if len(known) == 1 else None)
    if thing is None:
        thing = sketch.names.thing(cluster.text, "", "cluster")
        sketch.mention(thing, cluster.place, f"cluster {cluster.text}: it is not among these")
    return thing
