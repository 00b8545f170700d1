"""retry-window: the last try starts after the recovery that it waits for.

## What
A promise `cooldown before last try` says that retries are meant to outlast a timer: a cool-down, a lease, a restart.
The timer runs from the first failure. The last try starts after the sum of the pauses and of the time that the tries
between consume; under full jitter the pauses may all be zero, and at most they reach the cap. If the last try starts
first, all of them meet the closed door. `pause: from answer` waits as long as the answer says. What ends the tries
before counts too: the deadline of the call and, where its caller is ended with them (`on_timeout: cancel`, a timer
that ends it), the limits around it.

## Why it hurts
The retries spend tries and time and cannot succeed: the caller sees an immediate failure, in spite of four tries.

## Example
```yaml
coherence: 1
timers: {cooldown: {from: full, after: 60 s, then: list deployment}}
calls:
  - {from: router, to: deployment, tries: 4, pause: {base: 1 s, cap: 4 s}, retry_when: [full], fails: {full: 50 ms}}
promises: {useful: cooldown before last try}
```

## Instead
```yaml
coherence: 1
timers: {cooldown: {from: full, after: 60 s, then: list deployment}}
calls:
  - {from: router, to: deployment, tries: 4, pause: from answer, retry_when: [full], fails: {full: 50 ms}}
promises: {useful: cooldown before last try}
```

## Source
BerriAI/litellm issues 7669 and 3646. What counts is the start of the last try, not tries times pause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.base.sends import product
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Call, Pause, Timer
from coherence.language.schema_kinds import Quantity, Word
from coherence.language.sentences import Promise
from coherence.verify.calls.attempts import ZERO, DurationInterval, RetrySchedule, nice_above, pauses, start
from coherence.verify.calls.call_graph import CANCELS, call_tree
from coherence.verify.calls.claims import EACH, Numbers, bounded_below
from coherence.verify.calls.repairs import fewer_tries, longer, offered, shorter
from coherence.verify.calls.retry_policies import FailureCause, RetryPolicy
from coherence.verify.events.bounds import EndOfTries, ends_of_tries
from coherence.verify.timers.firing import firing

QUESTION = Question("COH210", "retry-window", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
NOTHING_KNOWN = DurationInterval(ZERO, None)
MOST_TRIES = 100  # a repair with more tries than this is no repair
AFTER = "after the first failure"
_ANSWERED = "the answer names the rest of the wait, and the caller keeps to it"


@dataclass(frozen=True)
class RetryWindow:
    """A promise that `timer`, running from the first failure for `rest`, ends before the last try of a call starts."""

    promise: Promise
    timer: Timer
    plan: RetryPolicy
    rest: DurationInterval

    @property
    def of(self) -> tuple[str, ...]:
        return (self.promise.name, self.timer.name, self.plan.name)

    @property
    def needed(self) -> Fraction:
        return self.rest.high or ZERO

    def earliest(self, causes: tuple[FailureCause, ...]) -> Fraction:
        """Start of the last try after the end of the first: shortest pauses, and tries between that fail at once."""
        count = product(self.plan.fewest) or 1
        fastest = min((cause.takes.low for cause in causes), default=ZERO)
        return (_waits(self.plan, count, longest=False) or ZERO) + max(0, count - 2) * fastest

    def latest(self, causes: tuple[FailureCause, ...]) -> Fraction | None:
        """Returns the same with longest pauses and tries; None where that has no bound."""
        count, takes = self.plan.tries, [self.plan.failed_try(cause).high for cause in causes]
        longest = _waits(self.plan, count, longest=True) if count else None
        if count is None or longest is None or None in takes:
            return None
        return longest + max(0, count - 2) * max((t for t in takes if t is not None), default=ZERO)

    def starts_by(self, deadline: Fraction | None, latest: Fraction | None) -> bool:
        """Decides whether a try that starts at the latest so long after the end of the first starts by the deadline,
        which began with the first.
        """
        takes = [self.plan.failed_try(cause).high for cause in self.plan.causes]
        first = max((t for t in takes if t is not None), default=ZERO)
        return deadline is None or (latest is not None and None not in takes and first + latest < deadline)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields every promise that a timer ends before the last try."""
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


def _plans(subject: Subject, promise: Promise, timer: Timer) -> list[RetryPolicy]:
    """Returns the calls whose last try is meant: the named one, else those to what the timer acts on, else the only
    one.
    """
    plans = [plan for plan in call_tree(subject.design).plans if plan.call.tries]
    named = re.search(r"\b(?:to|of) ([a-z][a-z0-9_.]*)", promise.second.subject if promise.second else "")
    if named:
        return [plan for plan in plans if named[1] in (plan.callee, plan.caller)]
    acts_on = set(timer.then.text.split()) if timer.then else set()
    return [plan for plan in plans if plan.callee in acts_on] or (plans if len(plans) == 1 else [])


def _answer(subject: Subject, promise: Promise, timer: Timer, plan: RetryPolicy) -> Finding:
    fires = firing(timer)
    known = fires is not None and isinstance(timer.after, Quantity)
    rest = DurationInterval(fires.window.earliest, fires.window.latest) if fires is not None else NOTHING_KNOWN
    window = RetryWindow(promise, timer, plan, rest)
    if plan.tries == 1 or not plan.causes:
        message = f"{plan.name} never tries again: its last try is its first"
        return QUESTION.vacuous(message, _places(window), window.of, arithmetic({"tries": (1, "")}))
    if plan.tries is None or not known:
        missing = f"after of {timer.name}" if not known else f"tries of {plan.name}"
        return QUESTION.undecided(f"needs {missing}", _places(window), window.of)
    if plan.backoff.answered and not isinstance(plan.call.pause, Word):
        return _ask(window, str(plan.open_pause()[0]))
    return _compared(subject, window)


def _ask(window: RetryWindow, missing: str) -> Finding:
    return QUESTION.undecided(f"needs {missing}", _places(window), window.of)


def _compared(subject: Subject, window: RetryWindow) -> Finding:
    plan, ends = window.plan, tuple(ends_of_tries(subject.design, call_tree(subject.design), window.plan))
    fails = min((cause.takes.low for cause in plan.causes), default=ZERO)
    for end in sorted(ends, key=lambda end: end.span.low):
        if end.stops and end.span.low - fails <= window.rest.low:
            surely = end.always and end.span.high is not None and end.span.high - fails <= window.rest.low
            why = f"{plan.name} ends after {render_seconds(end.span.low)} {end.text}"
            return _too_early(subject, window, why, certain=surely, end=end)
    if plan.backoff.answered:
        return _cut(window, ends, window.needed) or _as_told(window, ends)
    latest, known = window.latest(plan.causes), plan.known()
    if latest is not None and latest <= window.rest.low:
        return _too_early(
            subject, window, f"{_last(plan)} starts at most {render_seconds(latest)} {AFTER}", certain=True
        )
    if window.earliest(plan.causes) > window.needed:
        return _cut(window, ends, latest) or _proved(window, ends)
    if known and window.earliest(known) <= window.needed:
        perhaps = f"{_last(plan)} starts perhaps only {render_seconds(window.earliest(known))} {AFTER}"
        return _too_early(subject, window, perhaps, certain=False)
    return _ask(window, str(plan.missing_facts()[0]))


def _cut(window: RetryWindow, ends: tuple[EndOfTries, ...], latest: Fraction | None) -> Finding | None:
    """Returns the question that stays where something may end the tries before the last one starts."""
    cut = next((end for end in ends if not window.starts_by(end.span.low, latest)), None)
    if cut is None:
        return None
    if cut.around is None:
        return _ask(window, f"a longer deadline of {window.plan.name}: the last try may not start")
    if not cut.stops and cut.around.plan is not None:
        return _ask(window, f"on_timeout of {cut.around.plan.name}: it may end the tries before the last one starts")
    return _ask(window, f"a longer limit around {window.plan.name} ({cut.around.text}): the last try may not start")


def _last(plan: RetryPolicy) -> str:
    return f"the last of the {plan.tries} tries of {plan.name}"


def _waits(plan: RetryPolicy, count: int, *, longest: bool) -> Fraction | None:
    """Sum of the pauses before try `count`."""
    return start(RetrySchedule(plan.most if longest else plan.fewest, ZERO, plan.backoff, longest=longest), count)


def _places(window: RetryWindow) -> list[Place]:
    call, timer, promise = window.plan.call, window.timer, window.promise
    places = list(_pause_places(call))
    places += [quantity.place.labelled("tries") for quantity in call.tries[:1]]
    after = timer.after.place if timer.after is not None else timer.place
    return [
        *places,
        after.labelled(f"{timer.name} ends after this"),
        promise.place.labelled(f"promised: {promise.name}"),
    ]


def _pause_places(call: Call) -> Iterator[Place]:
    match call.pause:
        case Pause(base=base, cap=cap):
            labelled = ((base, "the first pause"), (cap, "the longest pause"))
            yield from (quantity.place.labelled(text) for quantity, text in labelled if quantity is not None)
        case Quantity() | Word() as pause:
            yield pause.place.labelled("the pause between tries")
        case None if call.callee is not None:
            yield call.callee.place.labelled("no pause: the tries follow at once")


def _numbers(window: RetryWindow) -> Numbers:
    numbers: Numbers = {"last try starts, earliest": (window.earliest(window.plan.causes), "s")}
    if (latest := window.latest(window.plan.causes)) is not None:
        numbers["last try starts, latest"] = (latest, "s")
    return {**numbers, "wait that is needed": (window.rest.low, "s")}


def _assumptions(window: RetryWindow, ends: tuple[EndOfTries, ...]) -> list[str]:
    begins = window.timer.start.text if window.timer.start else "the first failure"
    enclosed = any(end.around is not None for end in ends)
    cancelled = any(end.around is not None and end.around.plan is not None for end in ends)
    return [
        f"{window.timer.name} runs from the end of the first try of {window.plan.name} ({begins})",
        *([f"{window.plan.caller} starts the call at once"] if enclosed else []),
        *([CANCELS.format(window.plan.caller)] if cancelled else []),
    ]


def _as_told(window: RetryWindow, ends: tuple[EndOfTries, ...]) -> Finding:
    need = rational(window.needed)
    facts = (f"(>= answer {need})", "(>= tries_between 0.0)")
    names = {"answer": "Real", "tries_between": "Real"}
    certificate = Certificate(names, facts, f"(>= (+ answer tries_between) {need})").script()
    evidence = arithmetic({"wait that is needed": (window.needed, "s")}, certificate=certificate)
    message = f"{window.plan.name} waits as long as the answer says, so a try follows {window.timer.name}"
    assumed = [*_assumptions(window, ends), _ANSWERED]
    return QUESTION.proved(message, _places(window), window.of, evidence, assumptions=assumed)


def _proved(window: RetryWindow, ends: tuple[EndOfTries, ...]) -> Finding:
    plan, earliest = window.plan, window.earliest(window.plan.causes)
    count = product(plan.fewest) or 1
    sums = [_waits(plan, k, longest=False) or ZERO for k in range(1, min(count, EACH) + 1)]
    parts = {f"pause_{k}": later - sooner for k, (sooner, later) in enumerate(pairwise(sums), 1)}
    parts["other_pauses_and_tries"] = earliest - sum(parts.values(), ZERO)
    starts = f"{_last(plan)} starts {render_seconds(earliest)} {AFTER} at the earliest"
    evidence = arithmetic(_numbers(window), certificate=bounded_below(parts, window.needed))
    message = f"{starts}, {window.timer.name} ends after {render_seconds(window.needed)}"
    return QUESTION.proved(message, _places(window), window.of, evidence, assumptions=_assumptions(window, ends))


def _too_early(
    subject: Subject, window: RetryWindow, why: str, *, certain: bool, end: EndOfTries | None = None
) -> Finding:
    evidence = arithmetic(_numbers(window), witness=_witness(window, end, longest=certain))
    around, assumed = end.around if end else None, _assumptions(window, (end,) if end else ())
    return QUESTION.conflict(
        f"{why}, but {window.timer.name} lasts {render_seconds(window.rest.low)}",
        [*_places(window), *([end.place] if end and around else [])], (*window.of, *([around.name] if around else [])),
        evidence, certain=certain, assumptions=assumed, repairs=_repairs(subject, window, end),
    )  # fmt: skip


def _witness(window: RetryWindow, end: EndOfTries | None, *, longest: bool) -> Iterator[Step]:
    """Yields the tries; where something ends them, at times since the first failure at its soonest."""
    plan, name = window.plan, window.timer.name
    takes = [plan.failed_try(cause).high if longest else cause.takes.low for cause in plan.causes]
    each, count = max((t for t in takes if t is not None), default=ZERO), plan.tries or 1
    stop = end.span.low - min((cause.takes.low for cause in plan.causes), default=ZERO) if end else None
    yield Step(ZERO, f"try 1 fails: {name} begins")
    for k in dict.fromkeys((*range(2, min(count, 6)), count)):
        waited = _waits(plan, k, longest=longest)
        if waited is not None and (stop is None or waited + (k - 2) * each < stop):
            yield Step(waited + (k - 2) * each, f"try {k} starts" + (", the last one" if k == count else ""))
    if end is not None and stop is not None:
        yield Step(stop, f"{plan.name} ends {end.text}: no further try starts")
    yield Step(window.rest.low, f"{name} ends")


def _repairs(subject: Subject, window: RetryWindow, end: EndOfTries | None) -> tuple[Repair, ...]:
    """Returns a longer pause, more tries, a shorter wait, or a longer limit around."""
    plan, after = window.plan, window.timer.after
    latest, fails = (
        window.latest(plan.causes),
        max((plan.failed_try(c).high or ZERO for c in plan.causes), default=ZERO),
    )
    if end is not None and latest is not None and latest > window.needed:
        return offered(longer(subject, end.place, latest + fails))
    more = fewer_tries(subject, plan, _enough(plan, window.needed))
    earliest = window.earliest(plan.causes)
    sooner = shorter(subject, after.place, earliest) if isinstance(after, Quantity) else None
    return offered(_longer_pause(subject, plan, window.needed), more, sooner)


def _longer_pause(subject: Subject, plan: RetryPolicy, need: Fraction) -> Repair | None:
    """Pauses whose sum outlasts the wait: the same factor from a longer first one, under a cap that lets them grow."""
    call, gaps = plan.call, (plan.tries or 1) - 1
    match call.pause:
        case Quantity() as pause:
            return longer(subject, pause.place, need / gaps)
        case None if call.tries:
            text = repairs.duration_text(subject, nice_above(need / gaps))
            return repairs.proposal(repairs.insert(subject, call.tries[-1].place, "pause", text))
        case Pause(base=Quantity() as base, cap=cap) if plan.backoff.spread[0] and gaps <= EACH:
            if plan.backoff.decorrelated:
                return None
            ratio, share = plan.backoff.factor.low, plan.backoff.spread[0]
            first = nice_above(need / share / sum((ratio**k for k in range(gaps)), ZERO))
            edits = [repairs.change(subject, base, first)]
            edits += [repairs.change(subject, cap, nice_above(first * ratio ** (gaps - 1)))] if cap else []
            return repairs.proposal(*edits)
    return None


def _enough(plan: RetryPolicy, need: Fraction) -> int | None:
    """Returns the fewest tries whose pauses, at their shortest, outlast the wait."""
    counts = range((plan.tries or 1) + 1, MOST_TRIES)
    return next((n for n in counts if (pauses(plan.backoff, n - 1, longest=False) or ZERO) > need), None)
