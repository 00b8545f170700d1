"""NodePool of Karpenter: budgets as limits on the nodes that go at once, consolidation as a loop.

Without `budgets` one of 10 % holds, with an empty list none; of several the smallest that is active binds, so each is
a limit of its own.  `consolidateAfter: Never` switches consolidation off, and a static pool (`replicas`) has none.  A
budget for some reasons is listed.  A pool that says nothing of disruption has the budget and the consolidation.

SOURCE: Karpenter API v1, NodePool disruption; pkg/controllers/disruption/consolidation.go: ShouldDisrupt; defaults in
the parts.
"""

from __future__ import annotations

from coherence.base import units
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import members, respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar, Table

KIND = "NodePool"
GROUPS = ("karpenter.sh",)
SPELLING = {"at_most": "nodes", "during": "duration"}
BUDGET, CONSOLIDATION = "karpenter_budget", "karpenter_consolidation"
EMPTY = "WhenEmpty"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the nodes, their budgets and the loop that takes some away."""
    thing = sketch.names.thing(manifest.name.text, "", KIND)
    sketch.mention(thing, manifest.name.place, f"nodes of {manifest.title}")
    spec = manifest.spec
    disruption = spec.table("disruption") or FieldView(Table({}, {}, spec.node.place), spec.at("disruption"), manifest)
    budgets = disruption.tables("budgets")
    for budget in budgets:
        _budget(budget, thing, sketch)
    if "budgets" not in disruption:
        _limit(Scalar("10 %", disruption.node.place), f"10 % of {thing}.copies round up", None, thing, sketch)
    if "replicas" in spec:
        spec.remark("replicas", "a static pool, of which no node is taken for being empty or underused")
        return
    _consolidation(disruption, thing, sketch)


def _budget(budget: FieldView, thing: str, sketch: Sketch) -> None:
    nodes = budget.required("nodes")
    if nodes is None:
        return
    most = members(nodes, thing, "up")
    if most is None:
        words = f"{budget.at('nodes')} is '{units.shorten(nodes.text)}'"
        budget.problem(nodes.place, words, "write a number of nodes or a percentage")
        return
    if "reasons" in budget:
        for key in budget.node.entries:
            budget.remark(key, "a budget for some reasons is not modelled")
        return
    _limit(nodes, most, _during(budget), thing, sketch)


def _limit(nodes: Scalar, most: str, during: Scalar | None, thing: str, sketch: Sketch) -> None:
    sketch.put_limit(f"{thing}_budget", f"{thing}.disrupted", respelled(nodes, most), uses=BUDGET, during=during)


def _during(budget: FieldView) -> Scalar | None:
    """Returns the window in which a budget is active; None for always."""
    schedule, duration = budget.scalar("schedule"), budget.duration("duration")
    if (schedule is None) != (duration is None) and ("schedule" in budget) != ("duration" in budget):
        words = f"{budget.path} has one of schedule and duration"
        budget.problem(budget.node.place, words, "write both, or neither")
    if schedule is None or duration is None:
        return None
    return respelled(schedule, f"{schedule.text} for {duration.text}")


def _consolidation(disruption: FieldView, thing: str, sketch: Sketch) -> None:
    policy, after = disruption.scalar("consolidationPolicy"), disruption.scalar("consolidateAfter")
    if after is not None and after.text == "Never":
        disruption.remark("consolidateAfter", "Never: consolidation is off")
        return
    waited = disruption.duration("consolidateAfter") if after is not None else None
    place = disruption.node.place
    what = "empty" if policy is not None and policy.text == EMPTY else "underused"
    held = f"{thing}.{what} for {waited.text if waited else '0 s'}"
    actuation = {"signal": Scalar(f"{thing}.disrupted", place), "by": Scalar("1", place)}
    loop: dict[str, Node | None] = {
        "uses": Scalar(CONSOLIDATION, place),
        "trigger": respelled(after, held) if after is not None else Scalar(held, place),
        "actuation": entry(place, actuation),
    }
    sketch.put("loops", sketch.names.fresh(f"{thing}_consolidation"), place, loop)
