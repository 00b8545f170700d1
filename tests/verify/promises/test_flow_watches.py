"""Promises over flowing states that may be broken between two instants, beside the straight lines of a run."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from coherence.verify.promises.decisions import Proved, Refuted, decide, part_of
from coherence.verify.promises.flow_watches import WATCH, is_watched
from tests.verify.promises.plants import model_of

F = Fraction
# x goes from 0 at one rate for a while, then at another one; the loop samples every 5 s
TURNING = """coherence: 1
components:
  t: {{state: "y' = (1 if y < {turn} else 0) / 1 s", from: 0}}
  a: {{state: "x' = ({first} if t.y < {turn} else 0) / 1 s", from: {start}}}
promises: {{p: "never (a.x > {low} and a.x < {high})"}}
"""


@pytest.mark.parametrize("seed", range(8))
def test_a_band_is_crossed_between_instants(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(6):
        turn, first, start = rng.randint(1, 9), rng.randint(-4, 4), rng.randint(-9, 9)
        low = rng.randint(-20, 20)
        high = low + rng.randint(1, 5)
        model = model_of(TURNING.format(turn=turn, first=first, start=start, low=low, high=high))
        found = decide(model, model.promises["p"], time_limit=10)
        ends = sorted((start, start + first * turn))
        crossed = ends[0] < high and ends[1] > low
        assert isinstance(found, Refuted if crossed else Proved)
        if isinstance(found, Refuted):
            edge = F(low if first > 0 else high)
            entered = F(0) if low < start < high else (edge - start) / first
            assert entered <= found.instants[-1].time <= turn


def test_what_instants_decide_is_not_watched() -> None:
    model = model_of(TURNING.format(turn=3, first=1, start=0, low=1, high=2).replace(
        "never (a.x > 1 and a.x < 2)", "always a.x < 2"))  # fmt: skip
    assert not is_watched(part_of(model, model.promises["p"]))
    crossed = model_of(TURNING.format(turn=3, first=1, start=0, low=1, high=2))
    assert WATCH in part_of(crossed, crossed.promises["p"]).states
