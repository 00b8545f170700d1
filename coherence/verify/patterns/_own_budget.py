"""The tries of one call against its own deadline, and the callee's time against one try."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence import repairs
from coherence.finding import Finding, Repair, Step
from coherence.places import Place
from coherence.shape import Quantity, Word
from coherence.subject import Question, Subject, arithmetic
from coherence.units import seconds
from coherence.verify.attempts import (
    ZERO,
    Course,
    Span,
    completed,
    last_end,
    nice_above,
    nice_below,
    pauses,
    start,
    started,
    timeline,
)  # fmt: skip
from coherence.verify.call_claims import at_most, tries_fit
from coherence.verify.plans import Cause, Plan, serve_time

Numbers = dict[str, tuple[Fraction | float | int, str]]
LONGEST_PAUSES = "pauses at their longest"


def own_budget(question: Question, subject: Subject, plan: Plan) -> Iterator[Finding]:
    """Do all configured tries fit the call's own deadline?"""
    if plan.deadline is None or plan.tries == 1:
        return
    if not plan.causes:
        yield _nothing_retried(question, plan)
        return
    broken = [cause for cause in plan.known() if breaks(plan, cause, plan.deadline)]
    unknown = [cause for cause in plan.causes if not cause.known and breaks(plan, cause, plan.deadline)]
    if broken:
        yield _conflict(question, subject, plan, plan.deadline, max(broken, key=lambda c: c.takes.high or ZERO))
    elif unknown:
        yield question.undecided(f"needs {unknown[0].ask}", _places(plan, "tried again"), (plan.name,))
    elif plan.tries is not None:
        yield _fits(question, plan, plan.deadline)


def breaks(plan: Plan, cause: Cause, deadline: Span) -> bool:
    """Can a run of such failures keep a configured try from running to its end?"""
    if plan.tries is None:  # unlimited: until the deadline; but one retry there must be
        return cause.whole
    latest = last_end(plan.worst(cause))
    return cause.whole or latest is None or latest > deadline.low


def always_breaks(plan: Plan, deadline: Span) -> bool:
    """Does every run in which all tries fail lose a configured try?"""
    for cause in plan.causes:
        earliest = last_end(plan.best(cause))
        certain = cause.whole and plan.fewest != (1,)
        if not certain and (earliest is None or deadline.high is None or earliest <= deadline.high):
            return False
    return True


def _nothing_retried(question: Question, plan: Plan) -> Finding:
    message = f"{plan.name} may try again, but `retry_when` names no cause: no second try ever runs"
    return question.vacuous(
        message, _places(plan, "never used"), (plan.name,), arithmetic({"tries": (plan.tries or 0, "")})
    )


def _places(plan: Plan, label: str) -> list[Place]:
    call = plan.call
    found = [call.tries[0].place.labelled(label)] if call.tries else []
    if isinstance(call.per_try, Quantity):
        found.append(call.per_try.place.labelled("one try may take this long"))
    elif call.callee is not None:
        found.append(call.callee.place.labelled("no per_try: one try may use the whole deadline"))
    if isinstance(call.deadline, Quantity):
        found.append(call.deadline.place.labelled("all tries together end here"))
    return found


def _conflict(question: Question, subject: Subject, plan: Plan, deadline: Span, cause: Cause) -> Finding:
    course, limit = plan.worst(cause), deadline.low
    certain = always_breaks(plan, deadline)
    begun, done = started(course, limit), completed(course, limit)
    numbers: Numbers = {"deadline": (limit, "s"), "a failing try": (cause.takes.high or ZERO, "s")}
    numbers |= {"tries started": (begun or 0, ""), "tries completed": (done or 0, "")}
    if (worst := last_end(course)) is not None:
        numbers |= {"tries configured": (plan.tries or 0, ""), "time for all tries": (worst, "s")}
    assumptions = _assumptions(plan, course)
    label = "tries that do not fit" if not cause.whole else "no second try runs on a slow answer"
    return question.conflict(
        _message(plan, cause, limit, begun, done, certain=certain), _places(plan, label), (plan.name,),
        arithmetic(numbers, witness=_witness(course, cause, limit, begun)),
        certain=certain, assumptions=assumptions, repairs=own_repairs(subject, plan, cause, limit, done),
    )  # fmt: skip


def _assumptions(plan: Plan, course: Course) -> list[str]:
    made = []
    if plan.backoff.jitter != "none" or plan.backoff.base.low != plan.backoff.base.high:
        made.append(LONGEST_PAUSES)
    if len(course.tries) > 1:
        made.append("the nested retries of one call share its pauses, each layer beginning anew")
    return made


def _message(plan: Plan, cause: Cause, limit: Fraction, begun: int | None, done: int | None, *, certain: bool) -> str:
    others = [c for c in plan.causes if c.name != cause.name]
    still = "" if certain or not others else "; fast failures (a refused connection) still retry"
    if cause.whole:
        return f"on slow answers {plan.name} never retries: a try that hangs uses the whole {seconds(limit)}{still}"
    when = (
        f"on {cause.name}s"
        if cause.name == "timeout"
        else f"when {cause.name} takes {seconds(cause.takes.high or ZERO)}"
    )
    if begun is not None and plan.tries is not None and begun >= plan.tries:
        return f"{when} the last of the {plan.tries} tries of {plan.name} is cut: {done} fit the deadline of {seconds(limit)}{still}"
    cut = "" if begun == done else f" ({begun} start)"
    return f"{when} only {done} of the {plan.tries} tries of {plan.name} end within {seconds(limit)}{cut}{still}"


def _witness(course: Course, cause: Cause, limit: Fraction, begun: int | None) -> Iterator[Step]:
    for k, at, ends in timeline(course, limit):
        yield Step(
            at,
            f"try {k} starts; it fails by {cause.name}"
            + (f" at {seconds(ends)}" if ends is not None and ends <= limit else ""),
        )
    after = start(course, begun + 1) if begun is not None and (course.count is None or begun < course.count) else None
    yield Step(
        limit,
        "the deadline ends the call"
        + (f"; try {(begun or 0) + 1} would start at {seconds(after)}" if after is not None else ""),
    )


def own_repairs(subject: Subject, plan: Plan, cause: Cause, limit: Fraction, done: int | None) -> list[Repair]:
    """A shorter try, a longer deadline, fewer tries: each proved again before it is shown."""
    call, count = plan.call, plan.tries
    waits = _waits(plan, count) if count is not None else None
    shorter = nice_below((limit - waits) / count) if count and waits is not None else None
    worst = last_end(plan.worst(cause))
    found: list[Repair | None] = []
    if shorter is not None and isinstance(call.per_try, Quantity):
        found.append(repairs.proposal(repairs.change(subject, call.per_try, shorter)))
    elif shorter is not None and isinstance(call.deadline, Quantity):
        text = repairs.duration_text(subject, shorter)
        found.append(repairs.proposal(repairs.insert(subject, call.deadline.place, "per_try", text)))
    if worst is not None and not cause.whole and isinstance(call.deadline, Quantity):
        found.append(repairs.proposal(repairs.change(subject, call.deadline, nice_above(worst))))
    if done and len(call.tries) == 1 and isinstance(call.tries[0], Quantity):
        found.append(repairs.proposal(repairs.change(subject, call.tries[0], Fraction(done))))
    return [repair for repair in found if repair is not None]


def _waits(plan: Plan, count: int) -> Fraction | None:
    course = Course(plan.most, ZERO, plan.backoff)
    return start(course, count) if len(plan.most) > 1 else pauses(plan.backoff, count - 1, longest=True)


def _fits(question: Question, plan: Plan, deadline: Span) -> Finding:
    slowest = max(plan.causes, key=lambda cause: cause.takes.high or ZERO)
    course = plan.worst(slowest)
    worst = last_end(course) or ZERO
    touches = worst == deadline.low
    room = "exactly fit" if touches else "fit"
    message = f"all {plan.tries} tries of {plan.name} {room} its deadline: {seconds(worst)} of {seconds(deadline.low)}"
    numbers: Numbers = {
        "deadline": (deadline.low, "s"),
        "time for all tries": (worst, "s"),
        "tries": (plan.tries or 0, ""),
    }
    evidence = arithmetic(numbers, certificate=tries_fit(course, deadline.low))
    return question.proved(
        message,
        _places(plan, "all of them fit"),
        (plan.name,),
        evidence,
        assumptions=_assumptions(plan, course),
        margin=not touches,
    )


def own_time(question: Question, subject: Subject, plan: Plan) -> Iterator[Finding]:
    """Does one try leave the callee the time that it says it needs?"""
    serve = serve_time(subject.design, plan.callee)
    if serve is None or plan.limit is None or plan.limit.high is None:
        return
    places = [serve.place.labelled("time to answer"), *(_limit_place(plan))]
    of = (plan.name, plan.callee)
    numbers = {
        "time to answer, least": (serve.low, "s"),
        "time to answer, most": (serve.high, "s"),
        "a try": (plan.limit.low, "s"),
    }
    kind = plan.call.timeout_kind
    if serve.high > plan.limit.low and kind is not None and kind.text in ("first byte", "between bytes"):
        yield question.undecided(
            f"needs timeout_kind: total of {plan.name}, or the time to the first byte of {plan.callee}", places, of
        )
        return
    if serve.high <= plan.limit.low:
        message = f"a try of {plan.name} leaves {plan.callee} the {seconds(serve.high)} that it may need"
        evidence = arithmetic(numbers, certificate=at_most(serve.high, plan.limit.low))
        yield question.proved(message, places, of, evidence, margin=serve.high < plan.limit.low)
        return
    certain = serve.low > plan.limit.high
    need = f"needs {seconds(serve.low)}" if certain else f"may need {seconds(serve.high)}"
    end = (
        "no try can succeed"
        if certain
        else "that answer is lost and asked for again"
        if plan.retries
        else "that answer is lost"
    )
    message = f"{plan.callee} {need} to answer, but a try of {plan.name} ends after {seconds(plan.limit.low)}: {end}"
    witness = (
        Step(ZERO, f"{plan.name}: try 1 starts"),
        Step(plan.limit.low, "the try ends without an answer"),
        Step(serve.high, "the answer would be ready"),
    )
    made = (_longer(subject, quantity, serve.high) for quantity in (plan.call.per_try, plan.call.deadline))
    yield question.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=certain,
        repairs=[repair for repair in (*made, _both_longer(subject, plan, serve.high)) if repair is not None],
    )  # fmt: skip


def _limit_place(plan: Plan) -> Iterator[Place]:
    for quantity in (plan.call.per_try, plan.call.deadline):
        if isinstance(quantity, Quantity) and plan.limit is not None and quantity.low == plan.limit.low:
            yield quantity.place.labelled("a try ends here")
            return


def _longer(subject: Subject, quantity: Quantity | Word | None, need: Fraction) -> Repair | None:
    if not isinstance(quantity, Quantity) or quantity.low > need:
        return None
    return repairs.proposal(repairs.change(subject, quantity, nice_above(need)))


def _both_longer(subject: Subject, plan: Plan, need: Fraction) -> Repair | None:
    """Longer tries and a deadline for all of them, where neither alone is enough."""
    one, whole = plan.call.per_try, plan.call.deadline
    if not isinstance(whole, Quantity) or plan.tries is None:
        return None
    each, waits = nice_above(need), _waits(plan, plan.tries) or ZERO
    edits = [repairs.change(subject, whole, nice_above(plan.tries * each + waits))]
    if isinstance(one, Quantity):
        edits.append(repairs.change(subject, one, each))
    elif plan.tries > 1:
        edits.append(repairs.insert(subject, whole.place, "per_try", repairs.duration_text(subject, each)))
    return repairs.proposal(*edits)
