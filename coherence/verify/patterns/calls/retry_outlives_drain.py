"""retry-outlives-drain: the tries of a client end before the server that it keeps trying is gone.

## What
A server that is drained or reclaimed answers for the length of its drain and is then gone. A call that is under way
when the drain begins goes on with its tries: the last one ends at S_n + per_try. If the server is gone by then, the
remaining tries are sent to nothing. Where the server has other members, a retry reaches one of them, and only a call
without retries must fit the drain.  What takes the server off its list later than it is gone (`then: unlist
server`) leaves calls that are sent to nothing.

What calls others and is called by nobody (a worker, a collector) makes its own calls while it drains: the answers that
they wait for must come before it is gone.  That only tries which fail go on for longer is a note.

## Why it hurts
Each roll-out, each preemption turns slow requests into failed ones, although client and server both have a number
that was meant to prevent it.

## Example
```yaml
coherence: 1
components: {serving: {drain: 60 s}}
calls:
  - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}      # up to 86 s
```

## Instead
```yaml
coherence: 1
components: {serving: {drain: 90 s}}
calls:
  - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}
```

## Source
Kubernetes documentation, "Pod Lifecycle": termination grace runs from the deletion, the preStop hook included. The two
clocks belong to two processes, so equality is no safety.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Interval
from coherence.verify.calls.attempts import ZERO, DurationInterval, RetrySchedule, last_end, least, timeline
from coherence.verify.calls.call_graph import CANCELS, call_tree, own_times
from coherence.verify.calls.claims import Numbers, bounded_sum, call_ends
from coherence.verify.calls.repairs import fewer_tries, longer, offered, shorter_try
from coherence.verify.calls.retry_policies import RetryPolicy, known_failures, longest_end
from coherence.verify.calls.retry_policies import known_end as known_end_of
from coherence.verify.events.bounds import ends_of_tries
from coherence.verify.events.drains import Drain, drains
from coherence.verify.facts.design_facts import copies, known
from coherence.verify.patterns.calls._own_budget import LONGEST_PAUSES

QUESTION = Question("COH203", "retry-outlives-drain", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
NO_NEW_CALLS = "no new call is sent to what has begun to drain and is unlisted"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields every call to a thing that is drained; what is not decided once, whichever of several timers drains it."""
    draining = tuple(drains(subject.design))
    if not draining:
        return
    from coherence.verify.patterns.calls._own_calls import own_calls

    plans = call_tree(subject.design).plans
    by_message: dict[str, Finding] = {}
    for drain in draining:
        yield from own_calls(QUESTION, subject, drain)
        for plan in plans:
            if plan.callee == drain.thing:
                finding = _answer(subject, plan, drain)
                if not finding.verdict.decides:
                    by_message[finding.message] = _both(by_message.get(finding.message, finding), finding)
                else:
                    yield finding
    yield from by_message.values()


def _answer(subject: Subject, plan: RetryPolicy, drain: Drain) -> Finding:
    members = copies(known(subject), plan.callee)
    several = members is not None and members.low is not None and members.low > 1
    if drain.lasts.high is not None and drain.reached > drain.lasts.high and not (several and plan.retries):
        return _sent_to_nothing(subject, plan, drain)
    return _many_members(subject, plan, drain) if several else _one_member(subject, plan, drain, members)


def _both(one: Finding, other: Finding) -> Finding:
    """Returns one finding for two that say the same of two timers."""
    places, of = dict.fromkeys((*one.places, *other.places)), dict.fromkeys((*one.of, *other.of))
    return replace(one, places=tuple(places), of=tuple(of))


def _one_member(subject: Subject, plan: RetryPolicy, drain: Drain, members: Interval | None) -> Finding:
    """Answers that all tries go to the thing that is drained."""
    (known_end, longest), delay = _ends(subject, plan), drain.reached
    places, of = _places(plan, drain), (plan.name, drain.name, drain.thing)
    if (around := _enclosed(subject, plan)) is not None:
        known_end = least(known_failures(plan).high if known_end is None else known_end, around.low)
        longest = least(longest, around.high)
    elif plan.limit is None or plan.limit.high is None:
        return QUESTION.undecided(f"needs per_try or deadline of {plan.name}: a try has no end", places, of)
    if known_end is None or delay + known_end >= drain.lasts.low:
        alone = members is None or members.high == 1
        return _outlives(subject, plan, drain, known_end and delay + known_end, alone=alone)
    if longest is None or delay + longest >= drain.lasts.low:
        return QUESTION.undecided(f"needs {_unknown(plan)}", places, of)
    busy = delay + longest
    message = f"the tries of {plan.name} end after {render_seconds(busy)}, {drain.thing} is gone after {drain.text}"
    enclosed = around is not None and longest == around.high
    certificate = (
        bounded_sum({"until_unlisted": delay, "enclosed": longest}, drain.lasts.low)
        if enclosed
        else call_ends(plan, longest, drain.lasts.low - delay)
    )
    evidence = arithmetic(_numbers(drain, busy), certificate=certificate)
    assumed = [*_assumptions(subject, plan), *drain.assumed]
    assumed += [CANCELS.format(plan.caller)] if enclosed else []
    return QUESTION.proved(message, places, of, evidence, assumptions=assumed)


def _enclosed(subject: Subject, plan: RetryPolicy) -> DurationInterval | None:
    """Returns how long after a call began what encloses its caller has ended it; None where nothing surely does."""
    around = [
        end.span for end in ends_of_tries(subject.design, call_tree(subject.design), plan)
        if end.around is not None and end.stops and end.always and end.span.high is not None
    ]  # fmt: skip
    return min(around, key=lambda span: (span.high or ZERO, span.low), default=None)


def _unknown(plan: RetryPolicy) -> str:
    return str(next(iter(plan.missing_facts()), f"a deadline of {plan.name}"))


def _ends(subject: Subject, plan: RetryPolicy) -> tuple[Fraction | None, Fraction | None]:
    """(worst known end, upper bound) of a call; one try without retries ends with what it calls, which may wait too."""
    inside, bounds = call_tree(subject.design).work[plan.callee], (known_end_of(plan), longest_end(plan))
    behind = inside.behind.high
    if not inside.complete or plan.retries:
        return bounds
    return least(bounds[0], inside.behind.low), least(
        bounds[1], behind + plan.second_copy if behind is not None else None
    )


def _many_members(subject: Subject, plan: RetryPolicy, drain: Drain) -> Finding:
    """Retries reach other members; a call without them must end with the member that has it."""
    delay = drain.reached
    places, of = _places(plan, drain), (plan.name, drain.name, drain.thing)
    if plan.retries:
        message = f"{drain.thing} has other members: a retry of {plan.name} reaches one of them"
        return QUESTION.note(message, places, of, arithmetic(_numbers(drain, drain.lasts.low)))
    _, longest = _ends(subject, plan)
    if longest is None:
        return QUESTION.undecided(f"needs per_try or deadline of {plan.name}: a try has no end", places, of)
    busy = delay + longest
    if busy >= drain.lasts.low:
        return _outlives(subject, plan, drain, busy, alone=False)
    message = (
        f"a call {plan.name} to a draining member ends after {render_seconds(busy)}, the member is gone after "
        f"{drain.text}"
    )
    certificate = bounded_sum({"until_unlisted": delay, "try_1": longest}, drain.lasts.low)
    evidence = arithmetic(_numbers(drain, busy), certificate=certificate)
    assumed = [*_assumptions(subject, plan), *drain.assumed]
    return QUESTION.proved(message, places, of, evidence, assumptions=assumed)


def _numbers(drain: Drain, busy: Fraction | None) -> Numbers:
    return {"drain": (drain.lasts.low, "s"), **({"tries go on for": (busy, "s")} if busy is not None else {})}


def _assumptions(subject: Subject, plan: RetryPolicy) -> list[str]:
    """Returns what is taken for granted; of what calls on only where it is waited for, in one try."""
    tree = call_tree(subject.design)
    silent = [name for name in tree.work[plan.callee].answer.silent if name in tree.of_caller]
    alone = [f"all tries of {plan.name} go to the one member"] if plan.retries else own_times(tree, silent)
    return [NO_NEW_CALLS, *alone, *([LONGEST_PAUSES] if plan.backoff.varies else [])]


def _places(plan: RetryPolicy, drain: Drain) -> list[Place]:
    call = plan.call
    places = [call.tries[0].place.labelled("each of them is sent to it")] if call.tries else []
    limit = call.per_try if isinstance(call.per_try, Quantity) else call.deadline
    places += [limit.place.labelled("one try may take this long")] if isinstance(limit, Quantity) else []
    if not places and call.callee is not None:
        places = [call.callee.place.labelled("no limit on this call")]
    return [*places, drain.place.labelled(f"{drain.thing} is gone after this")]


def _outlives(subject: Subject, plan: RetryPolicy, drain: Drain, busy: Fraction | None, *, alone: bool) -> Finding:
    how_long = f"up to {render_seconds(busy)}" if busy is not None else "without end"
    what = f"the tries of {plan.name} go on for" if plan.retries else f"a call {plan.name} may take"
    gone = f"{drain.thing} is gone {drain.text} after its drain began"
    if drain.waits:
        needs = f"needs what ends the drain of {drain.thing} while a call is in flight (a timer {{then: stop ...}})"
        of = (plan.name, drain.name, drain.thing)
        return QUESTION.undecided(f"{needs}: {what} {how_long}", _places(plan, drain), of)
    evidence = arithmetic(_numbers(drain, busy), witness=_witness(plan, drain, busy), replayed=True)
    return QUESTION.conflict(
        f"{what} {how_long}, but {gone}", _places(plan, drain), (plan.name, drain.name, drain.thing), evidence,
        certain=alone and _surely(subject, plan, drain), assumptions=_assumptions(subject, plan),
        repairs=_repairs(subject, plan, drain, busy),
    )  # fmt: skip


def _sent_to_nothing(subject: Subject, plan: RetryPolicy, drain: Drain) -> Finding:
    """Answers that new calls are still sent to a thing which is gone, since what takes it off the list comes later."""
    late = render_seconds(drain.reached)
    message = f"calls {plan.name} may be sent to {drain.thing} until {late} after its drain began, it is gone after"
    witness = (
        Step(ZERO, f"the drain of {drain.thing} begins"),
        Step(drain.lasts.high, f"{drain.thing} is gone"),
        Step(drain.reached, f"{drain.thing} is taken off the list"),
    )
    evidence = arithmetic({**_numbers(drain, None), "calls come until": (drain.reached, "s")}, witness=witness)
    return QUESTION.conflict(
        f"{message} {drain.text}", _places(plan, drain), (plan.name, drain.name, drain.thing), evidence,
        certain=False, repairs=offered(longer(subject, drain.place, drain.reached)),
    )  # fmt: skip


def _surely(subject: Subject, plan: RetryPolicy, drain: Drain) -> bool:
    """Returns whether tries that hang, as against a thing that is gone, outlive every value of the drain."""
    hang = next((cause for cause in plan.causes if cause.name == "timeout"), None)
    if hang is None or not plan.retries or drain.lasts.high is None:
        return False
    end = last_end(plan.best(hang))
    bound = least(end, plan.deadline.low if plan.deadline else None)
    if bound is not None and (around := _enclosed(subject, plan)) is not None:
        bound = min(bound, around.low)
    return plan.tries is None or (bound is not None and bound > drain.lasts.high)


def _course(plan: RetryPolicy) -> RetrySchedule:
    """Returns the slowest known way in which the call can go."""
    once = RetrySchedule((1,), plan.whole_try.high if plan.whole_try else None, plan.backoff)
    return max((plan.worst(cause) for cause in plan.known()), key=lambda course: course.takes or ZERO, default=once)


def _witness(plan: RetryPolicy, drain: Drain, busy: Fraction | None) -> Iterator[Step]:
    gone = drain.lasts.low
    yield Step(ZERO, f"the drain of {drain.thing} begins; a call {plan.name} is under way")
    rows = list(timeline(_course(plan), busy, most=8))
    before = [row for row in rows if row[1] < gone]
    for k, at, ends in before[:5]:
        yield Step(at, f"try {k}" + (f" until {render_seconds(ends)}" if ends is not None else ""))
    yield Step(gone, f"{drain.thing} is gone")
    for k, at, _ in rows[len(before) : len(before) + 1]:
        yield Step(at, f"try {k} is sent to nothing")


def _repairs(subject: Subject, plan: RetryPolicy, drain: Drain, busy: Fraction | None) -> tuple[Repair, ...]:
    """Returns a longer drain, shorter tries, fewer tries."""
    gone = drain.lasts.low
    each = shorter_try(subject, plan, gone) if isinstance(plan.call.per_try, Quantity) else None
    ends = [row[0] for row in timeline(_course(plan), gone, most=64) if row[2] is not None and row[2] < gone]
    fewer = fewer_tries(subject, plan, ends[-1] if ends and plan.retries else None)
    return offered(longer(subject, drain.place, busy), each, fewer)
