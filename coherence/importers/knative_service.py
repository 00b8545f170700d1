"""Service of Knative: the pods of its revision, the times of a request, and the loop of its autoscaler.

`timeoutSeconds` ends a request, `responseStartTimeoutSeconds` one that has no answer yet (that of a request that may
take longer than the default has the default, unless it is 0, which is none); where the revision may be at
zero, both run while a pod starts.  An update whose pod is not ready by the deadline of progress has failed.  What the
ConfigMaps of Knative say for all revisions is not read: the defaults are those of its release.

SOURCE: Knative Serving 1.14 to 1.23, RevisionSpec.SetDefaults; config-defaults: revision-timeout-seconds 300,
revision-response-start-timeout-seconds 300; config-deployment: progress-deadline 600s; config-autoscaler:
container-concurrency-target-percentage 70; pkg/autoscaler/metrics/collector.go: scrapeTickInterval 1 s.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.importers import _pods as pods
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import amount, exact, integer, respelled, value_of
from coherence.importers._rolling import put_progress
from coherence.importers._sketch import Scaling, Sketch, entry, listed
from coherence.language.document import Node, Scalar, Table

KIND = "KnativeService"
OBJECT = "Service"
GROUPS = ("serving.knative.dev",)
SPELLING = {**pods.SPELLING, "deadline": "timeoutSeconds", "hold_down": "autoscaling.knative.dev/scale-down-delay"}
PART = "knative_pod_autoscaler"
SCALING, SERVING = "autoscaling.knative.dev/", "serving.knative.dev/"
TIMEOUT, FIRST, PROGRESS = "300 s", "300 s", "600 s"
LEAST, MOST = "0", "1000"  # the latter stands for no maximum
SHARE, CONCURRENCY, REQUESTS = Fraction(70, 100), "100", "200"
NOT_MODELLED = {
    "initial-scale": "how many pods a new revision begins with",
    "activation-scale": "how many pods come from zero",
    "target-burst-capacity": "when requests pass the activator",
    "panic-window-percentage": "panic mode is not modelled",
    "panic-threshold-percentage": "panic mode is not modelled",
    "scale-to-zero-pod-retention-period": "how long the last pod stays",
}
OTHER = "another autoscaler than that of Knative: its loop is not modelled"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods, the call, the deadline of progress and the loop."""
    manifest.spec.remark("traffic", "which revision is sent how much is not modelled")
    template = manifest.spec.table("template")
    pod = template.table("spec") if template is not None else None
    if template is None or pod is None:
        return
    stated = template.inner("metadata", "annotations")
    notes = stated or FieldView(Table({}, {}, template.node.place), "spec.template.metadata.annotations", manifest)
    low, high = _scale(notes, "min"), _scale(notes, "max")
    thing = pods.add_pods(manifest, sketch, template, copies=None)
    _requests(pod, thing, sketch)
    _progress(notes, thing, manifest, sketch)
    notes.remark_all({SCALING + key: why for key, why in NOT_MODELLED.items()})
    kind = notes.scalar(f"{SCALING}class")
    if kind is not None and not kind.text.startswith("kpa"):
        notes.remark(f"{SCALING}class", OTHER)
        return
    _loop(notes, pod, thing, (low, high), sketch)


def _scale(notes: FieldView, end: str) -> Scalar | None:
    """Returns an end of the range of pods; zero as the most is no limit."""
    stated = notes.whole(f"{SCALING}{end}-scale")
    return stated if stated is not None else notes.whole(f"{SCALING}{end}Scale")


def _requests(pod: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the times of a request, and how many one pod works on."""
    limit = pod.seconds("timeoutSeconds", zero_is_absent=True) or Scalar(TIMEOUT, pod.node.place)
    first, idle = (pod.seconds(f"{key}TimeoutSeconds", zero_is_absent=True) for key in ("responseStart", "idle"))
    default = respelled(limit, FIRST)
    if "responseStartTimeoutSeconds" not in pod and value_of(limit) > value_of(default):
        first = default
    if idle is not None:
        pod.remark("idleTimeoutSeconds", "an answer that pauses is not modelled")
    call: dict[str, Node | None] = {
        "from": respelled(limit, "clients"),
        "to": respelled(limit, thing),
        "deadline": limit,
        "per_try": first,
        "timeout_kind": respelled(first, "first byte") if first is not None else None,
        "tries": respelled(limit, "1"),
    }
    sketch.calls.append(entry(limit.place, call))
    most = pod.positive("containerConcurrency")
    if most is not None:
        sketch.put_limit(f"{thing}_concurrency", f"{thing}.ongoing", most, "wait", per="replica")


def _progress(notes: FieldView, thing: str, manifest: Manifest, sketch: Sketch) -> None:
    """Adds that a revision has failed whose pod is not ready in time."""
    after = notes.duration(f"{SERVING}progress-deadline") or Scalar(PROGRESS, manifest.name.place)
    objective = "give up a revision that does not start"
    put_progress(thing, sketch, per="revision", after=after, then=f"fail {thing}", objective=objective)


def _loop(
    notes: FieldView, pod: FieldView, thing: str, scale: tuple[Scalar | None, Scalar | None], sketch: Sketch
) -> None:
    """Adds the loop of the autoscaler, and the range of its pods."""
    place, most = notes.node.place, scale[1]
    low = scale[0] or Scalar(LEAST, place)
    high = most if most is not None and integer(most) else Scalar(MOST, place)
    window, delay = notes.duration(f"{SCALING}window"), notes.duration(f"{SCALING}scale-down-delay")
    metric = notes.scalar(f"{SCALING}metric")
    by_rate = metric is not None and metric.text == "rps"
    target: dict[str, Node | None] = {
        "signal": Scalar(f"{thing}.{'requests_per_second' if by_rate else 'ongoing'}", place),
        "setpoint": _setpoint(notes, pod, by_rate=by_rate),
        "sensor": listed([Scalar("scrape 1 s", place), respelled(window, f"mean {window.text}")], window.place)
        if window is not None
        else None,
    }
    values: dict[str, Node | None] = {
        "uses": Scalar(PART, place),
        "target": entry(place, target),
        "timescale": entry(delay.place, {"hold_down": delay}) if delay is not None else None,
        "actuation": entry(place, {"signal": Scalar(f"{thing}.replicas", place), "bounds": listed([low, high], place)}),
    }
    loop = sketch.names.fresh(f"{thing}_kpa")
    sketch.put("loops", loop, place, values)
    sketch.scaled.setdefault(thing, []).append(Scaling(loop, low, high))


def _setpoint(notes: FieldView, pod: FieldView, *, by_rate: bool) -> Scalar | None:
    """Returns how much of the metric a pod is to have: the stated target, or the concurrency, times a percentage.

    SOURCE: Knative Serving source, pkg/reconciler/autoscaling/resources/target.go: the smaller of both for concurrency.
    """
    share, stated = notes.quantity(f"{SCALING}target-utilization-percentage"), notes.quantity(f"{SCALING}target")
    hard = None if by_rate else pod.positive("containerConcurrency")
    whole = min(filter(None, (stated, hard)), key=value_of, default=None)
    if whole is None and share is None and not by_rate:
        return None
    base = whole or respelled(share or Scalar("", pod.node.place), REQUESTS if by_rate else CONCURRENCY)
    part = value_of(share) / 100 if share is not None else SHARE
    return respelled(base, exact((amount(base.text) or Fraction(0)) * part))
