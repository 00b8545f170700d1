"""VerticalPodAutoscaler: a loop on the request of each resource that it controls.

The recommendation is what the containers use and 15 % more, so the loop holds the used share of the request at 1 / 1.15
within `minAllowed` and `maxAllowed`, and within a LimitRange as far as these allow it.  Where an autoscaler of replicas
holds the same share, both divide one usage, and the component says how.  With `RequestsOnly` a request stays below the
limit of its container.  `updateMode` Off writes nothing, Initial only what new pods request; of a workload that states
fewer replicas than `minReplicas` the updater takes no pod.

SOURCE: Kubernetes autoscaler, VPA API v1; features, Limits control; flags of the recommender:
pod-recommendation-min-cpu-millicores 25, pod-recommendation-min-memory-mb 250; of the updater: min-replicas 2;
updater/restriction/pods_restriction_factory.go: GetCreatorMaps.  Other defaults are in the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import units
from coherence.base.places import Place
from coherence.importers import _scaling as scaling
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import agree, sanitised
from coherence.importers._quantities import added, amount_text, as_amount, integer, respelled, value_of
from coherence.importers._sketch import Container, Scaling, Sketch, entry, listed
from coherence.language.document import Node, Scalar, Table

KIND = "VerticalPodAutoscaler"
GROUPS = ("autoscaling.k8s.io",)
PARTS = {"cpu": "kubernetes_vpa_cpu", "memory": "kubernetes_vpa_memory"}
EVICTION, TOLERANCE = "vpa_eviction", "50 %"  # of the replicas (eviction-tolerance 0.5)
LEAST = {"cpu": Fraction(25, 1000), "memory": Fraction(250 * 2**20)}  # of a pod
FEWEST = "2"  # replicas of which one may go
IN_PLACE = "InPlace"
ALL = "*"
WRITES = ("Auto", "Recreate", "InPlaceOrRecreate", "InPlace")
IDLE = {"Off": "recommends and writes nothing", "Initial": "writes what new pods request, and is no loop of its own"}


@dataclass(frozen=True)
class Owner:
    """The requests that one loop writes: of a whole pod, or of one of its containers."""

    label: str  # empty: of all containers
    policies: Sequence[FieldView | None]  # of each container; None for the defaults
    containers: Sequence[Container]

    def name(self, *words: str) -> str:
        return sanitised(" ".join(filter(None, (self.label, *words))))


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the workload; its loops need its containers and those that scale it."""
    scaling.workload(manifest, sketch, key="targetRef")


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Adds a loop for each resource of each owner."""
    workload = scaling.workload(manifest, sketch, key="targetRef")
    spec = manifest.spec
    policy = spec.table("updatePolicy")
    mode = policy.scalar("updateMode") if policy else None
    if workload is None or (policy is not None and mode is not None and _idle(policy, mode)):
        return
    fewest = policy.whole("minReplicas") if policy is not None else None
    if few := _has_few(workload[0], fewest or Scalar(FEWEST, workload[1]), sketch):
        manifest.top.remark("spec", few)
        return
    if policy is not None:
        policy.remark("minReplicas", "with fewer pods none is evicted, which is not modelled")
        policy.remark("evictionRequirements", "evictions in one direction only are not modelled")
    owners = list(_owners(manifest, workload[0], sketch))
    for owner in owners:
        for resource in PARTS:
            _loop(owner, resource, workload, manifest, sketch)
    if owners and (mode is None or mode.text != IN_PLACE):
        _evictions(workload, sketch)


def _has_few(thing: str, fewest: Scalar, sketch: Sketch) -> str:
    """Returns that a workload states fewer replicas than one may go of; empty where it does not."""
    pods = sketch.pods_of(thing)
    spec = pods.template.manifest.spec if pods is not None and pods.template is not None else None
    stated = spec.whole("replicas") if spec is not None and not _scalers(sketch, thing) else None
    number, least = integer(stated) if stated is not None else None, integer(fewest)
    if number is None or least is None or number >= least:
        return ""
    return f"of fewer than {least} replicas the updater takes none: it writes only what new pods request"


def _evictions(workload: tuple[str, Place], sketch: Sketch) -> None:
    """Adds how many pods may be taken away at once to get their new request."""
    thing, place = workload
    most = Scalar(f"{TOLERANCE} of {thing}.copies", place)
    sketch.put_limit(f"{thing}_vpa_evictions", f"{thing}.evicted", most, uses=EVICTION)


def _idle(policy: FieldView, mode: Scalar) -> bool:
    """Returns whether the mode writes nothing to pods that run; lists it."""
    if mode.text not in (*WRITES, *IDLE):
        words = f"{policy.at('updateMode')} is '{units.shorten(mode.text)}'"
        policy.problem(mode.place, words, f"write one of {', '.join((*WRITES, *IDLE))}")
    if mode.text in IDLE:
        policy.manifest.top.remark("spec", f"updateMode {mode.text}: {IDLE[mode.text]}")
    return mode.text in IDLE


def _owners(manifest: Manifest, thing: str, sketch: Sketch) -> Iterator[Owner]:
    """Yields the pod, where all its containers are controlled; else each container that is."""
    resources = manifest.spec.table("resourcePolicy")
    policies = {
        name.text: view
        for view in (resources.tables("containerPolicies") if resources else ())
        if (name := view.scalar("containerName")) is not None
    }
    pods = sketch.pods_of(thing)
    containers = pods.containers if pods else [Container(name, {}, None) for name in policies if name != ALL]
    chosen = [(container, policies.get(container.name, policies.get(ALL))) for container in containers]
    controlled = [(container, view) for container, view in chosen if not _is_off(view)]
    if len(controlled) == len(chosen) and (pods is not None or not _is_off(policies.get(ALL))):
        others = [] if pods is not None else [policies.get(ALL)]
        yield Owner("", [*(view for _, view in controlled), *others], [container for container, _ in controlled])
        return
    for container, view in controlled:
        yield Owner(container.name, [view], [container])


def _is_off(view: FieldView | None) -> bool:
    mode = view.scalar("mode") if view is not None else None
    return mode is not None and mode.text == "Off"


def _controls(view: FieldView | None, resource: str) -> bool:
    """Returns whether a policy controls a resource; both, where it names none."""
    return (
        view is None
        or "controlledResources" not in view
        or any(word.text == resource for word in view.scalars("controlledResources"))
    )


def _loop(owner: Owner, resource: str, workload: tuple[str, Place], manifest: Manifest, sketch: Sketch) -> None:
    thing, place = workload
    if not owner.policies or not all(_controls(view, resource) for view in owner.policies):
        return
    request, reading = f"{thing}.{owner.name(resource, 'request')}", f"{thing}.{owner.name(resource)}"
    allowed = _namespace(owner, resource, manifest, sketch)
    bounds = _bounds(owner, resource, allowed, place)
    actuation: dict[str, Node | None] = {
        "signal": Scalar(request, place),
        "bounds": listed(bounds, bounds[0].place),
    }
    values: dict[str, Node | None] = {
        "uses": Scalar(PARTS[resource], place),
        "target": entry(place, {"signal": Scalar(reading, place)}),
        "actuation": entry(place, actuation),
    }
    name = sketch.names.fresh(
        f"{manifest.name.text} {owner.label} {'' if 'vpa' in manifest.name.text else 'vpa'} {resource}"
    )
    sketch.put("loops", name, manifest.name.place, values)
    _share(owner, resource, thing, place, sketch)
    caps = [*allowed["at_most"], *_own_limits(owner, resource)]
    for key, ends, end in (("at_most", caps, min), ("at_least", allowed["at_least"], max)):
        if ends:
            _limit(end(ends, key=value_of), request, key, sketch)


def _namespace(owner: Owner, resource: str, manifest: Manifest, sketch: Sketch) -> dict[str, list[Scalar]]:
    """Returns what the LimitRanges of the namespace allow the containers together."""
    allowed: dict[str, list[Scalar]] = {"at_most": [], "at_least": []}
    for bound in sketch.bounds:
        if agree(bound.namespace, manifest.namespace) and bound.resource == resource:
            each = 1 if bound.per_pod else max(len(owner.containers), 1)
            if not (bound.per_pod and owner.label):  # of the pod, of which this is one container
                total = respelled(bound.amount, amount_text(value_of(bound.amount) * each, resource))
                allowed["at_least" if bound.is_least else "at_most"].append(total)
    return allowed


def _bounds(owner: Owner, resource: str, allowed: Mapping[str, list[Scalar]], place: Place) -> list[Scalar]:
    """Returns the least and the most that is written: between those of the namespace, where the policies let it."""
    least, most = _bound(owner, resource, "minAllowed"), _bound(owner, resource, "maxAllowed")
    low = max([*filter(None, [least]), *allowed["at_least"]], key=value_of, default=None)
    high = min([*filter(None, [most]), *allowed["at_most"]], key=value_of, default=None)
    if low is not None and most is not None and value_of(low) > value_of(most):
        low = most
    if high is not None and least is not None and value_of(high) < value_of(least):
        high = least
    first = low or Scalar(amount_text(LEAST[resource], resource), place)
    if high is not None and low is None and value_of(high) < value_of(first):
        first = respelled(first, high.text)
    return [first, high or Scalar("unlimited", place)]


def _bound(owner: Owner, resource: str, key: str) -> Scalar | None:
    """Returns what its containers may request together; None where one of them has no bound."""
    bounds = [view.table(key) if view is not None else None for view in owner.policies]
    stated = [bound.quantity(resource) if bound is not None else None for bound in bounds]
    amounts = [amount for amount in stated if amount is not None]
    if not amounts or len(amounts) < len(stated):
        return None
    return as_amount(added((resource, amount) for amount in amounts)[resource], resource)


def _share(owner: Owner, resource: str, thing: str, place: Place, sketch: Sketch) -> None:
    """Adds how the used share follows from replicas and request, where an autoscaler holds the same share."""
    reading = owner.name(resource)
    if not any(_reads(sketch, scaler.loop, f"{thing}.{reading}") for scaler in _scalers(sketch, thing)):
        return
    used = f"{thing}.{owner.name(resource, 'used')}"
    formula = f"{used} / ({thing}.replicas * {thing}.{owner.name(resource, 'request')})"
    sketch.state(thing, reading, Scalar(formula, place))


def _scalers(sketch: Sketch, thing: str) -> Sequence[Scaling]:
    return sketch.scaled.get(thing, [])


def _reads(sketch: Sketch, loop: str, reading: str) -> bool:
    """Returns whether a loop holds a reading, alone or as the greatest of several."""
    added = sketch.get("loops", loop)
    target = added.get("target") if added is not None else None
    signal = target.get("signal") if isinstance(target, Table) else None
    return isinstance(signal, Scalar) and reading in signal.text.replace("max(", " ").replace(",", " ").split()


def _own_limits(owner: Owner, resource: str) -> list[Scalar]:
    """Returns the limits of the containers together, where they stay as they are and all have one."""
    own = [
        container.limits.quantity(resource) if container.limits is not None else None for container in owner.containers
    ]
    stay = [view is not None and _requests_only(view) for view in owner.policies]
    caps = [cap for cap in own if cap is not None]
    if not caps or len(caps) < len(own) or not all(stay):
        return []
    return [as_amount(added((resource, cap) for cap in caps)[resource], resource)]


def _requests_only(view: FieldView) -> bool:
    values = view.scalar("controlledValues")
    return values is not None and values.text == "RequestsOnly"


def _limit(amount: Scalar, request: str, key: str, sketch: Sketch) -> None:
    least, most = (amount, "") if key == "at_least" else (None, amount)
    sketch.put_limit(f"{request} {key}", request, most, place=amount.place, layer="orchestration", at_least=least)
