"""States that flow at one rate and have no clock: promises about them, beside the closed form."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.promises.decisions import Open, Proved, Refuted, condition_of, decide, part_of
from coherence.verify.promises.even_flows import with_even_steps
from tests.draws import seeds


def outcome(rates: tuple[int, int], starts: tuple[str, str], promise: str) -> Proved | Refuted | Open:
    text = f"""coherence: 1
components:
  a: {{state: "x' = {rates[0]} / 1 s", from: {starts[0]}}}
  b: {{state: "y' = {rates[1]} / 1 s", from: {starts[1]}}}
promises: {{p: {promise}}}
"""
    model = elaborate(read_text(text))
    return decide(model, model.promises["p"], time_limit=10)


@pytest.mark.parametrize("seed", seeds(1, 6))
def test_a_sum_breaks_its_promise_exactly_where_a_line_crosses_the_edge(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(3):
        rates, starts = (rng.randint(-3, 3), rng.randint(-3, 3)), (rng.randint(-20, 20), rng.randint(-20, 20))
        most = rng.randint(-30, 60)
        found = outcome(rates, (f"{starts[0]}", f"{starts[1]}"), f"always a.x + 2 * b.y <= {most}")
        slope, begin = rates[0] + 2 * rates[1], starts[0] + 2 * starts[1]
        if begin <= most and slope <= 0:
            assert isinstance(found, Proved)
            continue
        assert isinstance(found, Refuted)
        crossed = Fraction(max(0, most - begin), slope) if slope > 0 else Fraction(0)
        step = crossed / 10 or 1
        last = found.instants[-1]
        assert crossed <= last.time <= crossed + step
        assert [last.after[f"{name}"] for name in ("a.x", "b.y")] == [
            start + rate * last.time for start, rate in zip(starts, rates, strict=True)
        ]


def test_a_range_of_starts_breaks_it_from_one_end() -> None:
    assert isinstance(outcome((1, 0), ("0 .. 5", "0"), "always a.x <= 10"), Refuted)
    assert isinstance(outcome((-1, 0), ("0 .. 5", "0"), "always a.x <= 5"), Proved)
    assert isinstance(outcome((-1, 0), ("0 .. 6", "0"), "always a.x <= 5"), Refuted)


@pytest.mark.parametrize("promise", ["always a.x * b.y <= 5", "never a.x == 5", "always a.x / b.y <= 3"])
def test_what_is_no_comparison_of_sums_gets_no_steps(promise: str) -> None:
    text = f"""coherence: 1
components:
  a: {{state: "x' = 1 / 1 s", from: 0}}
  b: {{state: "y' = 1 / 1 s", from: 1}}
promises: {{p: {promise}}}
"""
    model = elaborate(read_text(text))
    assert all(state.step is None for state in part_of(model, model.promises["p"]).states.values())
    assert with_even_steps(model, condition_of(model, model.promises["p"]), flows=True) is model


def of_constants(rates: tuple[int, int], start: int, promise: str) -> Proved | Refuted | Open:
    text = f"""coherence: 1
components:
  c: {{slow: {rates[0]}, taken: 2 .. {rates[1]}}}
  a: {{state: "x' = (c.slow - c.taken) / 1 s", from: {start}}}
promises: {{p: {promise}}}
"""
    model = elaborate(read_text(text))
    return decide(model, model.promises["p"], time_limit=10)


@pytest.mark.parametrize("seed", seeds(1, 6))
def test_a_line_of_constants_comes_to_a_value_exactly_where_every_slope_leads_there(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(3):
        slow, most, start, goal = rng.randint(0, 6), rng.randint(2, 5), rng.randint(-9, 9), rng.randint(-9, 9)
        slopes = (slow - most, slow - 2)
        kept = goal == start or all(slope * (goal - start) > 0 for slope in slopes)
        for promise in (f"a.x reaches {goal}", f"eventually a.x {'<=' if goal <= start else '>='} {goal}"):
            found = of_constants((slow, most), start, promise)
            assert isinstance(found, Proved if kept else Refuted), (slopes, start, goal)


def test_what_jumps_or_begins_on_either_side_is_not_told_by_a_side() -> None:
    assert not isinstance(outcome((1, 0), ("-5 .. 5", "0"), "a.x reaches 1"), Proved)
    assert isinstance(outcome((1, 0), ("-5 .. 1", "0"), "a.x reaches 1"), Proved)
    assert isinstance(outcome((1, 1), ("0", "3"), "a.x - b.y reaches 0"), Refuted)
    assert isinstance(outcome((2, 1), ("0", "3"), "a.x - b.y reaches 0"), Proved)
