"""Checks the time that a thing needs to answer, at any depth, against everything that waits for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Design
from coherence.language.roles import role, started_apart, time_of, unknown_activities
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.answer_times import AnswerTime, role_of
from coherence.verify.calls.attempts import ZERO, nice_above
from coherence.verify.calls.call_graph import NO_WAIT, CallTree, Enclosure, call_tree, own_times, sent_again
from coherence.verify.calls.claims import Numbers, at_most
from coherence.verify.calls.repairs import longer, offered, waits, with_limit
from coherence.verify.calls.retry_policies import RetryPolicy, retry_end


@dataclass(frozen=True)
class AnswerWait:
    """Something that waits for an answer, and how long that takes; `what`: `answer`, or `send its first byte`."""

    around: Enclosure
    time: AnswerTime
    what: str = "answer"

    @property
    def of(self) -> tuple[str, ...]:
        return (self.around.name, self.around.inside, *(plan.name for plan in self.time.way))

    @property
    def whole(self) -> tuple[str, ...]:
        """Returns what an answer by the bound is about: every call inside, not the longest of them alone."""
        return (*self.of, *self.time.inside)

    @property
    def nested(self) -> bool:
        """Decides whether calls of the thing count too."""
        return bool(self.time.way)

    @property
    def limit_place(self) -> Place:
        return self.around.place.labelled("a try ends here" if self.around.plan else "everything inside ends here")

    def places(self) -> list[Place]:
        """Returns where its times stand and what ends the waiting; the latter first where calls are between."""
        stated = [q.place.labelled("time to answer") for q in self.time.stated]
        return [self.limit_place, *stated] if self.nested else [*stated, self.limit_place]

    def numbers(self) -> Numbers:
        least, most = {"time to answer, least": (self.time.least, "s")}, {"time to answer, most": (self.time.most, "s")}
        return {**least, **most, "a try": (self.around.limit.low, "s")}


def whole_answer(design: Design, tree: CallTree, plan: RetryPolicy) -> Enclosure | None:
    """Returns the deadline of a call whose tries wait for bytes alone: the whole answer is to come before it.

    None where one try waits as long as that takes anyway.
    """
    whole, limit = plan.call.deadline, plan.limit
    if not plan.streams or limit is None or not isinstance(whole, Quantity) or plan.call.per_try is None:
        return None
    work, first = tree.work.get(plan.callee), time_of(design.components.get(plan.callee), "first byte")
    if plan.deadline is None or work is None or (first is None and work.answer.most <= limit.low):
        return None
    text = f"{plan.name} is given up after {whole}"
    return Enclosure(plan.name, plan.callee, plan.deadline, whole.place, text)


def serving_time(question: Question, subject: Subject, tree: CallTree, around: Enclosure) -> Iterator[Finding]:
    """Answers whether what waits leaves a thing the time that it says it needs, its calls included."""
    work = tree.work.get(around.inside)
    if around.limit.high is None or work is None:
        return
    waiting = _waiting(subject, around, work.answer)
    time, limit = waiting.time, around.limit
    unknown = _unknown_role(subject, waiting)
    if time.stated and time.most > limit.low:
        if waiting.what == "answer" and around.plan is not None and around.plan.streams:
            stated = time_of(subject.design.components.get(around.inside), "first byte") is not None
            needs = f"needs {first_byte_of(around.plan, ends_waits=not stated)}"
            yield question.undecided(needs, waiting.places(), waiting.of, lacks_number=True)
        else:
            yield _too_short(question, subject, waiting)
    elif unknown is not None:
        yield question.undecided(*unknown, waiting.of)
    elif time.stated and not _tried_too_long(tree, waiting):
        yield _in_time(question, subject, waiting)


def _tried_too_long(tree: CallTree, waiting: AnswerWait) -> bool:
    """Decides whether an answer may come of a later try after the limit, of which the tries inside are told."""
    inside = (plan for plan in tree.plans if plan.name in waiting.time.inside and plan.retries and plan.limit)
    return any(
        plan.limit.low < tree.work[plan.callee].answer.most
        and ((end := retry_end(plan)) is None or end > waiting.around.limit.low)
        for plan in inside
        if plan.limit is not None and any(cause.name == "timeout" for cause in plan.causes)
    )


def _waiting(subject: Subject, around: Enclosure, time: AnswerTime) -> AnswerWait:
    """Returns what is waited for: a whole answer, or its first byte where that is stated.

    A limit between bytes counts to the first one too; one that comes in time says nothing of the others.
    """
    kind = around.plan.call.timeout_kind if around.plan is not None else None
    first = time_of(subject.design.components.get(around.inside), "first byte") if kind is not None else None
    if kind is None or first is None or kind.text not in ("first byte", "between bytes"):
        return AnswerWait(around, time)
    if kind.text == "between bytes" and first.high <= around.limit.low:
        return AnswerWait(around, time)
    return AnswerWait(around, AnswerTime(first.low, first.high, first.high, (first,)), "send its first byte")


def first_byte_of(plan: RetryPolicy, *, ends_waits: bool = False) -> str:
    """Returns what would say how long a stream keeps its caller waiting.

    `ends_waits`: a first byte that comes too late ends a wait between bytes; one in time does not decide it.
    """
    total = f"timeout_kind: total of {plan.name}"
    between = plan.call.timeout_kind is not None and plan.call.timeout_kind.text == "between bytes"
    return total if between and not ends_waits else f"takes: {{first_byte: ...}} of {plan.callee} or {total}"


def _unknown_role(subject: Subject, waiting: AnswerWait) -> tuple[str, list[Place]] | None:
    """Returns the question for the role of an activity of which nothing says what it is, where it would be too long."""
    time, limit, work = waiting.time, waiting.around.limit.low, call_tree(subject.design).work
    perhaps = [(name, *own) for name in time.silent for own in work[name].perhaps.items()]
    all_of_them = sum((span.high for *_, span in perhaps), ZERO)
    decides = time.bound is not None and time.bound - all_of_them <= limit < time.bound
    for name, activity, span in perhaps:
        if decides or span.high > limit:
            late = f"it takes {span}, and {waiting.around.text}"
            places = [span.place.labelled("for a caller?"), waiting.limit_place]
            return f"needs {role_of(name, activity)} ({late})", places
    return None


def _in_time(question: Question, subject: Subject, waiting: AnswerWait) -> Finding:
    """Returns the proof that every answer comes in time, or what it lacks."""
    time, around = waiting.time, waiting.around
    limit = around.limit.low
    ahead = [] if waiting.nested or waiting.what != "answer" else _ahead(subject, around.inside, time.stated[0])
    total = f"against {render_seconds(limit)} ({around.text})"
    if ahead and limit < time.most + sum((span.high for _, span in ahead), ZERO):
        activity, span = ahead[0]
        late = f"{span} and {time.stated[0]} in a try of {render_seconds(limit)}"
        needs = f"needs whether {activity} of {around.inside} comes before each answer (then as part of it): {late}"
        return question.undecided(
            needs, [*waiting.places(), span.place.labelled(f"{activity} takes this")], waiting.whole
        )
    if time.bound is not None and time.bound <= limit:
        return _enough(question, subject, waiting, time.bound)
    missing = time.open or [f"takes: {{serve: ...}} of {name}" for name in _unstated(subject, time)]
    if missing:
        needs = f"needs {missing[0]}"
        return question.undecided(
            f"{needs}: {render_seconds(time.most)} stated {total}", waiting.places(), waiting.whole, lacks_number=True
        )
    needs = f"needs {_order(waiting)}"
    return question.undecided(
        f"{needs}: {render_seconds(time.bound or ZERO)} together {total}", waiting.places(), waiting.whole
    )


def _unstated(subject: Subject, time: AnswerTime) -> list[str]:
    """Returns the things whose own time would decide: those at the end of a way first; callers after the order."""
    calls = call_tree(subject.design).of_caller
    ends = [name for name in time.silent if name not in calls]
    return ends or ([] if time.unordered else [*time.silent])


def _order(waiting: AnswerWait) -> str:
    """Returns what would say which of the times of an answer add up."""
    if waiting.time.unordered:
        return (
            f"the order of the calls of {waiting.time.unordered[0]}: `stage` of each, `case` where it makes one of them"
        )
    return f"whether the own time of {waiting.around.inside} contains that of its calls, which run in it"


def _ahead(subject: Subject, callee: str, serve: Quantity) -> list[tuple[str, Quantity]]:
    """Activities of the callee listed before its answer, other than its start: a batch that is collected, a lock.

    What a timer starts waits for no caller.
    """
    component, unknown = subject.design.components[callee], unknown_activities(subject.design, callee)
    before = itertools.takewhile(lambda item: item[1] is not serve, (component.takes or {}).items())
    return [(name, span) for name, span in before if name in unknown or role(component, name) == "answer"]


def _enough(question: Question, subject: Subject, waiting: AnswerWait, bound: Fraction) -> Finding:
    time, around = waiting.time, waiting.around
    inside = ", its calls included" if waiting.nested or time.silent else ""
    which = " to its first byte" if waiting.what != "answer" else ""
    waits_long = f"a try of {around.name}" if around.plan is not None else around.name
    message = f"{waits_long} leaves {around.inside} the {render_seconds(bound)} that it may need{which}{inside}"
    evidence = arithmetic(waiting.numbers(), certificate=at_most(bound, around.limit.low))
    assumed = own_times(call_tree(subject.design), time.silent)
    assumed += ["no try inside fails"] if waiting.nested else []
    called = (call.callee.text for call in subject.design.calls if call.name in time.inside and call.callee)
    things = dict.fromkeys((around.inside, *called))
    assumed += [NO_WAIT.format(name) for name in things]
    assumed += [
        f"{activity} of {name} is no part of an answer (else `roles: {{{activity}: answer}}`)"
        for name in things if waiting.what == "answer" and call_tree(subject.design).work[name].serve is not None
        for activity, span in unknown_activities(subject.design, name).items()
        if bound + span.high > around.limit.low
    ]  # fmt: skip
    apart = started_apart(subject.design, around.inside)
    assumed += [
        f"{activity} of {around.inside} waits for no caller: {timer} starts it" for activity, timer in apart.items()
    ]
    margin = bound < around.limit.low
    return question.proved(message, waiting.places(), waiting.whole, evidence, assumptions=assumed, margin=margin)


def _too_short(question: Question, subject: Subject, waiting: AnswerWait) -> Finding:
    time, around = waiting.time, waiting.around
    plan, limit = around.plan, around.limit
    certain = limit.high is not None and time.least > limit.high
    need = f"needs {render_seconds(time.least)}" if certain else f"may need {render_seconds(time.most)}"
    lost = "that answer is lost and asked for again" if plan is not None and plan.retries else "that answer is lost"
    through = f" (through {', '.join(inner.name for inner in time.way)})" if waiting.nested else ""
    ends = f"a try of {plan.name} ends after {render_seconds(limit.low)}" if plan is not None else around.text
    message = f"{around.inside} {need} to {waiting.what}{through}, but {ends}: "
    message += "no try can succeed" if certain else lost
    witness = (
        Step(ZERO, f"{around.name}: try 1 starts" if plan is not None else f"{around.inside} starts"),
        Step(limit.low, "the try ends without an answer" if plan is not None else around.text),
        Step(time.most, "the answer would be ready"),
    )
    evidence = arithmetic(waiting.numbers(), witness=witness)
    longer_limits = _repairs(subject, plan, time.most) if plan else offered(longer(subject, around.place, time.most))
    return question.conflict(
        message, waiting.places(), waiting.of, evidence, certain=certain, repairs=longer_limits,
        assumptions=[f"{around.inside} calls at once"] if waiting.nested else (),
    ).refuting(*sent_again(subject.design, [plan] if plan is not None else []))  # fmt: skip


def _repairs(subject: Subject, plan: RetryPolicy, need: Fraction) -> tuple[Repair, ...]:
    short = (q for q in (plan.call.per_try, plan.call.deadline) if isinstance(q, Quantity) and q.low <= need)
    return offered(*(longer(subject, q.place, need) for q in short), _both_longer(subject, plan, need))


def _both_longer(subject: Subject, plan: RetryPolicy, need: Fraction) -> Repair | None:
    """Longer tries and a deadline for all of them, where neither alone is enough."""
    per_try, whole = plan.call.per_try, plan.call.deadline
    if not isinstance(whole, Quantity) or plan.tries is None:
        return None
    each = nice_above(need)
    edits = [repairs.change(subject, whole, nice_above(plan.tries * each + (waits(plan) or ZERO)))]
    if isinstance(per_try, Quantity):
        edits.append(repairs.change(subject, per_try, each))
    elif plan.tries > 1:
        edits.append(with_limit(subject, plan, each))
    return repairs.proposal(*edits)
