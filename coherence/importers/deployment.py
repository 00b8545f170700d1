"""Deployment: members with what they need, probes as timers, the rolling update as limits, grace as a timer.

How long a container takes to start is not in the manifest: questions about probes then ask for
`takes: {load: ...}`.  A startup probe holds the others back.

SOURCE: Kubernetes API, apps/v1 DeploymentSpec and core/v1 Probe; documentation, Configure Probes.
"""

from __future__ import annotations

from fractions import Fraction

from coherence import units
from coherence.document import Node, Scalar, Table
from coherence.importers._kubernetes import Manifest, View, exact, integer, respelled
from coherence.importers._names import sanitised
from coherence.importers._sketch import Sketch, entry

KIND = "Deployment"
GROUPS = ("apps", "extensions")
SPELLING = {"first": "initialDelaySeconds", "misses": "failureThreshold", "every": "periodSeconds"}
PROBES = (
    ("startupProbe", "startup", "startup_probe", "restart"),
    ("livenessProbe", "liveness", "liveness_probe", "restart"),
    ("readinessProbe", "readiness", "readiness_probe", "unlist"),
)
RESOURCES = {"cpu": "cpu", "memory": "memory", "nvidia.com/gpu": "gpu", "amd.com/gpu": "gpu"}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Add the component, its probes, its rolling update and the time it is given to stop."""
    spec = manifest.spec
    name = sketch.names.thing(manifest.name.text, manifest.namespace, KIND)
    spec.use("selector")
    template = spec.table("template")
    pod = template.table("spec") if template else None
    if template is not None:
        template.use("metadata")
    containers = pod.tables("containers") if pod else []
    copies = spec.whole("replicas")
    values: dict[str, Node | None] = {"copies": copies, "needs": _needs(containers, manifest.name)}
    sketch.declare(name, manifest.name.place, {key: value for key, value in values.items() if value is not None})
    if not any(values.values()):
        sketch.amend(name, "note", Scalar(f"Deployment {manifest.name.text}", manifest.name.place))
    for container in containers:
        _probes(container, name, sketch, alone=len(containers) == 1)
    _rollout(spec, name, sketch)
    if pod is not None:
        _grace(pod, containers, name, sketch)


def apply_writers(sketch: Sketch) -> None:
    """A manifest that states replicas writes them when it is applied, beside whatever scales them."""
    components = sketch.section("components").entries
    for thing in list(sketch.scaled):
        component = components.get(thing)
        copies = component.get("copies") if isinstance(component, Table) else None
        if isinstance(component, Table) and isinstance(copies, Scalar):
            place = copies.place
            actuation: dict[str, Node | None] = {
                "signal": Scalar(f"{thing}.replicas", place),
                "law": Scalar("set", place),
                "to": copies,
                "mode": Scalar("on change", place),
            }
            words = "the number of replicas that the manifest states, whenever it is applied"
            loop: dict[str, Node | None] = {
                "objective": Scalar(words, place),
                "actuation": entry(place, actuation),
            }
            sketch.put("loops", sketch.names.fresh(f"{thing}_apply"), place, loop)


def _needs(containers: list[View], name: Scalar) -> Node | None:
    """Requests of all containers, summed per resource; the place is that of the first."""
    found: dict[str, tuple[Fraction, Scalar]] = {}
    for container in containers:
        for key, word in RESOURCES.items():
            amount = _request(container, key)
            if amount is not None:
                total, first = found.get(word, (Fraction(0), amount))
                found[word] = (total + Fraction(amount.text), first)
    suffixes = {"memory": " B", "gpu": " gpu"}
    needs: dict[str, Node | None] = {
        word: respelled(first, f"{exact(total)}{suffixes.get(word, '')}") for word, (total, first) in found.items()
    }
    return entry(name.place, needs) if needs else None


def _request(container: View, key: str) -> Scalar | None:
    """What one container requests; its limit where it states no request, as Kubernetes fills it in."""
    resources = container.table("resources")
    tables = (resources.table("requests"), resources.table("limits")) if resources else ()
    return next((table.quantity(key) for table in tables if table is not None and key in table), None)


def _probes(container: View, thing: str, sketch: Sketch, *, alone: bool) -> None:
    """Startup, liveness and readiness; the last two begin when the startup probe lets them."""
    label = container.scalar("name")
    suffix = "" if alone or label is None else f"_{sanitised(label.text)}"
    load = f"{thing}.load{suffix}"
    startup = container.table("startupProbe")
    for key, short, part, verb in PROBES:
        probe = container.table(key)
        if probe is None:
            continue
        for how in ("httpGet", "tcpSocket", "exec", "grpc"):
            if how in probe:
                probe.use(how)
        place = container.place(key)
        gated = startup is not None and key != "startupProbe"
        values: dict[str, Node | None] = {
            "uses": Scalar(part, place),
            "from": Scalar(f"{load} ends" if gated else f"{load} starts", place),
            "first": probe.seconds("initialDelaySeconds"),
            "every": probe.seconds("periodSeconds", zero_is_absent=True),
            "misses": probe.positive("failureThreshold"),
            "reply_within": probe.seconds("timeoutSeconds", zero_is_absent=True),
            "unless": None if gated else Scalar(f"{load} ends", place),
            "then": Scalar(f"{verb} {thing}", place),
        }
        sketch.put("timers", sketch.names.fresh(f"{thing}{suffix}_{short}"), place, values)


def _rollout(spec: View, thing: str, sketch: Sketch) -> None:
    """maxSurge (rounded up) and maxUnavailable (rounded down), where they are written."""
    strategy = spec.table("strategy")
    rolling = strategy.table("rollingUpdate") if strategy else None
    kind = strategy.scalar("type") if strategy else None
    if strategy is not None and kind is not None and kind.text != "RollingUpdate":
        strategy.remark("type", f"{kind.text}: every member stops before the first new one starts")
    for key, signal, rounding in (("maxSurge", "extra", "up"), ("maxUnavailable", "down", "down")) if rolling else ():
        found = rolling.scalar(key) if rolling else None
        if found is None:
            continue
        share = found.text.strip().removesuffix("%")
        percent = found.text.strip().endswith("%")
        if integer(Scalar(share, found.place)) is None and rolling is not None:
            rolling.problem(
                found.place, f"{rolling.at(key)} is '{found.text}'", "write a number of pods or a percentage"
            )
            continue
        most = f"{share} % of {thing}.copies round {rounding}" if percent else share
        values: dict[str, Node | None] = {
            "counts": Scalar(f"{thing}.{signal}", found.place),
            "at_most": respelled(found, most),
        }
        sketch.put(
            "limits",
            sketch.names.fresh(f"{thing}_{'surge' if key == 'maxSurge' else 'unavailable'}"),
            found.place,
            values,
        )


def _grace(pod: View, containers: list[View], thing: str, sketch: Sketch) -> None:
    """From the order to stop until the kill; a preStop sleep lies inside it."""
    grace = pod.seconds("terminationGracePeriodSeconds")
    waits = [wait for wait in map(_sleep, containers) if wait is not None]
    if waits:  # the containers stop side by side: the longest sleep counts
        longest = max(waits, key=lambda wait: units.quantity(wait.text)[0])
        sketch.amend(thing, "takes", entry(longest.place, {"pre_stop": longest}))
    if grace is not None:
        values: dict[str, Node | None] = {
            "from": Scalar(f"{thing} stops", grace.place),
            "after": grace,
            "then": Scalar(f"kill {thing}", grace.place),
        }
        sketch.put("timers", sketch.names.fresh(f"{thing}_grace"), grace.place, values)


def _sleep(container: View) -> Scalar | None:
    """The preStop sleep of a container."""
    lifecycle = container.table("lifecycle")
    stop = lifecycle.table("preStop") if lifecycle else None
    sleep = stop.table("sleep") if stop else None
    return sleep.seconds("seconds") if sleep else None
