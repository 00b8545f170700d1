"""Laps in balls beside the same laps in floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.design_network import network_of
from coherence.loops.designs.lap_matrices import closed
from coherence.loops.designs.linear import skeleton
from coherence.loops.settling.enclosed_laps import EnclosedLap, enclosed_lap
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from tests.loops.designs.test_random_plants import drawn, text_of

ROOM = """coherence: 1
components: {room: {state: "temp' = (10 - room.temp + 2 * heater.power) / 300 s", from: 12}}
loops:
  ctl:
    timescale: {period: 60 s, phase: 0 s}
    trigger: always
    actuation: {signal: heater.power, law: set, to: "5 + 20 - delayed(room.temp, 60 s)", bounds: [0, 100], from: 5}
"""


def smooth(text: str) -> Model:
    return skeleton(elaborate(read_text(text, "design.yaml")))[0]


def lap_of(text: str, bounded: list[str]) -> tuple[EnclosedLap, Model, dict[str, Fraction]]:
    model = smooth(text)
    point = dict.fromkeys((*model.states, *model.commands), Fraction(0))
    return enclosed_lap(network_of(model, point, exact=True), bounded), model, point


@pytest.mark.parametrize("seed", [4, 9, 11, 17, 25])
def test_roots_are_those_of_the_lap_in_floats(seed: int) -> None:
    lap, model, point = lap_of(text_of(drawn("loops", seed)), [])
    matrix = np.array([[float(x.middle) for x in row] for row in lap.matrices[0]])
    plain = closed(opened(model, point))
    other = np.array([[float(x) for x in row] for row in plain.a])
    mine, theirs = (np.sort(np.abs(np.linalg.eigvals(each)))[::-1][:4] for each in (matrix, other))
    assert np.allclose(mine[: len(theirs)], theirs[: len(mine)], atol=1e-7)
    assert all(x.reach < Fraction(1, 10**40) for row in lap.matrices[0] for x in row)


def test_a_decision_that_changes_nothing_leaves_the_plant_alone() -> None:
    lap, _, _ = lap_of(ROOM, ["ctl"])
    going, still = ([[float(x.middle) for x in row] for row in matrix] for matrix in lap.matrices)
    keeps, drives = np.exp(-60 / 300), 2 * (1 - np.exp(-60 / 300))
    assert lap.remembered == (("room.temp", Fraction(-60)), ("heater.power", Fraction(-60)))
    assert np.allclose(going, [[keeps, drives], [-1, 0]])
    assert np.allclose(still, [[keeps, drives], [0, 0]])
    assert [(name, [float(x.middle) for x in row]) for name, row in lap.decisions] == [("ctl", [-1.0, 0.0])]
