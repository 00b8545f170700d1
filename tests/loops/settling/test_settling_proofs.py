"""Proofs that loops over plants with lags settle: from every start, from their own, and never where a run does not.

`COHERENCE_DRAW=all` takes all 400 random designs, `COHERENCE_DRAW=1` the second part of 40, and so on.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from coherence.base.solver import recheck
from coherence.language.reading import read_text
from coherence.loops.settling.settling_proofs import FROM_EVERY_START, FROM_ITS_START, Settling, settling
from coherence.model.elaborate import elaborate
from tests import draws
from tests.loops.designs.dde import PlainDesign, measured_growth
from tests.loops.designs.test_random_plants import linear_verdict, text_of
from tests.loops.settling.test_enclosed_laps import ROOM
from tests.loops.settling.test_enclosed_runs import bounded, modelled

TANK = """coherence: 1
components: {tank: {state: "level' = (1 - 0.5 * valve.open) / 1 s", from: 6}}
loops:
  ctl:
    timescale: {period: 2 s, phase: 0 s}
    trigger: always
    actuation: {signal: valve.open, law: set, to: "2 + 0.6 * (delayed(tank.level, 3 s) - 5)", bounds: [0, 100], from: 2}
"""
LATE = """coherence: 1
components: {tank: {state: "x' = (tank.x + fan.speed + load.size) / 10 s", from: 0}}
loops:
  ctl:
    timescale: {period: 1 s, phase: 0 s}
    trigger: always
    actuation: {signal: fan.speed, law: set, to: "-5 - 2 * tank.x", bounds: [-5.5, -4.5], from: -5}
  base:
    timescale: {period: 1 s, phase: 0 s, lands: 40 s}
    trigger: always
    actuation: {signal: load.size, law: set, to: "2 + 3", from: 4}
"""
SLOWEST = 6_000  # s, of a run that is followed
HANGS = "at the equilibrium a command is at its bound"


def of(text: str) -> Settling:
    return settling(elaborate(read_text(text, "design.yaml")))


def test_a_thermostat_on_a_lag_settles_from_every_start_and_a_second_solver_agrees() -> None:
    proof = of(ROOM)
    assert proof.start == FROM_EVERY_START
    assert proof.point == {"room.temp": 20, "heater.power": 5}
    assert recheck(proof.script).unsat


def test_the_thermostat_that_swings_is_not_proved() -> None:
    assert not of(ROOM.replace("5 + 20 - delayed(room.temp, 60 s)", "5 + 3 * (20 - delayed(room.temp, 60 s))")).start


def test_the_edge_of_the_gain_parts_proofs_from_refusals() -> None:
    """By hand: z^2 - e z + 2 g (1 - e) = 0 with e = exp(-1/5) has its roots on the circle where 2 g (1 - e) = 1."""
    edge = 1 / (2 * (1 - math.exp(-0.2)))
    for gain, proved in ((edge * (1 - 1e-4), True), (edge * (1 + 1e-4), False)):
        law = f"5 + {gain:.9f} * (20 - delayed(room.temp, 60 s))"
        assert bool(of(ROOM.replace("5 + 20 - delayed(room.temp, 60 s)", law)).start) is proved


def test_a_tank_without_a_leak_settles_from_its_start_alone() -> None:
    """With its valve held it does not settle, so no form falls whatever the bounds hold."""
    proof = of(TANK)
    assert proof.start == FROM_ITS_START
    assert recheck(proof.script).unsat


@pytest.mark.parametrize(
    ("changed", "by", "why"),
    [
        ("bounds: [0, 100]", "bounds: [2, 100]", HANGS),
        ("bounds: [0, 100]", "bounds: [3, 100]", "no equilibrium"),
        ("from: 6", "from: 6 .. 7", "starts is open"),
        ("phase: 0 s", "lands: 0 s", "phase"),
        ("(delayed(tank.level, 3 s) - 5)", "max(0, delayed(tank.level, 3 s) - 5)", "no equilibrium"),
        ("(delayed(tank.level, 3 s) - 5)", "(1 if delayed(tank.level, 3 s) > 5 else 0)", "no sum of signals"),
    ],
)
def test_what_is_not_proved_says_why(changed: str, by: str, why: str) -> None:
    proof = of(TANK.replace(changed, by))
    assert not proof.start
    assert why in proof.how


def test_what_still_comes_from_a_command_that_nothing_moves_is_waited_for() -> None:
    """By hand: until 40 s the load is 4, so x' <= (x - 0.5) / 10 from x = 0: it falls without end, and at 1 s it is
    still inside of where no bound holds.  With the load as it stays it settles.
    """
    assert not of(LATE).start
    assert of(LATE.replace("from: 4", "from: 5")).start == FROM_ITS_START
    assert of(LATE.replace("from: 4", "from: 4").replace("lands: 40 s", "lands: 2 s")).start == FROM_ITS_START


def test_a_law_that_reads_whether_a_loop_is_on_is_not_straight() -> None:
    read = TANK.replace("2 + 0.6", "(2 if other else 1) + 0.6")
    other = TANK.split("loops:\n")[1].replace("ctl:", "other:").replace("valve.open", "fan.speed")
    assert "no sum of signals" in of(read + other).how


def test_a_model_without_states_is_left_to_exact_runs() -> None:
    flow = ROOM[ROOM.index("state:") : ROOM.index("}}")]
    assert "exact" in of(ROOM.replace(flow, 'temp: "10 + 2 * heater.power"')).how


def comes(plain: PlainDesign, start: dict[str, float], rate: float) -> bool:
    seconds = int(min(SLOWEST, max(300, 8 / abs(rate)))) if math.isfinite(rate) else 300
    return measured_growth(plain, seconds=seconds, window=seconds // 4, fine=4, start=start) < 0


def verdict(seed: int) -> str:
    """Returns what is proved of a random design with bounds; `wrong` where a plain run contradicts it."""
    plain = bounded(seed)
    proof, (linear, rate) = settling(modelled(plain)), linear_verdict(text_of(plain))
    if not proof.start:
        return f"{linear}, open"
    signals = [*plain.flows, *(loop.signal for loop in plain.loops)]
    draw = random.Random(seed)  # noqa: S311  (no secret)
    others = [{path: draw.uniform(-30, 30) for path in signals} for _ in range(2)]
    starts = [dict.fromkeys(signals, 1.0), *(others if proof.start == FROM_EVERY_START else [])]
    right = linear == "stable" and all(comes(plain, start, rate) for start in starts)
    return proof.start if right else "wrong"


@pytest.mark.slow
def test_no_proof_is_wrong_and_most_stable_designs_have_one() -> None:
    seeds = draws.drawn(range(400), parts=40)
    counted = Counter(verdict(seed) for seed in seeds)
    assert not counted["wrong"], counted
    assert counted["stable, open"] <= max(1, len(seeds) / 4), counted


def test_the_point_that_a_proof_names_is_where_the_design_rests() -> None:
    assert of(TANK).point == {"tank.level": Fraction(5), "valve.open": Fraction(2)}
