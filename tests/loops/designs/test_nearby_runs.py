"""A deviation from an operating point follows the root of the loop: by hand, and by the growth that it is told."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.linear import skeleton
from coherence.loops.designs.nearby_runs import MOST_INSTANTS, OF_A_FLOW, SIZES, Deviation, RunAllowance, deviations
from coherence.model.elaborate import elaborate
from coherence.model.model import Model

TANK = """\
coherence: 1
components:
  tank: {{state: "level' = (1 - 0.5 * valve.open) / 1 s", from: 4.9}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "{gain} * level", bounds: [0, 100], from: 2}}
"""
PATHS = ("tank.level", "valve.open")


def tank(gain: str) -> tuple[Model, dict[str, Fraction]]:
    """Returns the laws, and their point: the valve at 2, the level at 2 / gain; the factor a lap is 1 - gain."""
    model, _ = skeleton(elaborate(read_text(TANK.format(gain=gain), "d.yaml")))
    return model, {"valve.open": Fraction(2), "tank.level": 2 / Fraction(gain)}


def beside(gain: str, growth: float, size: Fraction = SIZES[0]) -> tuple[Deviation, ...] | None:
    model, point = tank(gain)
    return deviations(model, point, PATHS, growth, Deadline(30), size=size, allowed=RunAllowance())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("gain", "growth"), [("0.4", 0.6), ("1.9", 0.9), ("2.1", 1.1), ("2.5", 1.5)])
def test_a_deviation_follows_the_root(gain: str, growth: float, size: Fraction) -> None:
    runs = beside(gain, growth, size)
    assert runs is not None
    assert len(runs) == 2
    for run in runs:
        assert run.seconds == 2 * run.laps
        assert run.dies_out is (growth < 1)
        assert run.grows is (growth > 1)
        late = run.laps - 2  # the end is two laps long, the largest deviation in it is told
        assert run.last / run.first == pytest.approx(growth**late, rel=4)


def test_a_root_near_the_circle_and_one_on_it_take_too_long() -> None:
    assert beside("1.999", 0.9999) is None
    assert beside("2", 1.0) is None
    assert MOST_INSTANTS < 10_000


def test_opposite_deviations_are_on_opposite_sides() -> None:
    runs = beside("0.4", 0.6)
    assert runs is not None
    low, high = sorted(run.start["tank.level"] for run in runs)
    assert low < 5 < high
    assert high - 5 == 5 - low


def test_what_cannot_be_run_or_does_not_move_is_not_compared() -> None:
    model, point = tank("0.4")
    free = RunAllowance()
    assert deviations(model, point, (), 0.6, Deadline(30), size=SIZES[0], allowed=free) is None
    assert deviations(model, point, PATHS, 0.6, Deadline(0), size=SIZES[0], allowed=free) is None


def test_no_more_instants_are_run_than_are_allowed() -> None:
    model, point = tank("0.4")
    runs = deviations(model, point, PATHS, 0.6, Deadline(30), size=SIZES[0], allowed=RunAllowance())
    assert runs is not None
    instants = sum(OF_A_FLOW * run.laps for run in runs)  # of one loop; the tank flows
    just, less = RunAllowance(instants), RunAllowance(instants - 1)
    assert deviations(model, point, PATHS, 0.6, Deadline(30), size=SIZES[0], allowed=just) == runs
    assert deviations(model, point, PATHS, 0.6, Deadline(30), size=SIZES[0], allowed=just) is None
    assert deviations(model, point, PATHS, 0.6, Deadline(30), size=SIZES[0], allowed=less) is None
