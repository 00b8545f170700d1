"""Answers whether a job waits for ever while others come again: conflict with a run, proof, or what is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.jobs.certificates import all_joined
from coherence.verify.jobs.contest import HOLDS_ALL, HOLDS_QUEUE, PASSED, RESERVES, Contest, contest
from coherence.verify.jobs.livelock import NONE, POSSIBLE, TIE, UNKNOWN, variants
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.number_verdicts import by_number
from coherence.verify.jobs.waiting.repeated_evictions import evicted_for_ever
from coherence.verify.jobs.waiting.starvation import MOST_STATES, NEVER, UNDONE, Starvation, is_too_large, starvation
from coherence.verify.patterns.writers._pair import Numbers

WORST = (NEVER, POSSIBLE, UNKNOWN, TIE, UNDONE, NONE)
CHOICES = f"{PASSED}, {RESERVES}, {HOLDS_QUEUE} or {HOLDS_ALL}"
ENDS = "a job that has all it waits for ends some day; what is evicted goes some day"
TURNS = "copies of one job that the order does not tell apart take turns"
PROMPT = "the scheduler acts before anything else happens; preemption acts when nothing fits"
LATE = "the scheduler acts some day, also after others came or ended"
ON_TIME = "a job that passes the first one delays it by nothing: it ends when it says"


def answer(question: Question, subject: Subject, place: Place) -> Finding:
    """Returns the one answer; `place`: where a job is said to come again."""
    try:
        return _answer(question, subject, known(subject))
    except NeedsError as error:
        where = (error.place or place).labelled("needed here")
        return question.undecided(error.needs, (where,), tuple(subject.design.jobs))


def _answer(question: Question, subject: Subject, facts: DesignFacts) -> Finding:
    jobs, order = contest(facts, merged=False), subject.design.order
    if jobs.preempt is not None and (order is None or order.victim is None):
        raise NeedsError("victim of order (returns or leaves; reservation or not)", jobs.preempt.place)
    names, places = tuple(subject.design.jobs), _places(subject, facts, jobs)
    outcomes = _outcomes(jobs)
    worst = _worst(outcomes)
    if worst.verdict == UNKNOWN:
        bound = f"{MOST_STATES} states"
        return question.undecided(f"more than {bound} of these jobs", places, names, bound=bound)
    held = [] if jobs.blocked or worst.verdict != NONE else _safe(replace(jobs, blocked=HOLDS_ALL))
    if not jobs.blocked and not held:
        needs = f"needs blocked of order ({CHOICES}): where the first job is passed, {_outcome(worst)}"
        return question.undecided(needs, places, names)
    if worst.verdict == NONE:
        return _settled(question, jobs, [*outcomes, *held], places, names)
    if worst.verdict in (TIE, UNDONE):
        return _open(question, worst, places, names)
    return _conflict(question, subject, jobs, worst, places)


def _outcomes(jobs: Contest) -> list[Starvation]:
    """Returns an outcome for each amount that differs of the stated range of a capacity."""
    return [starvation(one) for one in variants(jobs)]


def _worst(outcomes: list[Starvation]) -> Starvation:
    return min(outcomes, key=lambda outcome: WORST.index(outcome.verdict))


def _outcome(outcome: Starvation) -> str:
    return "nobody waits for ever" if outcome.verdict == NONE else f"{outcome.name} may wait for ever"


def _places(subject: Subject, facts: DesignFacts, jobs: Contest) -> tuple[Place, ...]:
    order = subject.design.order
    stated = [job.comes.place.labelled("comes again") for job in subject.design.jobs.values() if job.comes is not None]
    stated += [order.admit.place.labelled("who comes first")] if order and order.admit else []
    stated += [order.blocked.place.labelled("while the first one does not fit")] if order and order.blocked else []
    stated += [facts.places[path].labelled("the capacity") for path in jobs.supply.values() if path in facts.places]
    return tuple(stated)


def _settled(
    question: Question, jobs: Contest, outcomes: list[Starvation], places: tuple[Place, ...], names: tuple[str, ...]
) -> Finding:
    """Answers that nobody starves, where that does not hang on evictions that take no time."""
    unstated = next((kind.name for kind in jobs.kinds if kind.leaves is None), None)
    if jobs.preempt is not None and unstated is not None:
        lasting = _safe(replace(jobs, lasting=True))
        if not lasting:
            needs = f"needs how long evictions take (leaves_after of {unstated}; 0 s where all is free at once)"
            return question.undecided(needs, places, names)
        outcomes = [*outcomes, *lasting]
    fitting = tuple(kind.name for k, kind in enumerate(jobs.kinds) if not is_too_large(jobs, k))
    message = f"none of {', '.join(fitting)} waits for ever: each is let in some day, whoever comes again"
    evidence = arithmetic(_numbers(jobs, _worst(outcomes)), certificate=_script(outcomes))
    proofs = [outcome.proof for outcome in outcomes if outcome.proof is not None]
    evicted = dict.fromkeys(name for proof in proofs for name in evicted_for_ever(proof.contest, proof.graph))
    again = f"; {' and '.join(evicted)} may be taken from again and again, and never end" if evicted else ""
    return question.proved(
        f"{message}{again}{_by_number(jobs)}", places, names, evidence,
        assumptions=(ENDS, TURNS, LATE, *((ON_TIME,) if jobs.blocked == RESERVES else ()), *jobs.assumed),
    )  # fmt: skip


def _script(outcomes: list[Starvation]) -> str | None:
    """Returns one certificate of several proofs; None where one of them is too long."""
    from coherence.verify.jobs.waiting.waiting_certificates import none_waits_for_ever

    return all_joined(none_waits_for_ever(outcome.proof) for outcome in outcomes if outcome.proof is not None)


def _open(question: Question, outcome: Starvation, places: tuple[Place, ...], names: tuple[str, ...]) -> Finding:
    """Answers what decides, where only a choice or a livelock lets a job starve."""
    needs = "needs who goes first among equals (then largest job.waited first), or how soon the scheduler acts: "
    if outcome.verdict == UNDONE:
        needs = "needs an end of evictions that undo admissions, or of a standstill of gangs (COH225, COH228): "
    return question.undecided(f"{needs}{_outcome(outcome)}", places, names)


def _numbers(jobs: Contest, outcome: Starvation) -> Numbers:
    amounts: Numbers = {resource: (amount, "") for resource, amount in jobs.capacity.items()}
    steps: Numbers = {"steps of the cycle": (len(outcome.cycle), "")} if outcome.cycle else {}
    return {**amounts, **steps, "states": (outcome.states, "")}


def _by_number(jobs: Contest) -> str:
    return "".join(f"; {row.name}: {row.render()}" for row in by_number(jobs, _decided))


def _decided(jobs: Contest, most: int) -> tuple[str, int]:
    outcome = starvation(jobs, most=most)
    return outcome.verdict, outcome.states


def _conflict(
    question: Question, subject: Subject, jobs: Contest, outcome: Starvation, places: tuple[Place, ...]
) -> Finding:
    others = tuple(kind.name for kind in jobs.kinds if kind.again and (kind.name != outcome.name or kind.number > 1))
    message = f"{outcome.name} may wait for ever: {' and '.join(others)} come again and are let in before it"
    last = "as before this cycle: for ever"
    if outcome.verdict == NEVER:
        message = f"{outcome.name} may wait for ever: nobody acts any more"
        last = f"{outcome.name} waits, and nobody acts any more"
    witness = (*(Step(None, edge.text) for edge in (*outcome.way, *outcome.cycle)), Step(None, last))
    kinds = {kind.name: kind for kind in jobs.kinds}
    starved = kinds[outcome.name].place.labelled("waits") if outcome.name in kinds else places[0]
    return question.conflict(
        f"{message}{_by_number(jobs)}", (starved, *places), tuple(dict.fromkeys((outcome.name, *others))),
        arithmetic(_numbers(jobs, outcome), witness=witness), certain=False, assumptions=(ENDS, PROMPT, *jobs.assumed),
        repairs=_repairs(subject, jobs),
    )  # fmt: skip


def _repairs(subject: Subject, jobs: Contest) -> Iterator[Repair]:
    """Yields ways to treat a first job that does not fit under which nobody starves."""
    order = subject.design.order
    for word in (RESERVES, HOLDS_QUEUE, HOLDS_ALL):
        if order is None or order.blocked is None or order.blocked.text == word:
            continue
        old = repairs.text_at(subject.sources, order.blocked.place)
        if old is not None and _safe(replace(jobs, blocked=word)):
            yield Repair((Edit(order.blocked.place, old, word),), "")


def _safe(jobs: Contest) -> list[Starvation]:
    """Returns the outcomes where nobody starves at any amount; none where somebody may, or it is not decided."""
    try:
        outcomes = _outcomes(jobs)
    except NeedsError:
        return []
    return outcomes if _worst(outcomes).verdict == NONE else []
