"""Rollout of Argo: pods as those of a Deployment, its canary as a rolling update, the deadline of each step as a timer.

Without traffic routing the weight of a canary is a share of the pods, and `maxSurge` and `maxUnavailable` bound them.
With it the stable pods all stay until the canary is as large, unless `dynamicStableScale` is set: then so many extra
may start as there are, and none is missing.  Steps move traffic and pods between two sets; their number is that of
`replicas`, or of what scales the Rollout.

SOURCE: Argo Rollouts documentation, Specification; Canary Deployment Strategy; Traffic Management.
"""

from __future__ import annotations

from coherence.base.places import Place
from coherence.importers import _pods as pods
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._replicas import link_scaling as link
from coherence.importers._replicas import replicas
from coherence.importers._rolling import progress_deadline, rolling_update
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar, Table

__all__ = ["GROUPS", "KIND", "SPELLING", "add", "link"]

KIND = "Rollout"
GROUPS = ("argoproj.io",)
SPELLING = pods.SPELLING
LIMITS = ("maxSurge", "maxUnavailable")
STEPS = "its steps move traffic and pods between two sets, and not their number"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component with its probes and its grace, the canary, and the deadline of progress."""
    spec = manifest.spec
    spec.remark("workloadRef", "the pods are those of another workload, and its number of replicas is written")
    thing = pods.add_pods(manifest, sketch, spec.table("template"), copies=replicas(spec))
    canary, blue_green = spec.inner("strategy", "canary"), spec.inner("strategy", "blueGreen")
    if canary is not None:
        _canary(canary, spec, thing, sketch)
    elif blue_green is not None:
        blue_green.remark("autoPromotionSeconds", "when the new pods take over is not modelled")
        _all_extra(spec, blue_green.node.place, thing, sketch)
    progress_deadline(spec, thing, sketch)


def _canary(canary: FieldView, spec: FieldView, thing: str, sketch: Sketch) -> None:
    canary.remark("steps", STEPS)
    if "trafficRouting" not in canary:
        if any(key in canary for key in LIMITS) or pods.needs_scarce(spec.table("template")):
            rolling_update(canary, spec, thing, sketch)
        return
    canary.remark("trafficRouting", "who is sent how much is not modelled")
    dynamic = canary.scalar("dynamicStableScale")
    if dynamic is not None and dynamic.text == "true":
        canary.remark("dynamicStableScale", "the stable pods become fewer as the canary grows")
        return
    canary.remark_all(dict.fromkeys(LIMITS, "nothing bounds the canary where traffic is routed"))
    _all_extra(spec, canary.node.place, thing, sketch)


def _all_extra(spec: FieldView, place: Place, thing: str, sketch: Sketch) -> None:
    """Adds that as many pods may be extra as there are, and none may be missing."""
    if not pods.needs_scarce(spec.table("template")):
        return  # whether there is room for them is not asked of what every node has
    entries = {"maxSurge": Scalar("100%", place), "maxUnavailable": Scalar("0", place)}
    table = Table(dict(entries), dict.fromkeys(entries, place), place)
    rolling_update(FieldView(table, "spec.strategy", spec.manifest), spec, thing, sketch)
