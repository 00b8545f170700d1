"""Finds what lets less of a load reach a thing than is asked: quotas, callers that serve less, loops, breakers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from coherence.base.graphs import reached
from coherence.language.design import Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.entries.member_slots import RUNNING
from coherence.language.expressions import names as names_of
from coherence.language.implied import EACH
from coherence.language.roles import SendCount, own_workload, send_count, time_of
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.words import STATES, TIME_IN_QUEUE
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.facts.design_facts import DesignFacts, scaling
from coherence.verify.facts.limits import always_holds, in_flight_limits
from coherence.verify.queues.loaded_things import LoadedThing, station_of
from coherence.verify.queues.offered_load import offered
from coherence.verify.queues.requests_in_work import thing_with_calls

WAITING = STATES["waiting"]
HELD_BACK = (*WAITING, TIME_IN_QUEUE)
RATE_WORDS = ("rate", "attempts")
LOWERS = "{} leaves {} with its fewest members"
LEAVES = "{} leaves {} as it is stated"
STAYS_CLOSED = "the breaker of {} stays closed"
REFUSES_NONE = "{} refuses nobody"


def places_in_queue(limit: Limit, most: Fraction, rate: Fraction) -> Fraction:
    """Returns how many may wait under a limit on their number, or on their time where `rate` (1/s) is served."""
    timed = isinstance(limit.counts, Formula) and str(limit.counts).endswith(f".{TIME_IN_QUEUE}")
    return most * rate if timed else most


def admitted(facts: DesignFacts, thing: str, *, by_mean: bool = False) -> tuple[Limit, Fraction] | None:
    """Returns the limit that lets the fewest sends through to a thing, of all that are sent there, with its rate (1/s).

    At all times, whatever it does with the others; None where no limit does.  Of a limit in tokens as many as the
    smallest requests allow, or (`by_mean`) those of the largest mean: that it lets through no more is not certain.
    """
    quotas: list[tuple[Limit, Fraction]] = []
    callers = {plan.caller for plan in call_tree(facts.design).plans if plan.callee == thing}
    callers |= {thing} if own_workload(facts.design, thing) is not None else set()
    for limit in facts.design.limits.values():
        most, window = most_allowed(facts.design, limit), limit.window
        if most is None or not isinstance(window, Quantity) or window.low <= 0 or not _counts_all(limit):
            continue
        count = send_count(facts.design, limit)
        if count is not None and count.callee == thing and (count.caller is None or callers == {count.caller}):
            each = _each_counts(facts, count, by_mean=by_mean)
            quotas += [(limit, most.high / window.low / each)] if each > 0 else []
    return min(quotas, key=lambda own: own[1], default=None)


def _each_counts(facts: DesignFacts, count: SendCount, *, by_mean: bool) -> Fraction:
    """Returns what each send counts at least, or in the mean of those that count most; 0 where nothing says it."""
    if not count.part:
        return Fraction(1)
    load = offered(facts, count.callee)
    senders = [w for name in (load.names if load is not None else ()) if (w := facts.design.workload.get(name))]
    worths = [worth for workload in senders if (worth := count.worth(workload)) is not None]
    if not worths or (len(worths) < len(senders) and not by_mean):
        return Fraction(0)
    return max(worth.high for worth in worths) if by_mean else min(worth.least for worth in worths)


def _counts_all(limit: Limit) -> bool:
    stops = limit.when_full is not None and limit.when_full.text in ("wait", "reject", "fail and lose")
    return stops and always_holds(limit) and not limit.actions


def sheds(facts: DesignFacts, station: LoadedThing) -> Iterator[Limit]:
    """Yields the limits of what waits, runs or is in flight at a thing that turn away what comes beyond them."""
    limits = [station.slots[0]] if station.slots is not None else []
    for path, own in facts.counted.items():
        head, _, signal = path.partition(".")
        if head == station.thing and signal in (*HELD_BACK, *RUNNING):
            limits += own
    heads = (station.thing, *(station.demand.names if len(station.demand.names) == 1 else ()))
    counted = {text for head in heads for text in (head, f"{head}.requests")}
    limits += [limit for limit, _ in in_flight_limits(facts.design, counted)]
    yield from (x for x in limits if x.when_full is not None and x.when_full.text in ("reject", "fail and lose"))


def doubts(facts: DesignFacts, station: LoadedThing) -> Iterator[str]:
    """Yields what a conflict supposes: that loops leave the numbers as they are stated, that all of it is passed on."""
    for path, writers in facts.written.items():
        head, _, word = path.partition(".")
        each = head == station.thing and word.startswith(EACH)
        if each or (head in station.demand.names and word == "service"):
            yield from (LEAVES.format(writer.name, path) for writer in writers)
    if not station.scaled and station.members[0] < station.members[1]:
        yield from (LOWERS.format(writer.name, station.thing) for writer in scaling(facts, station.thing))
    let = admitted(facts, station.thing, by_mean=True)
    if let is not None and let[1] < station.most:
        yield f"{let[0].name} lets {station.thing} be asked for more than it serves"
    yield from held_above(facts, station.thing, lambda passed: passed >= station.most)
    own = time_of(facts.design.components.get(station.thing), "answer")
    if own is None or station.demand.low * own.low < station.many:
        yield from fails_behind(facts, station.thing)


def fails_behind(facts: DesignFacts, thing: str) -> Iterator[str]:
    """Yields that what a thing calls fails by no breaker and no limit, and so no sooner than it says that it needs."""
    tree = call_tree(facts.design)
    below = {*tree.below(thing)} - {thing}
    for limit in facts.design.limits.values() if below else ():
        counted = names_of(limit.counts.tree) if limit.counts is not None else ()
        refuses = limit.when_full is not None and limit.when_full.text in ("reject", "fail and lose")
        if refuses and any(path.partition(".")[0] in below for path in counted):
            yield REFUSES_NONE.format(limit.name)
    for plan in tree.plans:
        if plan.callee in below and plan.call.breaker is not None:
            yield STAYS_CLOSED.format(plan.name)


def held_above(facts: DesignFacts, thing: str, suffices: Callable[[Fraction], bool]) -> Iterator[str]:
    """Yields that callers above a thing pass on all that is asked, where they may not; loops and breakers there.

    `suffices`: whether so many requests per second alone make the conflict.
    """
    tree = call_tree(facts.design)
    above = reached([thing], lambda name: tree.callers.get(name, ()))
    for name in sorted((above - {thing}) & facts.design.components.keys()):
        own, let = station_of(facts, name) or _with_slots(facts, name), admitted(facts, name, by_mean=True)
        load = own.demand if own is not None else offered(facts, name)
        passed = [own.capacity] if own is not None else []
        passed += [let[1]] if let is not None else []
        if load is not None and passed and min(passed) < load.high and not suffices(min(passed)):
            yield f"{name} passes on all that is asked of it"
    for path, writers in facts.written.items():
        head, _, word = path.partition(".")
        if head in above & facts.design.workload.keys() and word in RATE_WORDS:
            yield from (LEAVES.format(writer.name, path) for writer in writers)
    for plan in tree.plans:
        if plan.callee in above and plan.call.breaker is not None:
            yield STAYS_CLOSED.format(plan.name)


def _with_slots(facts: DesignFacts, thing: str) -> LoadedThing | None:
    """Returns a thing that calls others and whose members work on a stated number of requests at once."""
    station = thing_with_calls(facts, thing)
    return station if station is not None and not station.lacks_slots else None


__all__ = ["admitted", "doubts", "fails_behind", "held_above", "sheds"]
