"""DestinationRule: ejection of hosts as a loop with its cap, connection pools as limits, panic where it is on.

Each subset with its own policy is a group of hosts of its own.  maxEjectionPercent caps the ejected hosts of
the pool (10 %); minHealthPercent above 0 makes the proxy ignore ejections below that share of healthy hosts
(off by default).  `consecutiveErrors` is the older word for gateway errors.

SOURCE: Istio documentation, DestinationRule: OutlierDetection, ConnectionPoolSettings.  Envoy's defaults are in
the parts outlier_detection and circuit_breaker.
"""

from __future__ import annotations

from coherence.base.places import Place
from coherence.importers import _envoy_words as envoy
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import sanitised
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Sketch, default_of, entry, listed
from coherence.language.document import Node, Scalar

KIND = "DestinationRule"
GROUPS = ("networking.istio.io",)
SPELLING = {"period": "interval"}
PART = "outlier_detection"

# section, field, the breaker's name
POOLS = (
    ("tcp", "maxConnections", "connections"), ("http", "http1MaxPendingRequests", "pending_requests"),
    ("http", "http2MaxRequests", "requests"), ("http", "maxRetries", "retries"),
)  # fmt: skip
ERRORS = (
    ("consecutive5xxErrors", "consecutive_5xx"),
    ("consecutiveGatewayErrors", "consecutive_gateway_errors"),
    ("consecutiveErrors", "consecutive_gateway_errors"),
)
ROUNDING = "the share is rounded down, as Envoy does from 1.28 on; before 1.27 it is rounded up"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds what the rule says of all hosts, and of each subset."""
    spec = manifest.spec
    host = spec.required("host")
    if host is None:
        return
    thing = sketch.names.host(host.text, manifest.namespace)
    sketch.mention(thing, host.place, f"host {host.text}")
    _policy(spec, thing, sketch)
    for subset in spec.tables("subsets"):
        name = subset.scalar("name")
        if name is not None and _says(subset):
            part = sketch.names.thing(f"{host.text} {sanitised(name.text)}", manifest.namespace, "subset")
            sketch.mention(part, name.place, f"subset {name.text} of host {host.text}")
            _policy(subset, part, sketch)


def _says(subset: FieldView) -> bool:
    policy = subset.table("trafficPolicy")
    return policy is not None and any(key in policy for key in ("outlierDetection", "connectionPool", "retryBudget"))


def _policy(owner: FieldView, thing: str, sketch: Sketch) -> None:
    """Pools and ejection of one group of hosts."""
    policy = owner.table("trafficPolicy")
    pool = policy.table("connectionPool") if policy else None
    for section, key, name in POOLS:
        view = pool.table(section) if pool else None
        limit = view.positive(key) if view else None  # 0: the proxy's default
        if limit is not None:
            envoy.add_breaker(sketch, thing, name, limit)
    budget = policy.table("retryBudget") if policy else None
    if budget is not None:
        share, least = budget.quantity("percent"), budget.positive("minRetryConcurrency")
        envoy.add_retry_budget(sketch, thing, budget.node.place, share, least)
    outlier = policy.table("outlierDetection") if policy else None
    if policy is not None and outlier is not None:
        _ejection(outlier, policy.place("outlierDetection"), thing, sketch)


def _ejection(outlier: FieldView, key: Place, thing: str, sketch: Sketch) -> None:
    """The cap on ejected hosts, the loop that ejects, the return of a host, and panic."""
    stated, place = outlier.percent("maxEjectionPercent"), outlier.node.place
    _, absent = default_of(PART, "actuation.bounds")
    most = stated or Scalar("10 %", absent)
    cap, counted = respelled(most, f"{most.text} of {thing}.copies round down"), Scalar(f"{thing}.ejected", place)
    limit = {"layer": Scalar("runtime", place), "counts": counted, "at_most": cap, "note": Scalar(ROUNDING, place)}
    sketch.put("limits", sketch.names.fresh(f"{thing}_ejection"), stated.place if stated else key, limit)
    trigger, interval = _trigger(outlier, thing), outlier.duration("interval")
    loop: dict[str, Node | None] = {
        "uses": Scalar(PART, key),
        "timescale": entry(interval.place, {"period": interval}) if interval else None,
        "trigger": trigger,
        "actuation": entry(place, {"signal": counted, "bounds": listed([Scalar("0", place), cap], place)}),
    }
    if trigger is not None:
        sketch.put("loops", sketch.names.fresh(f"{thing}_outlier"), key, loop)
    _return(outlier, thing, sketch)
    _panic(outlier, thing, sketch)


def _trigger(outlier: FieldView, thing: str) -> Scalar | None:
    """Returns the counts of errors in a row that eject a host: 5 where none is written, 0 is off."""
    stated = [(errors, signal) for key, signal in ERRORS if (errors := outlier.whole(key)) is not None]
    on = [(found, signal) for found, signal in stated if integer(found)]
    if stated and not on:
        return None
    if not on:
        _, absent = default_of(PART, "trigger")
        on = [(Scalar("5", absent), ERRORS[0][1])]
    words = " or ".join(f"{thing}.{signal} >= {integer(found)}" for found, signal in on)
    return respelled(on[0][0], words)


def _return(outlier: FieldView, thing: str, sketch: Sketch) -> None:
    """A host comes back after baseEjectionTime, times the number of its ejections."""
    time = outlier.duration("baseEjectionTime")
    if time is not None:
        sketch.put_timer(
            f"{thing}_return",
            start=f"eject {thing}",
            after=time,
            then=f"return {thing}",
            note="the first ejection of a host; the next ones last longer",
        )


def _panic(outlier: FieldView, thing: str, sketch: Sketch) -> None:
    """Below minHealthPercent ejections are ignored; 0 is off."""
    least = outlier.percent("minHealthPercent")
    if least is None or least.text == "0 %":
        return
    actuation = {"signal": respelled(least, f"{thing}.ejected"), "law": respelled(least, "ignore")}
    loop: dict[str, Node | None] = {
        "layer": respelled(least, "runtime"),
        "objective": respelled(least, "keep answering when many hosts are out"),
        "trigger": respelled(least, f"{thing}.healthy / {thing}.copies < {least.text}"),
        "actuation": entry(least.place, actuation),
    }
    sketch.put("loops", sketch.names.fresh(f"{thing}_panic"), least.place, loop)
