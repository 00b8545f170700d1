"""removal cascade: each member that is taken out overloads the rest, which are taken out in turn.

## What
N members serve mu each, lambda is asked of them.  With k of them out the rest are overloaded when
lambda >= (N - k) mu.  What takes out overloaded members (a loop whose trigger reads how many are out or left, a
probe that runs from an event such as `server slow`) then goes on until none is left, or its cap stops it.  The
smallest such k is found for every N in the range.  k = 0 needs no cause at all; k = 1 is what the removal is for;
more must be stated (`failing:` of the component).  A cap that keeps (N - m) mu > lambda is a proof.  A loop's own
trigger is evaluated where it decides: it must stay true from k on.

One event may also start a timer of every member (`from: backbone.repair starts`, or an outside event that names no
member, `per: dns`): what it takes out goes at once.  A promise about how many are left (`always dns.listed >= 1`) is
held against both, and proved where a cap or floor keeps it and nothing else takes any.

A proof counts what the removal takes, and names what else may take members: places that go away, updates.

The same numbers decide whether an ejection cap leaves enough: with m ejected, (N - m) mu <= lambda is an outage that
the failing members alone would not have been.  Where two loops share one cap, it may
withhold what both would take out: more fail together (`failing:`) than the cap lets go.  An autoscaler helps until
its upper bound: there N is that bound.

## Why it hurts
A slow member is shed to protect the callers.  The others get its share, become slow, and are shed too: a load that
was a little too high becomes no service at all, and it does not come back by itself.

## Example
```yaml
coherence: 1
workload: {requests: {rate: 200 req/s}}
components: {pods: {copies: 4, load: requests.rate, rate_per_replica: 60 req/s}}
timers: {readiness: {from: pods overloaded, every: 5 s, misses: 3, then: unlist pods}}
```

## Instead
One of five may go, and four carry the load:
```yaml
coherence: 1
workload: {requests: {rate: 200 req/s}}
components: {pods: {copies: 5, load: requests.rate, rate_per_replica: 60 req/s}}
limits: {panic: {counts: pods.ready, at_least: 4}}
timers: {readiness: {from: pods overloaded, every: 5 s, misses: 3, then: unlist pods}}
```

## Source
kubernetes/kubernetes#115917 (readiness removal cascades at twice the load); istio/istio#20135 (ejection without
panic).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings.finding import Finding, Repair, Step, Verdict
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.expressions.tree import Number, Tree, rename
from coherence.language.sentences import Promise
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, as_many, copies, known, scalers
from coherence.verify.facts.limits import needs_shares
from coherence.verify.facts.members_that_stay import unmoved
from coherence.verify.facts.ranges import point, truth
from coherence.verify.patterns.limits._withheld import absences as cap_absences
from coherence.verify.patterns.limits._withheld import withheld
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.queues.member_rates import member_rate
from coherence.verify.queues.offered_load import OfferedRate, offered
from coherence.verify.timers.removals import (
    LEFT,
    Removal,
    caps_of_places,
    failing,
    held_back,
    paths,
    removals,
)

if TYPE_CHECKING:
    from coherence.verify.patterns.limits._removal_repairs import Rates, RemovalStage

QUESTION = Question("COH240", "removal-cascade", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
MOST_MEMBERS = 10_000
MOST_STEPS = 50_000  # evaluations of a trigger


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per way out of service that load drives, or that a cap bounds."""
    facts = known(subject)
    yield from withheld(QUESTION, facts)
    if facts.design.promises and facts.design.timers:
        from coherence.verify.patterns.promises._promised_members import kept_by_caps, taken_at_once, taken_by_nobody

        yield from taken_at_once(QUESTION, facts, partial(_keeping, subject))
        yield from kept_by_caps(QUESTION, facts)
        yield from taken_by_nobody(QUESTION, facts)
    for removal in removals(facts):
        if removal.driven or (removal.caps and not removal.event):
            yield from _answer(subject, facts, removal)
        elif removal.event:
            yield from _perhaps(subject, facts, removal)


def _keeping(subject: Subject, removal: Removal, members: int, left: int) -> Iterator[Repair]:
    from coherence.verify.patterns.limits._removal_repairs import keeping

    return keeping(subject, removal, members, left)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each cap under which all members that fail together may be out, and for each loop of which
    no removal brings about the next.
    """
    facts = known(subject)
    yield from cap_absences(QUESTION, facts)
    if facts.design.promises and facts.design.timers:
        from coherence.verify.patterns.promises._promised_members import enough_left

        yield from enough_left(QUESTION, facts)
    for removal in removals(facts):
        if removal.driven and removal.trigger is not None and not facts.missing(_without(removal)):
            yield from _ending(facts, removal)


def _ending(facts: DesignFacts, removal: Removal) -> Iterator[Finding]:
    """Yields the proof that the trigger of a loop stops to hold, or all that may go are out, before it empties a thing.

    None where the load and what a member carries are known: those are answered by `ask`.
    """
    from coherence.verify.jobs.losses import gone_beside

    demand, each = offered(facts, removal.thing), member_rate(facts, removal.thing)
    range_, beside = copies(facts, removal.thing), gone_beside(facts, removal)[0]
    if range_ is None or range_.low is None or range_.high is None or (demand is not None and each is not None):
        return
    counts = _counts(facts, removal.thing, range_)
    if beside or not counts or len(counts) * counts[-1] > MOST_STEPS:
        return
    stages = [stage for members in counts if (stage := _stage(facts, removal, None, members)) is not None]
    if len(stages) == len(counts) and all(stage.need is None for stage in stages):
        most, members = max((stage.most, stage.members) for stage in stages)
        message = (
            f"from no number of {removal.thing} out on does the trigger of {removal.name} hold until all are out that "
            f"may go: at most {most} of {members}"
        )
        numbers: Numbers = {"may be out": (most, ""), "members": (members, "")}
        assumed = (*unmoved(facts.design, removal.thing), *held_back(facts, removal))
        places, of = (*removal.places, *_where(facts, removal)), _of(removal, None)
        yield QUESTION.absent(message, places, of, arithmetic(numbers), assumptions=assumed)


def _answer(subject: Subject, facts: DesignFacts, removal: Removal) -> Iterator[Finding]:
    demand, each, range_ = (
        offered(facts, removal.thing),
        member_rate(facts, removal.thing),
        copies(facts, removal.thing),
    )
    conditional = removal.trigger is not None and removal.driven and not facts.missing(_without(removal))
    if range_ is None or range_.low is None or range_.high is None:
        if removal.driven and (facts.design.workload or demand is not None):
            yield _ask(removal, f"copies of {removal.thing}", lacks_number=True)
    elif (demand is None or each is None) and not conditional:
        what = "the load of {0} (`load:`, or a workload that calls it)" if demand is None else "rate_per_replica of {0}"
        if removal.driven or (demand is None) != (each is None):
            yield _ask(removal, what.format(removal.thing), lacks_number=True)
    elif range_.high - range_.low > MOST_MEMBERS:
        yield _ask(removal, f"a smaller range of copies of {removal.thing}", bound=f"{MOST_MEMBERS} members")
    else:
        rates = (demand, each) if demand is not None and each is not None else None
        counts = _counts(facts, removal.thing, range_)
        if conditional and len(counts) * counts[-1] > MOST_STEPS:
            yield _ask(removal, f"a smaller range of copies of {removal.thing}", bound=f"{MOST_STEPS} states")
            return
        yield from _judged(subject, facts, removal, rates, [_stage(facts, removal, rates, n) for n in counts])


def _without(removal: Removal) -> Tree:
    """Returns the trigger with the numbers of members, in and out, set to 1."""
    own = {removal.out, f"{removal.thing}.copies", *(f"{removal.thing}.{word}" for word in LEFT)}
    assert removal.trigger is not None
    return rename(removal.trigger, lambda path: Number(Fraction(1)) if path in own else path)


def _perhaps(subject: Subject, facts: DesignFacts, removal: Removal) -> Iterator[Finding]:
    """A probe of which it is not known whether overload makes it fail: asked where that would decide."""
    answered = _answer(subject, facts, replace(removal, driven=True, event=""))
    if any(finding.verdict is Verdict.CONFLICT or finding.evidence.bound for finding in answered):
        words = f"`from: {removal.thing} overloaded` where it does, `from: {removal.thing} hangs` where not"
        yield _ask(removal, f"whether overload makes '{removal.event}' happen ({words})")


def _ask(removal: Removal, needs: str, *, bound: str = "", lacks_number: bool = False) -> Finding:
    of = (*removal.of, removal.thing)
    return QUESTION.undecided(f"needs {needs}", removal.places, of, bound=bound, lacks_number=lacks_number)


def _counts(facts: DesignFacts, thing: str, range_: Interval) -> range:
    """Returns every number of members; of an autoscaled thing only the largest, where no more can be added."""
    low, high = max(1, math.ceil(range_.low or 0)), math.floor(range_.high or 0)
    return range(high if scalers(facts, thing) else low, high + 1)


def _stage(facts: DesignFacts, removal: Removal, rates: Rates, members: int) -> RemovalStage | None:
    from coherence.verify.patterns.limits._removal_repairs import RemovalStage

    allowed = removal.most(facts, members)
    if allowed is None:
        return None
    most = removal.reach(facts, members, allowed)
    need = max(0, members - math.floor(rates[0].peak / rates[1].low)) if rates else 0
    if removal.trigger is None or not removal.driven:
        return RemovalStage(members, most, need if need <= most and (need < most or not removal.driven) else None)
    first = _holds_from(facts, removal, members, most)
    return None if first is None else RemovalStage(members, most, max(first, need) if max(first, need) < most else None)


def _holds_from(facts: DesignFacts, removal: Removal, members: int, most: int) -> int | None:
    """Returns the fewest out from which on the loop takes more, for some stated values, until no more may go."""
    assert removal.trigger is not None
    last, least, of = min(most, members - 1), None, point(members)
    for out in range(last, -1, -1):
        holds = truth(removal.trigger, removal.with_out(facts, of, out))
        if holds is None and facts.missing(_without(removal)):
            return None
        if holds is False or (out < most and not removal.raises(facts, of, out)):
            break
        least = out
    return last + 1 if least is None else least


def _judged(
    subject: Subject, facts: DesignFacts, removal: Removal, rates: Rates, outcomes: list[RemovalStage | None]
) -> Iterator[Finding]:
    stages, fails = [stage for stage in outcomes if stage is not None], failing(facts, removal.thing)
    broken = [stage for stage in stages if stage.need is not None]
    reached = [stage for stage in broken if _reached(removal, stage, fails)]
    open_ = next((rate.open for rate in rates or () if rate.open), "")
    if len(stages) < len(outcomes) or not stages:
        yield _ask(removal, f"the numbers in {' and '.join(removal.of)}")
    elif open_ and (reached or (broken and fails is None)):
        yield _ask(removal, open_)
    elif (reached or (broken and fails is None)) and (limit := next(caps_of_places(facts, removal.thing), None)):
        yield _ask(removal, needs_shares(limit, removal.thing).removeprefix("needs "))
    elif reached:
        certain = _certain(facts, removal, rates, stages)
        yield _conflict(subject, facts, removal, rates, reached[0], certain=certain)
    elif broken and fails is None:
        worst = min(broken, key=lambda stage: stage.need or 0)
        out = f"with {worst.need} of {worst.members} out the rest are overloaded"
        yield _ask(removal, f"how many fail together ({removal.thing}.failing): {out}")
    elif rates is not None:
        most = math.floor(fails.high) if broken and fails is not None and fails.high is not None else None
        yield from _survivors_answer(facts, removal, rates, stages, most)


def _reached(removal: Removal, stage: RemovalStage, fails: Interval | None) -> bool:
    """None out, or the one that the removal is for; more must be stated.  A mere cap needs the failures themselves."""
    assert stage.need is not None
    if removal.driven and stage.need <= 1:
        return True
    return fails is not None and fails.high is not None and fails.high >= max(1, stage.need)


def _certain(facts: DesignFacts, removal: Removal, rates: Rates, stages: list[RemovalStage]) -> bool:
    """Overloaded with all members in, at the smallest load and the fastest member, whatever their number."""
    if any(stage.need != 0 for stage in stages):
        return False
    if removal.trigger is not None and removal.driven:
        return all(truth(removal.trigger, removal.with_out(facts, point(stage.members), 0)) for stage in stages)
    return rates is not None and all(rates[0].low >= stage.members * rates[1].high for stage in stages)


def _numbers(rates: Rates, stage: RemovalStage) -> Numbers:
    figures: dict[str, tuple[Fraction | float | int, str]] = {}
    if rates is not None:
        figures |= {"asked": (rates[0].peak, "req/s"), "one member": (rates[1].low, "req/s")}
    figures |= {"members": (stage.members, ""), "may be out": (stage.most, "")}
    return figures | ({"out": (stage.need, "")} if stage.need is not None else {})


def _shown(rate: Fraction) -> str:
    return f"{render_quantity(rate)} req/s"


def _conflict(
    subject: Subject, facts: DesignFacts, removal: Removal, rates: Rates, stage: RemovalStage, *, certain: bool
) -> Finding:
    from coherence.verify.patterns.limits._removal_repairs import proposed
    from coherence.verify.patterns.promises._promised_members import refuted_by

    need, carry = stage.need or 0, _carry(rates, stage)
    end = "none is left" if stage.most >= stage.members else f"{stage.members - stage.most} are left"
    if removal.driven:
        message = f"{removal.name} empties {removal.thing}: {carry}, and each that goes overloads the rest until {end}"
    else:
        message = f"{removal.name} may take out {stage.most} of {stage.members} {removal.thing}: {carry}"
    why = f"{need} of {stage.members} are out" if need else f"all {stage.members} are in"
    witness = (
        Step(Fraction(0), f"{why}: {carry}"),
        Step(None, f"{removal.name} takes out the next one" if removal.driven else "requests queue without bound"),
        Step(None, f"{end}, the load is the same"),
    )
    sides = rates or ()
    assumptions = (
        *((f"an overloaded member is one that {removal.name} takes out",) if removal.driven else ()),
        *(("one member goes out for another reason (a crash, an update)",) if need == 1 and removal.driven else ()),
    )
    broken = _broken(facts, removal, stage)
    places = (*removal.places, *(place for rate in sides for place in rate.places), *_where(facts, removal))
    return QUESTION.conflict(
        message, (*places, *(promise.place.labelled("promised") for promise in broken)),
        (*_of(removal, rates), *(promise.name for promise in broken)),
        arithmetic(_numbers(rates, stage), witness=witness), certain=certain,
        assumptions=assumptions, repairs=proposed(subject, facts, removal, rates, stage),
    ).refuting(*refuted_by(facts, removal, stage.members - stage.most))  # fmt: skip


def _broken(facts: DesignFacts, removal: Removal, stage: RemovalStage) -> tuple[Promise, ...]:
    """Returns the promises that do not hold when the cascade is over."""
    if not removal.driven or not facts.design.promises:
        return ()
    from coherence.verify.patterns.promises._promised_members import broken_promises

    return broken_promises(facts, removal.thing, stage.members, min(stage.most, stage.members))


def _carry(rates: Rates, stage: RemovalStage) -> str:
    left = stage.members - (stage.need or 0)
    if rates is None:
        return f"with {left} of {stage.members} left its trigger holds"
    return f"{left} of {stage.members} carry {_shown(left * rates[1].low)}, asked are {_shown(rates[0].peak)}"


def _of(removal: Removal, rates: Rates) -> tuple[str, ...]:
    return (*removal.of, removal.thing, *(name for rate in rates or () for name in rate.names))


def _where(facts: DesignFacts, removal: Removal) -> tuple[Place, ...]:
    found = [(f"{removal.thing}.copies", "how many there are"), *((p, "fail together") for p in paths(removal.thing))]
    return tuple(facts.places[path].labelled(label) for path, label in found if path in facts.places)


def _survivors_answer(
    facts: DesignFacts, removal: Removal, rates: tuple[OfferedRate, OfferedRate], stages: list[RemovalStage],
    most: int | None,
) -> Iterator[Finding]:  # fmt: skip
    """Those that stay carry the load: proved; they are overloaded, yet nothing takes them out: worth knowing."""
    from coherence.verify.jobs.losses import gone_beside

    demand, each = rates
    worst = min(stages, key=lambda stage: stage.members - _out(stage, most))
    left = worst.members - _out(worst, most)
    places = (*removal.places, *demand.places, *each.places)
    if left * each.low <= demand.peak and each.open:
        yield _ask(removal, each.open)
        return
    if left * each.low <= demand.peak:
        served = f"they serve {_shown(left * each.low)}, asked are {_shown(demand.peak)}"
        message = (
            f"{removal.name} may take out {worst.members - left} and no more, yet the {left} of {worst.members} "
            f"{removal.thing} left are overloaded: {served}"
        )
        yield QUESTION.note(message, places, _of(removal, rates), arithmetic(_numbers(rates, worst)))
        return
    if demand.lacking:
        yield _ask(removal, demand.lacking)
        return
    spare = min(stage.members - _out(stage, most) for stage in stages) - math.floor(demand.peak / each.low) - 1
    beside, counted = gone_beside(facts, removal, spare)
    certain = next((departure for departure in beside if departure.certain), None)
    if certain is not None:
        needs = f"how many of {removal.thing} are gone at once by {certain.name}, which no cap of {removal.name} holds"
        yield _ask(removal, needs)
        return
    claims = " ".join(_claim(stage, demand, each, most) for stage in stages)
    message = f"the {left} of {worst.members} {removal.thing} that stay carry {_shown(demand.peak)}"
    evidence = arithmetic(_numbers(rates, worst), certificate=Certificate(claim=f"(and true {claims})").script())
    fewer = (f"at most {most} of {removal.thing} fail together",) if most is not None else ()
    others = (f"{' and '.join(d.name for d in beside)} takes none of {removal.thing} meanwhile",) if beside else ()
    stay = (*unmoved(facts.design, removal.thing), *held_back(facts, removal))
    together = (*fewer, *others, *stay, *counted, *as_many(facts, removal.thing, worst.members))
    yield QUESTION.proved(message, places, _of(removal, rates), evidence, assumptions=together)


def _out(stage: RemovalStage, most: int | None) -> int:
    return stage.most if most is None else min(stage.most, most)


def _claim(stage: RemovalStage, asked: OfferedRate, each: OfferedRate, most: int | None) -> str:
    left = stage.members - _out(stage, most)
    return f"(> (* {left}.0 {rational(each.low)}) {rational(asked.peak)})"
