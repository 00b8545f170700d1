"""When loops act: the times of one loop, and the orders in which several can meet."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.schedules import NotCommensurateError, grid, is_due, next_activation, schedules

F = Fraction


@pytest.mark.parametrize(
    ("phase", "period", "time", "due"),
    [
        (F(1, 2), F(3, 4), F(1, 2), True),
        (F(1, 2), F(3, 4), F(5, 4), True),
        (F(1, 2), F(3, 4), F(2), True),
        (F(1, 2), F(3, 4), F(1), False),
        (F(1, 2), F(3, 4), F(3, 4), False),
        (F(2), F(1), F(1), False),  # a whole period before its first sample
        (F(0), F(1), F(0), True),
    ],
)
def test_a_loop_is_due_at_its_phase_and_whole_periods_after_it(phase: F, period: F, time: F, due: bool) -> None:
    assert is_due(phase, period, time) is due


@pytest.mark.parametrize(
    ("phase", "now", "start", "following"),
    [
        (F(2), F(0), F(0), F(2)),
        (F(2), F(2), F(2), F(2)),  # a run begins with what is due then
        (F(2), F(2), None, F(5)),
        (F(2), F(5), F(5), F(5)),
        (F(2), F(4), F(4), F(5)),
        (F(2), F(4), None, F(5)),
        (F(2), F(1), None, F(2)),
    ],
)
def test_the_next_activation_is_the_first_one_later(phase: F, now: F, start: F | None, following: F) -> None:
    assert next_activation(phase, F(3), now, start) == following


times = st.fractions(0, 9, max_denominator=6)


@given(times, st.fractions(F(1, 6), 4, max_denominator=6), times)
def test_between_now_and_the_next_activation_none_is_due(phase: F, period: F, now: F) -> None:
    following = next_activation(phase, period, now, None)
    assert following > now
    assert is_due(phase, period, following)
    assert following == phase or following - period <= now


def loops(*timescales: str) -> Model:
    actuation = "actuation: {{signal: out.u{0}, by: 1, bounds: [0, 9], from: 0}}"
    lines = (f"  l{n}: {{timescale: {{{t}}}, {actuation.format(n)}}}\n" for n, t in enumerate(timescales))
    return elaborate(read_text(f"coherence: 1\nloops:\n{''.join(lines)}"))


def test_one_free_phase_beside_a_stated_one_is_at_between_or_after_each_instant() -> None:
    """Periods of 2 s and 1 s: the second acts at 0 s and 1 s; the first with one of these or between two of them."""
    model = loops("period: 2 s", "period: 1 s, phase: 0 s")
    assert grid(model) == (F(1), F(2))
    patterns = list(schedules(model))
    assert [pattern.phases["l0"] for pattern in patterns] == [0, F(1, 2), 1, F(3, 2)]
    assert [[(i.time, [loop.name for loop in i.loops]) for i in pattern.instants] for pattern in patterns[:2]] == [
        [(0, ["l0", "l1"]), (1, ["l1"])],
        [(0, ["l1"]), (F(1, 2), ["l0"]), (1, ["l1"])],
    ]


def test_two_free_phases_of_one_period_stand_in_every_order() -> None:
    """Of one period nothing else fixes: together, or one of them first; and each of these at the grid or after it."""
    patterns = [(p.phases["l0"], p.phases["l1"]) for p in schedules(loops("period: 1 s", "period: 1 s"))]
    assert {(a > b) - (a < b) for a, b in patterns} == {-1, 0, 1}
    assert len(set(patterns)) == len(patterns) == 6  # both at it, one after it (2), both after it (3 orders)


@pytest.mark.parametrize(
    ("timescales", "reason"),
    [
        (("period: 1 s, phase: 1 s",), "the phase of l0 is not below its period"),
        (("period: 1 ms, phase: 0 s", "period: 1 s, phase: 0 s"), "more than 400 instants"),
        (("period: 60 s", "period: 60 s", "period: 60 s, phase: 1 s"), "too many orders"),
        (("period: 30 s", "period: 20 s", "period: 5 s, phase: 0 s"), "more than 96 orders"),
    ],
)
def test_what_no_few_patterns_stand_for_is_refused(timescales: tuple[str, ...], reason: str) -> None:
    with pytest.raises(NotCommensurateError, match=reason):
        list(schedules(loops(*timescales)))
