"""asymmetry drift: fixed weights ask more of one tier than it serves, while what others have free would do.

## What
A caller that says how many of its requests are of each case (`cases: {near: 1, far: 1}`) and makes in each of them one
call to a pool of its own is a dispatcher with weights w.  Of lambda requests a second a pool is asked
lambda w / sum(w), first tries alone, and serves N mu, its members times the rate of one.  Where all pools together
serve lambda and one of them is asked more than it serves, its wait grows by lambda w / sum(w) / (N mu) - 1 seconds
a second, however long the others stand idle.

A limit that sheds at the pool (`when_full: reject` on what waits there) bounds its wait, and what it refuses is a note.
Where all pools together do not serve lambda, capacity is what lacks, whatever the weights are: that is `overload`, and
nothing is said here.

## Why it hurts
Half of the requests each is even for a balancer, and not for an accelerator that is half as fast.  The mean load looks
free, so that nobody scales; the tail is all of one tier.

## Example
```yaml
coherence: 1
workload: {users: {rate: 18 req/s, cases: {near: 1, far: 1}}}
components: {fast: {copies: 2, rate_per_copy: 8 req/s}, slow: {copies: 2, rate_per_copy: 4 req/s}}
calls:
  - {from: users, to: fast, case: near}
  - {from: users, to: slow, case: far}
```

## Instead
```yaml
coherence: 1
workload: {users: {rate: 18 req/s, cases: {near: 2, far: 1}}}
components: {fast: {copies: 2, rate_per_copy: 8 req/s}, slow: {copies: 2, rate_per_copy: 4 req/s}}
calls:
  - {from: users, to: fast, case: near}
  - {from: users, to: slow, case: far}
```

## Source
L. Kleinrock, Queueing Systems I (1975), section 2.2: a queue without end where the load is above 1.  Weights in
proportion to the rates make the loads of all pools equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_quantity
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.call_cases import moved_by, weights
from coherence.language.calls import Call
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.design_facts import DesignFacts, as_many, known
from coherence.verify.queues.loaded_things import LoadedThing, station_of
from coherence.verify.queues.offered_load import OfferedRate, long_run_rate, offered, stated_rate

QUESTION = Question("COH501", "asymmetry-drift", "ai.07 accelerator runtime control")
QUESTIONS = (QUESTION,)
FIRST = "first tries alone"


@dataclass(frozen=True)
class WeightedPool:
    """A pool of a dispatcher: the call that leads to it, its weight, and the least and largest share of requests."""

    call: Call
    pool: LoadedThing
    weight: Quantity
    low: Fraction
    high: Fraction

    def arriving(self, rate: Fraction) -> Fraction:
        """Returns the most that it is asked of so many requests a second."""
        return rate * self.high

    def load(self, rate: Fraction) -> Fraction:
        """Returns the largest load of its members."""
        return self.arriving(rate) / self.pool.capacity


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each dispatcher whose pools are stated and serve all of its requests together."""
    stated = weights(subject.design)
    if not stated:
        return
    facts = known(subject)
    for caller, cases in stated.items():
        rate, branches = _rate(facts, caller), tuple(_branches(facts, caller, cases))
        if rate is None or len(branches) < 2 or len(branches) != len(cases):
            continue
        together = sum((branch.pool.capacity for branch in branches), Fraction(0))
        if rate.high < together:
            yield _answer(subject, facts, caller, rate, branches)


def _rate(facts: DesignFacts, caller: str) -> OfferedRate | None:
    """Returns how many requests a dispatcher has a second; None where the design does not say."""
    workload = facts.design.workload.get(caller)
    rate = stated_rate(workload) if workload is not None else offered(facts, caller)
    if rate is None or rate.open:
        return None
    return rate if workload is None or long_run_rate(workload) == rate.high else None


def _branches(facts: DesignFacts, caller: str, cases: Mapping[str, Quantity]) -> Iterator[WeightedPool]:
    """Yields the pool of each case, where one call alone leads to it and nothing else does."""
    for name, weight in cases.items():
        own = [c for c in facts.design.calls if str(c.caller) == caller and name in (word.text for word in c.cases)]
        others = [other for key, other in cases.items() if key != name]
        if len(own) != 1 or len(own[0].cases) != 1 or weight.low <= 0:
            continue
        pool = station_of(facts, str(own[0].callee))
        callers = [c for c in facts.design.calls if str(c.callee) == str(own[0].callee)]
        if pool is None or len(callers) != 1 or pool.each.open or not pool.capacity:
            continue
        low = weight.low / (weight.low + sum((q.high for q in others), Fraction(0)))
        high = weight.high / (weight.high + sum((q.low for q in others), Fraction(0)))
        yield WeightedPool(own[0], pool, weight, low, high)


def _answer(
    subject: Subject, facts: DesignFacts, caller: str, rate: OfferedRate, branches: tuple[WeightedPool, ...]
) -> Finding:
    together = sum((branch.pool.capacity for branch in branches), Fraction(0))
    worst = max(branches, key=lambda branch: branch.load(rate.high))
    arriving, load, even = worst.arriving(rate.high), worst.load(rate.high), rate.high / together
    numbers: dict[str, tuple[Fraction, str]] = {
        f"load of {branch.pool.thing}": (branch.load(rate.high), "") for branch in branches
    }
    numbers |= {"load of all": (even, "")}
    places = (*rate.places, *(place for branch in branches for place in _places(branch)))
    of = tuple(dict.fromkeys((caller, *(name for b in branches for name in (b.pool.thing, b.call.name)))))
    if load <= 1:
        if rate.lacking:
            return QUESTION.undecided(f"needs {rate.lacking}", places, of)
        script = _script(rate, branches)
        message = f"{caller} asks no pool for more than {render_decimal(load)} of what it serves"
        evidence = arithmetic(numbers, certificate=script)
        return QUESTION.proved(message, places, of, evidence, assumptions=_assumed(facts, branches), margin=load < 1)
    certain = rate.low * worst.low > worst.pool.most
    if (moved := moved_by(facts.design, caller)) and not certain:
        full = f"at some of their range {worst.pool.thing} is asked for more than it serves"
        return QUESTION.undecided(f"needs {moved}: {full}", places, of)
    thing, free = worst.pool.thing, together - rate.high
    share = (
        f"{caller} asks {thing} for {render_quantity(arriving)} of {render_quantity(worst.pool.capacity)} req/s, while "
        f"all pools together have {render_quantity(free)} req/s free"
    )
    from coherence.verify.queues.let_through import sheds

    if (shed := next(sheds(facts, worst.pool), None)) is not None:
        refused = f"{share}: {shed.name} refuses {render_quantity(arriving - worst.pool.capacity)} req/s"
        where = (*places, shed.place.labelled("what waits beyond this is refused"))
        return QUESTION.note(refused, where, (*of, shed.name), arithmetic(numbers))
    message = f"{share}: its wait grows by {render_decimal(load - 1)} s a second"
    evidence = arithmetic({**numbers, "drift": (load - 1, "s/s")}, witness=_minute(rate, worst))
    own = () if moved else _by_rate(subject, branches)
    return QUESTION.conflict(message, places, of, evidence, certain=certain, assumptions=(FIRST,), repairs=own)


def _minute(rate: OfferedRate, worst: WeightedPool) -> tuple[Step, ...]:
    """Returns what a minute makes of the wait for the pool with the largest load."""
    thing, late = worst.pool.thing, (worst.load(rate.high) - 1) * 60
    going = render_quantity(worst.arriving(rate.high))
    return (
        Step(Fraction(0), f"of {render_quantity(rate.high)} req/s {going} go to {thing}"),
        Step(Fraction(60), f"what comes to {thing} now waits {render_decimal(late)} s longer than a minute before"),
    )


def _script(rate: OfferedRate, branches: tuple[WeightedPool, ...]) -> str:
    """Returns the claim that no pool is asked for more than it serves."""
    claims = (f"(<= {rational(b.arriving(rate.high))} {rational(b.pool.capacity)})" for b in branches)
    return Certificate(claim=f"(and {' '.join(claims)})").script()


def _assumed(facts: DesignFacts, branches: tuple[WeightedPool, ...]) -> Iterator[str]:
    """Yields what a proof takes for granted: of a pool that loops scale, the most members."""
    yield FIRST
    for pool in (branch.pool for branch in branches if branch.pool.scaled):
        yield from as_many(facts, pool.thing, pool.members[1])


def _places(branch: WeightedPool) -> Iterator[Place]:
    yield branch.weight.place.labelled(f"this weight of its requests goes to {branch.pool.thing}")
    yield from branch.pool.each.places


def _by_rate(subject: Subject, branches: tuple[WeightedPool, ...]) -> Iterator[Repair]:
    """Yields weights in proportion to what each pool serves."""
    edits = [repairs.change(subject, branch.weight, branch.pool.capacity) for branch in branches]
    repair = repairs.proposal(*edits)
    yield from [repair] if repair is not None else []
