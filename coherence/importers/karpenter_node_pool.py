"""NodePool of Karpenter: budgets as limits on the nodes that go at once, consolidation as a loop.

Without `budgets` one of 10 % holds, with an empty list none; of several the smallest that is active binds, so each is
a limit of its own.  `consolidateAfter: Never` switches consolidation off, and a static pool (`replicas`) has none.  A
budget for some reasons is a limit of the loops that act for these: where one parts the reasons of consolidation, empty
nodes and underused ones are taken by a loop each, and one that never allows any switches its reasons off.  What has
drifted no loop takes: a budget for that alone is listed.  A pool that says nothing of disruption has the budget and the
consolidation.

SOURCE: Karpenter API v1, NodePool disruption, Budget: reasons; pkg/controllers/disruption/consolidation.go:
ShouldDisrupt; defaults in the parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from coherence.base import units
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import members, respelled
from coherence.importers._sketch import Sketch, entry, listed
from coherence.language.document import Node, Scalar, Table

KIND = "NodePool"
GROUPS = ("karpenter.sh",)
SPELLING = {"at_most": "nodes", "during": "duration"}
BUDGET, CONSOLIDATION = "karpenter_budget", "karpenter_consolidation"
EMPTY = "WhenEmpty"
REASONS = {"Empty": "empty", "Underutilized": "underused"}  # those for which consolidation takes nodes
DRIFTED = "Drifted"
OF_DRIFT = "a budget of what no loop here does: nodes that have drifted are not modelled, or consolidation is off"
SWITCHED_OFF = "no node is ever taken for these reasons: that is switched off"
Loops = dict[str, frozenset[str]]  # those of consolidation, each with the reasons for which it acts


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the nodes, their budgets and the loop that takes some away."""
    thing = sketch.names.thing(manifest.name.text, "", KIND)
    sketch.mention(thing, manifest.name.place, f"nodes of {manifest.title}")
    spec = manifest.spec
    disruption = spec.table("disruption") or FieldView(Table({}, {}, spec.node.place), spec.at("disruption"), manifest)
    budgets = disruption.tables("budgets")
    loops = {} if _is_off(spec, disruption) else _loops(disruption, budgets, thing, sketch)
    for budget in budgets:
        _budget(budget, thing, loops, sketch)
    if "budgets" not in disruption:
        _limit(Scalar("10 %", disruption.node.place), f"10 % of {thing}.copies round up", thing, sketch)
    for name, reasons in loops.items():
        _consolidation(disruption, thing, name, reasons, sketch)


def _is_off(spec: FieldView, disruption: FieldView) -> bool:
    """Decides whether no node is taken for being empty or underused."""
    after = disruption.scalar("consolidateAfter")
    if "replicas" in spec:
        spec.remark("replicas", "a static pool, of which no node is taken for being empty or underused")
    elif after is not None and after.text == "Never":
        disruption.remark("consolidateAfter", "Never: consolidation is off")
    return "replicas" in spec or (after is not None and after.text == "Never")


def _loops(disruption: FieldView, budgets: Sequence[FieldView], thing: str, sketch: Sketch) -> Loops:
    """Returns one loop for all reasons of consolidation, or one for each where some budget parts them."""
    policy = disruption.scalar("consolidationPolicy")
    reasons = frozenset(["Empty"] if policy is not None and policy.text == EMPTY else REASONS)
    reasons -= frozenset(one for budget in budgets if _switches_off(budget) for one in _reasons(budget))
    stated = [_reasons(budget) for budget in budgets if "reasons" in budget and not _switches_off(budget)]
    if not reasons:
        return {}
    if all(reasons <= some or not reasons & some for some in stated):
        return {sketch.names.fresh(f"{thing}_consolidation"): reasons}
    return {sketch.names.fresh(f"{thing}_{REASONS[one]}"): frozenset([one]) for one in sorted(reasons)}


def _switches_off(budget: FieldView) -> bool:
    """Decides whether a budget lets no node go, at all times, for the reasons that it names."""
    nodes = budget.scalar("nodes")
    return "reasons" in budget and "schedule" not in budget and nodes is not None and nodes.text in ("0", "0%")


def _reasons(budget: FieldView) -> frozenset[str]:
    return frozenset(reason.text for reason in budget.scalars("reasons"))


def _budget(budget: FieldView, thing: str, loops: Loops, sketch: Sketch) -> None:
    nodes = budget.required("nodes")
    if nodes is None:
        return
    most = members(nodes, thing, "up")
    if most is None:
        words = f"{budget.at('nodes')} is '{units.shorten(nodes.text)}'"
        budget.problem(nodes.place, words, "write a number of nodes or a percentage")
        return
    if wrong := next((reason for reason in budget.scalars("reasons") if reason.text not in (*REASONS, DRIFTED)), None):
        words = f"{budget.at('reasons')} has '{units.shorten(wrong.text)}'"
        budget.problem(wrong.place, words, f"write {', '.join(sorted((*REASONS, DRIFTED)))}")
        return
    of = [name for name, reasons in loops.items() if reasons <= _reasons(budget)]
    if _switches_off(budget) or ("reasons" in budget and not of):
        for key in budget.node.entries:
            budget.remark(key, SWITCHED_OFF if _switches_off(budget) else OF_DRIFT)
        return
    during = _during(budget)
    acting = listed([respelled(nodes, name) for name in of], nodes.place) if "reasons" in budget else None
    _limit(nodes, most, thing, sketch, during=during, actions=acting)


def _limit(
    nodes: Scalar, most: str, thing: str, sketch: Sketch, *, during: Node | None = None, actions: Node | None = None
) -> None:
    name, counted = f"{thing}_budget", f"{thing}.disrupted"
    sketch.put_limit(name, counted, respelled(nodes, most), uses=BUDGET, during=during, actions=actions)


def _during(budget: FieldView) -> Scalar | None:
    """Returns the window in which a budget is active; None for always."""
    schedule, duration = budget.scalar("schedule"), budget.duration("duration")
    if (schedule is None) != (duration is None) and ("schedule" in budget) != ("duration" in budget):
        words = f"{budget.path} has one of schedule and duration"
        budget.problem(budget.node.place, words, "write both, or neither")
    if schedule is None or duration is None:
        return None
    return respelled(schedule, f"{schedule.text} for {duration.text}")


def _consolidation(disruption: FieldView, thing: str, name: str, reasons: frozenset[str], sketch: Sketch) -> None:
    after = disruption.scalar("consolidateAfter")
    waited = disruption.duration("consolidateAfter") if after is not None else None
    place = disruption.node.place
    what = "empty" if reasons == {"Empty"} else "underused"
    held = f"{thing}.{what} for {waited.text if waited else '0 s'}"
    actuation = {"signal": Scalar(f"{thing}.disrupted", place), "by": Scalar("1", place)}
    loop: dict[str, Node | None] = {
        "uses": Scalar(CONSOLIDATION, place),
        "trigger": respelled(after, held) if after is not None else Scalar(held, place),
        "actuation": entry(place, actuation),
    }
    sketch.put("loops", name, place, loop)
