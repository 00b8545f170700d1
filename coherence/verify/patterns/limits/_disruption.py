"""Checks disruption budgets: with the fewest copies there may be, at least one must be free to go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic
from coherence.language.design import Design, Limit, Timer
from coherence.language.entries.actions import ENDS, action_in
from coherence.language.expressions.lower_smt import real
from coherence.language.expressions.tree import Arithmetic, Compare, Name, Number, Tree
from coherence.language.roles import RUNS, counts
from coherence.language.schema_kinds import Quantity
from coherence.language.words import STATES
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, copies, scaling
from coherence.verify.facts.limits import (
    NOT_HELD_BACK,
    always_holds,
    at_members,
    cap,
    floor,
    is_domain,
    needs_shares,
    place_of,
    raised,
)
from coherence.verify.facts.members_that_stay import unless_gone
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import with_ranges
from coherence.verify.patterns.calls._lives import whole_life
from coherence.verify.patterns.writers._pair import Numbers, quantities
from coherence.verify.timers.firing import ended_by

PART = "pod_disruption_budget"
MOST_COPIES = 10_000


@dataclass(frozen=True)
class WholeLife:
    """How long members live that end by themselves, at most (s; None: that is not said), and where that stands."""

    most: Fraction | None
    places: tuple[Place, ...]


def is_budget(facts: DesignFacts, limit: Limit) -> bool:
    """A floor under the members that are up, or a cap on those that an eviction takes away."""
    if limit.counts is None or not isinstance(limit.counts.tree, Name) or limit.counts.tree.path in facts.values:
        return False
    word = limit.counts.tree.path.partition(".")[2]
    if limit.at_least is not None:
        return _is_part(limit) or counts(word, "available") or word in STATES["left in service"]
    gone = _is_part(limit) or counts(word, "unavailable") or word in STATES["out of service"]
    return limit.at_most is not None and gone and _evicts(facts, limit)


def _evicts(facts: DesignFacts, limit: Limit) -> bool:
    """Returns whether the cap is about evictions.  (A cap on unavailable members may also be about a rollout.)"""
    thing = _thing(limit)
    named = any("evict" in action.text or "drain" in action.text for action in limit.actions)
    return _is_part(limit) or named or thing in _evicted(facts.design)


@cached
def _evicted(design: Design) -> frozenset[str]:
    """Returns things that some loop evicts."""
    return frozenset(loop.evicted for loop in design.loops.values() if loop.evicted)


def _is_part(limit: Limit) -> bool:
    return limit.part is not None and limit.part.text == PART


def _thing(limit: Limit) -> str:
    assert limit.counts is not None
    assert isinstance(limit.counts.tree, Name)
    return limit.counts.tree.path.partition(".")[0]


def allowed(facts: DesignFacts, limit: Limit) -> Tree:
    """Returns how many members may go at once, all of them being up."""
    members = Name(f"{_thing(limit)}.copies")
    least, most = floor(facts, limit), cap(facts, limit)
    if least is not None:
        return Arithmetic("-", members, least)
    assert most is not None
    return most


def budget(question: Question, subject: Subject, facts: DesignFacts, limit: Limit) -> Iterator[Finding]:
    """Yields the answer about one budget."""
    thing = _thing(limit)
    range_ = copies(facts, thing)
    stated = limit.at_least if limit.at_least is not None else limit.at_most
    why = f": {limit.note.text}" if limit.note is not None else ""
    place = place_of(stated, limit).labelled(f"the budget{why}")
    if range_ is None or range_.low is None or range_.high is None:
        if _lets_none(limit) and (life := ending(facts.design, limit, thing)) is not None:
            yield _held_until(question, facts, limit, None, (place,), life)
            return
        yield question.undecided(f"needs copies of {thing}", (place,), (limit.name,), lacks_number=True)
        return
    if range_.high < 1:
        return
    free = _free(facts, limit, thing, range_)
    if free is None:
        yield question.undecided(
            f"needs the numbers that {limit.name} is made of", (place,), (limit.name,), lacks_number=True
        )
        return
    where = (place, facts.places.get(f"{thing}.copies", limit.place).labelled(f"how many {thing} there may be"))
    fewest, blocked = min(free), [count for count, left in free.items() if left < 1]
    if blocked and (life := ending(facts.design, limit, thing)) is not None:
        yield _held_until(question, facts, limit, blocked[0], where, life)
    elif blocked:
        certain = range_.low >= 1 and len(blocked) == len(free)
        yield _blocked(question, subject, facts, limit, (blocked[0], free), where, certain=certain)
    elif min(left - count for count, left in free.items()) < 0 and _is_of_places(facts, limit):
        yield question.undecided(needs_shares(limit, thing), where, _of(facts, limit))
    else:
        numbers: Numbers = {"fewest copies": (fewest, ""), "free to go": (free[fewest], "")}
        script = _certificate(facts, limit, thing, range_, free)
        yield question.proved(
            f"{limit.name} lets at least one of {thing} go",
            where,
            _of(facts, limit),
            arithmetic(numbers, certificate=script),
            assumptions=unless_gone(facts.design, thing),
        )


def _is_of_places(facts: DesignFacts, limit: Limit) -> bool:
    """Decides whether a budget is a floor under the members in each of some places."""
    return limit.at_least is not None and limit.per is not None and is_domain(facts.design, limit.per.text)


def _free(facts: DesignFacts, limit: Limit, thing: str, range_: Interval) -> dict[int, Fraction] | None:
    """Returns members -> how many may go, for every count from the fewest (at least one) to the most."""
    assert range_.low is not None
    assert range_.high is not None
    tree, low, high = allowed(facts, limit), max(1, math.ceil(range_.low)), math.floor(range_.high)
    if high - low > MOST_COPIES:
        return None
    room = {count: at_members(facts, tree, thing, count) for count in range(low, high + 1)}
    whole = {n: Fraction(max(0, min(n, math.floor(left)))) for n, left in room.items() if left is not None}
    return whole if whole and len(whole) == len(room) else None


def spared(facts: DesignFacts, thing: str, range_: Interval) -> tuple[dict[int, int], tuple[Limit, ...]]:
    """Returns members -> how many of them all budgets of a thing let go at once, and these budgets."""
    every = (limit for limit in facts.design.limits.values() if is_budget(facts, limit) and _thing(limit) == thing)
    budgets = [limit for limit in every if always_holds(limit) and limit.window is None and not limit.actions]
    free = [_free(facts, limit, thing, range_) for limit in budgets]
    known = [own for own in free if own is not None]
    if not known or len(known) < len(free):
        return {}, ()
    return {n: math.floor(min(own[n] for own in known)) for n in known[0]}, tuple(budgets)


def _certificate(facts: DesignFacts, limit: Limit, thing: str, range_: Interval, free: dict[int, Fraction]) -> str:
    """For all whole counts at once where the budget is linear in them, else the list of all."""
    path = f"{thing}.copies"
    values = with_ranges(facts.values, {path: Interval(max(Fraction(1), range_.low or Fraction(0)), range_.high)})
    claim = Compare(">=", allowed(facts, limit), Number(Fraction(1)))
    script = claimed(claim, values, whole=frozenset({path}))
    listed = " ".join(f"(>= {real(left)} 1.0)" for left in free.values())
    return script or Certificate(claim=f"(and true {listed})").script()


def _blocked(
    question: Question,
    subject: Subject,
    facts: DesignFacts,
    limit: Limit,
    worst: tuple[int, dict[int, Fraction]],
    where: tuple[Place, ...],
    *,
    certain: bool,
) -> Finding:
    thing, (count, free) = _thing(limit), worst
    number = f"{count} cop{'y' if count == 1 else 'ies'} of {thing}"
    message = (
        f"{limit.name} never lets one go with {number}: "
        "every eviction is refused and a drain of its node waits for ever"
    )
    witness = (
        Step(Fraction(0), f"{number}, all of them up; a node is to be emptied"),
        Step(None, f"{limit.name} allows {free[count]} to go: the eviction is refused, and again at each retry"),
    )
    numbers: Numbers = {"copies": (count, ""), "free to go": (free[count], "")}
    return question.conflict(
        message, where, _of(facts, limit), arithmetic(numbers, witness=witness),
        certain=certain, assumptions=("no member is down already",), repairs=_repairs(subject, facts, limit, count),
    ).refuting(NOT_HELD_BACK.format(thing))  # fmt: skip


def ending(design: Design, limit: Limit, thing: str) -> WholeLife | None:
    """Returns how long members of a thing live that end by themselves; None of a thing of which nothing says that.

    It says so by an activity that is a whole life, by a timer that ends one, or by a budget of each run.
    """
    component = design.components.get(thing)
    if component is None:
        return None
    runs = [f"{thing}.{name}" for name in sorted(RUNS)]
    timers = [t for t in design.timers.values() if t.start is not None and t.start.subject in runs]
    cuts = [t.after for t in timers if _ends_its_start(t, thing) and isinstance(t.after, Quantity)]
    own, each = whole_life(component), limit.per is not None and limit.per.text in runs
    if own is None and not cuts and not each:
        return None
    most = min((*(cut.high for cut in cuts), *([own] if own is not None else [])), default=None)
    takes = component.takes or {}
    return WholeLife(most, (*(cut.place.labelled("ends them") for cut in cuts), *(q.place for q in takes.values())))


def _lets_none(limit: Limit) -> bool:
    """Decides whether a budget lets no member go, however many there are."""
    return isinstance(limit.at_most, Quantity) and limit.at_most.high == 0


def _ends_its_start(timer: Timer, thing: str) -> bool:
    """Decides whether a timer ends the activity that it runs from, or the thing itself, and by no budget's leave."""
    then, start = timer.then.text if timer.then is not None else "", timer.start
    ends = action_in(then) == ENDS and not then.startswith("evict")
    return ends and start is not None and ended_by(timer) in (thing, start.subject)


def _held_until(
    question: Question, facts: DesignFacts, limit: Limit, count: int | None, where: tuple[Place, ...], life: WholeLife
) -> Finding:
    """Returns for how long an eviction is refused of members that end by themselves."""
    thing = _thing(limit)
    every = thing if count is None else f"{count} {thing}"
    none = f"{limit.name} lets none of {every} go: a drain of a node waits until those on it end by themselves"
    places, of = (*where, *life.places), _of(facts, limit)
    if life.most is None:
        needs = f"needs how long {thing} runs (takes: {{run: ...}})"
        return question.undecided(f"{needs}: {none}", places, of)
    numbers: Numbers = {"at most": (life.most, "s")} | ({"copies": (count, "")} if count is not None else {})
    return question.note(f"{none}, for up to {render_seconds(life.most)}", places, of, arithmetic(numbers))


def _of(facts: DesignFacts, limit: Limit) -> tuple[str, ...]:
    return (limit.name, *(writer.name for writer in scaling(facts, _thing(limit))))


def _repairs(subject: Subject, facts: DesignFacts, limit: Limit, count: int) -> Iterator[Repair]:
    """Yields one more copy, or a budget that leaves one free."""
    thing = _thing(limit)
    lowest = facts.quantities.get(f"{thing}.copies") or next(
        (q for w in scaling(facts, thing) for q in quantities(w)), None
    )
    needed = _enough(facts, limit, thing, count)
    if lowest is not None and needed is not None:
        more = repairs.proposal(raised(subject, lowest, Fraction(needed)))
        yield from [more] if more else []
    stated = limit.at_least if limit.at_least is not None else limit.at_most
    if stated is not None:
        value = Fraction(count - 1) if limit.at_least is not None else Fraction(1)
        less = repairs.proposal(repairs.rewrite(subject, stated.place, value, ONE))
        yield from [less] if less else []


def _enough(facts: DesignFacts, limit: Limit, thing: str, count: int) -> int | None:
    """Returns the fewest copies with which one may go."""
    tree = allowed(facts, limit)
    return next(
        (n for n in range(count, count + 200) if (left := at_members(facts, tree, thing, n)) is not None and left >= 1),
        None,
    )


def twice(question: Question, limits: Iterable[Limit]) -> Iterator[Finding]:
    """Two disruption budgets on one pod: every eviction fails."""
    by_thing: dict[str, list[Limit]] = {}
    for limit in limits:
        if _is_part(limit) and limit.counts is not None and isinstance(limit.counts.tree, Name):
            by_thing.setdefault(_thing(limit), []).append(limit)
    for thing, several in by_thing.items():
        if len(several) > 1:
            places = tuple(limit.place.labelled(f"a budget for {thing}") for limit in several)
            witness = (Step(None, f"an eviction of {thing} finds {len(several)} budgets and is refused with an error"),)
            message = (
                f"{thing} has {len(several)} disruption budgets: the eviction API answers every eviction with an error"
            )
            numbers = {"budgets": (len(several), "")}
            yield question.conflict(
                message, places, [limit.name for limit in several], arithmetic(numbers, witness=witness)
            )
