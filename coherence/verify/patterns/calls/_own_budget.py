"""Checks the tries of one call against its own deadline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.schema_kinds import Quantity
from coherence.language.words import plain_word
from coherence.verify.calls.attempts import (
    ZERO,
    DurationInterval,
    RetrySchedule,
    completed,
    last_end,
    start,
    started,
    timeline,
)
from coherence.verify.calls.claims import Numbers, tries_fit
from coherence.verify.calls.repairs import deadline_of_each, fewer_tries, longer, offered, shorter_try
from coherence.verify.calls.retry_policies import FailureCause, RetryPolicy

LONGEST_PAUSES = "pauses at their longest"


def own_budget(question: Question, subject: Subject, plan: RetryPolicy) -> Iterator[Finding]:
    """Answers whether all configured tries fit the call's own deadline."""
    limit = plan.deadline
    if limit is None:
        return
    if plan.tries == 1:
        yield from _never_used(question, plan, limit)
        return
    if not plan.causes:
        yield _always_outlasted(question, plan) or _nothing_retried(question, plan)
        return
    broken = [cause for cause in plan.at_least() if breaks(plan, cause, limit)]
    unknown = [cause.missing for cause in plan.causes if not cause.known and breaks(plan, cause, limit)]
    unknown += plan.open_pause()
    hangs = _hangs(plan, limit)
    if broken or hangs:
        worst = max(broken, key=lambda cause: cause.takes.high or ZERO) if broken else hangs
        assert worst is not None
        yield _conflict(question, subject, plan, limit, worst)
    elif unknown:
        places = _places(plan, "tried again")
        yield question.undecided(f"needs {unknown[0]}", places, (plan.name,), lacks_number=unknown[0].is_number)
    elif plan.tries is not None:
        yield _fits(question, plan, limit)


def _hangs(plan: RetryPolicy, limit: DurationInterval) -> FailureCause | None:
    """Returns a try that hangs, where tries are asked for, their causes are a part's default and nothing bounds one
    try.

    The causes of a default were not chosen for this deadline, so it is said that slow answers see no retry;
    a call that names its own causes is asked how long they take instead, and tries that are themselves a
    default promise nothing.
    """
    call, causes = plan.call, plan.call.retry_when or ()
    default = bool(causes) and all(_from_part(cause.place) for cause in causes)
    states_tries = bool(call.tries) and not any(_from_part(tries.place) for tries in call.tries)
    whole = default and states_tries and not isinstance(call.per_try, Quantity) and limit.high is not None
    return FailureCause("a slow answer", limit, whole=True) if whole else None


def _from_part(place: Place) -> bool:
    return place.file.startswith("models/")


def breaks(plan: RetryPolicy, cause: FailureCause, deadline: DurationInterval) -> bool:
    """Returns whether a run of such failures can keep a configured try from running to its end."""
    if plan.tries is None:  # unlimited: until the deadline; but one retry there must be
        return cause.whole
    latest = last_end(plan.worst(cause))
    return cause.whole or latest is None or latest > deadline.low


def always_breaks(plan: RetryPolicy, deadline: DurationInterval) -> bool:
    """Returns whether every run in which all tries fail loses a configured try."""
    return all(_surely_breaks(plan, cause, deadline) for cause in plan.causes)


def _surely_breaks(plan: RetryPolicy, cause: FailureCause, deadline: DurationInterval) -> bool:
    if cause.whole:
        return plan.fewest != (1,)
    earliest = last_end(plan.best(cause))
    return earliest is not None and deadline.high is not None and earliest > deadline.high


def _never_used(question: Question, plan: RetryPolicy, limit: DurationInterval) -> Iterator[Finding]:
    """Yields a note where the one try may take longer than the call that it is: the deadline ends it first."""
    each, whole = plan.call.per_try, plan.call.deadline
    if (
        not isinstance(each, Quantity)
        or not isinstance(whole, Quantity)
        or limit.high is None
        or each.low <= limit.high
    ):
        return
    message = f"per_try {each} of {plan.name} never takes effect: its one try ends with the deadline of {whole}"
    places = (each.place.labelled("never reached"), whole.place.labelled("this ends the try"))
    numbers: Numbers = {"deadline": (limit.high, "s"), "per_try": (each.low, "s")}
    yield question.note(message, places, (plan.name,), arithmetic(numbers))


def _always_outlasted(question: Question, plan: RetryPolicy) -> Finding | None:
    """Returns that each failure after which the call would try again takes longer than a try may last."""
    stated = {plain_word(word): time for word, time in (plan.call.fails or {}).items()}
    again = {plain_word(word.text) for word in plan.call.retry_when or ()}
    limit, fails = plan.failure_limit, [time for word, time in stated.items() if word in again]
    soonest = min((time.low for time in fails), default=ZERO)
    if limit is None or limit.high is None or soonest <= limit.high or not again <= set(stated):
        return None
    ends = render_seconds(limit.high)
    message = (
        f"no second try of {plan.name} ever begins: each failure after which it tries again takes "
        f"{render_seconds(soonest)} or more, and its try is given up after {ends}"
    )
    steps = (
        Step(ZERO, f"the first try of {plan.name} begins"),
        Step(limit.high, "it is given up, which is none of `retry_when`"),
    )
    places = [*_places(plan, "never used"), *(time.place.labelled("a failure takes this long") for time in fails)]
    numbers: Numbers = {"a failure takes": (soonest, "s"), "a try may last": (limit.high, "s")}
    certificate = Certificate(claim=f"(> {rational(soonest)} {rational(limit.high)})").script()
    evidence = arithmetic(numbers, witness=steps, certificate=certificate)
    return question.conflict(message, places, (plan.name,), evidence, certain=True)


def _nothing_retried(question: Question, plan: RetryPolicy) -> Finding:
    no_cause = (
        "each failure that `retry_when` names outlasts one try"
        if plan.call.retry_when
        else ("`retry_when` names no cause")
    )
    message = f"{plan.name} may try again, but {no_cause}: no second try ever runs"
    evidence = arithmetic({"tries": (plan.tries or 0, "")})
    return question.vacuous(message, _places(plan, "never used"), (plan.name,), evidence)


def _places(plan: RetryPolicy, label: str) -> list[Place]:
    call = plan.call
    places = [call.tries[0].place.labelled(label)] if call.tries else []
    if isinstance(call.per_try, Quantity):
        places.append(call.per_try.place.labelled("one try may take this long"))
    elif call.callee is not None:
        places.append(call.callee.place.labelled("no per_try: one try may use the whole deadline"))
    if isinstance(call.deadline, Quantity):
        places.append(call.deadline.place.labelled("all tries together end here"))
    return places


@dataclass(frozen=True)
class _Count:
    """How far the tries come in the worst run of one cause."""

    plan: RetryPolicy
    cause: FailureCause
    course: RetrySchedule
    limit: Fraction
    begun: int | None
    done: int | None
    certain: bool


def _conflict(
    question: Question, subject: Subject, plan: RetryPolicy, deadline: DurationInterval, cause: FailureCause
) -> Finding:
    course, limit = plan.worst(cause), deadline.low
    begun, done = started(course, limit), completed(course, limit)
    count = _Count(plan, cause, course, limit, begun, done, always_breaks(plan, deadline))
    label = "no second try runs on a slow answer" if cause.whole else "tries that do not fit"
    return question.conflict(
        _message(count), _places(plan, label), (plan.name,),
        arithmetic(_numbers(count), witness=_witness(count), replayed=True),
        certain=count.certain, assumptions=assumptions_of(plan), repairs=_repairs(subject, count),
    )  # fmt: skip


def _numbers(count: _Count) -> Numbers:
    numbers: Numbers = {"deadline": (count.limit, "s"), "a failing try": (count.course.takes or ZERO, "s")}
    numbers |= {"tries started": (count.begun or 0, ""), "tries completed": (count.done or 0, "")}
    if (worst := last_end(count.course)) is not None:
        numbers |= {"tries configured": (count.plan.tries or 0, ""), "time for all tries": (worst, "s")}
    return numbers


def assumptions_of(plan: RetryPolicy) -> list[str]:
    """Returns what the worst case takes for granted about pauses."""
    varies = plan.backoff.varies or plan.backoff.base.low != plan.backoff.base.high
    nested = "the nested retries of one call share its pauses, each layer beginning anew"
    return [*([LONGEST_PAUSES] if varies else []), *([nested] if len(plan.most) > 1 else [])]


def _message(count: _Count) -> str:
    plan, cause, limit = count.plan, count.cause, render_seconds(count.limit)
    others = [other for other in plan.causes if other.name != cause.name and not other.whole]
    still = "" if count.certain or not others else "; fast failures (a refused connection) still retry"
    if cause.whole:
        return f"on slow answers {plan.name} never retries: a try that hangs uses the whole {limit}{still}"
    when = on_cause(cause)
    if count.begun is not None and plan.tries is not None and count.begun >= plan.tries:
        last = f"the last of the {plan.tries} tries of {plan.name} is cut"
        return f"{when} {last}: {count.done} fit the deadline of {limit}{still}"
    cut = "" if count.begun == count.done else f" ({count.begun} start)"
    return f"{when} only {count.done} of the {plan.tries} tries of {plan.name} end within {limit}{cut}{still}"


def on_cause(cause: FailureCause) -> str:
    """`on timeouts`, `when unavailable takes 900 ms`."""
    return (
        "on timeouts"
        if cause.name == "timeout"
        else f"when {cause.name} takes {render_seconds(cause.takes.high or ZERO)}"
    )


def _witness(count: _Count) -> Iterator[Step]:
    course, limit, begun = count.course, count.limit, count.begun
    for k, at, ends in timeline(course, limit):
        fails = f" at {render_seconds(ends)}" if ends is not None and ends <= limit else ""
        yield Step(at, f"try {k} starts; it fails by {count.cause.name}{fails}")
    late = start(course, begun + 1) if begun is not None and (course.count is None or begun < course.count) else None
    never = f"; try {(begun or 0) + 1} would start at {render_seconds(late)}" if late is not None else ""
    yield Step(limit, f"the deadline ends the call{never}")


def _repairs(subject: Subject, count: _Count) -> tuple[Repair, ...]:
    """Returns a shorter try, a longer deadline, fewer tries, or each try with the present deadline as its limit."""
    plan, deadline = count.plan, count.plan.call.deadline
    worst = None if count.cause.whole else last_end(count.course)
    more = longer(subject, deadline.place, worst) if isinstance(deadline, Quantity) else None
    done = count.done or 0
    fewer = (fewer_tries(subject, plan, tries) for tries in (done, done - 1) if tries > 0)  # they may fit exactly
    each = deadline_of_each(subject, plan) if count.cause.whole else None
    return offered(shorter_try(subject, plan, count.limit), *fewer, more, each)


def _fits(question: Question, plan: RetryPolicy, deadline: DurationInterval) -> Finding:
    course = plan.worst(max(plan.causes, key=lambda cause: cause.takes.high or ZERO))
    worst, limit = last_end(course) or ZERO, deadline.low
    room = "exactly fit" if worst == limit else "fit"
    message = (
        f"all {plan.tries} tries of {plan.name} {room} its deadline: {render_seconds(worst)} of {render_seconds(limit)}"
    )
    numbers: Numbers = {"deadline": (limit, "s"), "time for all tries": (worst, "s"), "tries": (plan.tries or 0, "")}
    evidence = arithmetic(numbers, certificate=tries_fit(course, limit))
    places, assumed = _places(plan, "all of them fit"), assumptions_of(plan)
    return question.proved(message, places, (plan.name,), evidence, assumptions=assumed, margin=worst != limit)
