"""Answers promises about how members of a thing lie (`always count of web by zone <= 2`) where no place goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import needed
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Logic
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Promise
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.members_that_stay import things_on_places
from coherence.verify.facts.range_claims import claimed
from coherence.verify.jobs.count_ranges import added_places_needed, adders, count_range, variants
from coherence.verify.jobs.eviction import counted, evictor
from coherence.verify.jobs.loss_promises import LossCondition, Spans
from coherence.verify.jobs.losses import MOST_MEMBERS
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.placement import CERTAIN, NONE, POSSIBLE, UNKNOWN, Placement, placement
from coherence.verify.jobs.placing import Counts, shown, total
from coherence.verify.jobs.sites import ROOM, Cluster, cluster, crowded
from coherence.verify.patterns.placement.placement_feasibility import DOWN
from coherence.verify.patterns.writers._pair import Numbers

KINDS = ("always", "never")
WORST = (CERTAIN, POSSIBLE, UNKNOWN, NONE)
PLACED_ALONE = "members lie where the placer has put them, and are moved by nothing else"


@dataclass(frozen=True)
class PlacedOutcome:
    """Whether the condition holds wherever members may lie: `state` is one where it does not."""

    there: Cluster
    verdict: str
    state: Counts = ()
    spans: Spans = field(default_factory=lambda: Spans({}))


def answers(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each promise that counts members of one thing by place, and reads numbers besides."""
    for promise in subject.design.promises.values():
        if promise.kind not in KINDS or promise.condition is None:
            continue
        for thing in things_on_places(subject.design):
            if (counts := evictor(thing, promise.condition.tree)) is not None:
                tree = Logic("not", (counts.trigger,)) if promise.kind == "never" else counts.trigger
                try:
                    condition = _stated(known(subject), LossCondition(thing, tree, counts.labels, {}), promise)
                    yield from _answer(question, subject, known(subject), promise, condition)
                except NeedsError as error:
                    where = (error.place.labelled("this"),) if error.place else ()
                    yield question.undecided(error.needs, (promise.place.labelled("promised"), *where), (promise.name,))


def _stated(facts: DesignFacts, condition: LossCondition, promise: Promise) -> LossCondition:
    """Returns the condition with the numbers that it reads.  Raises NeedsError where one is not stated."""
    own = {counted(condition.thing, by) for by in condition.labels}
    constants = {}
    for path in names_of(condition.tree):
        span = facts.values.get(facts.bare.get(path, path))
        if path not in own and (span is None or not span.exact or span.low is None):
            raise NeedsError(f"one value of {path}", promise.place)
        if path not in own and span is not None and span.low is not None:
            constants[path] = span.low
    return LossCondition(condition.thing, condition.tree, condition.labels, constants)


def _answer(
    question: Question, subject: Subject, facts: DesignFacts, promise: Promise, condition: LossCondition
) -> Iterator[Finding]:
    thing = condition.thing
    low, high = count_range(facts, thing, MOST_MEMBERS, promise.place)
    movers = [*_movers(subject, thing)]
    tried = [cluster(facts, thing, by=condition.labels, numbers=numbers, soft=False) for numbers in variants(facts)]
    outcomes = [_outcome(there, condition, (low, high), evicted=bool(movers)) for there in tried]
    worst = min(outcomes, key=lambda outcome: WORST.index(outcome.verdict))
    there, of = worst.there, (promise.name, thing, *movers)
    rules = (rule.place.labelled("a rule") for rule in there.musts)
    copies = [facts.places[path].labelled("so many members") for path in (f"{thing}.copies",) if path in facts.places]
    places = (promise.place.labelled("promised"), *rules, *copies)
    numbers: Numbers = {"fewest": (low, ""), "most": (high, "")}
    adder = adders(facts, there)
    if worst.verdict == UNKNOWN:
        yield question.undecided(f"more states of {thing} than are followed", places, of, bound="the states followed")
    elif adder is not None:
        yield question.undecided(added_places_needed(adder), places, (*of, adder))
    elif worst.verdict == NONE and (open_ := _open_room(facts, thing)):
        yield question.undecided(f"needs one number for {open_}: more members may fit than are counted", places, of)
    elif worst.verdict == NONE:
        spans = {path: Interval(least, most) for path, (least, most) in worst.spans.seen.items()}
        stated = {path: Interval(value, value) for path, value in condition.constants.items()}
        script = claimed(condition.tree, {**stated, **spans}, whole=frozenset(spans))
        assumed = () if movers else (PLACED_ALONE, *((DOWN,) if low < high else ()))
        message = f"{promise.text}: holds wherever members of {thing} may lie"
        yield question.proved(message, places, of, arithmetic(numbers, certificate=script), assumptions=assumed)
    else:
        yield _broken(question, (promise, condition, of), facts, worst, places, numbers, certain=low == high)


def _open_room(facts: DesignFacts, thing: str) -> str:
    """Returns a need, or what places have of it, that is a range; nothing where all are numbers."""
    owner = facts.design.components.get(thing)
    for resource, need in (needed(owner) if owner is not None else {}).items():
        offered = (given[resource] for given in facts.design.places.values() if resource in given)
        if not all(isinstance(q, Quantity) and q.exact for q in (need, *offered)):
            return f"{resource} of {thing} and of its places"
    return ""


def _broken(
    question: Question, promised: tuple[Promise, LossCondition, tuple[str, ...]], facts: DesignFacts,
    worst: PlacedOutcome, places: tuple[Place, ...], numbers: Numbers, *, certain: bool,
) -> Finding:  # fmt: skip
    """Returns the conflict, or what leaves open whether members come to lie so."""
    (promise, condition, of), there = promised, worst.there
    thing, label = condition.thing, condition.labels[0]
    lies = f"{total(worst.state)} of {thing} may lie so: {shown(there, worst.state)}"
    held = crowded(facts, there)[0]
    if held:
        return question.undecided(f"where the {held} that others hold lies is not followed: {lies}", places, of)
    if worst.verdict == POSSIBLE and not there.musts:
        needs = f"needs a must for the placement of {thing} (spread by {label} <= 1): {lies}"
        return question.undecided(needs, places, of)
    witness = (Step(None, lies), Step(None, f"`{promise.text}` does not hold"))
    sure = certain and worst.verdict == CERTAIN
    evidence = arithmetic(numbers, witness=witness)
    return question.conflict(f"{promise.text}: {lies}", places, of, evidence, certain=sure, assumptions=(ROOM,))


def _movers(subject: Subject, thing: str) -> Iterator[str]:
    """Yields the loops that evict members, and the timers that may take them from where they lie."""
    for loop in subject.design.loops.values():
        if loop.evicted == thing:
            yield loop.name
    for timer in subject.design.timers.values():
        if timer.then is not None and thing in timer.then.text.replace(".", " ").split():
            yield timer.name


def _outcome(there: Cluster, condition: LossCondition, span: tuple[int, int], *, evicted: bool) -> PlacedOutcome:
    """Returns the outcome over every state that placing, scale-down and evictions reach, the first members placed."""
    low, high = span
    placed: Placement = placement(there, low, high, evicted=evicted)
    if placed.verdict == UNKNOWN:
        return PlacedOutcome(there, UNKNOWN)
    spans, full = Spans({}), list[bool]()
    broken: Counts | None = None
    for state, steps in placed.graph.edges.items():
        if not evicted and total(state) < low and steps:
            continue  # on the way to the first members; one that finds no place stays away
        holds = condition.holds(spans.noted(condition.values(there, state, total(state))))
        full += [holds] if total(state) == high or not steps else []
        broken = state if not holds and broken is None else broken
    if broken is None:
        return PlacedOutcome(there, NONE, spans=spans)
    return PlacedOutcome(there, CERTAIN if full and not any(full) and not evicted else POSSIBLE, broken)
