"""Decides which limits end calls that lead back to their caller, by what a limit counts of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from coherence.base.graphs import reached
from coherence.language.design import Design, Limit
from coherence.language.expressions.tree import Call as Function
from coherence.language.expressions.tree import Name, names, walk
from coherence.language.schema_kinds import Word
from coherence.language.words import COUNTS, MEMBERS, STATES
from coherence.verify.calls.call_graph import CallTree
from coherence.verify.facts.limits import counted_in_flight

APART = ("", *STATES["sent"])  # of a thing further up they are none of the circle's
MEMBER_STATES = ("wanted", "extra", "old", "out of service", "left in service", "failing", "failures")
OTHER = {  # members, and tries after the first one: they keep no request from being made
    *MEMBERS.difference(("running", "count", "size", "jobs")), *COUNTS["unavailable"], *STATES["sent again"],
    *(name for state in MEMBER_STATES for name in STATES[state]),
}  # fmt: skip
WAITS = ("wait", "evict and redo")


def ends(limit: Limit, design: Design, tree: CallTree, things: Collection[str]) -> bool:
    """Decides whether a limit refuses, so that each request from outside goes around so often at most."""
    always = limit.window is None and limit.during is None and limit.scope is None and not limit.actions
    refuses = always and limit.rejects
    match limit.counts.tree if limit.counts and refuses else None:
        case Function(function="attempts", arguments=(Name(path=counted),)) if limit.per is not None:
            per = limit.per.text
            outside = per not in things and not _goes_around(tree, things, counted)
            return outside and _all_come_through(design, tree, things, per)
    return False


def nests(limit: Limit, tree: CallTree, things: Collection[str]) -> bool:
    """Decides whether a limit refuses what is in flight at a thing of every way around, where callers wait to the end.

    A request is in flight until what it called on has ended: no more than the cap are within one another.  That holds
    where no call of the circle is given up while what it calls on goes on.
    """
    always = limit.window is None and limit.during is None and limit.scope is None and not limit.actions
    counted = counted_in_flight(limit).removesuffix(".requests")
    if not (always and limit.rejects and limit.per is None and counted in things):
        return False
    inside = [plan for plan in tree.plans if plan.caller in things and plan.callee in things]
    given_up = [plan for plan in inside if plan.limit is not None or plan.call.hedge_after is not None]
    return all(plan.call.cancels for plan in given_up) and not _goes_around(tree, things, counted)


def may_end(limits: Iterable[Limit], tree: CallTree, things: Collection[str]) -> tuple[Limit, ...]:
    """Returns the caps that may refuse something of a circle: all but those of what is counted apart from it.

    Further up that is what is sent there, or is in flight; of what the circle does not belong to it is everything.
    """
    above = reached(things, lambda name: tree.callers.get(name, ()))
    below = reached(things, lambda name: _callees(tree, name, ""))
    elsewhere = {*tree.of_caller, *tree.callers} - below

    def apart(thing: str, signal: str) -> bool:
        return thing in elsewhere and (thing not in above or signal in APART)

    return tuple(limit for limit in limits if not all(apart(*counted) for counted in _counted(limit)))


def holding(limits: Iterable[Limit], tree: CallTree, things: Collection[str]) -> tuple[Limit, ...]:
    """Returns the caps at which something of a circle waits, perhaps for what it waits for itself."""
    waits = [x for x in limits if x.window is None and (x.when_full is None or x.when_full.text in WAITS)]
    elsewhere = {*tree.of_caller, *tree.callers}.difference(things)
    return tuple(limit for limit in waits if not all(thing in elsewhere for thing, _ in _counted(limit)))


def _counted(limit: Limit) -> list[tuple[str, str]]:
    """Returns what a cap counts, as things and their signals: without members and retries; empty ones where unsaid."""
    if limit.at_most is None or isinstance(limit.at_most, Word):
        return []
    if limit.counts is None:
        return [("", "")]
    if any(isinstance(node, Function) and node.function == "count by" for node in walk(limit.counts.tree)):
        return []
    counted = [path.partition(".") for path in names(limit.counts.tree)]
    return [(thing, signal) for thing, _, signal in counted if signal not in OTHER]


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
