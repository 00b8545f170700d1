"""rollout feasibility: an update that may neither take a copy away nor start one more.

## What
A rolling update goes on when it may take one copy away (the cap on `X.down`, rounded, is at least 1) or may start one
extra (the cap on `X.extra` is at least 1) and there is room for one: of what a copy needs, of the devices of the tier
that it runs on, of what the `claims` on them leave, where copies lie in places in one of these, under their rules.
Every number of copies in the range is tried, with the exact rounding.  Where both caps come to 0, Kubernetes sets the
second to 1; where both are stated as 0, its API server rejects the update.  Copies that find no place while places are
`lost` count as missing: where more of them are than may be, the update hangs until the places are back.  Where an
extra copy never has room, the proof says that one goes first each time.  A promise
`eventually X.old == 0` is kept where an update can go on, each new copy is ready some day (a probe that kills it before
refutes that) and no further update begins.

## Why it hurts
25 % of one copy rounds up to one extra and down to none away.  With every accelerator taken the extra one stays
pending, the old one may not go, and the update hangs until somebody looks.

## Example
```yaml
coherence: 1
components: {model: {copies: 1, needs: {gpu: 1}}, pool: {gpu: 1}}
limits:
  surge: {counts: model.extra, at_most: 25 % of model.copies round up}
  gone:  {counts: model.down,  at_most: 25 % of model.copies round down}
promises: {done: eventually model.old == 0}
```

## Instead
`gone: {counts: model.down, at_most: 1}`, or one accelerator more.

## Source
JiRaska/open-bank-oss#3545 (107 of 119 Deployments).  Kubernetes source, pkg/controller/deployment/util:
ResolveFenceposts (surge up, unavailable down, both 0 gives unavailable 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic
from coherence.language.design import Limit, needed
from coherence.language.expressions import names as used
from coherence.language.expressions.lower_smt import real
from coherence.language.expressions.tree import Compare, Name, Number
from coherence.language.sentences import Promise
from coherence.language.words import STATES
from coherence.verify.facts.design_facts import STARTED, DesignFacts, copies, known
from coherence.verify.facts.limits import at_members, cap, place_of
from coherence.verify.facts.members_that_stay import unless_gone
from coherence.verify.facts.tier_shares import supplies
from coherence.verify.jobs.capacity import Room, room_for_one, room_on_tier
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers.removals import failing

QUESTION = Question("COH212", "rollout-feasibility", "ai.04 runtime control coherence", regardless=frozenset({"stop"}))
QUESTIONS = (QUESTION,)
EXTRA, AWAY, OLD = STATES["extra"], ("down", "unavailable", "gone"), STATES["old"]
PARTS = {EXTRA: "rolling_update_surge", AWAY: "rolling_update_unavailable"}  # which say what they count
MANY = 10**6  # copies of which any share above 0 % is at least one
MOST_COPIES = 10_000
LAST = "no further update of {} begins meanwhile"
FENCEPOST = "where both caps round to 0, one copy may go (as Kubernetes does)"


@dataclass(frozen=True)
class Rollout:
    """A thing that is updated copy by copy, with the caps on extra and on missing copies."""

    thing: str
    surge: Limit | None
    away: Limit

    @property
    def of(self) -> tuple[str, ...]:
        return tuple(limit.name for limit in (self.surge, self.away) if limit is not None)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per thing whose updates are limited."""
    limits = subject.design.limits.values()
    away = {thing for limit in limits if (thing := thing_counted(limit, AWAY))}
    for surge in limits:
        if (thing := thing_counted(surge, EXTRA)) and thing not in away:
            place = place_of(surge.at_most, surge).labelled("so many extra may start")
            yield QUESTION.undecided(
                f"needs a limit on missing copies of {thing} (`counts: {thing}.down`)", (place,), (surge.name,)
            )
    if away:
        facts = known(subject)
        for rollout in _rollouts(subject):
            yield from _answer(subject, facts, rollout)


def thing_counted(limit: Limit, words: tuple[str, ...]) -> str:
    """Returns the thing of which the limit counts members of this kind."""
    tree = limit.counts.tree if limit.counts else None
    thing, _, word = tree.path.partition(".") if isinstance(tree, Name) else ("", "", "")
    by_part = limit.part is not None and limit.part.text == PARTS[words]
    return thing if (by_part or word in words) and limit.at_most is not None else ""


def _rollouts(subject: Subject) -> Iterator[Rollout]:
    """Yields caps on missing copies that stand beside a cap on extra ones or a promise about old ones."""
    limits = subject.design.limits.values()
    surges = {thing: limit for limit in limits if (thing := thing_counted(limit, EXTRA))}
    for away in limits:
        thing = thing_counted(away, AWAY)
        if thing and (thing in surges or thing in _updated(subject)):
            yield Rollout(thing, surges.get(thing), away)


def _updated(subject: Subject) -> set[str]:
    """Returns things that a promise says will have no old copies some day."""
    eventual = (
        p.condition for p in subject.design.promises.values() if p.kind.startswith("eventually") and p.condition
    )
    paths = (path.partition(".") for condition in eventual for path in used(condition.tree))
    return {thing for thing, _, word in paths if word in OLD}


def _answer(subject: Subject, facts: DesignFacts, rollout: Rollout) -> Iterator[Finding]:
    thing, place = rollout.thing, place_of(rollout.away.at_most, rollout.away).labelled("so many may be missing")
    if rollout.surge is None:
        yield QUESTION.undecided(
            f"needs a limit on extra copies of {thing} (`counts: {thing}.extra`)", (place,), rollout.of
        )
        return
    range_ = copies(facts, thing)
    if range_ is None or range_.low is None or range_.high is None or range_.high - range_.low > MOST_COPIES:
        unstated = range_ is None or range_.low is None or range_.high is None
        yield QUESTION.undecided(f"needs copies of {thing}", (place,), rollout.of, lacks_number=unstated)
        return
    rejected = _case(facts, rollout, rollout.surge, MANY)
    if rejected is not None and rejected.extra == rejected.away == 0:
        yield _rejected(subject, rollout, (place, place_of(rollout.surge.at_most, rollout.surge)))
        return
    counts = range(max(1, math.ceil(range_.low)), math.floor(range_.high) + 1)
    cases = [case for count in counts if (case := _case(facts, rollout, rollout.surge, count)) is not None]
    if len(cases) != len(counts) or not cases:
        yield QUESTION.undecided(f"needs the caps on {thing}.extra and {thing}.down in numbers", (place,), rollout.of)
        return
    places = (place, place_of(rollout.surge.at_most, rollout.surge).labelled("so many extra may start"))
    yield from _judged(subject, facts, rollout, cases, places)


@dataclass(frozen=True)
class RolloutCase:
    """One number of copies: how many may be extra and missing, and the room for one more (None: not stated)."""

    copies: int
    extra: Fraction
    away: Fraction
    room: Room

    @property
    def both_zero(self) -> bool:
        return self.away < 1 and self.extra < 1

    @property
    def may_go(self) -> int:
        """Returns how many may be missing at once: where both caps are 0 Kubernetes lets one go."""
        return 1 if self.both_zero else math.floor(self.away)

    @property
    def goes_on(self) -> bool | None:
        if self.away >= 1 or self.both_zero:
            return True  # a copy may go; or both are 0 and Kubernetes lets one go
        return self.room.enough


def _case(facts: DesignFacts, rollout: Rollout, surge: Limit, count: int) -> RolloutCase | None:
    trees = cap(facts, surge), cap(facts, rollout.away)
    values = [at_members(facts, tree, rollout.thing, count) for tree in trees if tree is not None]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    return RolloutCase(count, values[0], values[1], _room(facts, rollout.thing, count))


def _room(facts: DesignFacts, thing: str, count: int) -> Room:
    """Returns the room for one more copy: of the capacity that it draws on, or where only places have it, of these."""
    component = facts.design.components.get(thing)
    if component is None:
        return room_for_one(facts, thing, count)
    needs, placed = needed(component), facts.design.placement.get(thing, ())
    if not needs and not placed and (on_tier := room_on_tier(facts, component, count)) is not None:
        return on_tier
    offered = any(resource in given for given in facts.design.places.values() for resource in needs)
    elsewhere = any(supplies(facts, component, resource) for resource in needs)
    if not (placed or offered) or (elsewhere and not placed):
        return room_for_one(facts, thing, count)
    from coherence.verify.jobs.room_in_places import room_in_places, rules_for

    ruled = not needs or elsewhere
    if ruled and not rules_for(facts, component):
        return room_for_one(facts, thing, count)
    in_places = room_in_places(facts, component, count)
    if not elsewhere or in_places.enough is False:
        return in_places
    apart = room_for_one(facts, thing, count)
    return apart if apart.enough is not True or in_places.enough else in_places


def _judged(
    subject: Subject, facts: DesignFacts, rollout: Rollout, cases: list[RolloutCase], places: tuple[Place, ...]
) -> Iterator[Finding]:
    stuck = [case for case in cases if case.goes_on is False]
    open_ = [case for case in cases if case.goes_on is None]
    if stuck:
        sure = len(stuck) == len(cases) and all(case.room.sure for case in stuck)
        yield _conflict(subject, facts, rollout, stuck[0], places, certain=sure)
    elif open_:
        yield QUESTION.undecided(
            f"needs {open_[0].room.missing}: with {open_[0].copies} no copy may go first",
            places,
            rollout.of,
            lacks_number=open_[0].room.lacks_number,
        )
    else:
        from coherence.verify.patterns.limits import _missing_copies

        sizes = tuple((case.copies, case.may_go) for case in cases)
        update = _missing_copies.Update(rollout.thing, rollout.away, rollout.of, sizes, places[0])
        missing = _missing_copies.answer(QUESTION, subject, facts, update)
        fails = failing(facts, rollout.thing)
        stays = (f"none of {rollout.thing} fails",) if fails is not None and fails.high != 0 else ()
        assumed = (*unless_gone(facts.design, rollout.thing), *stays)
        yield missing if missing is not None else _proved(subject, rollout, cases, places, assumed)


def _proved(
    subject: Subject,
    rollout: Rollout,
    cases: list[RolloutCase],
    places: tuple[Place, ...],
    of_places: tuple[str, ...],
) -> Finding:
    zero = any(case.both_zero for case in cases)
    by_room = [case for case in cases if case.away < 1 <= case.extra and case.room.what != "places"]
    claims = [f"(or (>= {real(c.away)} 1.0) (< {real(c.extra)} 1.0) {c.room.claim})" for c in cases]
    done = [promise for promise in subject.design.promises.values() if _is_end(promise, rollout.thing)]
    assumptions = [
        *([STARTED.format(rollout.thing), LAST.format(rollout.thing)] if done else []),
        *([FENCEPOST] if zero else []),
        *(["the room left is usable by one more copy: it is not split over places"] if by_room else []),
        *dict.fromkeys(case.room.assumed for case in by_room if case.room.assumed),
        *of_places,
    ]
    numbers: Numbers = {
        "fewest copies": (cases[0].copies, ""),
        "may be missing": (cases[0].away, ""),
        "may be extra": (cases[0].extra, ""),
    }
    evidence = arithmetic(numbers, certificate=Certificate(claim=f"(and true {' '.join(claims)})").script())
    message = f"an update of {rollout.thing} can always go on{_without_surge(rollout, cases)}"
    also, names = (promise.place.labelled("so this is kept") for promise in done), (promise.name for promise in done)
    return QUESTION.proved(message, (*places, *also), (*rollout.of, *names), evidence, assumptions=assumptions)


def _without_surge(rollout: Rollout, cases: list[RolloutCase]) -> str:
    """Returns, in words, that no extra copy ever has room, so that one is taken away first each time."""
    with_extra = [case for case in cases if case.extra >= 1]
    if rollout.surge is None or not with_extra or any(case.room.enough is not False for case in with_extra):
        return ""
    room = with_extra[0].room
    why = f"{room.left_text} {room.what} left and one copy needs {room.need_text}"
    return (
        f", one copy taken away first: {rollout.surge.name} never lets an extra one start ({why})" if room.sure else ""
    )


def _is_end(promise: Promise, thing: str) -> bool:
    """Decides whether a promise says that an update of a thing comes to its end: `eventually web.old == 0`."""
    if promise.kind != "eventually" or promise.condition is None:
        return False
    match promise.condition.tree:
        case Compare(op="==" | "<=", left=Name(path=path), right=Number(value=value)):
            return value == 0 and path in {f"{thing}.{word}" for word in OLD}
    return False


def _conflict(
    subject: Subject,
    facts: DesignFacts,
    rollout: Rollout,
    case: RolloutCase,
    places: tuple[Place, ...],
    *,
    certain: bool,
) -> Finding:
    thing, room = rollout.thing, case.room
    number = f"{case.copies} cop{'y' if case.copies == 1 else 'ies'}"
    message = (
        f"an update of {thing} hangs with {number}: {case.away} may be missing, {case.extra} may be extra, "
        f"but {room.left_text} {room.what} left and one copy needs {room.need_text}"
    )
    promise = next(
        (p for p in subject.design.promises.values() if p.condition and f"{thing}.{OLD[0]}" in used(p.condition.tree)),
        None,
    )
    witness = _hang(thing, number, case)
    numbers: Numbers = {
        "copies": (case.copies, ""), "may be missing": (case.away, ""), "may be extra": (case.extra, ""),
        f"{room.what} left": (room.left or Fraction(0), ""), f"{room.what} needed": (room.need or Fraction(0), ""),
    }  # fmt: skip
    also = (room.place.labelled("the capacity"),) if room.place else ()
    broken = (promise.place.labelled("this promise"),) if promise else ()
    return QUESTION.conflict(
        message, (*places, *also, *broken), (*rollout.of, *((promise.name,) if promise else ())),
        arithmetic(numbers, witness=witness), certain=certain,
        assumptions=("nothing else frees capacity meanwhile",), repairs=_repairs(subject, facts, rollout, room),
    )  # fmt: skip


def _rejected(subject: Subject, rollout: Rollout, places: tuple[Place, ...]) -> Finding:
    """Returns that no update can begin, since neither an extra nor a missing copy is ever allowed."""
    thing, stated = rollout.thing, rollout.away.at_most
    message = f"no update of {thing} can begin: 0 may be missing and 0 may be extra, which the API server rejects"
    witness = (Step(None, f"an old copy of {thing} may not go before a new one is there, and none may start before"),)
    edit = repairs.rewrite(subject, stated.place, Fraction(1), ONE) if stated is not None else None
    proposal = repairs.proposal(edit) if edit is not None else None
    numbers: Numbers = {"may be missing": (0, ""), "may be extra": (0, "")}
    return QUESTION.conflict(
        message, places, rollout.of, arithmetic(numbers, witness=witness), repairs=[proposal] if proposal else []
    )


def _hang(thing: str, number: str, case: RolloutCase) -> tuple[Step, ...]:
    room = case.room
    pending = f"one extra copy may start and stays pending: {room.left_text} {room.what} left, {room.need_text} needed"
    stuck = f"an old copy may not go before a new one is ready ({case.away} may be missing): nothing moves any more"
    return (
        Step(Fraction(0), f"{number} of {thing} run; the update begins"),
        Step(None, pending),
        Step(None, stuck),
    )


def _repairs(subject: Subject, facts: DesignFacts, rollout: Rollout, room: Room) -> Iterator[Repair]:
    """Let one copy go, or add what one more needs."""
    stated, supply = rollout.away.at_most, facts.quantities.get(room.supply)
    edits = [repairs.rewrite(subject, stated.place, Fraction(1), ONE)] if stated is not None else []
    if supply is not None and room.need is not None and room.left is not None:
        edits.append(repairs.change(subject, supply, supply.high + room.need - room.left))
    yield from (repair for edit in edits if (repair := repairs.proposal(edit)) is not None)
