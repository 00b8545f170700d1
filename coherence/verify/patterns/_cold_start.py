"""A call to something that may be scaled to zero must be able to wait for its start."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence import repairs
from coherence.design import Design
from coherence.finding import Finding, Repair, Step
from coherence.places import Place
from coherence.shape import Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import seconds
from coherence.verify.attempts import ZERO, Course, nice_above, start
from coherence.verify.call_claims import bounded_sum
from coherence.verify.plans import Plan, serve_time

STARTING = ("start", "load", "boot", "pull")
COUNTS = ("desired", "replicas", "copies", "instances", "running")
MOST_TRIES = 200  # of one call that are looked at one by one
ZERO_AT_FIRST = "the first try of a call finds no member and starts one"


def cold_start(question: Question, subject: Subject, plan: Plan) -> Iterator[Finding]:
    """May some try of the call wait until the first member has started and answered?"""
    none = may_be_zero(subject.design, plan.callee)
    if none is None or plan.limit is None or plan.limit.high is None:
        return
    takes = (subject.design.components[plan.callee].takes if plan.callee in subject.design.components else None) or {}
    begins = [q for name, q in takes.items() if name in STARTING]
    owner, place = none
    of, places = (plan.name, plan.callee, owner), [place.labelled(f"{plan.callee} may have no member")]
    if not begins:
        callee = plan.call.callee
        places += [callee.place.labelled("a call to it waits for a start")] if callee else []
        yield question.undecided(
            f"needs takes: {{start: ...}} of {plan.callee}: it may have to start for {plan.name}", places, of
        )
        return
    serve = serve_time(subject.design, plan.callee)
    low, high = (
        sum(((q.low if first else q.high) for q in [*begins, *([serve] if serve else [])]), ZERO)
        for first in (True, False)
    )
    begin = (sum((q.low for q in begins), ZERO), sum((q.high for q in begins), ZERO))
    answer = (low - begin[0], high - begin[1])
    yield _answer(question, subject, plan, [*places, *_places(plan, begins)], of, begin, answer)


def may_be_zero(design: Design, name: str) -> tuple[str, Place] | None:
    """Where it says that a thing may have no member: bounds of a loop from 0, or `copies: 0 .. n`."""
    component = design.components.get(name)
    if component is not None and isinstance(component.copies, Quantity) and component.copies.low == 0:
        return name, component.copies.place
    for loop in design.loops.values():
        action = loop.actuation
        written = action.signal.text.partition(".") if action and action.signal else ("", "", "")
        if action and written[0] == name and written[2] in COUNTS and action.bounds:
            least = action.bounds[0]
            if isinstance(least, Quantity) and least.low == 0:
                return loop.name, least.place
    return None


def _places(plan: Plan, begins: list[Quantity]) -> Iterator[Place]:
    yield from (q.place.labelled("its start takes this long") for q in begins)
    call = plan.call
    limits = (q for q in (call.per_try, call.deadline) if isinstance(q, Quantity))
    yield from (q.place.labelled("the call waits this long") for q in limits)


def _answer(
    question: Question, subject: Subject, plan: Plan, places: list[Place], of: tuple[str, ...],
    begin: tuple[Fraction, Fraction], answer: tuple[Fraction, Fraction],
) -> Finding:  # fmt: skip
    numbers = {
        "start, most": (begin[1], "s"),
        "answer, most": (answer[1], "s"),
        "a try": (plan.limit.low if plan.limit else ZERO, "s"),
    }
    try_ = reached(plan, begin[1], answer[1], worst=True)
    if try_ is not None:
        k, end, limit = try_
        message = f"try {k} of {plan.name} still waits when {plan.callee} has started from zero and answered, after {seconds(end)}"
        certificate = bounded_sum({"start_and_answer": end}, limit, "<=")
        return question.proved(
            message,
            places,
            of,
            arithmetic(numbers, certificate=certificate),
            assumptions=[ZERO_AT_FIRST],
            margin=end < limit,
        )
    certain = reached(plan, begin[0], answer[0], worst=False) is None
    total = begin[0] + answer[0] if certain else begin[1] + answer[1]
    waits = f"{plan.name} ends before" if plan.tries == 1 else f"no try of {plan.name} is answered"
    message = (
        f"from zero {plan.callee} {'needs' if certain else 'may need'} {seconds(total)} to start and answer; {waits}"
    )
    witness = (
        Step(ZERO, f"{plan.name}: try 1 finds no {plan.callee}; one is started"),
        Step(_waited(plan), "the last try has ended"),
        Step(total, "the answer would be ready"),
    )
    return question.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=certain,
        assumptions=[ZERO_AT_FIRST], repairs=_repairs(subject, plan, begin[1] + answer[1]),
    )  # fmt: skip


def reached(plan: Plan, begin: Fraction, answer: Fraction, *, worst: bool) -> tuple[int, Fraction, Fraction] | None:
    """(k, time of the answer, end of try k) of the first try that still waits when it is answered.

    Try k runs from S_k to S_k + limit, at most to the deadline; it is answered `answer` seconds after the
    later of its start and the member's.  Tries before it time out.
    """
    limit = (plan.limit.low if worst else plan.limit.high) if plan.limit else None
    deadline = (plan.deadline.low if worst else plan.deadline.high) if plan.deadline else None
    again = any(cause.name == "timeout" for cause in plan.causes)
    for k in range(1, min(plan.tries or MOST_TRIES, MOST_TRIES if again else 1) + 1):
        at = start(Course(plan.most, limit, plan.backoff), k)
        if at is None or limit is None or (deadline is not None and at >= deadline):
            return None
        end = at + limit if deadline is None else min(at + limit, deadline)
        if max(at, begin) + answer <= end:
            return k, max(at, begin) + answer, end
    return None


def _waited(plan: Plan) -> Fraction:
    limit = plan.limit.low if plan.limit else ZERO
    last = start(Course(plan.most, limit, plan.backoff), plan.tries) if plan.tries and plan.retries else ZERO
    end = (last or ZERO) + limit
    return end if plan.deadline is None else min(end, plan.deadline.low)


def _repairs(subject: Subject, plan: Plan, need: Fraction) -> Iterator[Repair]:
    """A call that waits for the start."""
    one, whole = plan.call.per_try, plan.call.deadline
    edits = [repairs.change(subject, q, nice_above(need)) for q in (one, whole) if isinstance(q, Quantity)]
    yield from (repair for edit in edits if (repair := repairs.proposal(edit)) is not None)
    if len(edits) == 2 and (both := repairs.proposal(*edits)) is not None:
        yield both
