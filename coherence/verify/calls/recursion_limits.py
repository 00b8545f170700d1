"""Decides which limits end calls that lead back to their caller: what leads to them, and what a limit counts of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from coherence.base.graphs import reached
from coherence.language.design import Design, Limit
from coherence.language.expressions.tree import Call as Function
from coherence.language.expressions.tree import Name
from coherence.verify.calls.call_graph import CallTree
from coherence.verify.calls.retry_policies import RetryPolicy


def calls_above(tree: CallTree, things: Collection[str]) -> tuple[RetryPolicy, ...]:
    """Returns the calls that lead to some things, those between them included."""
    above = reached(things, lambda name: tree.callers.get(name, ()))
    return tuple(plan for plan in tree.plans if plan.callee in above)


def ends(limit: Limit, design: Design, tree: CallTree, things: Collection[str]) -> bool:
    """Decides whether a limit refuses, so that each request from outside goes around so often at most."""
    always = limit.window is None and limit.during is None and limit.scope is None and not limit.actions
    refuses = always and limit.when_full is not None and limit.when_full.text == "reject"
    match limit.counts.tree if limit.counts and refuses else None:
        case Function(function="attempts", arguments=(Name(path=counted),)) if limit.per is not None:
            per = limit.per.text
            outside = per not in things and not _goes_around(tree, things, counted)
            return outside and _all_come_through(design, tree, things, per)
    return False


def _callees(tree: CallTree, name: str, without: str) -> Iterator[str]:
    yield from (plan.callee for plan in tree.of_caller.get(name, ()) if plan.callee != without)


def _goes_around(tree: CallTree, things: Collection[str], counted: str) -> bool:
    """Decides whether some way around passes by what is counted."""
    others = [name for name in things if name != counted]
    return any(name in reached(_callees(tree, name, counted), lambda n: _callees(tree, n, counted)) for name in others)


def _all_come_through(design: Design, tree: CallTree, things: Collection[str], per: str) -> bool:
    """Decides whether each request of some things is made for one of `per`: none comes from elsewhere.

    Requests begin at workloads, at what nothing calls, and in circles that neither of them reaches.
    """
    begin = {name for name in tree.of_caller if name not in tree.callers or name in design.workload}
    begun = reached(begin, lambda name: _callees(tree, name, ""))
    begin |= {name for name in tree.of_caller if name not in begun and name not in things}
    others = reached(begin - {per}, lambda name: _callees(tree, name, per))
    return others.isdisjoint(things) and not reached([per], lambda n: _callees(tree, n, "")).isdisjoint(things)
