"""Istio DestinationRule: outlier ejection and connection pools as limits on the hosts of a service.

maxEjectionPercent (10 % where absent) caps how many hosts may be ejected; minHealthPercent, off by default,
is the panic threshold below which ejection is ignored.

SOURCE: Istio documentation, DestinationRule: OutlierDetection, ConnectionPoolSettings.
"""

from __future__ import annotations

from coherence.document import Node, Scalar
from coherence.importers._kubernetes import Manifest, View, integer, respelled
from coherence.importers._sketch import Sketch, entry

KIND = "DestinationRule"
GROUPS = ("networking.istio.io",)
SPELLING: dict[str, str] = {}

POOLS = (
    ("tcp", "maxConnections", "connections", "wait"),
    ("http", "http1MaxPendingRequests", "pending_requests", "reject"),
    ("http", "http2MaxRequests", "requests", "reject"),
    ("http", "maxRetries", "retries", "reject"),
)
TRIGGERS = ("consecutiveErrors", "consecutive5xxErrors", "consecutiveGatewayErrors", "interval", "baseEjectionTime")


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Add the limits of the rule's own policy and of each subset."""
    spec = manifest.spec
    host = spec.required("host")
    if host is None:
        return
    thing = sketch.names.host(host.text, manifest.namespace)
    sketch.mention(thing, host.place, f"host {host.text}")
    _policy(spec, thing, sketch)
    for subset in spec.tables("subsets"):
        name = subset.scalar("name")
        subset.use("labels")
        if name is not None and subset.table("trafficPolicy") is not None:
            part = sketch.names.thing(f"{host.text} {name.text}", manifest.namespace, "subset")
            sketch.mention(part, name.place, f"subset {name.text} of {host.text}")
            _policy(subset, part, sketch)


def _policy(owner: View, thing: str, sketch: Sketch) -> None:
    policy = owner.table("trafficPolicy")
    if policy is None:
        return
    outlier, pool = policy.table("outlierDetection"), policy.table("connectionPool")
    if outlier is not None:
        _ejection(outlier, thing, sketch)
    for section, key, signal, full in POOLS if pool is not None else ():
        view = pool.table(section) if pool is not None else None
        found = view.positive(key) if view is not None else None
        if found is not None:
            values: dict[str, Node | None] = {
                "counts": Scalar(f"{thing}.{signal}", found.place),
                "at_most": found,
                "when_full": Scalar(full, found.place),
            }
            sketch.put("limits", sketch.names.fresh(f"{thing}_{signal}"), found.place, values)


def _ejection(outlier: View, thing: str, sketch: Sketch) -> None:
    """The cap on ejection, and the panic threshold where one is written."""
    for key in TRIGGERS:
        if key in outlier:
            outlier.remark(key, "when a host is ejected and for how long")
    place = outlier.node.place
    most = outlier.percent("maxEjectionPercent") or Scalar("10 %", place)
    values: dict[str, Node | None] = {
        "counts": Scalar(f"{thing}.ejected", place),
        "at_most": respelled(most, f"{most.text} of {thing}.copies round up"),
    }
    sketch.put("limits", sketch.names.fresh(f"{thing}_ejection"), most.place, values)
    panic = outlier.percent("minHealthPercent")
    if panic is not None and integer(Scalar(panic.text.split()[0], panic.place)):
        trigger = respelled(panic, f"{thing}.healthy / {thing}.copies < {panic.text}")
        ignore = entry(
            panic.place, {"signal": Scalar(f"{thing}.ejected", panic.place), "law": Scalar("ignore", panic.place)}
        )
        sketch.put(
            "loops", sketch.names.fresh(f"{thing}_panic"), panic.place, {"trigger": trigger, "actuation": ignore}
        )
