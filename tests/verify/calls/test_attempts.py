"""The arithmetic of tries against the numbers of its sources, and against plain simulations of the same tries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.sends import product
from coherence.verify.calls.attempts import (
    NO_PAUSE,
    DurationInterval,
    RetryBackoff,
    RetrySchedule,
    TooManyTriesError,
    budget_factor,
    completed,
    end,
    expected_sends,
    last_end,
    last_start,
    least,
    nice_above,
    nice_below,
    pauses,
    start,
    started,
    timeline,
)
from tests.draws import few


def s(value: str | int) -> Fraction:
    return Fraction(value)


def exactly(value: str | int) -> DurationInterval:
    return DurationInterval(s(value), s(value))


def constant(value: str | int) -> RetryBackoff:
    return RetryBackoff(exactly(value), exactly(1))


ONE, HALF = Fraction(1), Fraction(1, 2)
SPREADS = {
    "none": (ONE, ONE), "full": (Fraction(0), ONE), "equal": (HALF, ONE), "decorrelated": (ONE, ONE),
    "20 %": (Fraction(4, 5), Fraction(6, 5)), "-25 % .. 0 %": (Fraction(3, 4), ONE),
}  # fmt: skip


def growing(base: str, factor: str, cap: str | None, jitter: str = "none") -> RetryBackoff:
    most = exactly(cap) if cap else None
    return RetryBackoff(exactly(base), exactly(factor), most, SPREADS[jitter], jitter == "decorrelated")


# --- examples


@pytest.mark.parametrize(
    ("limit", "takes", "tries", "pause", "begun", "done"),
    [
        (21, 5, 11, 0, 5, 4),  # ten retries of 5 s in 21 s
        (20, 5, 11, 0, 4, 4),
        (20, 5, 4, 1, 4, 3),  # with pauses of 1 s the floor of 20 / 5 is wrong
        (5, 2, 3, 0, 3, 2),  # perTryTimeout also covers the first call
        ("6.5", 2, 3, 0, 3, 3),
        (2, 2, 4, 0, 1, 1),  # no limit of one try: it takes the whole deadline
        (900, 300, 3, 0, 3, 3),
    ],
)
def test_started_and_completed(limit: str, takes: str, tries: int, pause: str, begun: int, done: int) -> None:
    course = RetrySchedule((tries,), s(takes), constant(pause) if pause else NO_PAUSE)
    assert started(course, s(limit)) == begun
    assert completed(course, s(limit)) == done


def test_a_try_that_ends_with_the_deadline_is_completed_unless_the_clocks_are_two() -> None:
    course = RetrySchedule((3,), s(300), NO_PAUSE)
    assert completed(course, s(900)) == 3
    assert completed(course, s(900), strict=True) == 2


def test_exponential_pauses_grow_to_their_cap() -> None:
    backoff = growing("1", "2", "4")
    assert [pauses(backoff, n, longest=True) for n in range(5)] == [0, 1, 3, 7, 11]


def test_streaming_pull_waits_less_than_a_second_in_all() -> None:
    backoff = growing("0.1", "1.3", "60", "full")
    assert pauses(backoff, 4, longest=True) == s("0.6187")
    assert pauses(backoff, 4, longest=False) == 0


@pytest.mark.parametrize(
    ("jitter", "shortest", "longest"),
    [
        ("none", 7, 7),
        ("full", 0, 7),
        ("equal", "3.5", 7),
        ("decorrelated", 3, 11),  # 3 + 4 + 4
        ("20 %", "5.6", "8.4"),
        ("-25 % .. 0 %", "5.25", 7),
    ],
)
def test_jitter_bounds(jitter: str, shortest: str, longest: str) -> None:
    backoff = growing("1", "2", "4", jitter)
    assert pauses(backoff, 3, longest=False) == s(shortest)
    assert pauses(backoff, 3, longest=True) == s(longest)


def test_an_answer_may_say_any_pause() -> None:
    backoff = RetryBackoff(answered=True)
    assert pauses(backoff, 2, longest=True) is None
    assert pauses(backoff, 2, longest=False) == 0
    assert last_start(RetrySchedule((3,), s(1), backoff)) is None


def test_the_drain_example() -> None:
    course = RetrySchedule((4,), s(20), constant(2))
    assert [(k, int(begin)) for k, begin, _ in timeline(course, s(60))] == [(1, 0), (2, 22), (3, 44)]
    assert last_end(course) == 86


def test_many_constant_pauses_need_no_sum() -> None:
    course = RetrySchedule((10**12,), s(1), constant(1))
    assert last_end(course) == 2 * 10**12 - 1
    assert started(course, s(10**9)) == 5 * 10**8


def test_unlimited_tries_are_counted_by_time() -> None:
    course = RetrySchedule((None,), s(2), constant(1))
    assert started(course, s(10)) == 4
    assert last_end(course) is None
    assert started(RetrySchedule((None,), s(0), NO_PAUSE), s(10)) is None


def test_pauses_that_grow_slowly_for_ever_are_refused() -> None:
    with pytest.raises(TooManyTriesError, match="cap"):
        pauses(growing("1", "1.0000001", None), 10**6, longest=True)


def test_nested_retries_on_one_call_begin_their_pauses_anew() -> None:
    course = RetrySchedule((2, 3), s(1), growing("1", "2", None))
    # inner pauses 1, 2, then the outer one 1, then 1, 2 again
    assert [start(course, k) for k in range(1, 7)] == [0, 2, 5, 7, 9, 12]
    assert product((4, 3)) == 12
    assert product((4, None)) is None


def test_expected_sends() -> None:
    assert float(expected_sends(12, Fraction(1, 2))) == pytest.approx(1.9995, abs=1e-4)
    assert expected_sends(4, Fraction(1)) == 4
    assert expected_sends(4, Fraction(0)) == 1


def test_nested_layers_compose_exactly() -> None:
    p = Fraction(1, 2)
    inner_failure = p**3
    outer = expected_sends(4, inner_failure)
    assert outer * expected_sends(3, p) == expected_sends(12, p)


def test_budgets() -> None:
    assert budget_factor(Fraction(1, 5), of_first=True) == Fraction(6, 5)
    assert budget_factor(Fraction(1, 5), of_first=False) == Fraction(5, 4)
    assert budget_factor(Fraction(1), of_first=False) is None


@pytest.mark.parametrize(
    ("value", "below", "above"), [("13.5", 12, 15), (86, 80, 90), ("0.5", "0.4", "0.6"), (7800, 7200, 9000)]
)
def test_numbers_that_a_person_would_write(value: str, below: str, above: str) -> None:
    assert (nice_below(s(value)), nice_above(s(value))) == (s(below), s(above))


def test_least_treats_none_as_unbounded() -> None:
    assert least(None, s(3)) == 3
    assert least(s(2), s(3)) == 2
    assert least(None, None) is None


# --- laws

times = st.fractions(min_value=0, max_value=60, max_denominator=20)
positive = st.fractions(min_value=Fraction(1, 20), max_value=60, max_denominator=20)
factors = st.sampled_from([Fraction(1), Fraction(13, 10), Fraction(3, 2), Fraction(2)])
jitters = st.sampled_from(list(SPREADS))
layers = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@st.composite
def backoffs(draw: st.DrawFn) -> RetryBackoff:
    cap, jitter = draw(st.none() | positive), draw(jitters)
    return RetryBackoff(
        DurationInterval(base := draw(times), base),
        DurationInterval(f := draw(factors), f),
        DurationInterval(cap, cap) if cap else None,
        SPREADS[jitter],
        jitter == "decorrelated",
    )


def one_pause(backoff: RetryBackoff, k: int, *, longest: bool) -> Fraction:
    """The pause after try k, straight from the definition of each jitter."""
    base, factor = backoff.base.low, backoff.factor.low
    cap = backoff.cap.low if backoff.cap else None
    if backoff.decorrelated:
        value = base * 3**k if longest else base
        return value if cap is None else min(value, cap)
    value = base * factor ** (k - 1)
    whole = value if cap is None else min(value, cap)
    return whole * backoff.spread[longest]


def gaps(tries: tuple[int, ...], backoff: RetryBackoff, *, longest: bool) -> Iterator[Fraction]:
    """The pauses in the order in which nested retries make them, by recursion."""
    if not tries:
        return
    for k in range(1, tries[0] + 1):
        yield from gaps(tries[1:], backoff, longest=longest)
        if k < tries[0]:
            yield one_pause(backoff, k, longest=longest)


def simulated(course: RetrySchedule) -> list[tuple[Fraction, Fraction]]:
    """(start, end) of every try, one after another."""
    takes = course.takes or Fraction(0)
    tries = tuple(n for n in course.tries if n is not None)
    rows, now = [(Fraction(0), takes)], takes
    for pause in gaps(tries, course.backoff, longest=course.longest):
        now += pause
        rows.append((now, now + takes))
        now += takes
    return rows


@pytest.mark.slow
@given(layers, times, backoffs(), st.booleans(), times)
@settings(max_examples=few(100), deadline=None)
def test_closed_forms_equal_the_simulation(
    tries: tuple[int, ...], takes: Fraction, backoff: RetryBackoff, longest: bool, limit: Fraction
) -> None:
    course = RetrySchedule(tries, takes, backoff, longest)
    rows = simulated(course)
    assert len(rows) == course.count
    assert [(start(course, k), end(course, k)) for k in range(1, len(rows) + 1)] == rows
    assert started(course, limit) == sum(begin < limit for begin, _ in rows)
    assert completed(course, limit) == sum(over <= limit for _, over in rows)
    assert completed(course, limit, strict=True) == sum(over < limit for _, over in rows)


@pytest.mark.slow
@given(layers, times, backoffs(), positive)
@settings(max_examples=few(100), deadline=None)
def test_scaling_all_times_keeps_the_counts(
    tries: tuple[int, ...], takes: Fraction, backoff: RetryBackoff, limit: Fraction
) -> None:
    factor = Fraction(7, 3)
    cap = DurationInterval(backoff.cap.low * factor, backoff.cap.low * factor) if backoff.cap else None
    scaled = RetryBackoff(
        DurationInterval(backoff.base.low * factor, backoff.base.low * factor), backoff.factor, cap, backoff.spread,
        backoff.decorrelated,
    )  # fmt: skip
    before, after = RetrySchedule(tries, takes, backoff), RetrySchedule(tries, takes * factor, scaled)
    assert started(before, limit) == started(after, limit * factor)
    assert completed(before, limit) == completed(after, limit * factor)


@pytest.mark.slow
@given(layers, times, backoffs(), times, times)
@settings(max_examples=few(100), deadline=None)
def test_a_shorter_deadline_never_fits_more(
    tries: tuple[int, ...], takes: Fraction, backoff: RetryBackoff, one: Fraction, other: Fraction
) -> None:
    course = RetrySchedule(tries, takes, backoff)
    short, long = sorted((one, other))
    assert (started(course, short) or 0) <= (started(course, long) or 0)
    assert (completed(course, short) or 0) <= (completed(course, long) or 0)


@given(times, backoffs(), positive)
@settings(max_examples=few(100), deadline=None)
def test_unlimited_tries_are_many_tries(takes: Fraction, backoff: RetryBackoff, limit: Fraction) -> None:
    endless = started(RetrySchedule((None,), takes, backoff), limit)
    many = started(RetrySchedule((400,), takes, backoff), limit)
    assert endless is None or endless == many or endless > 400
    assert endless is not None or many == 400


@given(st.integers(1, 30), st.fractions(min_value=0, max_value=1, max_denominator=12))
@settings(max_examples=100, deadline=None)
def test_expected_sends_is_the_sum_over_tries(attempts: int, p: Fraction) -> None:
    assert expected_sends(attempts, p) == sum((p**k for k in range(attempts)), Fraction(0))
    assert expected_sends(attempts, p) <= 1 + (attempts - 1) * p  # the linear form is only an upper bound


@pytest.mark.slow
@given(positive)
@settings(max_examples=100, deadline=None)
def test_nice_numbers_are_strictly_beside_and_near(value: Fraction) -> None:
    below, above = nice_below(value), nice_above(value)
    assert below is not None
    assert value / 2 <= below < value < above <= value * 2


def test_timeline_stops_at_the_deadline() -> None:
    course = RetrySchedule((None,), s(1), NO_PAUSE)
    assert len(list(islice(timeline(course, s(3), most=9), 9))) == 3
