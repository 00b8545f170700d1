"""Deployment: members with what they need, probes as timers, the rolling update as limits, grace as a timer.

The rolling update is a pair of limits where it is written, and with Kubernetes' defaults where a member needs
an accelerator or another extended resource, of which the one extra member may find none.  How long a
container loads and how long it drains are not in the manifest: `<name>.load` and `<name>.drain` are activities
whose time a question may ask for (`takes: {load: ...}`).  A startup probe holds the other probes back until the
load has ended.  A preStop sleep lies inside the termination grace.  Where `replicas` is written and something
scales the workload, each apply of the manifest writes it too.

SOURCE: Kubernetes API, apps/v1 DeploymentSpec and core/v1 Probe, Lifecycle; documentation, Configure Probes,
Pod Lifecycle.  Defaults are in the parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from coherence.base import units
from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import sanitised
from coherence.importers._probes import probes
from coherence.importers._quantities import bytes_text, exact, integer, respelled
from coherence.importers._sketch import Sketch, default_scalar, entry
from coherence.language.document import Items, Node, Scalar

KIND = "Deployment"
GROUPS = ("apps", "extensions")
SPELLING = {
    "copies": "replicas",
    "first": "initialDelaySeconds",
    "every": "periodSeconds",
    "misses": "failureThreshold",
    "reply_within": "timeoutSeconds",
    "after": "terminationGracePeriodSeconds",
}
TAGS = {"gpu": " gpu"}
BYTES = ("memory", "ephemeral-storage", "hugepages-")
ROLLOUT = (
    ("maxSurge", "surge", "extra", "up", "rolling_update_surge"),
    ("maxUnavailable", "unavailable", "down", "down", "rolling_update_unavailable"),
)
GRACE = "termination_grace"
SLEEP = re.compile(r"(?:exec\s+)?(?:/usr)?(?:/bin/)?sleep\s+([0-9]{1,9})s?;?")


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component, its probes, its rolling update and the time it is given to stop."""
    spec, place = manifest.spec, manifest.name.place
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, KIND)
    pod = spec.inner("template", "spec")
    containers = pod.tables("containers") if pod else []
    waits = [wait for wait in map(_sleep, containers) if wait is not None]
    longest = max(waits, key=lambda wait: units.quantity(wait.text)[0], default=None)  # they stop side by side
    values: dict[str, Node | None] = {
        "copies": spec.whole("replicas") or _one_copy(spec),
        "needs": _needs(containers, place),
        "takes": entry(longest.place, {"pre_stop": longest}) if longest else None,
    }
    sketch.put("components", thing, place, values)
    probes(containers, thing, sketch)
    scarce = any("/" in key for container in containers for key, _ in _requests(container))
    if scarce or "strategy" in spec:
        _rollout(spec, thing, sketch)
    grace = pod.seconds("terminationGracePeriodSeconds") if pod else None
    if grace is not None or longest is not None:
        _grace(grace, longest, thing, sketch)


def _one_copy(spec: FieldView) -> Scalar:
    """One, where no number is written.  SOURCE: Kubernetes API, DeploymentSpec.replicas: defaults to 1."""
    return Scalar("1", spec.node.place)


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Where something scales the workload: the range of its members, and what an apply of the manifest writes."""
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, KIND)
    loop_name, component = sketch.scaled.get(thing), sketch.get("components", thing)
    if not loop_name or component is None:
        return
    low = min((scaling.low for scaling in loop_name), key=lambda end: integer(end) or 0)
    high = max((scaling.high for scaling in loop_name), key=lambda end: integer(end) or 0)
    stated = manifest.spec.whole("replicas")
    if (integer(low) or 0) <= (integer(high) or 0):
        component.entries["copies"] = respelled(high, f"varies: {low.text} .. {high.text}")
        component.keys["copies"] = high.place
    if stated is not None:
        place = stated.place
        actuation = {
            "signal": Scalar(f"{thing}.replicas", place),
            "law": Scalar("set", place),
            "to": stated,
            "mode": Scalar("on change", place),
        }
        loop: dict[str, Node | None] = {
            "layer": Scalar("orchestration", place),
            "objective": Scalar("the number of replicas in the manifest, whenever it is applied", place),
            "actuation": entry(place, actuation),
        }
        sketch.put("loops", sketch.names.fresh(f"{thing}_apply"), place, loop)


def _needs(containers: list[FieldView], place: Place) -> Node | None:
    """Returns what one member holds: the requests of its containers together; each stands where the first stands."""
    sums: dict[str, tuple[Fraction, Scalar, bool]] = {}
    for container in containers:
        for key, request in _requests(container):
            name = sanitised(key.rpartition("/")[2])
            total, first, _ = sums.get(name, (Fraction(0), request, False))
            sums[name] = (total + units.quantity(request.text)[0], first, key.startswith(BYTES))
    texts = {
        name: respelled(first, bytes_text(total) if in_bytes else exact(total) + TAGS.get(name, ""))
        for name, (total, first, in_bytes) in sums.items()
    }
    return entry(place, texts) if texts else None


def _requests(container: FieldView) -> Iterator[tuple[str, Scalar]]:
    """Requests of one container; a limit stands for the request that is not written."""
    resources = container.table("resources")
    tables = [resources.table(key) for key in ("requests", "limits")] if resources else []
    seen: set[str] = set()
    for table in (table for table in tables if table is not None):
        for key in (key for key in table.node.entries if key not in seen):
            seen.add(key)
            request = table.quantity(key)
            if request is not None:
                yield key, request


def _rollout(spec: FieldView, thing: str, sketch: Sketch) -> None:
    """maxSurge, rounded up, and maxUnavailable, rounded down; 25 % each where nothing is written."""
    strategy = spec.table("strategy")
    kind = strategy.scalar("type") if strategy else None
    if strategy is not None and kind is not None and kind.text == "Recreate":
        strategy.remark("type", f"{kind.text}: every member ends before the first new one starts")
        return
    rolling = strategy.table("rollingUpdate") if strategy else None
    for key, name, counted, rounding, part in ROLLOUT:
        stated = rolling.scalar(key) if rolling else None
        most = stated or default_scalar(part, "at_most")
        share, percent, _ = most.text.replace(" ", "").partition("%")
        if integer(Scalar(share, most.place)) is None or share.startswith("-"):
            words = f"{rolling.at(key) if rolling else key} is '{units.shorten(most.text)}'"
            spec.problem(most.place, words, "write a number of pods or a percentage")
            continue
        place = stated.place if stated else sketch.sections["components"].key_place(thing)
        cap = f"{share} % of {thing}.copies round {rounding}" if percent else share
        values = {
            "uses": Scalar(part, place),
            "counts": Scalar(f"{thing}.{counted}", place),
            "at_most": respelled(most, cap),
        }
        sketch.put("limits", sketch.names.fresh(f"{thing}_{name}"), place, values)


def _grace(grace: Scalar | None, sleep: Scalar | None, thing: str, sketch: Sketch) -> None:
    """From the order to end until the kill.  It waits for the drain, or for a sleep that leaves none."""
    after = grace or default_scalar(GRACE, "after")
    place = grace.place if grace else sleep.place if sleep else after.place
    alone = sleep is not None and units.quantity(sleep.text)[0] >= units.quantity(after.text)[0]
    values: dict[str, Node | None] = {
        "uses": Scalar(GRACE, place),
        "from": Scalar(f"{thing}.{'pre_stop' if sleep else 'drain'} starts", place),
        "after": grace,
        "unless": Scalar(f"{thing}.{'pre_stop' if alone else 'drain'} ends", place),
        "then": Scalar(f"kill {thing}", place),
    }
    sketch.put("timers", sketch.names.fresh(f"{thing}_grace"), place, values)


def _sleep(container: FieldView) -> Scalar | None:
    """Returns the time of a preStop hook that only sleeps: `sleep: {seconds: 30}`, `sleep 30`, also in a shell."""
    hook = container.inner("lifecycle", "preStop")
    if hook is None:
        return None
    sleep, run = hook.table("sleep"), hook.table("exec")
    if sleep is not None:
        return sleep.seconds("seconds")
    words = run.node.get("command") if run else None
    leaves = [word for word in words if isinstance(word, Scalar)] if isinstance(words, Items) else []
    command = leaves[2:] if [leaf.text for leaf in leaves[1:2]] == ["-c"] else leaves
    match = SLEEP.fullmatch(" ".join(leaf.text for leaf in command).strip())
    if run is None or match is None:
        return None
    run.use("command")
    return respelled(command[-1], f"{int(match[1])} s")
