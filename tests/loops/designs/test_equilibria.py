"""Equilibria of flows, steps and laws together, with literal values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.base.reads import with_changes
from coherence.language.reading import read_text
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.linear import skeleton
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval

HEAD = "coherence: 1\n"
LOOP = """
loops:
  ctl:
    timescale: {{period: 2 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "{law}", bounds: [0, 100], from: 2}}
"""


def point_of(text: str, **near: int) -> dict[str, float] | None:
    model, _ = skeleton(elaborate(read_text(HEAD + text, "design.yaml")))
    start = {path: state.initial.low or Fraction(0) for path, state in model.states.items()}
    start |= {path: command.initial.low or Fraction(0) for path, command in model.commands.items()}
    start |= {path.replace("__", "."): Fraction(value) for path, value in near.items()}
    point = operating_point(model, start)
    return None if point is None else {path: float(value) for path, value in point.items()}


def flow(text: str, start: str = "0", more: str = "") -> str:
    return f'components: {{a: {{state: "x\' = {text}", from: {start}{more}}}}}\n'


def test_a_lag_and_its_loop_rest_together() -> None:
    plant = 'components: {room: {state: "temp\' = (10 - room.temp + 2 * valve.open) / 300 s", from: 12}}'
    assert point_of(plant + LOOP.format(law="5 + 3 * (20 - delayed(room.temp, 60 s))")) == {
        "room.temp": 20,
        "valve.open": 5,
    }


def test_an_integrating_plant_rests_where_its_flow_is_zero_and_not_at_its_start() -> None:
    plant = 'components: {tank: {state: "level\' = (1 - 0.5 * valve.open) / 1 s", from: 4}}'
    assert point_of(plant + LOOP.format(law="2 + 0.6 * (delayed(tank.level, 3 s) - 5)")) == {
        "tank.level": 5,
        "valve.open": 2,
    }


def test_a_flow_of_products_has_each_of_its_equilibria_from_its_own_side() -> None:
    logistic = flow("2.5 * a.x * (1 - delayed(a.x, 1 s)) / 1 s")
    assert point_of(logistic, a__x=2) == {"a.x": 1}
    assert point_of(logistic, a__x=-1) == {"a.x": 0}


@pytest.mark.parametrize(("rate", "end"), [("-1 / 1 s", 0), ("1 / 1 s", 8), ("(3 - a.x) / 1 s", 3)])
def test_a_level_that_is_driven_whatever_happens_rests_at_the_end_of_its_range(rate: str, end: int) -> None:
    model = elaborate(read_text(HEAD + flow(rate), "design.yaml"))
    tank = with_changes(model.states["a.x"], range=Interval(Fraction(0), Fraction(8)))
    assert operating_point(replace(model, states={"a.x": tank}), {"a.x": Fraction(3)}) == {"a.x": Fraction(end)}


@pytest.mark.parametrize("rate", ["1 / 1 s", "1e-9 / 1 s", "(1 + 0 * a.x) / 1 s"])
def test_what_moves_without_end_has_no_equilibrium(rate: str) -> None:
    assert point_of(flow(rate)) is None


def test_a_state_that_steps_rests_at_its_fixed_point() -> None:
    assert point_of('components: {a: {state: "x\' = 0.5 * a.x + 3", step: 1 s, from: 0}}') == {"a.x": 6}


def test_two_loops_that_want_two_values_of_one_command_never_rest() -> None:
    one = LOOP.format(law="0.5 * valve.open + 1")
    other = "  two:\n    timescale: {period: 2 s}\n    trigger: always\n    actuation: "
    other += '{signal: valve.open, law: set, to: "0.5 * valve.open + 2", bounds: [0, 100]}\n'
    assert point_of("components: {web: {x: 1}}" + one) == {"valve.open": 2}
    assert point_of("components: {web: {x: 1}}" + one + other) is None


def test_newton_that_runs_away_gives_up() -> None:
    law = "valve.open + 40 * (100 / valve.open - 0.5)"
    assert point_of("components: {web: {x: 1}}" + LOOP.format(law=law), valve__open=1000) is None
    assert point_of("components: {web: {x: 1}}" + LOOP.format(law=law), valve__open=150) == {"valve.open": 200}


@pytest.mark.parametrize(("trigger", "level"), [("always", 8), ("a.x > 1", 8), ("a.x > 9", 2)])
def test_where_it_rests_a_loop_is_on_that_acts_there(trigger: str, level: int) -> None:
    plant = flow("((8 if ctl else 2) - a.x) / 1 s", "4")
    assert point_of(plant + LOOP.format(law="a.x").replace("always", trigger), a__x=5) == {
        "a.x": level,
        "valve.open": 2 if level == 2 else 8,
    }
