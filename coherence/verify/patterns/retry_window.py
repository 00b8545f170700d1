"""retry-window: the last try starts after the recovery that it waits for.

## What
A promise `cooldown before last try` says that retries are meant to outlast a timer: a cool-down, a lease, a restart.
The timer runs from the first failure. The last try starts after the sum of the pauses and of the time that the tries
between consume; under full jitter the pauses may all be zero, and at most they reach the cap. If the last try starts
first, all of them meet the closed door. `pause: from answer` waits as long as the answer says.

## Why it hurts
The retries spend tries and time and cannot succeed: the caller sees an immediate failure, in spite of four tries.

## Example
```yaml
coherence: 1
timers: {cooldown: {from: rate_limited, after: 60 s, then: list deployment}}
calls:
  - {from: router, to: deployment, tries: 4, pause: {base: 1 s, cap: 4 s}, retry_when: [rate_limited], fails: {rate_limited: 0 ms .. 50 ms}}
promises: {useful: cooldown before last try}
```

## Instead
```yaml
coherence: 1
timers: {cooldown: {from: rate_limited, after: 60 s, then: list deployment}}
calls:
  - {from: router, to: deployment, tries: 4, pause: from answer, retry_when: [rate_limited], fails: {rate_limited: 0 ms .. 50 ms}}
promises: {useful: cooldown before last try}
```

## Source
BerriAI/litellm issues 7669 and 3646. What counts is the start of the last try, not tries times pause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from coherence import repairs
from coherence.design import Pause, Timer
from coherence.finding import Finding, Repair, Step
from coherence.phrases import Promise
from coherence.places import Place
from coherence.shape import Quantity, Word
from coherence.subject import Certificate, Question, Subject, arithmetic, rational
from coherence.units import SECOND, seconds
from coherence.values import value
from coherence.verify.attempts import ZERO, Course, Span, nice_above, nice_below, pauses, start
from coherence.verify.call_claims import bounded_below
from coherence.verify.call_tree import call_tree
from coherence.verify.plans import Plan

QUESTION = Question("COH210", "retry-window", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
MOST_TRIES = 100  # a repair with more tries than this is no repair
_ANSWERED = "the answer names the rest of the wait, and the caller keeps to it"


@value
class Window:
    """From the first failure to the start of the last try: earliest, latest known, and an upper bound (None: none)."""

    earliest: Fraction
    known: Fraction | None
    latest: Fraction | None


def ask(subject: Subject) -> Iterator[Finding]:
    """Every promise that a timer ends before the last try."""
    design = subject.design
    for promise in design.promises.values():
        timer = design.timers.get(promise.first.text) if promise.first else None
        if promise.kind == "before" and timer is not None and promise.second is not None and _is_last_try(promise):
            plans = _plans(subject, promise, timer)
            if not plans:
                needs = "needs the call that is meant: write `last try to x` for the call to x"
                yield QUESTION.undecided(
                    needs, (promise.place.labelled("which call?"), timer.place), (promise.name, timer.name)
                )
            for plan in plans:
                yield _answer(subject, promise, timer, plan)


def _is_last_try(promise: Promise) -> bool:
    return (
        promise.second is not None
        and promise.second.of == "last"
        and re.match(r"(try|attempt)\b", promise.second.subject) is not None
    )


def _plans(subject: Subject, promise: Promise, timer: Timer) -> list[Plan]:
    """The calls whose last try is meant: the named one, else those to what the timer acts on, else the only one."""
    plans = [plan for plan in call_tree(subject.design).plans if plan.call.tries]
    named = re.search(r"\b(?:to|of) ([a-z][a-z0-9_.]*)", promise.second.subject if promise.second else "")
    if named:
        return [plan for plan in plans if named[1] in (plan.callee, plan.caller)]
    acts_on = set(timer.then.text.split()) if timer.then else set()
    return [plan for plan in plans if plan.callee in acts_on] or (plans if len(plans) == 1 else [])


def _answer(subject: Subject, promise: Promise, timer: Timer, plan: Plan) -> Finding:
    of, places = (promise.name, timer.name, plan.name), _places(promise, timer, plan)
    if plan.tries == 1:
        return QUESTION.vacuous(
            f"{plan.name} never tries again: its last try is its first", places, of, arithmetic({"tries": (1, "")})
        )
    if plan.tries is None or not isinstance(timer.after, Quantity):
        return QUESTION.undecided(
            f"needs {'tries of ' + plan.name if plan.tries is None else 'after of ' + timer.name}", places, of
        )
    if plan.backoff.answered:
        return _waits_as_told(timer, timer.after, plan, places, of)
    jitter = timer.jitter.high if timer.jitter else ZERO
    rest = Span(max(ZERO, timer.after.low - jitter), timer.after.high + jitter)
    window = window_of(plan, plan.tries)
    end = plan.deadline.high if plan.deadline else None
    if window.earliest > (rest.high or ZERO) and (end is None or (window.latest is not None and window.latest < end)):
        return _proved(timer, plan, window, rest, places, of)
    if end is not None and end <= rest.low:
        return _too_early(
            subject, timer, plan, window, rest, (places, of), why=f"its deadline ends after {seconds(end)}, "
        )
    if window.known is not None and window.known <= rest.low and (window.latest is None or window.latest > rest.low):
        unknown = next(cause.ask for cause in plan.causes if not cause.known)
        return QUESTION.undecided(f"needs {unknown}", places, of)
    if window.earliest > (rest.high or ZERO):
        return QUESTION.undecided(f"needs a longer deadline of {plan.name}: its last try may never start", places, of)
    return _too_early(subject, timer, plan, window, rest, (places, of), why="")


def window_of(plan: Plan, count: int) -> Window:
    """From the end of try 1 to the start of try `count`: all pauses, and the tries between."""
    between = count - 2
    shortest = _waits(plan, count, longest=False) or ZERO
    longest = _waits(plan, count, longest=True)
    fastest = min((cause.takes.low for cause in plan.causes), default=ZERO)
    known = [cause.takes.high for cause in plan.causes if cause.known]
    slowest = [cause.takes.high for cause in plan.causes]
    return Window(
        shortest + between * fastest,
        None
        if longest is None or None in known
        else longest + between * max((t for t in known if t is not None), default=ZERO),
        None
        if longest is None or None in slowest
        else longest + between * max((t for t in slowest if t is not None), default=ZERO),
    )


def _waits(plan: Plan, count: int, *, longest: bool) -> Fraction | None:
    """Sum of the pauses before try `count`."""
    return start(Course(plan.most if longest else plan.fewest, ZERO, plan.backoff, longest=longest), count)


def _places(promise: Promise, timer: Timer, plan: Plan) -> list[Place]:
    call, found = plan.call, []
    match call.pause:
        case Pause(base=Quantity() as base, cap=cap):
            found = [
                q.place.labelled(text)
                for q, text in ((base, "the first pause"), (cap, "the longest pause"))
                if q is not None
            ]
        case None:
            found = [call.callee.place.labelled("no pause: the tries follow at once")] if call.callee else []
        case Quantity() | Word() as pause:
            found = [pause.place.labelled("the pause between tries")]
    found += [quantity.place.labelled("tries") for quantity in call.tries[:1]]
    after = timer.after.place if timer.after is not None else timer.place
    return [
        *found,
        after.labelled(f"{timer.name} ends after this"),
        promise.place.labelled(f"promised here: {promise.name}"),
    ]


def _numbers(window: Window, rest: Span) -> dict[str, tuple[Fraction | int, str]]:
    numbers: dict[str, tuple[Fraction | int, str]] = {"last try starts, earliest": (window.earliest, "s")}
    if window.known is not None:
        numbers["last try starts, latest"] = (window.known, "s")
    return {**numbers, "wait that is needed": (rest.low, "s")}


def _assumptions(timer: Timer, plan: Plan) -> list[str]:
    begins = timer.start.text if timer.start else "the first failure"
    return [f"{timer.name} runs from the end of the first try of {plan.name} ({begins})"]


def _waits_as_told(timer: Timer, after: Quantity, plan: Plan, places: list[Place], of: tuple[str, ...]) -> Finding:
    facts = (f"(>= answer {rational(after.high)})", "(>= tries_between 0.0)")
    certificate = Certificate(
        {"answer": "Real", "tries_between": "Real"}, facts, f"(>= (+ answer tries_between) {rational(after.high)})"
    ).script()
    message = f"{plan.name} waits as long as the answer says, so a try follows {timer.name}"
    evidence = arithmetic({"wait that is needed": (after.high, "s")}, certificate=certificate)
    return QUESTION.proved(message, places, of, evidence, assumptions=[*_assumptions(timer, plan), _ANSWERED])


def _proved(timer: Timer, plan: Plan, window: Window, rest: Span, places: list[Place], of: tuple[str, ...]) -> Finding:
    count = plan.tries or 1
    parts = (
        {f"pause_{k}": _pause(plan, k) for k in range(1, count)}
        if count <= 12
        else {"all_pauses": _waits(plan, count, longest=False) or ZERO}
    )
    parts["tries_between"] = window.earliest - sum(parts.values(), ZERO)
    message = f"the last of the {plan.tries} tries of {plan.name} starts {seconds(window.earliest)} after the first failure at the earliest, {timer.name} ends after {seconds(rest.high or ZERO)}"
    evidence = arithmetic(_numbers(window, rest), certificate=bounded_below(parts, rest.high or ZERO))
    return QUESTION.proved(message, places, of, evidence, assumptions=_assumptions(timer, plan))


def _pause(plan: Plan, k: int) -> Fraction:
    return (_waits(plan, k + 1, longest=False) or ZERO) - (_waits(plan, k, longest=False) or ZERO)


def _too_early(
    subject: Subject, timer: Timer, plan: Plan, window: Window, rest: Span, said: tuple[list[Place], tuple[str, ...]], *, why: str,
) -> Finding:  # fmt: skip
    places, of = said
    certain = bool(why) or (window.latest is not None and window.latest <= rest.low)
    at = window.known if certain and window.known is not None else window.earliest
    when = f"at most {seconds(at)}" if certain else f"perhaps only {seconds(at)}"
    message = f"{why}the last of the {plan.tries} tries of {plan.name} starts {when} after the first failure, but {timer.name} lasts {seconds(rest.low)}"
    return QUESTION.conflict(
        message, places, of, arithmetic(_numbers(window, rest), witness=_witness(timer, plan, rest, longest=certain)), certain=certain,
        assumptions=_assumptions(timer, plan), repairs=_repairs(subject, timer, plan, window, rest),
    )  # fmt: skip


def _witness(timer: Timer, plan: Plan, rest: Span, *, longest: bool) -> Iterator[Step]:
    takes = [cause.takes.high if longest else cause.takes.low for cause in plan.causes if cause.known]
    each, count = max((t for t in takes if t is not None), default=ZERO), plan.tries or 1
    yield Step(ZERO, f"try 1 fails: {timer.name} begins")
    for k in dict.fromkeys((*range(2, min(count, 6)), count)):
        waited = _waits(plan, k, longest=longest)
        if waited is not None:
            yield Step(waited + (k - 2) * each, f"try {k} starts" + (", the last one" if k == count else ""))
    yield Step(rest.low, f"{timer.name} ends")


def _repairs(subject: Subject, timer: Timer, plan: Plan, window: Window, rest: Span) -> Iterator[Repair]:
    """A longer pause, more tries, or a shorter wait."""
    call, need, edits = plan.call, rest.high or ZERO, []
    count = plan.tries or 1
    match call.pause:
        case Quantity() as pause:
            edits.append((repairs.change(subject, pause, nice_above(need / (count - 1))),))
        case Pause(base=Quantity() as base, factor=factor, cap=cap) if plan.backoff.jitter in ("none", "equal"):
            ratio = factor.low if factor else Fraction(2)
            weight = sum((ratio**k for k in range(min(count - 1, 64))), ZERO) / (
                2 if plan.backoff.jitter == "equal" else 1
            )
            first = nice_above(need / weight)
            last = nice_above(first * ratio ** min(count - 2, 64))
            edits.append(
                (repairs.change(subject, base, first), *((repairs.change(subject, cap, last),) if cap else ()))
            )
        case None if call.tries:
            text = repairs.duration_text(subject, nice_above(need / (count - 1)))
            edits.append((repairs.insert(subject, call.tries[-1].place, "pause", text),))
    if len(call.tries) == 1 and isinstance(call.tries[0], Quantity) and (more := _enough(plan, need)):
        edits.append((repairs.change(subject, call.tries[0], Fraction(more)),))
    if isinstance(timer.after, Quantity) and (shorter := nice_below(window.earliest)):
        edits.append((repairs.rewrite(subject, timer.after.place, shorter, SECOND),))
    yield from (repair for edit in edits if (repair := repairs.proposal(*edit)) is not None)


def _enough(plan: Plan, need: Fraction) -> int | None:
    """The fewest tries whose pauses, at their shortest, outlast the wait."""
    return next(
        (
            n
            for n in range((plan.tries or 1) + 1, MOST_TRIES)
            if (pauses(plan.backoff, n - 1, longest=False) or ZERO) > need
        ),
        None,
    )
