"""One sample of one loop: hold windows, rate limits, bounds and cooldown, with numbers by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.expressions.tree import Compare, Name, Number
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, RateLimit, SampledLoop
from coherence.simulate.execute.exact import Execution, View
from coherence.simulate.execute.laws import Decision, Memory, decide

F = Fraction
TEXT = """
coherence: 1
components: {a: {wanted: 0 .. 1000, n: 1}}
loops:
  l: {timescale: {period: 1 s}, actuation: {signal: a.n, to: a.wanted, bounds: [0, 1000], from: 0}}
"""
MODEL = elaborate(read_text(TEXT))


def loop(**changes: Any) -> SampledLoop:
    return replace(MODEL.loops[0], **changes)


class Samples:
    """A loop that is asked again and again."""

    def __init__(self, made: SampledLoop, commanded: int = 0) -> None:
        self.loop, self.memory, self.commanded, self.mode = made, Memory(), F(commanded), False
        self.run = Execution(MODEL)

    def at(self, time: Any, wanted: Any) -> Decision:
        view = View(self.run, F(time), {"a.wanted": F(wanted), "a.n": self.commanded})
        made = decide(self.loop, view, self.memory, self.mode, self.commanded, self.commanded)
        if made.value is not None and made.value != self.commanded:
            self.memory.changed, self.commanded = F(time), made.value
        self.mode = made.mode
        return made


def values(samples: Samples, wanted: list[int]) -> list[Any]:
    return [samples.at(time, level).value for time, level in enumerate(wanted)]


def test_a_set_law_writes_what_it_wants_within_bounds() -> None:
    samples = Samples(loop(bounds=Interval(F(2), F(9))))
    assert values(samples, [5, 1, 12]) == [5, 2, 9]
    assert samples.at(3, 12).rule == "set at bound"


def test_rates_count_from_where_the_command_stood_a_period_ago() -> None:
    """3 per 2 s: 3 at once, then nothing until 2 s have passed, then from 3 on."""
    samples = Samples(loop(rates=(RateLimit(F(3), None, F(2), up=True, down=False),)))
    assert values(samples, [9, 9, 9, 9, 9, 9]) == [3, 3, 6, 6, 9, 9]
    assert samples.at(6, 0).value == 0  # downward there is no limit


def test_the_more_generous_of_two_rates_counts() -> None:
    """Doubling or 4, whichever is more: 1, 5, 10."""
    rates = (RateLimit(F(4), None, F(1), up=True, down=True), RateLimit(None, F(1), F(1), up=True, down=True))
    assert values(Samples(loop(rates=rates), 1), [99, 99, 99]) == [5, 10, 20]


def test_hold_down_keeps_the_largest_recommendation_of_the_closed_window() -> None:
    samples = Samples(loop(hold_down=F(2)))
    assert values(samples, [8, 3, 5, 4, 1]) == [8, 8, 8, 5, 5]


def test_hold_down_never_raises() -> None:
    """The largest recommendation was cut by the bound: a fall is held at the command, not above it."""
    samples = Samples(loop(hold_down=F(5), bounds=Interval(F(0), F(6))))
    assert values(samples, [8, 3]) == [6, 6]


def test_hold_up_keeps_the_smallest() -> None:
    assert values(Samples(loop(hold_up=F(1))), [4, 9, 9, 2, 7]) == [4, 4, 9, 2, 2]


def test_cooldown_is_closed_and_counts_changes_only() -> None:
    samples = Samples(loop(cooldown=F(2)))
    assert [samples.at(t, w).rule for t, w in [(0, 5), (1, 5), (2, 7), (3, 7), (5, 7), (6, 8)]] == [
        "set", "set", "cooling", "set", "set", "set",
    ]  # fmt: skip


def test_once_acts_once() -> None:
    samples = Samples(loop(mode="once"))
    assert [samples.at(t, 5 + t).rule for t in range(3)] == ["set", "done", "done"]
    assert samples.commanded == 5


def test_a_relay_enters_before_it_leaves_and_remembers_between() -> None:
    made = loop(
        enter=Compare(">=", Name("a.wanted"), Number(F(8))), leave=Compare("<=", Name("a.wanted"), Number(F(8)))
    )
    samples = Samples(made)
    assert [samples.at(t, w).mode for t, w in enumerate([7, 8, 9, 7, 9, 8])] == [False, True, True, False, True, True]


def test_a_float_that_is_whole_but_for_its_rounding_is_not_rounded_up() -> None:
    made = loop(law="proportional", measured=Name("a.wanted"), setpoint=Number(F(1)), integer=True)
    samples = Samples(made, 3)
    for wanted, count in ((0.1 + 0.2, 1), (200 * (1 + 1e-15) / 3, 200), (200.001 / 3, 201)):
        view = View(samples.run, F(0), {"a.wanted": wanted})
        assert decide(made, view, Memory(), False, 3.0, 3.0).value == count


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12), st.integers(0, 4))
def test_hold_down_is_the_largest_in_the_window_never_above_the_command(wanted: list[int], window: int) -> None:
    samples, before = Samples(loop(hold_down=F(window))), 0
    for time, level in enumerate(wanted):
        held = min(before, max(wanted[max(0, time - window) : time + 1]))
        assert samples.at(time, level).value == (held if level < before and window else level)
        before = int(samples.commanded)


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 5))
def test_held_is_every_sample_of_the_closed_window(truths: list[bool], duration: int) -> None:
    memory, condition = Memory(), Name("x")
    for time, truth in enumerate(truths):
        wanted = time >= duration and all(truths[time - duration : time + 1])
        assert memory.held(condition, truth, F(time), F(duration)) is wanted


def test_previous_is_the_value_at_the_sample_before() -> None:
    memory, tree = Memory(), Name("x")
    assert [memory.previous_of(tree, v, F(t)) for t, v in [(0, 5), (1, 7), (1, 7), (2, 9)]] == [5, 5, 5, 7]


def test_a_memory_is_compared_relative_to_now() -> None:
    made = loop(hold_down=F(2), cooldown=F(3))
    one, other = Samples(made), Samples(made)
    for time, level in [(0, 8), (1, 4)]:
        one.at(time, level)
        other.at(time + 10, level)
    assert one.memory.relative(F(2), made, F(0)) == other.memory.relative(F(12), made, F(0))
    assert one.memory.copy() == one.memory


@pytest.mark.parametrize("wanted", [0, 3])
def test_no_law_writes_nothing(wanted: int) -> None:
    assert Samples(loop(law="none")).at(0, wanted) == Decision(True, None, "on")


@pytest.mark.parametrize(("duration", "first"), [(0, 0), (1, 2), (2, 2), (3, 4), (4, 4), (5, 6)])
def test_for_counts_from_the_first_true_sample_in_a_row(duration: int, first: int) -> None:
    memory, condition = Memory(), Name("a.on")
    memory.held(condition, now=False, time=F(-2), duration=F(duration))
    holds = {time: memory.held(condition, now=True, time=F(time), duration=F(duration)) for time in range(0, 10, 2)}
    assert [time for time, now in holds.items() if now] == list(range(first, 10, 2))
    memory.held(condition, now=False, time=F(10), duration=F(duration))
    assert memory.held(condition, now=True, time=F(12), duration=F(duration)) is (duration == 0)
