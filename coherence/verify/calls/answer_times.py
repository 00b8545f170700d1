"""Computes how long a thing needs to answer when no try fails: its own time and that of its calls, at any depth.

Whether the calls of one thing run one after another, beside each other or instead of each other is not said, nor
whether its own time contains theirs: the least time holds for each of these, the most is that of the longest of them
alone, the bound that of all of them one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval, least
from coherence.verify.calls.retry_policies import RetryPolicy


@dataclass(frozen=True)
class AnswerTime:
    """Seconds to one answer: never less than `least`, as long as `most` in a run that can happen, never above `bound`.

    `stated`: the times that it is made of, `way` the calls from the thing to the longest of them, `inside` the names of
    all calls that the bound adds up.  `silent`: the things on the way whose own time is not stated and counts as 0 s;
    `open`: what keeps it from having a bound.
    """

    least: Fraction = ZERO
    most: Fraction = ZERO
    bound: Fraction | None = None
    stated: tuple[Quantity, ...] = ()
    way: tuple[RetryPolicy, ...] = ()
    silent: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Decides whether every own time in it is stated."""
        return self.bound is not None and not self.silent


UNSTATED = AnswerTime()


def answer_time(name: str, own: Quantity | None, calls: Sequence[tuple[RetryPolicy, AnswerTime]]) -> AnswerTime:
    """Returns the time to answer of a thing from its own time and those of what it calls."""
    inside = [_through(plan, time) for plan, time in calls]
    if own is None and not inside:
        return AnswerTime(silent=(name,), open=(f"takes: {{serve: ...}} of {name}",))
    longest = max(inside, key=lambda time: time.most, default=AnswerTime())
    low, high = (own.low, own.high) if own is not None else (ZERO, ZERO)
    bounds = [time.bound for time in inside]
    return AnswerTime(
        max(low, min((time.least for time in inside), default=ZERO)),
        max(high, longest.most),
        None if None in bounds else high + sum((b for b in bounds if b is not None), ZERO),
        (*([own] if own is not None else []), *longest.stated),
        longest.way,
        tuple(dict.fromkeys((*([name] if own is None else []), *(word for time in inside for word in time.silent)))),
        tuple(dict.fromkeys(word for time in inside for word in time.open)),
        tuple(dict.fromkeys(name for time in inside for name in time.inside)),
    )


def _through(plan: RetryPolicy, time: AnswerTime) -> AnswerTime:
    """Returns the time of one try of a call: its limit ends it, except where it does not bound the whole answer."""
    limit = plan.deadline if plan.streams else plan.limit
    way, inside = (plan, *time.way) if time.stated else (), (plan.name, *time.inside)
    if limit is None:
        return replace(time, way=way, inside=inside)
    bound = least(time.bound, limit.high)
    return AnswerTime(
        min(time.least, limit.low), least(time.most, limit.high) or ZERO, bound, time.stated, way, time.silent,
        () if bound is not None else time.open, inside,
    )  # fmt: skip


def as_stated(plan: RetryPolicy, longest: Fraction) -> RetryPolicy:
    """Returns the call to a thing that never works longer than this: a try that hangs takes no longer, if any does."""
    if plan.limit is None or plan.streams:
        return plan
    limit = plan.limit.within(DurationInterval(longest, longest))
    causes = (
        replace(cause, takes=cause.takes.within(limit)) if cause.name == "timeout" else cause
        for cause in plan.causes
        if cause.name != "timeout" or longest >= plan.limit.low
    )
    return replace(plan, limit=limit, causes=tuple(causes))
