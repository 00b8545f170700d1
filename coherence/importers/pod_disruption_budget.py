"""PodDisruptionBudget: a limit on the pods that its selector finds, which an eviction must keep.

Where what owns the pods has no scale (a Job, a DaemonSet, nothing) the controller cannot count what there should be:
`maxUnavailable` and percentages let none go.  A drain passes over the pods of a DaemonSet; those of a job end by
themselves: their budget is one of each run.

SOURCE: Kubernetes API, policy/v1 PodDisruptionBudgetSpec; documentation, Specifying a Disruption Budget: percentages
round up; a budget with neither number, and one that finds no pod, limits nothing; Arbitrary workloads and arbitrary
selectors; pkg/controller/disruption/disruption.go: getExpectedScale, failSafe.
"""

from __future__ import annotations

from coherence.base import units
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._quantities import members, respelled
from coherence.importers._selectors import selected
from coherence.importers._sketch import Sketch
from coherence.language.document import Node, Scalar

KIND = "PodDisruptionBudget"
GROUPS = ("policy",)
SPELLING = {"at_least": "minAvailable", "at_most": "maxUnavailable"}
PART = "pod_disruption_budget"
UNSCALED = ("Job", "CronJob", "JobSet", "Pod", "DaemonSet")
PASSED_OVER = "DaemonSet"
ENDING, ENDING_PODS = ("Job", "CronJob", "JobSet"), ("Never", "OnFailure")
KEYS = (("minAvailable", "at_least", "available"), ("maxUnavailable", "at_most", "evicted"))


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Reads the numbers, so that both together are refused as the API refuses them."""
    del sketch
    spec = manifest.spec
    if all(key in spec for key, *_ in KEYS):
        words = "minAvailable and maxUnavailable exclude each other"
        spec.problem(spec.place("maxUnavailable"), words, "keep one of the two")


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the limit, when all pods are known."""
    spec = manifest.spec
    chosen = next((item for item in KEYS if item[0] in spec), None)
    selector = spec.table("selector")
    if chosen is None or selector is None:
        return
    key, bound, counted = chosen
    limited = selected(selector, sketch)
    if len(limited) != 1:
        several = f"one budget over {', '.join(pods.thing for pods in limited)}, which are counted together"
        spec.remark(key, several if limited else "its selector finds no pod of these manifests")
        return
    thing, stated = limited[0].thing, spec.scalar(key)
    number = members(stated, thing, "up") if stated is not None else None
    if stated is not None and number is None:
        words = f"{spec.at(key)} is '{units.shorten(stated.text)}'"
        spec.problem(stated.place, words, "write a number of pods or a percentage")
    if stated is None or number is None:
        return
    template = limited[0].template
    kind = template.manifest.kind if template is not None else ""
    place, note = manifest.name.place, ""
    if kind in UNSCALED and (bound == "at_most" or "%" in number):
        note = f"of the pods of a {kind} it lets none go, for only minAvailable as a number can be kept of them"
        if kind == PASSED_OVER:
            spec.remark(key, f"{note}; a drain passes over them")
            return
        bound, counted, number = "at_most", "evicted", "0"
    values: dict[str, Node | None] = {
        "uses": Scalar(PART, place),
        "counts": Scalar(f"{thing}.{counted}", stated.place),
        bound: respelled(stated, number),
        "per": Scalar(f"{thing}.run", place) if _ends_by_itself(template, kind) else None,
        "note": Scalar(note, place) if note else None,
    }
    sketch.put("limits", sketch.names.policy(manifest.name.text, "budget", "pdb"), place, values)


def _ends_by_itself(template: FieldView | None, kind: str) -> bool:
    """Decides whether pods end when their work is done: those of a job, or of nothing that is started again."""
    alone = kind == "Pod" and template is not None and word(template.node, "restartPolicy") in ENDING_PODS
    return kind in ENDING or alone
