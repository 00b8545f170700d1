"""Runs in balls beside runs in floats, bounds included."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.lap_matrices import LapError
from coherence.loops.designs.linear import skeleton
from coherence.loops.settling.enclosed_runs import EnclosedRun
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.hybrid import execute
from tests.loops.designs.dde import PlainDesign
from tests.loops.designs.test_random_plants import drawn, text_of
from tests.loops.settling.test_enclosed_laps import ROOM


def bounded(seed: int) -> PlainDesign:
    """Returns a random design whose commands have bounds that most of them meet."""
    draw = random.Random(f"bounds {seed}")  # noqa: S311  (the same in every run)
    loops = [
        replace(loop, low=-draw.choice([0.6, 1.5, 4.0]), high=draw.choice([1.0, 2.5, 6.0]))
        for loop in drawn("loops", seed).loops
    ]
    return replace(drawn("loops", seed), loops=loops)


def modelled(plain: PlainDesign) -> Model:
    return elaborate(read_text(text_of(plain), "design.yaml"))


@pytest.mark.parametrize("seed", [3, 9, 11, 37])
def test_levels_and_commands_are_those_of_a_run_in_floats(seed: int) -> None:
    model = modelled(bounded(seed))
    smooth, _ = skeleton(model)
    point = dict.fromkeys((*model.states, *model.commands), Fraction(0))
    run, until = EnclosedRun(model, smooth, point), Fraction(24)
    run.follow(until)
    plain = execute(model, until=until)
    for second in range(1, 24):
        values = plain.at(second)
        for path, level in zip(run.levels, run.level(Fraction(second)), strict=True):
            assert float(level.middle) == pytest.approx(values[path], abs=1e-6, rel=1e-6)
    for instant in (instant for instant in plain.instants if instant.time < until):
        for action in instant.actions:
            command = run.command(action.signal, instant.time)
            assert float(command.middle) == pytest.approx(action.after, abs=1e-6, rel=1e-6)


def test_a_run_from_beside_an_equilibrium_with_an_offset_is_that_in_floats() -> None:
    model = elaborate(read_text(ROOM, "design.yaml"))
    run = EnclosedRun(model, skeleton(model)[0], {"room.temp": Fraction(20), "heater.power": Fraction(5)})
    run.follow(Fraction(600))
    plain = execute(model, until=Fraction(600)).at(590)
    assert float(run.level(Fraction(590))[0].middle) + 20 == pytest.approx(plain["room.temp"], abs=1e-6)
    assert float(run.command("heater.power", Fraction(540)).middle) + 5 == pytest.approx(
        plain["heater.power"], abs=1e-6
    )


def test_of_two_loops_at_one_instant_the_last_one_decides() -> None:
    more = ROOM.split("loops:\n")[1].replace("ctl:", "more:").replace("20 -", "2 * 20 - 2 *")
    model = elaborate(read_text(ROOM + more, "design.yaml"))
    run = EnclosedRun(model, skeleton(model)[0], {"room.temp": Fraction(20), "heater.power": Fraction(5)})
    run.follow(Fraction(1))
    assert run.command("heater.power", Fraction(0)).middle == 2 * (20 - 12)


@pytest.mark.parametrize(
    ("changed", "by", "why"),
    [
        ("phase: 0 s", "lands: 1 s", "phase"),
        ("from: 12", "from: 12 .. 13", "starts is open"),
        ("delayed(room.temp, 60 s)", "mean_over(room.temp, 60 s)", "means"),
        ("delayed(room.temp, 60 s)", "previous(room.temp)", "sensors"),
        ("- room.temp +", "- delayed(room.temp, 1 s) +", "levels of the past"),
    ],
)
def test_what_is_not_followed_is_refused(changed: str, by: str, why: str) -> None:
    model = elaborate(read_text(ROOM.replace(changed, by), "design.yaml"))
    with pytest.raises(LapError, match=why):
        EnclosedRun(model, skeleton(model)[0], dict.fromkeys((*model.states, *model.commands), Fraction(0)))
