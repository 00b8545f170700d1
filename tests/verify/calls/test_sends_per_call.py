"""Sends of nested retries against a simulation that runs every try of every layer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.verify.calls.attempts import DurationInterval, RetryBackoff
from coherence.verify.calls.sends_per_call import RetryLayer, most_sends
from tests.draws import few

INFINITE = Fraction(10**9)


def pause(seconds: Fraction | int) -> RetryBackoff:
    value = Fraction(seconds)
    return RetryBackoff(DurationInterval(value, value), DurationInterval(Fraction(1), Fraction(1)))


def sends(*layers: RetryLayer, takes: Fraction | int = 0) -> int | None:
    return most_sends(layers, Fraction(takes))[0]


def plain(*tries: int | None) -> tuple[RetryLayer, ...]:
    return tuple(RetryLayer((n,)) for n in tries)


def test_layers_multiply() -> None:
    assert sends(*plain(4, 3)) == 12
    assert sends(*plain(4, 4, 4)) == 64
    assert sends(*plain(1, 1, 4)) == 4
    assert sends(RetryLayer((4, 3))) == 12


def test_two_hundred_layers_multiply() -> None:
    assert sends(*plain(*([2] * 200))) == 2**200


def test_unlimited_tries_without_a_deadline_have_no_bound() -> None:
    assert sends(*plain(2, None)) is None


def test_a_deadline_cuts_the_count() -> None:
    assert sends(RetryLayer((11,), limit=Fraction(5), deadline=Fraction(20)), takes=5) == 4
    assert sends(RetryLayer((11,), limit=Fraction(5), deadline=Fraction(21)), takes=5) == 5
    assert sends(RetryLayer((None,), pause(1), deadline=Fraction(10)), takes=1) == 5


def test_what_a_timeout_does_to_the_work_below_decides() -> None:
    inner = RetryLayer((10,))
    outer = RetryLayer((2,), limit=Fraction(3))
    assert sends(outer, inner, takes=1) == 6  # three in each try, then cancelled
    assert sends(replace(outer, cancels=False), inner, takes=1) == 20  # each abandoned call goes on


def test_a_send_that_would_begin_when_a_try_or_a_deadline_ends_is_not_made_and_its_call_has_timed_out() -> None:
    inner = RetryLayer((3,), pause(1))
    again = RetryLayer((3,), limit=Fraction(2), timed_tries=(1,))
    assert sends(again, inner) == 2  # at 0 s and 1 s; what ends at 2 s is a timeout, which is not tried again
    assert sends(replace(again, timed_tries=None), inner) == 6
    cut = replace(inner, deadline=Fraction(2))
    assert sends(RetryLayer((3,), timed_tries=(1,)), cut) == 2


def test_a_bound_counts_what_may_have_been_abandoned_when_the_limit_around_it_ends() -> None:
    inner, slow = RetryLayer((2,), pause(1), limit=Fraction(2), cancels=False), RetryLayer((2,))
    layers, takes = (RetryLayer((1,), limit=Fraction(5)), inner, slow), Fraction(3)
    assert most_sends(layers, takes)[0] == 3  # the second try is stopped at 5 s
    assert most_sends(layers, takes, takes)[0] == 4  # or was left at 5 s, and sends again at 6 s


def test_rows_say_how_the_count_was_made() -> None:
    total, rows = most_sends((RetryLayer((2,), limit=Fraction(3)), RetryLayer((10,))), Fraction(1))
    assert total == rows[0].total == 6
    assert (rows[1].done, rows[1].each) == (10, 1)


# --- law: a recursive simulation

tries = st.integers(1, 4)
time = st.fractions(min_value=0, max_value=6, max_denominator=4)
takes_time = st.fractions(min_value=Fraction(1, 4), max_value=6, max_denominator=4)  # at 0 s, ties decide
limits = st.none() | st.fractions(min_value=Fraction(1, 4), max_value=12, max_denominator=4)
chains = st.lists(
    st.builds(RetryLayer, tries.map(lambda n: (n,)), time.map(pause), limits, limits, st.booleans()),
    min_size=1,
    max_size=4,
)


def run(
    layers: list[RetryLayer], begin: Fraction, killed: Fraction, takes: Fraction, *, leaves_first: bool = True
) -> tuple[int, Fraction]:
    """(sends, time at which the caller has its failure) of one call from `begin` on, killed at `killed`.

    `leaves_first`: a call that is given up at the very instant of the kill was left before it.
    """
    if not layers:
        return (1 if begin < killed else 0), begin + takes
    layer, count, now = layers[0], 0, begin
    stop = INFINITE if layer.deadline is None else begin + layer.deadline
    for k in range(layer.tries[0] or 0):
        if now >= min(stop, killed):
            break
        patience = INFINITE if layer.limit is None else now + layer.limit
        until = min(stop, patience)
        left_before = (
            until <= killed if leaves_first else until < killed
        )  # what kills the caller later does not reach it
        reach = min(until, killed) if layer.cancels else INFINITE if left_before else killed
        made, over = run(layers[1:], now, reach, takes, leaves_first=leaves_first)
        count += made
        now = min(over, until)
        if k + 1 < (layer.tries[0] or 0):
            now += layer.backoff.base.low
    return count, min(now, stop)


@pytest.mark.slow
@given(chains, takes_time)
@settings(max_examples=few(100), deadline=None)
def test_closed_form_equals_the_simulation(layers: list[RetryLayer], takes: Fraction) -> None:
    orders = [run(layers, Fraction(0), INFINITE, takes, leaves_first=first)[0] for first in (True, False)]
    assert sends(*layers, takes=takes) in orders  # they differ where a limit and a kill come at one instant


def test_of_a_limit_and_a_kill_at_one_instant_the_bound_takes_the_order_that_sends_more() -> None:
    quarter = Fraction(1, 4)
    outer = RetryLayer((1,), pause(0), deadline=quarter, cancels=True)
    middle, inner = RetryLayer((1,), pause(0), limit=quarter, cancels=False), RetryLayer((2,), pause(0), cancels=False)
    layers = [outer, middle, inner]
    assert [run(layers, Fraction(0), INFINITE, quarter, leaves_first=first)[0] for first in (True, False)] == [2, 1]
    assert sends(*layers, takes=quarter) == 1
    assert most_sends(tuple(layers), quarter, quarter)[0] == 2


@pytest.mark.slow
@given(chains, takes_time)
@settings(max_examples=few(100), deadline=None)
def test_cancelling_sends_no_more_than_abandoning(layers: list[RetryLayer], takes: Fraction) -> None:
    cancelling, leaving = ([replace(layer, cancels=c) for layer in layers] for c in (True, False))
    assert (sends(*cancelling, takes=takes) or 0) <= (sends(*leaving, takes=takes) or 0)


# --- second copies of tries, against the same simulation

hedged = st.lists(
    st.builds(
        RetryLayer, tries.map(lambda n: (n,)), time.map(pause), limits, limits, st.booleans(),
        hedge=st.none() | st.fractions(min_value=Fraction(1, 4), max_value=6, max_denominator=4),
    ),
    min_size=1, max_size=3,
)  # fmt: skip


def run_hedged(layers: list[RetryLayer], begin: Fraction, killed: Fraction, takes: Fraction) -> tuple[int, Fraction]:
    """(sends, time of its failure) of one call: each try sends a copy, and another one `hedge` later if it goes on."""
    if not layers:
        return (1 if begin < killed else 0), begin + takes
    layer, count, now = layers[0], 0, begin
    stop = INFINITE if layer.deadline is None else begin + layer.deadline
    for k in range(layer.tries[0] or 0):
        starts, ends = [now], list[Fraction]()
        while starts and starts[0] < min(stop, killed):
            at = starts.pop(0)
            until = min(stop, INFINITE if layer.limit is None else at + layer.limit)
            reach = min(until, killed) if layer.cancels else INFINITE if until <= killed else killed
            made, over = run_hedged(layers[1:], at, reach, takes)
            count += made
            ends.append(min(over, until))
            if len(ends) == 1 and layer.hedge is not None and ends[0] > at + layer.hedge:
                starts.append(at + layer.hedge)
        if not ends:
            break
        now = max(ends) + (layer.backoff.base.low if k + 1 < (layer.tries[0] or 0) else 0)
    return count, min(now, stop)


@pytest.mark.slow
@given(hedged, takes_time)
@settings(max_examples=200, deadline=None)
def test_with_second_copies_the_bound_is_never_below_and_the_count_never_above(
    layers: list[RetryLayer], takes: Fraction
) -> None:
    played = run_hedged(layers, Fraction(0), INFINITE, takes)[0]
    bound = most_sends(tuple(layers), takes, takes)[0]
    assert bound is not None
    assert played <= bound
    if len(layers) == 1:
        assert (sends(*layers, takes=takes) or 0) <= played


def test_a_try_that_hangs_is_sent_twice_and_one_that_ends_before_its_second_copy_once() -> None:
    late, soon = (RetryLayer((3,), pause(0), limit=Fraction(1), hedge=Fraction(h, 2)) for h in (4, 1))
    assert (sends(late, takes=5), sends(soon, takes=5)) == (3, 6)
    assert [most_sends((layer,), Fraction(5), Fraction(5))[0] for layer in (late, soon)] == [3, 6]
    assert sends(replace(soon, cancels=False), soon, takes=5) == 36


# --- what a callee does besides its call, against a recursion that does so before or after it

Spans = tuple[tuple[Fraction, Fraction | None], ...]  # of the own time of the callee of each layer but the last
TAKES, PLACES = (Fraction(0), Fraction(1, 2), Fraction(1)), (Fraction(1, 4), Fraction(1), Fraction(7))
Works = tuple[tuple[Fraction, Fraction], ...]  # seconds before its call and after it


def run_working(
    layers: list[RetryLayer], works: Works, begin: Fraction, killed: Fraction, takes: Fraction
) -> tuple[int, Fraction, bool]:
    """(sends, time of its failure, whether a limit ended it) of one call, whose callee works besides its own call."""
    if not layers:
        return (1 if begin < killed else 0), begin + takes, False
    layer, count, now, late, (before, after) = layers[0], 0, begin, False, works[0]
    stop = INFINITE if layer.deadline is None else begin + layer.deadline
    most = (layer.tries[0] or 0, (layer.timed_tries or layer.tries)[0] or 0)
    for k in range(max(most)):
        starts, ends = [now], list[tuple[Fraction, bool]]()
        while starts and starts[0] < min(stop, killed):
            at = starts.pop(0)
            until = min(stop, INFINITE if layer.limit is None else at + layer.limit)
            reach = min(until, killed) if layer.cancels else INFINITE if until <= killed else killed
            made, over, timed = run_working(layers[1:], works[1:], at + before, reach, takes)
            count, over = count + made, over + after
            ends.append((min(over, until), timed or over > until))
            if len(ends) == 1 and layer.hedge is not None and ends[0][0] > at + layer.hedge:
                starts.append(at + layer.hedge)
        if not ends:
            break
        now, late = max(ends)
        if k + 1 >= most[late]:
            break
        now += layer.backoff.base.low
    return count, min(now, stop), late or now > stop


def worst_working(layers: list[RetryLayer], spans: Spans, takes: Fraction) -> int:
    """Returns the most sends over own times at both ends of their spans, before and after the calls."""
    choices = [
        [
            (total * share, total * (1 - share))
            for total in ((low, *PLACES) if high is None else (low, high))
            for share in TAKES
        ]
        for low, high in spans
    ]
    works = ((*work, (Fraction(0), Fraction(0))) for work in product(*choices))
    return max(run_working(layers, work, Fraction(0), INFINITE, takes)[0] for work in works)


own_times = st.tuples(time, st.none() | time).map(lambda ends: (ends[0], ends[1] and max(ends[0], ends[1])))
working = st.lists(
    st.tuples(
        st.builds(
            RetryLayer, st.integers(1, 3).map(lambda n: (n,)), time.map(pause), limits, limits, st.booleans(),
            timed_tries=st.integers(1, 3).map(lambda n: (n,)),
            hedge=st.none() | st.fractions(min_value=Fraction(1, 4), max_value=6, max_denominator=4),
        ),
        own_times,
    ),
    min_size=1, max_size=3,
)  # fmt: skip


@pytest.mark.slow
@given(working, takes_time)
@settings(max_examples=200, deadline=None)
def test_the_bound_holds_whatever_a_callee_does_before_and_after_its_call(
    chain: list[tuple[RetryLayer, tuple[Fraction, Fraction | None]]], takes: Fraction
) -> None:
    spans: Spans = tuple(span for _, span in chain[:-1])
    besides = (*(high for _, high in spans), Fraction(0))
    layers = [replace(layer, beside=beside) for (layer, _), beside in zip(chain, besides, strict=True)]
    bound = most_sends(tuple(layers), takes, takes)[0]
    assert bound is not None
    assert worst_working(layers, spans, takes) <= bound


def test_a_callee_that_works_on_besides_its_call_gets_a_second_copy() -> None:
    inner = RetryLayer((3,), limit=Fraction(10), hedge=None)
    for beside, most in ((Fraction(60), 6), (Fraction(20), 3), (None, 6)):
        outer = RetryLayer((1,), limit=Fraction(100), hedge=Fraction(51), beside=beside)
        assert most_sends((outer, inner), Fraction(10), Fraction(10))[0] == most
        if beside is not None:
            assert (
                most_sends((outer, inner), Fraction(10))[0]
                == most
                == worst_working([outer, inner], ((beside, beside),), Fraction(10))
            )


def test_a_second_copy_that_comes_at_the_latest_makes_the_call_around_it_last() -> None:
    inner = RetryLayer((1,), limit=Fraction(10), hedge=Fraction(1), hedge_by=Fraction(9))
    outer = RetryLayer((1,), limit=Fraction(100), hedge=Fraction(15))
    assert most_sends((outer, inner), Fraction(10), Fraction(10))[0] == 4
    assert most_sends((outer, replace(inner, hedge_by=Fraction(4))), Fraction(10), Fraction(10))[0] == 2
