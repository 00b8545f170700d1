"""Checks that a call to something that may be scaled to zero can wait for its start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.roles import in_role
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval, RetrySchedule, in_turn, nice_above
from coherence.verify.calls.attempts import least as least_of
from coherence.verify.calls.attempts import start as start_of
from coherence.verify.calls.call_graph import NO_WAIT
from coherence.verify.calls.claims import Numbers
from coherence.verify.calls.repairs import longer, offered
from coherence.verify.calls.retry_policies import RetryPolicy, known_end, serve_time
from coherence.verify.facts.design_facts import COPIES, copies, known

MOST_TRIES = 200  # of one call that are looked at one by one
AT_FIRST = "the first try of a call finds no member and starts one"


@dataclass(frozen=True)
class ColdStart:
    """A first member that starts and answers: least and most seconds of each."""

    begin: DurationInterval
    answer: DurationInterval
    places: tuple[Place, ...]
    of: tuple[str, ...]


def cold_start(question: Question, subject: Subject, plan: RetryPolicy) -> Iterator[Finding]:
    """Answers whether some try of the call waits until the first member has started and answered."""
    none = may_be_zero(subject, plan.callee)
    if none is None or plan.limit is None or plan.limit.high is None:
        return
    component = subject.design.components.get(plan.callee)
    begins = [span for _, span in in_role(component, "start")] if component is not None else []
    of, callee = (plan.name, plan.callee, *_writers(subject, plan.callee)), plan.call.callee
    if not begins:
        places = [none, *([callee.place.labelled("a call to it waits for a start")] if callee else [])]
        needs = f"needs takes: {{start: ...}} of {plan.callee}: it may have to start for {plan.name}"
        yield question.undecided(needs, places, of, lacks_number=True)
        return
    serve = serve_time(subject.design, plan.callee)
    start = ColdStart(in_turn(begins), in_turn([serve] if serve else []), (none, *_places(plan, begins)), of)
    yield _answer(question, subject, plan, start)


def may_be_zero(subject: Subject, name: str) -> Place | None:
    """Returns where it says that a thing may have no member."""
    facts = known(subject)
    members = copies(facts, name)
    if members is None or members.low != 0:
        return None
    place = facts.places.get(f"{name}.copies")
    return place.labelled(f"{name} may have no member") if place else None


def _writers(subject: Subject, name: str) -> tuple[str, ...]:
    """Returns the loops that choose how many members there are."""
    written = known(subject).written
    return tuple(dict.fromkeys(w.loop.name for word in COPIES for w in written.get(f"{name}.{word}", ())))


def _places(plan: RetryPolicy, begins: list[Quantity]) -> Iterator[Place]:
    yield from (q.place.labelled("its start takes this long") for q in begins)
    limits = (q for q in (plan.call.per_try, plan.call.deadline) if isinstance(q, Quantity))
    yield from (q.place.labelled("the call waits this long") for q in limits)


def _answer(question: Question, subject: Subject, plan: RetryPolicy, start: ColdStart) -> Finding:
    most_start, most_answer = start.begin.high or ZERO, start.answer.high or ZERO
    limit = plan.limit.low if plan.limit else ZERO
    numbers: Numbers = {"start, most": (most_start, "s"), "answer, most": (most_answer, "s"), "a try": (limit, "s")}
    reached = surely_reached(plan, most_start, most_answer)
    if reached is None and _later_tries_may_reach(plan, start.answer.low):
        needs = f"whether a try after the first {MOST_TRIES} of {plan.name} still waits when {plan.callee} has started"
        return question.undecided(needs, start.places, start.of, bound=f"{MOST_TRIES} tries")
    if reached is None:
        return _missed(question, subject, plan, start, numbers)
    there = f"{plan.callee} has started from zero and answered, after {render_seconds(reached.latest)}"
    evidence = arithmetic(numbers, certificate=_certificate(plan, reached, most_start, most_answer))
    message, margin = f"try {reached.k} of {plan.name} still waits when {there}", reached.slack > 0
    if plan.call.breaker is not None:
        needs = f"needs whether the breaker of {plan.name} is closed until then; if it is: {message}"
        return question.undecided(needs, start.places, start.of)
    assumed = (AT_FIRST, NO_WAIT.format(plan.callee))
    return question.proved(message, start.places, start.of, evidence, assumptions=assumed, margin=margin)


def _certificate(plan: RetryPolicy, reached: Reached, begin: Fraction, answer: Fraction) -> str:
    """Whenever the member has started and the try begun, within their bounds, the answer comes before the try ends."""
    limit = rational(plan.limit.low if plan.limit else ZERO)
    facts = [f"(<= begin {rational(begin)})", f"(<= 0.0 answer {rational(answer)})"]
    facts.append(f"(<= {rational(reached.early)} at {rational(reached.late)})")
    claims = [f"(<= (+ begin answer) (+ at {limit}))", f"(<= answer {limit})"]
    if plan.deadline is not None:
        claims += [f"(<= (+ {since} answer) {rational(plan.deadline.low)})" for since in ("at", "begin")]
    names = dict.fromkeys(("begin", "answer", "at"), "Real")
    return Certificate(names, tuple(facts), f"(and {' '.join(claims)})").script()


def _missed(question: Question, subject: Subject, plan: RetryPolicy, start: ColdStart, numbers: Numbers) -> Finding:
    certain = not perhaps_reached(plan, start.begin.low, start.answer.low)
    most = (start.begin.high or ZERO) + (start.answer.high or ZERO)
    total = start.begin.low + start.answer.low if certain else most
    gone = f"{plan.name} ends before" if plan.tries == 1 else f"no try of {plan.name} is answered"
    need = f"{'needs' if certain else 'may need'} {render_seconds(total)} to start and answer"
    witness = (
        Step(ZERO, f"{plan.name}: try 1 finds no {plan.callee}; one is started"),
        Step(_waited(plan), "the last try has ended"),
        Step(total, "the answer would be ready"),
    )
    evidence, shorter = arithmetic(numbers, witness=witness), _repairs(subject, plan, most)
    message = f"from zero {plan.callee} {need}; {gone}"
    return question.conflict(
        message, start.places, start.of, evidence, certain=certain, assumptions=[AT_FIRST], repairs=shorter
    )


@dataclass(frozen=True)
class Reached:
    """Try k begins between `early` and `late` and is answered at `latest`, `slack` seconds before it ends."""

    k: int
    early: Fraction
    late: Fraction
    latest: Fraction
    slack: Fraction


def surely_reached(plan: RetryPolicy, begin: Fraction, answer: Fraction) -> Reached | None:
    """Returns the first try that still waits when it is answered, however long the pauses are.

    Try k runs from S_k for `limit`, at most to the deadline, and is answered `answer` seconds after the later
    of its start and the member's; the tries before it time out.
    """
    limit, deadline = plan.limit.low if plan.limit else ZERO, plan.deadline.low if plan.deadline else None
    for k in _tries(plan):
        early, late = _start(plan, k)
        if late is None or (deadline is not None and late + answer > deadline):
            return None
        latest = max(late, begin) + answer
        room = [early + limit - begin - answer, limit - answer, *([deadline - latest] if deadline is not None else [])]
        if min(room) >= 0:
            return Reached(k, early, late, latest, min(room))
    return None


def perhaps_reached(plan: RetryPolicy, begin: Fraction, answer: Fraction) -> bool:
    """Returns whether some try still waits, for some length of the pauses."""
    limit, deadline = plan.limit.high if plan.limit else None, plan.deadline.high if plan.deadline else None
    waits = plan.whole_try.high if plan.whole_try else None
    for k in _tries(plan):
        early, late = _start(plan, k)
        least = early if waits is None else max(early, begin + answer - waits)
        most = late if deadline is None else least_of(late, deadline - answer)
        in_time = deadline is None or begin + answer <= deadline
        if in_time and (limit is None or answer <= limit) and (most is None or least <= most):
            return True
    return False


def _later_tries_may_reach(plan: RetryPolicy, answer: Fraction) -> bool:
    """Returns whether tries follow those that are looked at, begin before the deadline and last as long as an
    answer."""
    if len(_tries(plan)) < MOST_TRIES or (plan.tries is not None and plan.tries <= MOST_TRIES):
        return False
    long_enough = plan.limit is None or plan.limit.high is None or answer <= plan.limit.high
    deadline = plan.deadline.high if plan.deadline else None
    return long_enough and (deadline is None or _start(plan, MOST_TRIES)[0] + answer <= deadline)


def _tries(plan: RetryPolicy) -> range:
    again = any(cause.name == "timeout" for cause in plan.causes)
    return range(1, min(plan.tries or MOST_TRIES, MOST_TRIES if again else 1) + 1)


def _start(plan: RetryPolicy, k: int) -> tuple[Fraction, Fraction | None]:
    """Earliest and latest start of try k when all tries before it time out."""
    early = start_of(RetrySchedule(plan.most, plan.limit.low if plan.limit else ZERO, plan.backoff, longest=False), k)
    return early or ZERO, start_of(
        RetrySchedule(plan.most, plan.whole_try.high if plan.whole_try else ZERO, plan.backoff), k
    )


def _waited(plan: RetryPolicy) -> Fraction:
    """When the last try has ended."""
    end = known_end(plan)
    return end if end is not None else ZERO


def _repairs(subject: Subject, plan: RetryPolicy, need: Fraction) -> tuple[Repair, ...]:
    """Returns a call that waits for the start."""
    limits = [q for q in (plan.call.per_try, plan.call.deadline) if isinstance(q, Quantity)]
    both = [repairs.change(subject, q, nice_above(need)) for q in limits]
    return offered(
        *(longer(subject, q.place, need) for q in limits), repairs.proposal(*both) if len(both) == 2 else None
    )
