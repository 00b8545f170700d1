"""evictor vs placer: whatever the placer answers, the evictor acts again.

## What
A loop evicts members of a thing while a condition on how they lie holds (`count of web by node > 1`), and the
member comes back to wherever the placer puts it.  If from some placement on no answer of the placer ever makes
the condition false, the two go round for ever; if only some answers do, it is possible.  Members, places, musts and
preferences are one finite relation, explored whole, with places alike as one; the answer is given for every number
of places.

A loop takes from a fullest place; one whose condition fuller places end (`count of web by node < 4`: it packs) from one
that is emptiest.  Several loops that evict one thing are one relation, in which whoever's condition holds may act next:
each may come to rest alone, and all together never.  One whose condition holds all the time acts some day, so that it
may end the rounds of another one; one whose condition holds now and then need never act.  Several preferences of the
placer are added up, each times its weight (`prefer spread by node <= 1 weight 3`, `prefer on zone a weight 1`); without
weights a proof holds however it weighs them.  Places that are not selected (`only on zone a`), or closed by a taint
that is not borne (`taint: gpu` of a place, `tolerates gpu`), take no member.

Where some answers of the placer go on and others come to rest, a conflict supposes that it may choose alike for ever;
with `ties at random` (as the scheduler of Kubernetes does among nodes of equal score) the rounds must last whatever it
draws, and a proof holds with probability 1.

## Why it hurts
Twelve members on three nodes cannot lie on twelve nodes.  Every five minutes a healthy member is killed to mend what
cannot be mended, and its replacement gives the reason for the next kill.

## Example
```yaml
coherence: 1
components: {web: {copies: 12, returns: always}}
places: {node: {count: 3}}
loops: {remove_duplicates: {timescale: {period: 5 min}, trigger: count of web by node > 1, actuation: {evict: web}}}
```

## Instead
`trigger: count of web by node > ceil(web.copies / node.count)` with `placement: {web: [spread by node <= 1]}`, or
as many nodes as members.

## Source
kubernetes-sigs/descheduler#252 and #75 (RemoveDuplicates), #994 (the member returns to the node it came from).
Kubernetes, pkg/scheduler/schedule_one.go: selectHost (one of the nodes of the highest score, at random).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from coherence.base.places import Place
from coherence.findings.finding import Finding, Step, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic, details_are_asked
from coherence.verify.facts.design_facts import DesignFacts, known, scaling
from coherence.verify.jobs.certificates import all_joined
from coherence.verify.jobs.count_ranges import adders, variants
from coherence.verify.jobs.eviction import (
    BLOCKED,
    CERTAIN,
    IDLE,
    MOST_STATES,
    NONE,
    POSSIBLE,
    UNKNOWN,
    WAITS,
    Chase,
    chase,
    moves,
)
from coherence.verify.jobs.eviction_case import (
    EvictingLoop,
    EvictionCase,
    counting_loops,
    evicting,
    eviction_case,
    values_at,
)
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.obligations import comes_to_rest
from coherence.verify.jobs.placing import Counts, canonical, shown
from coherence.verify.jobs.selectors import STAY
from coherence.verify.jobs.sites import Cluster, cluster
from coherence.verify.jobs.state_graph import StateStep
from coherence.verify.patterns.placement._eviction_ranges import by_members, by_places
from coherence.verify.patterns.writers._pair import Numbers

QUESTION = Question("COH226", "evictor-vs-placer", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
Outcomes: TypeAlias = list[tuple[Cluster, dict[int, Chase]]]
WORST = (CERTAIN, POSSIBLE, UNKNOWN, WAITS, BLOCKED, NONE, IDLE)
SURELY = "certain"
FULLEST = "it evicts from a place that is fullest by its own count"
EMPTIEST = "it evicts from a place that is emptiest by its own count, since fuller ones end its condition"
WEIGHED = "the placer adds its preferences up, each times its weight: it takes a place where what they exceed is least"
SUMMED = "the placer adds its preferences up: it takes a place where what they exceed is least in sum"
AT_RANDOM = (
    "the placer takes any of the places that its rules leave equal, each with some chance: it rests with probability 1"
)
ALIKE = (
    "of places that its rules leave equal the placer may take the same ones for ever (`ties at random` if it does not)"
)
FAIR = "each loop acts some day while its condition holds all the time, and need not act where it holds now and then"
AT_ONCE = "an eviction takes no time: the next one begins when the member lies again"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per loop that evicts by counting members on places; one for all that evict one thing."""
    for thing, loops in evicting(subject.design).items():
        counting = list(counting_loops(thing, loops))
        if counting:
            yield from _answers(subject, known(subject), thing, counting, [loop.name for loop in loops])


def _answers(
    subject: Subject, facts: DesignFacts, thing: str, loops: list[EvictingLoop], every: list[str]
) -> Iterator[Finding]:
    findings = list(_of_loops(subject, facts, thing, tuple(loops)))
    if len(loops) > 1 and any(finding.verdict is Verdict.CONFLICT for finding in findings):
        findings = _blamed(subject, facts, thing, loops, findings)
    for finding in findings:
        missing = any(name not in finding.of for name in every)
        yield _beside(finding, every) if missing and finding.verdict is Verdict.PROVED else finding


def _blamed(
    subject: Subject, facts: DesignFacts, thing: str, loops: list[EvictingLoop], together: list[Finding]
) -> list[Finding]:
    """Returns what each loop does, where one of them goes on for ever beside the others; else what all do together."""
    surely = any(finding.certainty == SURELY for finding in together)
    alone = [
        finding for one in loops
        for finding in _of_loops(subject, facts, thing, (one,), _without(loops, one), surely=surely)
    ]  # fmt: skip
    guilty = [finding for finding in alone if finding.verdict is Verdict.CONFLICT]
    as_sure = any(finding.certainty == SURELY for finding in guilty) or not surely
    return alone if guilty and as_sure else together


def _without(loops: list[EvictingLoop], one: EvictingLoop) -> tuple[EvictingLoop, ...]:
    return tuple(other for other in loops if other is not one)


def _beside(proof: Finding, every: list[str]) -> Finding:
    """Returns a proof about one loop as an open answer: others evict the same members, and go on or are not counted."""
    others = " and ".join(name for name in every if name not in proof.of)
    needs = f"not decided beside {others}, which evicts the same members; without it: {proof.message}"
    return QUESTION.undecided(needs, proof.places, proof.of)


def _of_loops(
    subject: Subject, facts: DesignFacts, thing: str, loops: tuple[EvictingLoop, ...],
    others: tuple[EvictingLoop, ...] = (), *, surely: bool = True,
) -> Iterator[Finding]:  # fmt: skip
    where = tuple(one.trigger.place.labelled(f"{one.loop.name} evicts while this holds") for one in loops)
    of = (*(one.loop.name for one in loops), thing)
    if not subject.design.places:
        yield QUESTION.undecided(f"needs the places of {thing} (places: {{node: {{count: ...}}}})", where, of)
        return
    try:
        if _returns(subject, facts, thing):
            yield _answer(subject, facts, eviction_case(facts, thing, loops, others), surely=surely)
    except NeedsError as error:
        places = (*where, *((error.place.labelled("this"),) if error.place else ()))
        yield QUESTION.undecided(error.needs, places, of)


def _returns(subject: Subject, facts: DesignFacts, thing: str) -> bool:
    """Returns whether an evicted member comes back.  Where a loop says how many there are, it does."""
    component = subject.design.components.get(thing)
    returns = component.returns if component is not None else None
    if returns is not None:
        return returns.text != "never"
    if scaling(facts, thing):
        return True
    raise NeedsError(f"returns of {thing} (always, never or after a time)", component.place if component else None)


def _answer(subject: Subject, facts: DesignFacts, case: EvictionCase, *, surely: bool) -> Finding:
    tried = [cluster(facts, case.thing, by=case.labels, numbers=n) for n in variants(facts)]
    outcomes = [(there, _results(case, there)) for there in tried]
    there, results = min(outcomes, key=_worst)
    certain = surely and all(result.verdict == CERTAIN for _, one in outcomes for result in one.values())
    places, of = _places(facts, case, there), _of(case)
    verdicts = {result.verdict for result in results.values()}
    if verdicts & {CERTAIN}:
        loop = next((site.adder for site in there.sites if site.adder), None) or adders(facts, there)
        if loop is not None and not _even_with_most(facts, case, there):
            why = f"when {loop} adds places for {case.thing}, and where, is not followed"
            return QUESTION.undecided(why, places, (*of, loop))
        return _conflict(subject, facts, case, there, results, places, certain=certain)
    if UNKNOWN in verdicts:
        bound = f"{MOST_STATES} states"
        return QUESTION.undecided("more states of members on places than are tried", places, of, bound=bound)
    if POSSIBLE in verdicts:
        if not (there.rules or there.likes or there.random):
            needs = f"needs placement of {case.thing}: with no rule the placer may put it back where it was"
            return QUESTION.undecided(needs, places, of)
        return _conflict(subject, facts, case, there, results, places, certain=certain)
    if WAITS in verdicts:
        names = " and ".join((*case.names, *(one.name for one in case.beside)))
        return QUESTION.undecided(
            f"how soon each of {names} acts is not followed: what one keeps going, another ends", places, of
        )
    if BLOCKED in verdicts:
        return QUESTION.undecided(f"needs a placement of all {case.thing}: its rules leave none", places, of)
    if not there.weighed:
        outcomes = [(one, _results(case, one)) for one in (replace(other, summed=False) for other in tried)]
        there, results = min(outcomes, key=_worst)
        if {result.verdict for result in results.values()} & {CERTAIN, POSSIBLE, UNKNOWN}:
            needs = f"needs what each preference of {case.thing} weighs (prefer spread by node <= 1 weight 2)"
            return QUESTION.undecided(f"{needs}: if the placer adds them up, it comes to rest", places, of)
    return _proved(case, there, outcomes, places, of)


def _worst(outcome: tuple[Cluster, dict[int, Chase]]) -> int:
    return min(WORST.index(result.verdict) for result in outcome[1].values())


def _of(case: EvictionCase) -> tuple[str, ...]:
    return (*case.names, case.thing)


def _results(case: EvictionCase, there: Cluster) -> dict[int, Chase]:
    """Returns the verdict for each number of members."""
    members = range(max(1, case.low), max(1, case.high) + 1)
    return {n: chase(case.evictors, there, n, values_at(case, there, n), beside=case.beside) for n in members}


def _even_with_most(facts: DesignFacts, case: EvictionCase, there: Cluster) -> bool:
    """Returns whether it is certain as well when every place that may be added is there."""
    numbers = {site.name: site.most for site in there.sites if site.most > site.number}
    if not numbers:
        return False
    full = cluster(facts, case.thing, by=case.labels, numbers=numbers)
    return (
        chase(case.evictors, full, case.high, values_at(case, full, case.high), beside=case.beside).verdict == CERTAIN
    )


def _places(facts: DesignFacts, case: EvictionCase, there: Cluster) -> tuple[Place, ...]:
    thing = case.thing
    places = [one.trigger.place.labelled(f"{one.loop.name} evicts while this holds") for one in case.loops]
    if f"{thing}.copies" in facts.places:
        places.append(facts.places[f"{thing}.copies"].labelled(f"so many {thing}"))
    places += [rule.place.labelled("how they are placed") for rule in there.rules]
    places += [like.place.labelled("what is preferred") for like in there.likes]
    return (*places, *(site.place.labelled("the places") for site in there.sites[:3]))


def _proved(
    case: EvictionCase, there: Cluster, outcomes: Outcomes, places: tuple[Place, ...], of: tuple[str, ...]
) -> Finding:
    results = next(results for one, results in outcomes if one is there)
    idle, several = all(result.verdict == IDLE for result in results.values()), len(case.loops) > 1
    what = ("never act" if several else "never acts") if idle else ("come to rest" if several else "comes to rest")
    most, script = max(results), _certificate(case, outcomes)
    numbers: Numbers = {"members": (most, ""), "places": (there.nodes, "")}
    drawn = any(result.draws for _, every in outcomes for result in every.values())
    chances = (AT_RANDOM,) if drawn else ()
    message = (
        f"{' and '.join(case.names)} {what}: {most} of {case.thing} on {there.places_text}{by_members(case, there)}"
    )
    return QUESTION.proved(
        message, places, of, arithmetic(numbers, certificate=script), assumptions=_assumed(case, there, *chances)
    )


def _certificate(case: EvictionCase, outcomes: Outcomes) -> str | None:
    """Returns a script for every number of members on every number of places; None where one of them has none."""
    return all_joined(
        comes_to_rest(case.evictors, there, members, outcome, values_at(case, there, members))
        for there, results in outcomes for members, outcome in results.items()
    )  # fmt: skip


def _assumed(case: EvictionCase, there: Cluster, *more: str) -> tuple[str, ...]:
    summed = len(there.wishes) + len(there.likes) > 1 and there.summed
    packing = {one.packs for one in case.evictors}
    return (
        *((FULLEST,) if False in packing else ()),
        *((EMPTIEST,) if True in packing else ()),
        *((STAY,) if there.may_go else ()),
        *((WEIGHED if there.weighed else SUMMED,) if summed else ()),
        *more,
        AT_ONCE,
    )


def _conflict(
    subject: Subject, facts: DesignFacts, case: EvictionCase, there: Cluster, results: dict[int, Chase],
    places: tuple[Place, ...], *, certain: bool,
) -> Finding:  # fmt: skip
    from coherence.verify.patterns.placement._evictor import proposals

    bad = {n: r for n, r in results.items() if r.verdict in (CERTAIN, POSSIBLE)}
    members, chase = next(((n, r) for n, r in bad.items() if r.verdict == CERTAIN), next(iter(bad.items())))
    thing = case.thing
    how = "whatever the placer answers" if chase.verdict == CERTAIN else "if the placer answers so"
    number = f"{members}" if len(results) == 1 else f"{min(bad)} to {max(bad)}"
    triggers = " or ".join(f"`{one.trigger.text}`" for one in case.loops)
    evict = "evict" if len(case.loops) > 1 else "evicts"
    message = (
        f"{' and '.join(case.names)} {evict} {thing} for ever, {how}: {number} of {thing} on {there.places_text} "
        f"always meet {triggers} again"
    )
    if details_are_asked():
        message += f"{by_places(facts, case, there, members)}{by_members(case, there)}"
    numbers: Numbers = {"members": (members, ""), "places": (there.nodes, "")}
    witness = tuple(_witness(case, there, members, chase))
    several = len(case.loops) + len(case.beside) > 1
    choices = (*((FAIR,) if several else ()), *((ALIKE,) if chase.verdict == POSSIBLE and not there.random else ()))
    return QUESTION.conflict(
        message, places, _of(case), arithmetic(numbers, witness=witness), certain=certain,
        assumptions=_assumed(case, there, *choices), repairs=proposals(subject, facts, case, there, members),
    )  # fmt: skip


def _witness(case: EvictionCase, there: Cluster, members: int, chase: Chase) -> Iterator[Step]:
    """Yields a placement, and a few rounds of eviction and answer with the names of the places."""
    scale = case.loops[0].loop.timescale
    period = scale.period.high if len(case.loops) == 1 and scale is not None and scale.period is not None else None
    here, constants = chase.first, values_at(case, there, members)
    if here is None:
        return
    yield Step(Fraction(0), f"{members} of {case.thing} lie so: {shown(there, here)}")
    start = here
    rounds = len(chase.cycle) or 2
    for turn in range(1, rounds + 1):
        edge = _turn(case, there, here, chase, turn, constants)
        here = edge.to
        time = period * turn if period is not None else None
        holds = f"`{case.loops[0].trigger.text}` holds: " if len(case.loops) == 1 else ""
        yield Step(time, f"{holds}{edge.text} ({shown(there, here)})")
    same = "as at the beginning" if here == start else "and it holds again"
    yield Step(None, f"{same}: no member has stayed, and the next round begins")


def _turn(
    case: EvictionCase, there: Cluster, here: Counts, chase: Chase, turn: int, constants: dict[str, Fraction]
) -> StateStep[Counts]:
    evictions = list(moves(case.evictors, there, here, constants, every=True))
    if chase.cycle:
        return next(edge for edge in evictions if canonical(there, edge.to) == chase.cycle[turn - 1].to)
    return next((edge for edge in evictions if edge.to != here), evictions[0])
