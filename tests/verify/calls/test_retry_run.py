"""One call, executed, against hand-computed times and the closed forms."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.verify.calls.attempts import DurationInterval, RetryBackoff, RetrySchedule, end, start, timeline
from coherence.verify.calls.retry_run import Pauses, sends
from tests.draws import few

S = Fraction


def span(value: Fraction) -> DurationInterval:
    return DurationInterval(value, value)


def test_tries_and_growing_pauses_by_hand() -> None:
    ran = list(sends((4,), S(20), Pauses(S(2), S(2), S(5))))
    assert ran == [(1, S(0), S(20)), (2, S(22), S(42)), (3, S(46), S(66)), (4, S(71), S(91))]


def test_a_nested_layer_begins_its_pauses_anew() -> None:
    ran = [begun for _, begun, _ in sends((2, 3), S(1), Pauses(S(1), S(2)))]
    assert ran == [0, 2, 5, 7, 9, 12]  # 1 and 2 inside, then 1 between the outer tries


def test_tries_without_end_go_on_and_a_try_that_never_ends_is_the_last() -> None:
    assert [k for k, _, _ in itertools.islice(sends((None,), S(1), Pauses()), 5)] == [1, 2, 3, 4, 5]
    assert list(sends((3,), None, Pauses())) == [(1, S(0), None)]


@pytest.mark.parametrize("spread", [(S(1), S(1)), (S(0), S(1)), (S("1/2"), S(1)), (S("4/5"), S("6/5")), None])
@pytest.mark.parametrize("longest", [True, False])
@given(
    tries=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    takes=st.fractions(0, 5, max_denominator=20),
    base=st.fractions(0, 3, max_denominator=20),
    factor=st.fractions(1, 3, max_denominator=4),
    cap=st.none() | st.fractions(0, 6, max_denominator=20),
)
@settings(max_examples=few(40), deadline=None)
def test_the_closed_forms_say_what_the_executed_call_does(
    spread: tuple[Fraction, Fraction] | None,
    longest: bool,
    tries: list[int],
    takes: Fraction,
    base: Fraction,
    factor: Fraction,
    cap: Fraction | None,
) -> None:
    most = None if cap is None else span(cap)
    backoff = RetryBackoff(span(base), span(factor), most, spread or (S(1), S(1)), decorrelated=spread is None)
    course = RetrySchedule(tuple(tries), takes, backoff, longest)
    rows = list(timeline(course, None, most=80))
    assert len(rows) == course.count
    assert rows == [(k, start(course, k), end(course, k)) for k in range(1, len(rows) + 1)]
