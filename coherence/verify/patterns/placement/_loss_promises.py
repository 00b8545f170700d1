"""Answers promises about the members of a thing, some of whose places go: conflict, proof, or what is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, Subject, arithmetic, details_are_asked
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Logic, Tree
from coherence.language.sentences import Promise
from coherence.language.words import COUNTS
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.members_that_stay import DRAINED, things_on_places
from coherence.verify.facts.range_claims import claimed
from coherence.verify.jobs.count_ranges import count_range, render_verdicts, variants
from coherence.verify.jobs.eviction import counted, evictor
from coherence.verify.jobs.loss_promises import LossCondition, LossPromise, over_losses
from coherence.verify.jobs.losses import BLOCKED, MOST_MEMBERS, going_of, nodes_of, stated_losses
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.placement import CERTAIN, MOST_STATES, NONE, POSSIBLE, UNKNOWN
from coherence.verify.jobs.placing import name_of, shown, total
from coherence.verify.jobs.selectors import confines
from coherence.verify.jobs.sites import ROOM, Cluster, crowded
from coherence.verify.patterns.placement.place_loss import BOUND, ONE_KIND, adder_of
from coherence.verify.patterns.placement.place_loss import COUNTS as COUNT_FOR_RULES
from coherence.verify.patterns.writers._pair import Numbers

KINDS = ("always", "never", "eventually_always")
MEMBER_WORDS = (*COUNTS["available"], *COUNTS["unavailable"])
WORST = (BLOCKED, CERTAIN, POSSIBLE, UNKNOWN, NONE)
MOST_SWEPT = 4000
THERE = "all members lie somewhere when a place goes, and one is there as soon as it lies somewhere"
AWAY = "places of one entry go at once, and those of no other later; they stay away"


@dataclass(frozen=True)
class PromiseCase:
    """A promise about the members of one thing, and the condition that has to hold."""

    promise: Promise
    condition: LossCondition
    members: int

    @property
    def thing(self) -> str:
        return self.condition.thing

    @property
    def of(self) -> tuple[str, ...]:
        return (self.promise.name, self.thing)


def answers(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each promise whose condition speaks of members of one thing alone."""
    for promise in subject.design.promises.values():
        thing = _thing(subject, promise)
        if thing is not None:
            try:
                yield _answer(question, subject, known(subject), promise, thing)
            except NeedsError as error:
                places = (promise.place.labelled("promised"), *((error.place.labelled("this"),) if error.place else ()))
                yield question.undecided(error.needs, places, (promise.name, thing))


def _thing(subject: Subject, promise: Promise) -> str | None:
    """Returns the thing of whose members the promise speaks; None where it speaks of anything else too."""
    if promise.kind not in KINDS or promise.condition is None:
        return None
    for thing in things_on_places(subject.design):
        counts = evictor(thing, promise.condition.tree)
        own = {f"{thing}.{word}" for word in MEMBER_WORDS}
        if counts is not None or own & set(names_of(promise.condition.tree)):
            return thing
    return None


def _answer(question: Question, subject: Subject, facts: DesignFacts, promise: Promise, thing: str) -> Finding:
    going = list(stated_losses(subject.design))
    case = _case(facts, promise, thing, going[0])
    by = case.condition.labels
    tried = [nodes_of(facts, thing, numbers, by=by) for numbers in variants(facts)]
    outcomes = [(there, _outcome(facts, there, case)) for there in tried]
    there, worst = min(outcomes, key=lambda pair: WORST.index(pair[1].verdict))
    copies = [facts.places[path].labelled("so many members") for path in (f"{thing}.copies",) if path in facts.places]
    places = (
        promise.place.labelled("promised"),
        *going,
        *copies,
        *(rule.place.labelled("a rule") for rule in there.rules),
    )
    if worst.verdict == BLOCKED:
        return question.undecided(f"needs a place for every one of {thing} before any place goes", places, case.of)
    if worst.verdict == UNKNOWN:
        bound = f"{MOST_STATES} states"
        return question.undecided(f"more than {bound} of {thing} on these places", places, case.of, bound=bound)
    open_ = _held_by_others(facts, case, there, worst)
    if worst.verdict == NONE and open_:
        return question.undecided(f"needs {open_}: without them it holds whichever place goes", places, case.of)
    if worst.verdict == NONE:
        return _proved(question, facts, case, there, worst, places)
    open_ = open_ or _open(subject, facts, case, there, worst)
    if open_:
        return question.undecided(f"needs {open_}: {_failure(case, there, worst)}", places, case.of)
    certain = all(outcome.verdict == CERTAIN for _, outcome in outcomes)
    return _conflict(question, facts, case, there, worst, places, certain=certain)


def _case(facts: DesignFacts, promise: Promise, thing: str, place: Place) -> PromiseCase:
    """Returns the case.  Raises NeedsError where the design leaves open what the condition reads, or who acts."""
    assert promise.condition is not None
    low, high = count_range(facts, thing, MOST_MEMBERS, place)
    if low != high:
        raise NeedsError(f"one number of copies of {thing}: {low} to {high}", facts.places.get(f"{thing}.copies"))
    _refuse_others(facts, thing)
    counts = evictor(thing, promise.condition.tree)
    tree = counts.trigger if counts is not None else promise.condition.tree
    labels = counts.labels if counts is not None else ()
    own = {*(counted(thing, by) for by in labels), *(f"{thing}.{word}" for word in MEMBER_WORDS)}
    constants: dict[str, Fraction] = {}
    for path in names_of(tree):
        span = facts.values.get(facts.bare.get(path, path))
        if path not in own and (span is None or not span.exact or span.low is None):
            raise NeedsError(f"one value of {path}", promise.condition.place)
        if path not in own and span is not None and span.low is not None:
            constants[path] = span.low
    tree = Logic("not", (tree,)) if promise.kind == "never" else tree
    return PromiseCase(promise, LossCondition(thing, tree, labels, constants), low)


def _refuse_others(facts: DesignFacts, thing: str) -> None:
    """Raises NeedsError where a loop or a timer takes members away as well."""
    for loop in facts.design.loops.values():
        acts = loop.actuation
        signal = acts.signal.text if acts is not None and acts.signal is not None else ""
        evicts = acts.evict.text if acts is not None and acts.evict is not None else ""
        if thing in (signal.partition(".")[0], evicts):
            raise NeedsError(f"what {loop.name} does to {thing} meanwhile", loop.place)
    for timer in facts.design.timers.values():
        if timer.then is not None and thing in timer.then.text.replace(".", " ").split():
            raise NeedsError(f"what {timer.name} does to {thing} meanwhile", timer.place)


def _outcome(facts: DesignFacts, there: Cluster, case: PromiseCase) -> LossPromise:
    """Returns whether it holds always; of `eventually_always`, whether it holds once everything rests."""
    at_rest = case.promise.kind == "eventually_always"
    return over_losses(there, going_of(facts, there), case.members, case.condition, at_rest=at_rest)


def _held_by_others(facts: DesignFacts, case: PromiseCase, there: Cluster, worst: LossPromise) -> str:
    """Returns the words for what others hold of the places; nothing where the answer is the same whatever that is.

    Wherever members lie, a loss takes as many away: a condition on their number alone fails with others as without.
    """
    held = crowded(facts, there)[0]
    same = worst.verdict == CERTAIN and not case.condition.labels
    return f"where the {held} that others hold lies" if held and not same else ""


def _open(subject: Subject, facts: DesignFacts, case: PromiseCase, there: Cluster, worst: LossPromise) -> str:
    """Returns what the design leaves open where the condition may fail; nothing where it is a conflict."""
    thing, course = case.thing, worst.course
    limits = [limit.name for limit in subject.design.limits.values() if _counts(limit.counts, thing)]
    if course is not None and course.kind == DRAINED and limits:
        return f"how {limits[0]} paces the evictions (COH209)"
    loop = adder_of(facts, there)
    if course is not None and loop is not None:
        return f"when {loop} adds places"
    if worst.verdict == POSSIBLE and not any(confines(rule) for rule in subject.design.placement.get(thing, ())):
        return f"a must for the placement of {thing} (spread by node <= 1): nothing else keeps members apart"
    return ""


def _counts(counts: object, thing: str) -> bool:
    tree: Tree | None = getattr(counts, "tree", None)
    return tree is not None and any(path.partition(".")[0] == thing for path in names_of(tree))


def _failure(case: PromiseCase, there: Cluster, worst: LossPromise) -> str:
    members, left = case.members, total(worst.state)
    if worst.course is None:
        return f"with {shown(there, worst.before)} it does not hold, and no place has gone"
    course = worst.course
    gone = " and ".join(name_of(there, course.site, node) for node in course.gone)
    verb = "are" if len(course.gone) > 1 else "is"
    lies = shown(course.after, worst.state) if course.after.sites else "no place is left"
    return f"with {shown(there, worst.before)} {gone} {verb} {course.kind}, and {left} of {members} lie: {lies}"


def _by_places(facts: DesignFacts, case: PromiseCase, there: Cluster) -> str:
    """Renders the verdict for each number of places of a kind whose count is stated."""
    text, budget = "", MOST_SWEPT
    for name in [name for name, given in facts.design.places.items() if "count" in given and details_are_asked()]:
        verdicts: list[tuple[int, str]] = []
        for number in range(1, BOUND + 1):
            numbers = {**dict(there.chosen), name: number}
            other = nodes_of(facts, case.thing, numbers, by=case.condition.labels)
            outcome = _outcome(facts, other, case)
            budget -= case.members * other.nodes * 10
            if budget <= 0 or outcome.verdict == UNKNOWN:
                break
            verdicts.append((number, CERTAIN if outcome.verdict == BLOCKED else outcome.verdict))
        text += f"; {name}: {render_verdicts(verdicts)}" if verdicts else ""
    return text


def _assumed(case: PromiseCase) -> tuple[str, ...]:
    return (THERE, COUNT_FOR_RULES, ROOM, AWAY if case.promise.kind == "eventually_always" else ONE_KIND)


def _proved(
    question: Question, facts: DesignFacts, case: PromiseCase, there: Cluster, outcome: LossPromise,
    places: tuple[Place, ...],
) -> Finding:  # fmt: skip
    constants = {path: Interval(value, value) for path, value in case.condition.constants.items()}
    spans = {path: Interval(low, high) for path, (low, high) in (outcome.spans or {}).items()}
    script = claimed(case.condition.tree, {**constants, **spans}, whole=frozenset(spans))
    reads = names_of(case.condition.tree)
    least = {path: (low, "") for path, (low, _) in (outcome.spans or {}).items() if path in reads}
    numbers: Numbers = {"members": (case.members, ""), "places": (there.nodes, ""), **least}
    message = f"{case.promise.text}: holds whichever place goes{_by_places(facts, case, there)}"
    evidence = arithmetic(numbers, certificate=script)
    return question.proved(message, places, case.of, evidence, assumptions=_assumed(case))


def _conflict(
    question: Question, facts: DesignFacts, case: PromiseCase, there: Cluster, worst: LossPromise,
    places: tuple[Place, ...], *, certain: bool,
) -> Finding:  # fmt: skip
    failure = _failure(case, there, worst)
    witness = (
        Step(None, f"{case.members} of {case.thing} lie so: {shown(there, worst.before)}"),
        Step(None, failure),
        Step(None, f"`{case.promise.text}` does not hold"),
    )
    numbers: Numbers = {"members": (case.members, ""), "lie": (total(worst.state), ""), "places": (there.nodes, "")}
    message = f"{case.promise.text}: {failure}{_by_places(facts, case, there)}"
    return question.conflict(
        message, places, case.of, arithmetic(numbers, witness=witness), certain=certain, assumptions=_assumed(case)
    )
