"""preempt vs admit: a victim comes back before the job that took it, so both go round for ever.

## What
Jobs, queues, capacity and the order are one finite relation: a job comes, the first in the order that fits is
admitted, and when nothing fits a waiting job takes its victims.  Every order of arrival and every choice is
explored.  A cycle that no choice ends is a livelock; one that only a tie in the order ends needs the tie-break;
a relation without a cycle is proved to come to rest (while no job ends).  Without `admit` it is asked for, unless no
order of admission comes to rest.  The answer is given for every capacity, not only for the one stated.

A first job that does not fit is passed, or `blocked: holds its queue` (Kueue's StrictFIFO), `holds all`: then only the
first of each queue is admitted and may take.

Where an eviction lasts (`leaves_after: 60 s` of a job, or `takes: {end: 60 s}`), a victim holds its room until its
members have ended, one by one, and the scheduler acts in between; a reservation keeps room for the taker.  Victims
come back to their place by the order (`largest job.age first`), or where it reads `job.waited` (the time since a job
came, or was evicted) to the tail of the queue; `victim: returns to the head` puts them before all that wait.
`largest job.priority first, then largest job.waited first` decides among equals.

## Why it hurts
The taker was given the right to evict, not the right to start.  If the eviction itself moves the victim to the
front of the queue (its share is 0 again), preemption and admission undo each other several times a second, the
victim loses its work each time, and the taker waits for ever.

## Example
```yaml
coherence: 1
components: {cpu: {count: 8}, q1: {deserved: 3 cpu}, q2: {deserved: 5 cpu}}
jobs:
  pod1: {queue: q1, needs: 4 cpu}
  pod2: {queue: q2, needs: 1 cpu}
  pod3: {queue: q2, needs: 4 cpu}
order:
  admit:   smallest queue.used / queue.deserved first
  preempt: for pod3 take job where job.queue.used > job.queue.deserved
  victim:  returns, no reservation
```

## Instead
`victim: returns, reservation` (what is freed is kept for the job that took it), or 9 cpu.

## Source
volcano-sh/volcano#4947 (this example), kubernetes-sigs/kueue#2821 (an older victim is admitted first),
kubernetes-sigs/kueue#6947 (a job that fits nowhere preempts for ever).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic, details_are_asked
from coherence.language.design import needed
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.jobs.certificates import all_joined, falling, saturated
from coherence.verify.jobs.contest import HOLDS_ALL, HOLDS_QUEUE, Contest, contest
from coherence.verify.jobs.contest_steps import ADMIT, FREES, SCHEDULER, TAKE, VAIN
from coherence.verify.jobs.livelock import (
    CERTAIN,
    MOST_STATES,
    NONE,
    POSSIBLE,
    TIE,
    UNKNOWN,
    Livelock,
    Sweep,
    contested,
    livelock,
    render_intervals,
    smallest_free,
    sweep,
    variants,
)
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.patterns.writers._pair import Numbers

# what an eviction lasts is read, and no job ends meanwhile, however long it runs
QUESTION = Question(
    "COH225", "preempt-vs-admit", "ai.04 runtime control coherence", regardless=frozenset({"time", "end"})
)
QUESTIONS = (QUESTION,)
MOST_SHOWN = 6
COMING = "jobs come in any order (by age where ages are given), and none ends meanwhile"
FITS = "preemption acts when nothing fits, and takes no more than it needs"
FIRST = {
    HOLDS_QUEUE: "the first of each queue in the order is admitted where it fits; it holds back those behind it",
    HOLDS_ALL: "the first in the order is admitted where it fits; it holds back all others",
}
AT_ONCE = "an eviction{} takes no time: all that it frees is free at once"
ONE_BY_ONE = "members of victims end one by one, each some day, in any order, and the scheduler acts in between"
QUEUE = "a queue counts no job that is leaving"
WORST = (CERTAIN, POSSIBLE, UNKNOWN, TIE, NONE)
IN_VAIN = "preemption is tried for a job that fits nowhere (schedulers that check first do not)"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer about the order of a design with jobs and preemption."""
    order = subject.design.order
    if not subject.design.jobs or order is None or order.preempt is None:
        return
    facts = known(subject)
    try:
        yield _answer(subject, facts, contest(facts))
    except NeedsError as error:
        place = error.place or order.preempt.place
        yield QUESTION.undecided(error.needs, (place.labelled("the order of the jobs"),), tuple(subject.design.jobs))


def _answer(subject: Subject, facts: DesignFacts, jobs: Contest) -> Finding:
    order = subject.design.order
    names, places = tuple(subject.design.jobs), _places(subject, facts, jobs)
    results = [(one, livelock(one)) for choice in _victims(subject, jobs) for one in variants(choice)]
    jobs, cycle = _worst(results)
    everywhere = all(result.verdict == CERTAIN for _, result in results)
    if cycle.verdict == UNKNOWN:
        bound = f"{MOST_STATES} states"
        return QUESTION.undecided(f"more than {bound} of these jobs", places, names, bound=bound)
    if cycle.verdict == NONE:
        outcomes = [(one, _if_it_lasts(one, cycle)) for one, cycle in results]
        lasting = _worst(outcomes)
        if lasting[1].verdict == UNKNOWN and (jobs.reserved or not jobs.returns):
            return _proved(results, jobs, places, names)  # what is freed goes to nobody else; the proof says the rest
        if lasting[1].verdict != NONE:
            return _needs_duration(*lasting, places, names)
        return _proved(outcomes, lasting[0], places, names)
    if order is not None and order.victim is None:
        return QUESTION.undecided("needs victim of order (returns or leaves; reservation or not)", places, names)
    if jobs.admit is None and not all(result.inevitable for _, result in results):
        return QUESTION.undecided("needs admit of order: who is admitted first after an eviction", places, names)
    if cycle.verdict == TIE:
        return _tie(jobs, cycle, places, names)
    return _conflict(subject, facts, jobs, cycle, places, certain=everywhere)


def _worst(results: list[tuple[Contest, Livelock]]) -> tuple[Contest, Livelock]:
    return min(results, key=lambda pair: WORST.index(pair[1].verdict))


def _if_it_lasts(jobs: Contest, cycle: Livelock) -> Livelock:
    """Returns the verdict where evictions of which nothing is stated take time as well."""
    if all(kind.leaves is not None for kind in jobs.kinds) or not _takes(cycle):
        return cycle
    return livelock(replace(jobs, lasting=True))


def _takes(cycle: Livelock) -> bool:
    """Returns whether anybody is evicted in some run."""
    return any(step.kind in (TAKE, VAIN) for steps in cycle.graph.edges.values() for step in steps)


def _needs_duration(jobs: Contest, cycle: Livelock, places: tuple[Place, ...], names: tuple[str, ...]) -> Finding:
    """Answers what a proof lacks where what an eviction frees bit by bit may go to another job."""
    name = next(kind.name for kind in jobs.kinds if kind.leaves is None)
    needs = f"needs how long evictions take (leaves_after of {name}; 0 s where all is free at once)"
    if cycle.verdict == UNKNOWN:
        return QUESTION.undecided(f"{needs}: more than {MOST_STATES} states if they last", places, names)
    steps = "; ".join(edge.text for edge in cycle.cycle[:MOST_SHOWN])
    more = "; ..." if len(cycle.cycle) > MOST_SHOWN else ""
    return QUESTION.undecided(f"{needs}: one after another may go on for ever: {steps}{more}", places, names)


def _victims(subject: Subject, jobs: Contest) -> list[Contest]:
    """Returns the contest, or where nothing is said of the victim one for everything that may happen to it."""
    if subject.design.order is not None and subject.design.order.victim is not None:
        return [jobs]
    return [jobs, replace(jobs, reserved=True), replace(jobs, returns=False)]


def _places(subject: Subject, facts: DesignFacts, jobs: Contest) -> tuple[Place, ...]:
    order = subject.design.order
    assert order is not None
    assert order.preempt is not None
    places = [order.preempt.place.labelled("who takes from whom")]
    places += [order.admit.place.labelled("who comes first after the eviction")] if order.admit else []
    places += [order.victim.place.labelled("where the victim goes")] if order.victim else []
    places += [facts.places[path].labelled("the capacity") for path in jobs.supply.values() if path in facts.places]
    needs = ((name, needed(job)) for name, job in subject.design.jobs.items())
    places += [need.place.labelled(f"what {name} needs") for name, of_job in needs for need in of_job.values()]
    return tuple(places)


def _proved(
    tried: list[tuple[Contest, Livelock]], jobs: Contest, places: tuple[Place, ...], names: tuple[str, ...]
) -> Finding:
    script = all_joined([saturated(one) or falling(rest.graph, (*SCHEDULER, FREES)) for one, rest in tried])
    numbers: Numbers = {"states": (sum(len(rest.graph.edges) for _, rest in tried), ""), **_amounts(jobs)}
    outcome = "preemption and admission come to rest: no job is taken twice without another being let in for good"
    message = f"{outcome}{_by_number(jobs)}"
    return QUESTION.proved(message, places, names, arithmetic(numbers, certificate=script), assumptions=_assumed(jobs))


def _assumed(jobs: Contest) -> tuple[str, ...]:
    """Returns what an answer about these jobs stands on."""
    quick = [kind.name for kind in jobs.kinds if not jobs.lasts(kind)]
    lasting = len(quick) < len(jobs.kinds)
    first = FIRST.get(jobs.blocked, "the first in the order that fits is admitted")
    return (
        COMING,
        f"{first}; {FITS}",
        *((ONE_BY_ONE, QUEUE) if lasting else ()),
        *((AT_ONCE.format(f" of {' or '.join(quick)}" if lasting else ""),) if quick else ()),
        *jobs.assumed,
    )


def _amounts(jobs: Contest) -> Numbers:
    return {f"{resource}": (amount, "") for resource, amount in jobs.capacity.items()}


def _tie(jobs: Contest, livelock: Livelock, places: tuple[Place, ...], names: tuple[str, ...]) -> Finding:
    """Answers that a cycle that ends as soon as an equal of the victim goes first."""
    assert jobs.admit is not None
    first = next(edge.text for edge in livelock.cycle if edge.kind == ADMIT)
    keys = " and ".join(f"`{key.by}`" for key in jobs.admit.keys)
    is_ = "is" if jobs.admit.then is None else "are"
    needs = f'needs who goes first where {keys} {is_} equal: for ever if always "{first.split(":")[0]}"'
    return QUESTION.undecided(needs, places, names, assumptions=_assumed(jobs))


def _conflict(
    subject: Subject, facts: DesignFacts, jobs: Contest, livelock: Livelock, places: tuple[Place, ...], *, certain: bool
) -> Finding:
    resource = contested(jobs, livelock.cycle)
    swept = sweep(jobs, resource) if details_are_asked() else Sweep(resource, (), "", jobs.whole(resource))
    amounts = swept if jobs.admit is not None else replace(swept, verdicts=())  # elsewhere the order may decide
    vain = any(edge.kind == VAIN for edge in livelock.cycle)
    moves = [edge for edge in livelock.cycle if edge.kind in (TAKE, VAIN)]
    involved = tuple(dict.fromkeys(k.name for k in jobs.kinds if any(k.name in e.text for e in livelock.cycle)))
    message = f"preempt and admit undo each other for ever: {moves[0].text.split(':')[0]}, admitted again before it"
    if vain:
        message = f"preemption acts in vain for ever: {moves[0].text}, and the victim is admitted again"
    places_ = (*places, *(k.place.labelled("goes round") for k in jobs.kinds if k.name in involved))
    evidence = arithmetic(_numbers(jobs, livelock, amounts), witness=_witness(livelock))
    return QUESTION.conflict(
        message + _where(jobs, amounts) + _by_number(jobs), places_, involved, evidence,
        certain=certain, assumptions=(*_assumed(jobs), *((IN_VAIN,) if vain else ()), *_unsaid(subject)),
        repairs=_repairs(subject, facts, jobs, swept),
    )  # fmt: skip


def _unsaid(subject: Subject) -> tuple[str, ...]:
    """Returns what is taken for granted about the victim's room, and about who is admitted first."""
    order = subject.design.order
    victim, admit = (order.victim, order.admit) if order else (None, None)
    freed = ("what is freed is not kept for the taker: nothing says so",) if victim and "," not in victim.text else ()
    return (*freed, *(() if admit else ("whoever is admitted first: no order of admission comes to rest",)))


def _by_number(jobs: Contest) -> str:
    """Renders the verdict for each number of like jobs where it changes with it: `; low: none at 1, conflict at 2`."""
    from coherence.verify.jobs.number_verdicts import by_number

    return "".join(f"; {row.name}: {row.render()}" for row in by_number(jobs, _decided))


def _decided(jobs: Contest, most: int) -> tuple[str, int]:
    outcome = livelock(jobs, most=most)
    return outcome.verdict, len(outcome.graph.edges)


def _where(jobs: Contest, swept: Sweep) -> str:
    return f" (with {render_intervals(jobs, swept)}; {swept.reason})" if len(swept.verdicts) > 1 else ""


def _numbers(jobs: Contest, livelock: Livelock, swept: Sweep) -> Numbers:
    numbers: dict[str, tuple[Fraction | float | int, str]] = {
        **_amounts(jobs),
        "steps of the cycle": (len(livelock.cycle), ""),
        "states": (len(livelock.graph.edges), ""),
    }
    bad = (
        [(start, end) for start, end, verdict in swept.runs() if verdict in (CERTAIN, POSSIBLE)]
        if swept.verdicts
        else []
    )
    for number, (start, end) in enumerate(bad):
        suffix = f" ({number + 1})" if len(bad) > 1 else ""
        numbers[f"cycle from{suffix}"] = (start, "")
        if end is not None and end != swept.until:
            numbers[f"no cycle from{suffix}"] = (end, "")
    return numbers


def _witness(livelock: Livelock) -> tuple[Step, ...]:
    first = tuple(Step(None, edge.text) for edge in livelock.way)
    turn = tuple(Step(None, edge.text) for edge in livelock.cycle)
    return (
        *first,
        *turn,
        Step(None, "as before the last two steps: for ever" if len(turn) == 2 else "as before this cycle"),
    )


def _repairs(subject: Subject, facts: DesignFacts, jobs: Contest, swept: Sweep) -> Iterator[Repair]:
    """Keep what is freed for the taker, or add capacity."""
    order = subject.design.order
    old = repairs.text_at(subject.sources, order.victim.place) if order and order.victim else None
    plain = order is not None and jobs.returns and not jobs.reserved
    if order and order.victim and old and plain and livelock(replace(jobs, reserved=True)).verdict == NONE:
        back = "returns to the head" if jobs.head else "returns"
        yield Repair((Edit(order.victim.place, old, f"{back}, reservation"),), "")
    supply = facts.quantities.get(jobs.supply[swept.resource])
    enough = smallest_free(swept, jobs.capacity[swept.resource]) if swept.verdicts else None
    if supply is not None and enough is not None:
        more = repairs.proposal(repairs.change(subject, supply, Fraction(enough)))
        yield from [more] if more else []
