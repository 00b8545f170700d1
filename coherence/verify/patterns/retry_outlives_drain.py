"""retry-outlives-drain: the tries of a client end before the server that it keeps trying is gone.

## What
A server that is drained or reclaimed answers for the length of its drain and is then gone. A call that is under way
when the drain begins goes on with its tries: the last one ends at S_n + per_try. If the server is gone by then, the
remaining tries are sent to nothing. Where the server has other members, a retry reaches one of them, and only a call
without retries must fit the drain.

## Why it hurts
Each roll-out, each preemption turns slow requests into failed ones, although client and server both have a number
that was meant to prevent it.

## Example
```yaml
components: {serving: {drain: 60 s}}
calls:
  - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}      # up to 86 s
```

## Instead
```yaml
components: {serving: {drain: 90 s}}
calls:
  - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}
```

## Source
Kubernetes documentation, "Pod Lifecycle": termination grace runs from the deletion, the preStop hook included. The two clocks
belong to two processes, so equality is no safety.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence import repairs
from coherence.finding import Finding, Repair, Step
from coherence.places import Place
from coherence.shape import Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.units import SECOND, seconds
from coherence.verify.attempts import ZERO, Course, least, nice_above, nice_below, start, timeline
from coherence.verify.call_claims import bounded_sum
from coherence.verify.call_tree import call_tree
from coherence.verify.drains import Drain, drains, unlisted
from coherence.verify.plans import Plan, copies_of, known_end, longest_end, serve_time

QUESTION = Question("COH203", "retry-outlives-drain", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Every call to a thing that is drained."""
    found = tuple(drains(subject.design))
    plans = call_tree(subject.design).plans if found else ()
    for drain in found:
        for plan in plans:
            if plan.callee == drain.thing:
                yield (
                    _one_member(subject, plan, drain)
                    if copies_of(subject.design, plan.callee) <= 1
                    else _many_members(subject, plan, drain)
                )


def _one_member(subject: Subject, plan: Plan, drain: Drain) -> Finding:
    """All tries go to the thing that is drained."""
    known, longest = _ends(subject, plan)
    places, of = _places(plan, drain), (plan.name, drain.name, drain.thing)
    if known is None and longest is None and (plan.limit is None or plan.limit.high is None):
        return QUESTION.undecided(f"needs per_try or deadline of {plan.name}: a try has no end", places, of)
    if known is None or known >= drain.lasts.low:
        return _outlives(subject, plan, drain, known)
    if longest is None or longest >= drain.lasts.low:
        unknown = next((cause.ask for cause in plan.causes if not cause.known), f"a deadline of {plan.name}")
        return QUESTION.undecided(f"needs {unknown}", places, of)
    message = f"the tries of {plan.name} end after {seconds(longest)}, {drain.thing} is gone after {drain.text}"
    certificate = bounded_sum({"all_tries": longest}, drain.lasts.low)
    return QUESTION.proved(
        message,
        places,
        of,
        arithmetic(_numbers(drain, longest), certificate=certificate),
        assumptions=_assumptions(plan),
    )


def _ends(subject: Subject, plan: Plan) -> tuple[Fraction | None, Fraction | None]:
    """(worst known end, upper bound) of a call; one try without retries ends with its answer."""
    serve = serve_time(subject.design, plan.callee)
    known, longest = known_end(plan), longest_end(plan)
    if serve is not None and not plan.retries:
        return least(known, serve.high), least(longest, serve.high)
    return known, longest


def _many_members(subject: Subject, plan: Plan, drain: Drain) -> Finding:
    """Retries reach other members; a call without them must end with the member that has it."""
    listed = unlisted(subject.design, drain.thing)
    delay = listed.high if listed else ZERO
    places, of = _places(plan, drain), (plan.name, drain.name, drain.thing)
    if plan.retries:
        message = f"{drain.thing} has other members: a retry of {plan.name} reaches one of them"
        return QUESTION.note(message, places, of, arithmetic(_numbers(drain, drain.lasts.low)))
    _, longest = _ends(subject, plan)
    if longest is None:
        return QUESTION.undecided(f"needs per_try or deadline of {plan.name}: a try has no end", places, of)
    if delay + longest >= drain.lasts.low:
        return _outlives(subject, plan, drain, delay + longest)
    message = f"a call {plan.name} that reaches a draining member ends after {seconds(delay + longest)}, before it is gone after {drain.text}"
    certificate = bounded_sum({"until_unlisted": delay, "try_1": longest}, drain.lasts.low)
    return QUESTION.proved(message, places, of, arithmetic(_numbers(drain, delay + longest), certificate=certificate))


def _numbers(drain: Drain, busy: Fraction | None) -> dict[str, tuple[Fraction | int, str]]:
    return {"drain": (drain.lasts.low, "s"), **({"tries go on for": (busy, "s")} if busy is not None else {})}


def _assumptions(plan: Plan) -> list[str]:
    made = [f"all tries of {plan.name} go to the one member"]
    return made if plan.backoff.jitter == "none" else [*made, "pauses at their longest"]


def _places(plan: Plan, drain: Drain) -> list[Place]:
    call = plan.call
    found = [call.tries[0].place.labelled("each of them is sent to it")] if call.tries else []
    limit = call.per_try if isinstance(call.per_try, Quantity) else call.deadline
    found += [limit.place.labelled("one try may take this long")] if isinstance(limit, Quantity) else []
    if not found and call.callee is not None:
        found = [call.callee.place.labelled("no limit on this call")]
    return [*found, drain.place.labelled(f"{drain.thing} is gone after this")]


def _outlives(subject: Subject, plan: Plan, drain: Drain, busy: Fraction | None) -> Finding:
    how_long = f"up to {seconds(busy)}" if busy is not None else "without end"
    what = f"the tries of {plan.name} go on for" if plan.retries else f"a call {plan.name} may take"
    message = f"{what} {how_long}, but {drain.thing} is gone {drain.text} after its drain began"
    hangs = any(cause.name == "timeout" and cause.takes.low == cause.takes.high for cause in plan.causes)
    certain = (
        plan.retries
        and hangs
        and plan.fewest == plan.most
        and drain.lasts.high is not None
        and (busy is None or busy > drain.lasts.high)
    )
    return QUESTION.conflict(
        message, _places(plan, drain), (plan.name, drain.name, drain.thing),
        arithmetic(_numbers(drain, busy), witness=_witness(plan, drain, busy)),
        certain=certain, assumptions=_assumptions(plan), repairs=_repairs(subject, plan, drain, busy),
    )  # fmt: skip


def _course(plan: Plan) -> Course:
    """The slowest known way in which the call can go."""
    return max(
        (plan.worst(cause) for cause in plan.known()),
        key=lambda c: c.takes or ZERO,
        default=Course((1,), plan.limit.high if plan.limit else None, plan.backoff),
    )


def _witness(plan: Plan, drain: Drain, busy: Fraction | None) -> Iterator[Step]:
    gone = drain.lasts.low
    yield Step(ZERO, f"the drain of {drain.thing} begins; a call {plan.name} is under way")
    rows = [row for row in timeline(_course(plan), busy, most=8)]
    before = [row for row in rows if row[1] < gone]
    for k, at, ends in before[:5]:
        yield Step(at, f"try {k}" + (f" until {seconds(ends)}" if ends is not None else ""))
    yield Step(gone, f"{drain.thing} is gone")
    for k, at, _ in rows[len(before) : len(before) + 1]:
        yield Step(at, f"try {k} is sent to nothing")


def _repairs(subject: Subject, plan: Plan, drain: Drain, busy: Fraction | None) -> Iterator[Repair]:
    """A longer drain, shorter tries, fewer tries."""
    call, gone = plan.call, drain.lasts.low
    edits = [repairs.rewrite(subject, drain.place, nice_above(busy), SECOND) if busy is not None else None]
    waits = start(Course(plan.most, ZERO, plan.backoff), plan.tries) if plan.tries else None
    if (
        plan.tries
        and waits is not None
        and isinstance(call.per_try, Quantity)
        and (each := nice_below((gone - waits) / plan.tries))
    ):
        edits.append(repairs.change(subject, call.per_try, each))
    if len(call.tries) == 1 and isinstance(call.tries[0], Quantity):
        edits += [repairs.change(subject, call.tries[0], Fraction(n)) for n in _fewer(plan, gone)]
    yield from (repair for edit in edits if (repair := repairs.proposal(edit)) is not None)


def _fewer(plan: Plan, gone: Fraction) -> Iterator[int]:
    """The most tries that end before the thing is gone."""
    ends = [row[0] for row in timeline(_course(plan), gone, most=64) if row[2] is not None and row[2] < gone]
    yield from ends[-1:]
