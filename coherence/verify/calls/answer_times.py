"""Computes how long a thing needs to answer when no try fails: its own time and that of its calls, at any depth.

Calls in turn add up, of calls at once the longest counts, of several cases any (`compositions`).  Where a caller says
neither, the least time holds for each of these, the most is that of the longest of its calls alone, the bound that of
all of them one after another.  Whether its own time contains theirs is not said either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval, least
from coherence.verify.calls.compositions import Algebra
from coherence.verify.calls.retry_policies import RetryPolicy, known_end, longest_end


@dataclass(frozen=True)
class AnswerTime:
    """Seconds to one answer: never less than `least`, as long as `most` in a run that can happen, never above `bound`.

    `stated`: the times that it is made of, `way` the calls from the thing to the longest of them, `inside` the names of
    all calls that the bound adds up.  `silent`: the things on the way whose own time is not stated and counts as 0 s;
    `open`: what keeps it from having a bound; `unordered`: the callers whose calls have no order that is said.
    `plain`: as the least, of runs in which no try fails, so that no fallback is the sooner; `lost`: of a call of which
    no try can succeed in these, when it ends.  `given_up`: of a call whose tries may all be
    cut, its end where they hang (0 where nothing says that they do), and its longest.
    """

    least: Fraction = ZERO
    most: Fraction = ZERO
    bound: Fraction | None = None
    stated: tuple[Quantity, ...] = ()
    way: tuple[RetryPolicy, ...] = ()
    silent: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    unordered: tuple[str, ...] = ()
    plain: Fraction = ZERO
    lost: DurationInterval | None = None
    given_up: DurationInterval | None = None


UNSTATED = AnswerTime()


def answer_time(
    name: str,
    own: Quantity | None,
    inside: AnswerTime | None,
    *,
    ordered: bool = True,
    perhaps: Mapping[str, Quantity] | None = None,
) -> AnswerTime:
    """Returns the time to answer of a thing from its own time and that of what it calls, if it calls anything.

    `perhaps`: its activities that may be part of an answer; only the bound counts them.
    """
    unassigned = perhaps or {}
    if own is None and inside is None:
        needs = [role_of(name, activity) for activity in unassigned] or [f"takes: {{serve: ...}} of {name}"]
        return AnswerTime(silent=(name,), open=tuple(needs))
    calls = inside if inside is not None else AnswerTime(bound=ZERO)
    low, high = (own.low, own.high) if own is not None else (ZERO, ZERO)
    return replace(
        calls,
        least=max(low, calls.least),
        most=max(high, calls.most),
        bound=None if calls.bound is None else sum((q.high for q in unassigned.values()), high + calls.bound),
        stated=(*([own] if own is not None else []), *calls.stated),
        silent=_each((*([name] if own is None else []), *calls.silent)),
        unordered=_each((*([] if ordered else [name]), *calls.unordered)),
        plain=max(low, calls.plain),
        lost=None,
        given_up=None,
    )


def role_of(name: str, activity: str) -> str:
    """Returns the question for what an activity of a thing is to a caller."""
    return f"what {activity} of {name} is to a caller: `roles: {{{activity}: answer}}` or `apart`"


def through(plan: RetryPolicy, time: AnswerTime) -> AnswerTime:
    """Returns the time of one try of a call: its limit ends it, except where it does not bound the whole answer."""
    limit = plan.deadline if plan.streams else plan.limit
    way, inside = (plan, *time.way) if time.stated else (), (plan.name, *time.inside)
    if limit is None:
        return replace(time, way=way, inside=inside)
    whole = limit if plan.streams else plan.whole_try or limit
    bound = least(time.bound, limit.high)
    if bound is not None and bound != time.bound:
        bound = whole.high  # a second copy may be on its way
    hopeless = limit.high is not None and time.plain > limit.high
    hangs = not time.stated or time.most > limit.low
    may_be_cut = not plan.streams and (hangs or time.bound is None or time.bound > limit.low)
    return replace(
        time,
        least=min(time.least, limit.low),
        most=least(time.most, limit.high) or ZERO,
        bound=bound,
        way=way,
        open=() if bound is not None else time.open,
        inside=inside,
        plain=min(time.plain, limit.low),
        lost=DurationInterval(limit.low, longest_end(plan)) if hopeless else None,
        given_up=DurationInterval((known_end(plan) or ZERO) if hangs else ZERO, longest_end(plan))
        if may_be_cut
        else None,
    )


def _each(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _sum(bounds: Sequence[Fraction | None]) -> Fraction | None:
    return None if None in bounds else sum((b for b in bounds if b is not None), ZERO)


def _most(bounds: Sequence[Fraction | None]) -> Fraction | None:
    return None if None in bounds else max(b for b in bounds if b is not None)


def _together(
    parts: Sequence[AnswerTime], pick: Callable[[list[Fraction]], Fraction], bound: Fraction | None
) -> AnswerTime:
    """Returns the time of calls of which the longest counts, with this bound; `pick` gives the least time of all."""
    longest = max(parts, key=lambda time: time.most)
    return AnswerTime(
        pick([part.least for part in parts]), longest.most, bound, longest.stated, longest.way,
        _each(word for part in parts for word in part.silent),
        _each(word for part in parts for word in part.open),
        _each(word for part in parts for word in part.inside),
        _each(word for part in parts for word in part.unordered),
        pick([part.plain for part in parts]),
    )  # fmt: skip


def _add(times: list[Fraction]) -> Fraction:
    return sum(times, ZERO)


def _in_turn(parts: Sequence[AnswerTime]) -> AnswerTime:
    return replace(
        _together(parts, _add, _sum([part.bound for part in parts])),
        most=_add([part.most for part in parts]),
        stated=tuple(stated for part in parts for stated in part.stated),
        way=tuple(plan for part in parts for plan in part.way),
    )


def _at_once(parts: Sequence[AnswerTime]) -> AnswerTime:
    return _together(parts, max, _most([part.bound for part in parts]))


def _one_of(parts: Sequence[AnswerTime]) -> AnswerTime:
    return _together(parts, min, _most([part.bound for part in parts]))


def _in_any_order(parts: Sequence[AnswerTime]) -> AnswerTime:
    return _together(parts, max, _sum([part.bound for part in parts]))


def _some(parts: Sequence[AnswerTime]) -> AnswerTime:
    return _together(parts, min, _sum([part.bound for part in parts]))


def _after_failure(parts: Sequence[AnswerTime]) -> AnswerTime:
    """Returns the time of a call with fallbacks: made where it cannot succeed, the sooner where it fails at once.

    Where its tries may hang, the answer of a fallback comes after they are given up.
    """
    time, *fallbacks = parts
    for other in fallbacks:
        if time.lost is not None:
            failed = replace(time, bound=time.lost.high, silent=(), open=(), unordered=())
            time = replace(_in_turn([failed, other]), lost=_later(time.lost, other.lost))
        elif time.given_up is not None:
            time = _or_after(time, time.given_up, other)
    return replace(time, least=min(part.least for part in parts))


def _or_after(time: AnswerTime, given_up: DurationInterval, other: AnswerTime) -> AnswerTime:
    """Returns the time of a call whose answer is its own, or, once it is given up, that of its fallback."""
    later = _in_turn([replace(time, most=given_up.low, bound=given_up.high), other]) if given_up.low else time
    bound = _most([time.bound, _sum([given_up.high, other.bound])])
    return replace(later, bound=bound, plain=time.plain, given_up=_later(given_up, other.given_up))


def _later(one: DurationInterval, other: DurationInterval | None) -> DurationInterval | None:
    return other and DurationInterval(one.low + other.low, _sum([one.high, other.high]))


ANSWERS: Algebra[AnswerTime] = Algebra(_in_turn, _at_once, _one_of, _after_failure, _in_any_order, _some)


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
