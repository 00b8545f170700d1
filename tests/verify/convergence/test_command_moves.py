"""What loops may do to a command, and how old what they see of it may be, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.convergence.command_moves import DOWN, UP, CommandMove, NotKnownError, moves_of

DESIGN = """coherence: 1
components: {{plant: {{k: 1 .. 2, y: plant.k * job.x}}}}
loops:
  own:
    timescale: {{period: 4 s, lands: {lands} s}}
    trigger: "{trigger}"
    actuation: {{signal: job.x, {change}, bounds: [2, 20]}}
  other:
    timescale: {{period: 1 s}}
    trigger: plant.y > 30
    actuation: {{signal: job.x, law: step, by: -1, bounds: {bounds}}}
"""


def moves(
    trigger: str = "plant.y < 9", change: str = "law: step, by: 3", bounds: str = "[2, 20]", lands: int = 0
) -> list[CommandMove]:
    text = DESIGN.format(trigger=trigger, change=change, bounds=bounds, lands=lands)
    model = elaborate(read_text(text, "design.yaml"))
    return list(moves_of(model, next(loop for loop in model.loops if loop.name == "own"), ()))


def numbers(move: CommandMove) -> tuple[str, int, int | None]:
    return move.way, int(move.size), None if move.level is None else int(move.level)


def test_a_step_goes_one_way_within_its_bounds() -> None:
    [step] = moves()
    assert numbers(step) == (UP, 3, None)
    assert step.is_present


def test_where_another_loop_goes_beyond_the_bounds_the_next_write_leads_back_to_them() -> None:
    assert [numbers(move) for move in moves(bounds="[1, 30]")] == [(UP, 3, None), (UP, 0, 2), (DOWN, 0, 20)]


def test_a_value_that_is_set_may_lie_on_either_side() -> None:
    assert [numbers(move) for move in moves(change="law: set, to: 40")] == [(UP, 0, 20), (DOWN, 0, 20)]


@pytest.mark.parametrize(
    ("trigger", "lands", "ages"),
    [
        ("plant.y < 9", 0, [0]),
        ("plant.y < 9", 3, [0, 3]),
        ("delayed(plant.y, 5 s) < 9", 0, [0, 5]),
        ("mean_over(delayed(plant.y, 5 s), 7 s) < 9", 2, [0, 14, 14]),
        ("plant.y < 9 and mean_over(job.x, 6 s) < 8", 0, [0, 6, 6]),
        ("previous(plant.y) < 9", 0, [0, 4]),
    ],
)
def test_looks_are_as_old_as_delays_windows_and_landing_make_them(trigger: str, lands: int, ages: list[int]) -> None:
    [step] = moves(trigger, lands=lands)
    assert sorted(step.looks.values()) == [Fraction(age) for age in ages]


def test_a_step_that_may_go_either_way_is_not_known() -> None:
    with pytest.raises(NotKnownError):
        moves(change='law: step, by: "plant.k - 1.5"')
