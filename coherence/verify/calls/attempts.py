"""Computes when each try of a call starts and ends, and how many sends nested retries make: exact closed forms.

Symbols: n tries (None: unlimited), d seconds that a failing try consumes, b_k the pause after try k,
S_k = sum_{i<k} (d + b_i) the start of try k, T a deadline.  started = #{k: S_k < T} counts for load,
completed = #{k: S_k + d <= T} for usefulness.  Times are Fractions in seconds; None is unbounded.

SOURCE: full, equal and decorrelated jitter as in M. Brooker, "Exponential Backoff and Jitter", AWS
Architecture Blog 2015; gRPC retry design A6, random(0, min(base * factor^(k-1), cap)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from coherence.base.errors import CoherenceError, InternalError
from coherence.base.sends import Tries, product
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.retry_run import Pauses, sends

ZERO, ONE = Fraction(0), Fraction(1)
MOST_TERMS = 4096  # growing pauses are summed exactly up to here: their denominators grow with each
_DECORRELATED = Fraction(3)
_NICE = tuple(Fraction(step, 10) for step in (10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100))


class TooManyTriesError(CoherenceError):
    """More growing pauses than are summed exactly."""

    def __init__(self) -> None:
        super().__init__(f"more than {MOST_TERMS} growing pauses are not summed exactly: give `cap` or fewer `tries`")


@dataclass(frozen=True)
class DurationInterval:
    """low <= x <= high; `high` None is unbounded."""

    low: Fraction
    high: Fraction | None

    def within(self, limit: DurationInterval | None) -> DurationInterval:
        """Returns the smaller of the two, end by end."""
        if limit is None:
            return self
        return DurationInterval(min(self.low, limit.low), least(self.high, limit.high))


NOTHING = DurationInterval(ZERO, ZERO)
DOUBLING = DurationInterval(Fraction(2), Fraction(2))


def in_turn(spans: Sequence[Quantity]) -> DurationInterval:
    """Returns how long stated times take one after another (s)."""
    return DurationInterval(sum((span.low for span in spans), ZERO), sum((span.high for span in spans), ZERO))


def least(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """Returns the smaller value, where None is unbounded."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


@dataclass(frozen=True)
class RetryBackoff:
    """The pause after try k: base * factor^(k-1), at most `cap`, times a number in `spread`; `answered`: the answer
    says it.

    `decorrelated`: drawn from [base, 3 x the pause before] instead.
    """

    base: DurationInterval = NOTHING
    factor: DurationInterval = DOUBLING
    cap: DurationInterval | None = None
    spread: tuple[Fraction, Fraction] = (ONE, ONE)
    decorrelated: bool = False
    answered: bool = False

    @property
    def varies(self) -> bool:
        """Decides whether chance is in the length of a pause."""
        return self.decorrelated or self.spread[0] != self.spread[1]


NO_PAUSE = RetryBackoff()


def pauses(backoff: RetryBackoff, count: int, *, longest: bool) -> Fraction | None:
    """Returns the sum of the first `count` pauses, all at their largest or all at their smallest.

    Raises TooManyTriesError.
    """
    if count <= 0 or backoff is NO_PAUSE:
        return ZERO
    if backoff.answered:
        return None if longest else ZERO
    if not longest:
        return _shortest(backoff, count)
    first, ratio = backoff.base.high, backoff.factor.high
    if first is None or ratio is None:
        return None
    if backoff.decorrelated:
        first, ratio = first * _DECORRELATED, _DECORRELATED
    return backoff.spread[1] * _geometric(first, ratio, backoff.cap.high if backoff.cap else None, count)


def _shortest(backoff: RetryBackoff, count: int) -> Fraction:
    cap = backoff.cap.low if backoff.cap else None
    if backoff.spread[0] == 0:
        return ZERO
    if backoff.decorrelated:
        return count * min(backoff.base.low, cap if cap is not None else backoff.base.low)
    return backoff.spread[0] * _geometric(backoff.base.low, backoff.factor.low, cap, count)


def _geometric(start: Fraction, ratio: Fraction, cap: Fraction | None, count: int) -> Fraction:
    """Returns sum_{k=1}^{count} min(start * ratio^(k-1), cap), for ratio >= 1."""
    if count <= 0 or start == 0:
        return ZERO
    if ratio == 1 or (cap is not None and cap <= start):
        return count * (start if cap is None else min(start, cap))
    growing = count if cap is None else min(count, _terms_below(start, ratio, cap))
    if growing > MOST_TERMS:
        raise TooManyTriesError
    return start * (ratio**growing - 1) / (ratio - 1) + (count - growing) * (cap or ZERO)


def _terms_below(start: Fraction, ratio: Fraction, cap: Fraction) -> int:
    """Returns the number of k with start * ratio^(k-1) < cap: a guess by logarithms, made exact."""
    guess = max(1, math.ceil((_log(cap) - _log(start)) / _log(ratio)))
    if guess > MOST_TERMS:
        raise TooManyTriesError
    while start * ratio**guess < cap:
        guess += 1
    while guess > 0 and start * ratio ** (guess - 1) >= cap:
        guess -= 1
    return guess


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


@dataclass(frozen=True)
class RetrySchedule:
    """One way in which a call can go: every try consumes d = `takes`, pauses at their largest or smallest."""

    tries: Tries
    takes: Fraction | None
    backoff: RetryBackoff
    longest: bool = True

    @property
    def count(self) -> int | None:
        return product(self.tries)


def start(course: RetrySchedule, k: int) -> Fraction | None:
    """Returns S_k, the start of try k (from 1); None where it may be arbitrarily late.  Raises TooManyTriesError."""
    waited = _gaps(course, k - 1, course.tries)
    if waited is None or (course.takes is None and k > 1):
        return None
    return waited + (k - 1) * (course.takes or ZERO)


def _gaps(course: RetrySchedule, count: int, tries: Tries) -> Fraction | None:
    """Returns sum of the first `count` pauses: a nested layer begins its pauses anew in each outer try."""
    if course.backoff is NO_PAUSE:
        return ZERO
    if len(tries) == 1:
        return pauses(course.backoff, count, longest=course.longest)
    block = product(tries[1:])
    rounds, rest = divmod(count, block) if block else (0, count)
    inner = _gaps(course, rest, tries[1:])
    if not rounds:
        return inner
    outer, whole = pauses(course.backoff, rounds, longest=course.longest), _gaps(course, (block or 1) - 1, tries[1:])
    return None if outer is None or whole is None or inner is None else outer + rounds * whole + inner


def end(course: RetrySchedule, k: int) -> Fraction | None:
    """Returns S_k + d, the end of try k."""
    begun = start(course, k)
    return None if begun is None or course.takes is None else begun + course.takes


def last_start(course: RetrySchedule) -> Fraction | None:
    """Returns the start of the last try; None where tries are unlimited."""
    return None if course.count is None else start(course, course.count)


def last_end(course: RetrySchedule) -> Fraction | None:
    """Returns the end of the last try; None where tries are unlimited."""
    return None if course.count is None else end(course, course.count)


def started(course: RetrySchedule, limit: Fraction) -> int | None:
    """Returns #{k: S_k < limit}; None where infinitely many tries start.  Without pauses min(n, ceil(limit / d))."""
    if course.backoff is NO_PAUSE and course.takes:
        return _at_most(course.count, -(-limit // course.takes))
    return _count(course, lambda k: _before(start(course, k), limit, strict=True))


def completed(course: RetrySchedule, limit: Fraction, *, strict: bool = False) -> int | None:
    """Returns #{k: S_k + d <= limit} (`<` where strict); None: infinitely many.  Without pauses min(n, limit // d)."""
    if course.backoff is NO_PAUSE and course.takes:
        return _at_most(course.count, -(-limit // course.takes) - 1 if strict else limit // course.takes)
    return _count(course, lambda k: _before(end(course, k), limit, strict=strict))


def _at_most(count: int | None, value: int) -> int:
    return max(0, value if count is None else min(count, value))


def _before(time: Fraction | None, limit: Fraction, *, strict: bool) -> bool:
    return time is not None and (time < limit or (time == limit and not strict))


def _count(course: RetrySchedule, holds: Callable[[int], bool]) -> int | None:
    """Returns the largest k that holds, for a condition that holds up to some k: by doubling and halving."""
    most = course.count
    if most is not None and holds(most):
        return most
    if not holds(1):
        return 0
    if most is None and not _advances(course):
        return None
    low, high = 1, 2
    while holds(high) and (most is None or high < most):
        low, high = high, high * 2
    if most is not None and high >= most:
        high = most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _advances(course: RetrySchedule) -> bool:
    """Decides whether time passes from try to try."""
    return course.takes != 0 or pauses(course.backoff, 1, longest=course.longest) != 0


def timeline(
    course: RetrySchedule, limit: Fraction | None, *, most: int = 5
) -> Iterator[tuple[int, Fraction, Fraction | None]]:
    """Yields (k, S_k, S_k + d) of the first tries that start before the limit.

    Each row is replayed: the executed call must send at the time that the closed form says.
    """
    ran = sends(course.tries, course.takes, _executed(course.backoff, longest=course.longest))
    for k in range(1, most + 1):
        begun = start(course, k)
        if (course.count is not None and k > course.count) or begun is None or (limit is not None and begun >= limit):
            return
        row = (k, begun, end(course, k))
        if next(ran, None) != row:
            raise InternalError(f"try {k} of {course} does not replay")
        yield row


def _executed(backoff: RetryBackoff, *, longest: bool) -> Pauses:
    """Returns the pauses as the executor makes them, all at their largest or all at their smallest."""
    cap = None if backoff.cap is None else backoff.cap.high if longest else backoff.cap.low
    share = backoff.spread[longest]
    if backoff.answered and not longest:
        return Pauses()
    if backoff.decorrelated:
        high = backoff.base.high or ZERO
        return Pauses(_DECORRELATED * high, _DECORRELATED, cap) if longest else Pauses(backoff.base.low, ONE, cap)
    base, factor = (x.high if longest else x.low for x in (backoff.base, backoff.factor))
    return Pauses(share * (base or ZERO), factor or ONE, None if cap is None else share * cap)


def expected_sends(attempts: int, p: Fraction) -> Fraction:
    """Returns (1 - p^A) / (1 - p): mean sends of one call of A tries that fail independently with probability p."""
    return Fraction(attempts) if p == 1 else (1 - p**attempts) / (1 - p)


def budget_factor(share: Fraction, *, of_first: bool) -> Fraction | None:
    """Sends per first try under a retry budget: 1 + b of first tries, 1 / (1 - b) of all in flight (None: no bound)."""
    if of_first:
        return 1 + share
    return None if share >= 1 else 1 / (1 - share)


@lru_cache(maxsize=4096)
def nice_below(value: Fraction) -> Fraction | None:
    """Returns the longest duration strictly below that a person would write; None below nothing."""
    return None if value <= 0 else max(step for step in _nice(value) if step < value)


@lru_cache(maxsize=4096)
def nice_above(value: Fraction) -> Fraction:
    """Returns the shortest duration strictly above that a person would write."""
    return ONE if value <= 0 else min(step for step in _nice(value) if step > value)


def _nice(value: Fraction) -> Iterator[Fraction]:
    """Yields 1, 1.2, 1.5, 2, ... times a power of ten: of seconds to two minutes, of minutes to two hours, of hours."""
    scale = Fraction(next(size for size in (3600, 60, 1) if size == 1 or value >= 2 * size))
    while scale > value:
        scale /= 10
    while scale * 10 <= value:
        scale *= 10
    yield from (step * part for part in (scale / 10, scale, scale * 10) for step in _NICE)
