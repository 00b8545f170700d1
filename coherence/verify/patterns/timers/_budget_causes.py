"""What spends a budget: the timer whose firings it counts, or all that ends its thing again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question
from coherence.language.design import Design, Timer
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Interval
from coherence.verify.events.firing_gaps import firing_gaps, owner
from coherence.verify.events.forestalling import never_fires
from coherence.verify.facts.design_facts import DesignFacts, copies, scalers
from coherence.verify.jobs.losses import lost_with_places
from coherence.verify.patterns.timers import _overrun
from coherence.verify.patterns.timers._failure_budget import FailureBudget
from coherence.verify.timers.recurrences import Recurrence, counted_timer, recurrences
from coherence.verify.timers.removals import departures, taken_out


@dataclass(frozen=True)
class FiringRecurrence(Recurrence):
    """How often a timer fires.  `soonest`: how close two firings may come where `anew` begins it again between them.

    `first`: the least time from what it counts from to its first firing.  `once`: each of its timers fires once,
    whatever `apart` says.
    """

    soonest: Fraction = Fraction(0)
    anew: tuple[str, ...] = ()
    once: bool = False
    first: Fraction = Fraction(0)


def causes_of(facts: DesignFacts, budget: FailureBudget) -> list[Recurrence]:
    """Returns what spends a budget; without an upper end where members need not stay so long."""
    timer = counted_timer(facts.design, budget.limit)
    if timer is not None:
        return list(_firings(facts, timer))
    certain = [case.timer.name for case in _overrun.cases(facts.design) if case.relation == "after"]
    every = recurrences(facts, budget.thing, once=budget.lives == 0, never_lifted=certain)
    stay = not scalers(facts, budget.thing) and _some_member(facts, budget.thing)
    return [
        cause if stay else replace(cause, apart=Interval(cause.apart.low, None))
        for cause in every
        if not _renewed(facts.design, cause)
    ]


def _some_member(facts: DesignFacts, thing: str) -> bool:
    """Decides whether a thing has a member at all times, where the design says how many it has."""
    members = copies(facts, thing) if thing in facts.design.components else None
    return members is None or (members.low or 0) > 0


def _renewed(design: Design, cause: Recurrence) -> bool:
    """Returns whether a timer fires in no run in which its renewals go on, or in none since another one is first."""
    timer = design.timers.get(cause.name)
    if timer is None or timer.renew is None:
        return timer is not None and never_fires(design, timer)
    from coherence.verify.events.renewals import in_time

    return in_time(design, timer) is True


def if_not_renewed(question: Question, design: Design, timer: Timer, answer: Finding) -> Finding:
    """Returns an answer about a timer; open where its renewals could keep it from firing."""
    if timer.renew is None:
        return answer
    from coherence.verify.events.renewals import unless_renewed

    return unless_renewed(question, design, timer, answer)


def always_lifted(facts: DesignFacts, timer: Timer) -> bool:
    """Decides whether what lifts a timer always comes before it fires."""
    cases = _overrun.cases(facts.design) if timer.unless is not None else ()
    return any(case.timer.name == timer.name and case.relation == "before" for case in cases)


def _begun_anew_by(facts: DesignFacts, timer: Timer) -> tuple[str, ...]:
    """Returns what may take away members that a timer stands for, or add some: those that come begin it anew."""
    thing, _ = owner(facts.design, timer)
    if thing not in facts.design.components:
        return ()
    places = lost_with_places(facts, thing, 0)[0]
    gone = [*departures(facts, thing), *taken_out(facts, thing), *([places] if places is not None else [])]
    names = (departure.name for departure in gone if departure.name != timer.name)
    return tuple(dict.fromkeys((*scalers(facts, thing), *names)))


def _firings(facts: DesignFacts, timer: Timer) -> Iterator[FiringRecurrence]:
    """Yields how far apart a timer fires, where that is known; without an upper end where it need not fire again."""
    gaps = firing_gaps(facts, timer)
    if gaps is None or always_lifted(facts, timer):
        return
    place = next((q.place for q in (timer.every, timer.after) if isinstance(q, Quantity)), timer.place)
    anew, low = _begun_anew_by(facts, timer), gaps.first
    high = None
    if gaps.apart is not None and gaps.apart.low is not None:
        low, high = gaps.apart.low, None if anew else gaps.apart.high
    yield FiringRecurrence(
        timer.name, timer.name, Interval(low, high), place.labelled(f"{timer.name}: so far apart"),
        min(gaps.first, low), anew, once=gaps.apart is None and not anew, first=gaps.first,
    )  # fmt: skip
