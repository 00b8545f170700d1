"""Gaps of followers beside answers over frequencies, and loads of bins beside throws and published growth."""

from __future__ import annotations

import random

import numpy as np
import pytest

from coherence.minimums.bounds.fullest_bin_load import fullest
from coherence.minimums.floors import at
from coherence.minimums.registry import entry


def peak(gap: float, lag: float, rate: float) -> float:
    """The largest answer of a follower to the one before it, over frequencies."""
    s = 1j * np.geomspace(1e-5, 1e5, 20_001)
    return float(np.max(np.abs((s + rate) / (gap * lag * s**3 + gap * s**2 + (1 + rate * gap) * s + rate))))


@pytest.mark.parametrize("rate", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("lag", [0.1, 0.5, 2.0])
def test_answers_of_followers_exceed_one_exactly_below_the_gap(lag: float, rate: float) -> None:
    gap = float(at(entry("follower_time_gap").bound, {"lag": lag}))
    assert peak(gap * 1.001, lag, rate) <= 1 + 1e-12
    assert peak(gap * 0.9, lag, rate) > 1 + 1e-9


@pytest.mark.slow
def test_an_answer_grows_along_a_row_with_a_smaller_gap() -> None:
    """Ten followers, each run by small steps: a swing of the first at the worst frequency is larger at the last."""
    lag, rate = 0.5, 0.4
    sizes = [_row(gap, lag, rate)[-1] for gap in (0.5, 1.2)]
    assert sizes[0] > 1 > sizes[1]


def _row(gap: float, lag: float, rate: float) -> list[float]:
    step, omega = 5e-3, np.sqrt(rate / lag)
    place, speed, pushed = np.zeros(10), np.zeros(10), np.zeros(10)
    sizes = np.zeros(10)
    for k in range(24_000):
        ahead = np.concatenate(([np.sin(omega * k * step)], place[:-1]))
        moving = np.concatenate(([omega * np.cos(omega * k * step)], speed[:-1]))
        wanted = (moving - speed + rate * (ahead - place - gap * speed)) / gap
        place, speed, pushed = place + step * speed, speed + step * pushed, pushed + step * (wanted - pushed) / lag
        if k > 16_000:
            sizes = np.maximum(sizes, np.abs(place))
    return [float(size) for size in sizes]


@pytest.mark.parametrize(("choices", "low", "high"), [(1, 3.19, 3.27), (2, 2.13, 2.18)])
def test_throws_of_a_seeded_run_agree_with_the_chain(choices: int, low: float, high: float) -> None:
    """4,000 throws of 20 balls, the same each time."""
    draw, total = random.Random(7), 0  # noqa: S311
    for _ in range(4_000):
        held = [0] * 20
        for _ in range(20):
            held[min((draw.randrange(20) for _ in range(choices)), key=held.__getitem__)] += 1
        total += max(held)
    assert low < total / 4_000 < high
    assert low < fullest({"balls": 20, "bins": 20, "choices": choices}) < high


def test_a_second_look_takes_most_of_the_load_away() -> None:
    by_choices = [fullest({"balls": 30, "bins": 30, "choices": d}) for d in (1, 2, 3)]
    assert by_choices[0] - by_choices[1] > 5 * (by_choices[1] - by_choices[2])
