"""Finds how many requests a second go on through a thing that keeps each in its work until its calls have ended.

By Little's law a thing with room for S requests at once, each of which stays W seconds, goes on with S / W a second.
W lies between the time in which no try fails and the time in which all of them hang; where the thing states how many of
its requests are of each case, it is the mean of those of the cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.base.reads import unnoted
from coherence.findings.standing_proofs import no_waits
from coherence.language.call_cases import moved_by, weights
from coherence.language.design import Design
from coherence.language.entries.member_slots import member_slots
from coherence.language.expressions import names as names_of
from coherence.language.roles import others_of_an_answer, time_of, waits_in_window
from coherence.verify.calls.call_graph import NO_WAIT, Work, call_tree, in_turn, open_time, own_time, work_of_members
from coherence.verify.calls.retry_policies import RetryPolicy, serve_time
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.queues.loaded_things import LoadedThing, loaded_thing
from coherence.verify.queues.offered_load import PLAIN, OfferedRate, contested
from coherence.verify.queues.stated_capacities import stated_capacity

ZERO = Fraction(0)
MOST_CORNERS = 256  # ends of weights that are ranges
AT_ONCE = (
    "how many requests each member of {0} works on at once "
    "(`limits: {{n: {{counts: {0}.ongoing, at_most: ..., per: replica}}}}`)"
)


def thing_with_calls(facts: DesignFacts, thing: str) -> LoadedThing | None:
    """Returns a thing with what goes on through it at least and at most; None where no time of its work is stated.

    Where no limit says how many requests a member works on at once that is open, and one is the least.
    """
    component, slots = facts.design.components.get(thing), member_slots(facts.design, thing)
    plain = component is not None and (component.part is None or component.part.text in PLAIN)
    work = work_of_members(facts.design, thing)
    if not plain or slots is None or work is None or work.cyclic or stated_capacity(facts, thing) is not None:
        return None
    beside = others_of_an_answer(facts.design, thing) if work.serve is not None else {}
    work = replace(work, perhaps={**work.perhaps, **beside})
    stay = _stay(facts.design, thing, work)
    if stay.least == stay.most == 0:
        return None
    station = loaded_thing(facts, thing, _each(facts, thing, work, stay))
    if station is None:
        return None
    waits = dict.fromkeys(NO_WAIT.format(plan.callee) for plan in work.through)
    waits |= dict.fromkeys(no_waits(_held_back(facts, thing)))
    assumed = (*(own_time(work, thing) if work.serve is None or beside else ()), *in_turn(work, thing), *waits)
    behind = tuple(dict.fromkeys(name for plan in work.through for name in (plan.name, plan.callee)))
    station = replace(_opened(facts.design, station, work, stay), assumed=assumed, behind=behind)
    doubt = next((twice[0] for name in _below(facts, thing) if (twice := contested(facts, name)) is not None), "")
    unsure = replace(station.each, low=ZERO, open=station.each.open or doubt)
    return replace(station, each=unsure) if doubt else station


def _below(facts: DesignFacts, thing: str) -> list[str]:
    """Returns the things that are called in the work of a thing."""
    return sorted({*call_tree(facts.design).below(thing)} - {thing})


def _held_back(facts: DesignFacts, thing: str) -> Iterator[str]:
    """Yields the limits that make callers wait on the way to what a thing calls."""
    below = _below(facts, thing)
    for limit in facts.design.limits.values():
        counted = names_of(limit.counts.tree) if limit.counts is not None else ()
        waits = limit.waits or waits_in_window(facts.design, limit)
        if waits and any(path.partition(".")[0] in below for path in counted):
            yield limit.name


@dataclass(frozen=True)
class StayInWork:
    """Seconds for which a request stays in the work of a thing: in the mean at least, and at most (None: no bound)."""

    least: Fraction
    most: Fraction | None


def _stay(design: Design, thing: str, work: Work) -> StayInWork:
    """Returns how long a request of a thing stays: in the mean of its cases, where it states how many are of each."""
    stated, cases = weights(design).get(thing), {case.name: case for case in call_tree(design).cases.get(thing, ())}
    if not stated or not set(cases) <= set(stated) or "" in cases or moved_by(design, thing):
        return StayInWork(work.answer.least, work.longest)
    own = [work_of_members(design, thing, (cases[name],) if name in cases else ()) for name in stated]
    known = [replace(one, perhaps={**one.perhaps, **work.perhaps}) for one in own if one is not None]
    ends = [{weight.low, weight.high} for weight in stated.values()]
    if len(known) < len(own) or prod(map(len, ends)) > MOST_CORNERS:
        return StayInWork(work.answer.least, work.longest)
    corners = [corner for corner in product(*ends) if sum(corner)]
    least = [one.answer.least for one in known]
    most = [one.longest for one in known if one.longest is not None]
    return StayInWork(
        min((_mean(corner, least) for corner in corners), default=ZERO),
        max((_mean(corner, most) for corner in corners), default=ZERO) if len(most) == len(known) else None,
    )


def _mean(numbers: Sequence[Fraction], times: Sequence[Fraction]) -> Fraction:
    return sum((n * t for n, t in zip(numbers, times, strict=True)), ZERO) / sum(numbers)


def _each(facts: DesignFacts, thing: str, work: Work, stay: StayInWork) -> OfferedRate:
    """Returns requests per second for which room for one at once is enough, as a range."""
    low = 1 / stay.most if stay.most else ZERO
    high = 1 / stay.least if stay.least else low
    return OfferedRate(low, high, high, tuple(_places(facts, thing, work)))


def _places(facts: DesignFacts, thing: str, work: Work) -> Iterator[Place]:
    if work.serve is not None:
        yield work.serve.place.labelled(f"{thing} itself takes this")
    for plan in call_tree(facts.design).of_caller.get(thing, ()):
        if plan.call.place is not None:
            yield plan.call.place.labelled("a request stays until this has ended")


@unnoted()  # whether a way is open says nothing of what waits for its links
def _on_no_stated_way(design: Design, plan: RetryPolicy) -> bool:
    """Decides whether a call without a limit is under way for a time that the time of what it calls does not count."""
    from coherence.model.routes import transit

    alone, own = transit(design, plan.call)[1], time_of(design.components.get(plan.callee), "answer")
    whole = serve_time(design, plan.callee)
    return alone > 0 and (own is None or whole is None or whole.high < own.high + alone)


def _opened(design: Design, station: LoadedThing, work: Work, stay: StayInWork) -> LoadedThing:
    """Returns a thing with what to ask where its numbers decide nothing."""
    each, demand = station.each, station.demand
    away = next((plan.name for plan in work.through if _on_no_stated_way(design, plan)), "")
    if away and (not stay.least or demand.low < station.many * each.high):
        needs = f"a deadline of {away}: how long it is under way is not counted"
        return replace(station, each=replace(each, low=ZERO, open=needs))
    if not station.at_once.limits:
        return replace(station, each=replace(each, open=AT_ONCE.format(station.thing)), lacks_slots=True)
    if stay.least and demand.low >= station.many * each.high:
        return replace(station, each=replace(each, low=each.high))
    if not stay.most:
        return replace(station, each=replace(each, open=open_time(work, station.thing)))
    stays = f"{render_seconds(stay.least)} to {render_seconds(stay.most)}"
    open_ = f"how long a request stays in the work of {station.thing}, {stays} with its calls"
    return replace(station, each=replace(each, open=open_), ranged=True)
