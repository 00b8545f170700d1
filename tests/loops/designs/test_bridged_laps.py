"""The lap of a design's network beside the executed lap where both exist, and known roots where only it does."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.polynomials import characteristic_polynomial
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.designs.bridged_laps import bridged_lap, opened
from coherence.loops.designs.design_network import network_of
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.lap_matrices import Lap, LapError, closed
from coherence.loops.designs.lap_roots import Roots, roots
from coherence.loops.designs.linear import skeleton
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Choices, Execution
from tests.draws import few
from tests.loops.designs.executed_laps import executed_lap

LAG = """
coherence: 1
components:
  room: {state: "temp' = (10 - room.temp + 2 * heater.power) / 300 s", from: 12}
loops:
  ctl:
    timescale: {period: 60 s, phase: 0 s}
    trigger: always
    actuation:
      {signal: heater.power, law: set, to: "5 + 3 * (20 - delayed(room.temp, 60 s))", bounds: [0, 100], from: 5}
"""


def smooth_at_rest(text: str) -> tuple[Model, dict[str, Fraction]]:
    """Returns the smooth part of a design and its equilibrium from its own start."""
    model, _ = skeleton(elaborate(read_text(text, "design.yaml")))
    start = {path: state.initial.low or Fraction(0) for path, state in model.states.items()}
    start |= {path: command.initial.low or Fraction(0) for path, command in model.commands.items()}
    point = operating_point(model, start)
    assert point is not None
    return model, point


def judged(lap: Lap) -> Roots:
    return roots(closed(lap), lap.length)


def growths(lap: Lap) -> np.ndarray:
    """Returns the moduli that are not zero but for rounding, largest first."""
    moduli = np.sort(np.abs(np.linalg.eigvals(np.array(closed(lap).a, dtype=float))))[::-1]
    return moduli[moduli > 1e-2]


def test_a_thermostat_on_a_lag_has_the_roots_of_its_polynomial() -> None:
    """By hand: z^2 - e^(-1/5) z + 6 (1 - e^(-1/5)) = 0."""
    verdict = judged(opened(*smooth_at_rest(LAG)))
    leaves = math.exp(-0.2)
    largest = max(abs(np.roots([1, -leaves, 6 * (1 - leaves)])))
    assert verdict.verdict == "unstable"
    assert verdict.growth == pytest.approx(largest, rel=1e-12)
    assert verdict.period == pytest.approx(322.928, abs=1e-3)


RICH = """
coherence: 1
components:
  tank:
    state: "level' = (4.6 - valve.open - 0.3 * pump.speed - 0.2 * delayed(valve.open, {late} s)) / 10 s"
    from: 5
  memo: {{state: "x' = {keep} * memo.x + {gain} * (tank.level - 5)", step: {step} s, from: 0}}
loops:
  first:
    timescale: {{period: {period} s, phase: {phase} s, lands: {lands} s}}
    trigger: always
    rank: {rank}
    actuation:
      signal: valve.open
      law: set
      to: "3 + {gain} * (delayed(tank.level, {late} s) - 5)"
      bounds: [-100, 100]
      from: 2
  second:
    timescale: {{period: {other} s}}
    rank: 2
    {second}
"""
SECONDS = {
    "set": """trigger: always
    actuation:
      signal: pump.speed
      law: set
      to: "{gain} * (mean_over(tank.level, {window} s) - 5) - 0.05 * (valve.open - 3) + 0.1 * memo.x + 3"
      bounds: [-100, 100]
      from: 3""",
    "step": """trigger: always
    actuation:
      {{signal: pump.speed, law: step, by: "0.1 * (delayed(tank.level, 1 s) - 5)", bounds: [-100, 100], from: 3}}""",
    "proportional": """target: {{signal: tank.level, setpoint: 5, sensor: [scrape {step} s, mean {window} s]}}
    actuation: {{signal: pump.speed, law: proportional, bounds: [0.1, 100.5], from: 3}}""",
}


def drawn_design(data: st.DataObject, *laws: str) -> str:
    """Draws two rates, phases, ranks, landings, delays, windows, samples and a state that steps."""

    def drawn(*options: object) -> object:
        return data.draw(st.sampled_from(options))

    numbers = {
        "late": drawn(1, 2, 3, 7), "keep": drawn("0.5", "-0.3"), "gain": drawn("0.2", "0.5", "1.1"),
        "step": drawn(1, 2, 4), "period": drawn(2, 4), "phase": drawn(0, 1), "lands": drawn(0, 1, 3),
        "rank": drawn(1, 3), "other": drawn(2, 4), "window": drawn(2, 5),
    }  # fmt: skip
    return RICH.format(**numbers, second=SECONDS[str(drawn(*laws))].format(**numbers))


def levels(model: Model, point: dict[str, Fraction], lap: Lap, count: int) -> list[Fraction]:
    """Returns by how much the tank is off at the ends of laps of an exact run from beside the point."""
    start = {path: value + Fraction(k, 7) for k, (path, value) in enumerate(point.items(), 1)}
    run = Execution(model, Choices(start))
    off: list[Fraction] = []
    while len(off) < count:
        if run.next_time() > lap.length * (len(off) + 1):
            passed = lap.length * (len(off) + 1)
            off.append(plain(run.motion.move(run, passed)["tank.level"]) - point["tank.level"])
        else:
            run.advance()
    return off


def obeys(model: Model, point: dict[str, Fraction], lap: Lap) -> bool:
    """Decides it after Cayley and Hamilton: sum of c[i] y[k + i] = 0, once everything remembered is of the run."""
    polynomial = characteristic_polynomial(closed(lap).a)  # the highest power first
    memory = int(40 / lap.length) + 1
    off = levels(model, point, lap, memory + len(polynomial) + 2)[memory:]
    return all(sum(c * y for c, y in zip(reversed(polynomial), off[k:], strict=False)) == 0 for k in range(2))


VALVE = """
coherence: 1
components:
  tank: {{state: "level' = (5 - valve.open) / 10 s", from: 4}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 1 s, lands: {lands} s}}
    trigger: always
    actuation: {{signal: valve.open, law: {law}, bounds: [-1000, 1000], from: 5}}
"""
OF_SAMPLES_BEFORE = [
    'set, to: "5 + 2 * (tank.level - 4) + 3 * (tank.level - previous(tank.level))"',
    'set, to: "valve.open + 2 * (tank.level - previous(tank.level)) + 0.3 * (tank.level - 4)"',
    'step, by: "2 * (tank.level - 2 * previous(tank.level) + previous(previous(tank.level))) + 0.3 * (tank.level - 4)"',
    'set, to: "5 + 2 * (tank.level - 4) + 3 * (mean_over(tank.level, 3 s) - previous(mean_over(tank.level, 3 s)))"',
    'set, to: "5 + 2 * (tank.level - 4) + 0.3 * (previous(valve.open) - 5)"',
    'set, to: "5 + 2 * (tank.level - 4) + 3 * delayed(tank.level - previous(tank.level), 3 s)"',
]


@pytest.mark.parametrize("lands", [0, 1, 3])
@pytest.mark.parametrize("law", OF_SAMPLES_BEFORE)
def test_an_exact_run_of_a_law_with_the_sample_before_obeys_its_lap(law: str, lands: int) -> None:
    model, point = smooth_at_rest(VALVE.format(law=law, lands=lands))
    lap = bridged_lap(network_of(model, point))
    assert not lap.doubt
    assert obeys(model, point, lap)


def test_a_velocity_law_has_the_roots_of_its_positions() -> None:
    """The change of kp e + ki sum e, added up, is that law: a proportional one with an integral part."""
    law = OF_SAMPLES_BEFORE[1]
    verdict = judged(opened(*smooth_at_rest(VALVE.format(law=law, lands=0))))
    # level+ = level - (2 / 10) u, u+ = u + 2 (level+ - level) + 0.3 level+, read where the valve has acted
    by_hand = np.array([[1, -0.2], [0.3, 1 - 0.2 * 2.3]])
    assert verdict.growth == pytest.approx(max(abs(np.linalg.eigvals(by_hand))), rel=1e-12)


def test_the_sample_before_is_refused_where_other_readers_count_its_samples() -> None:
    text = VALVE.format(law='set, to: "5 + memo.x"', lands=0).replace(
        "loops:", '  memo: {state: "x\' = tank.level - previous(tank.level)", step: 2 s, from: 0}\nloops:'
    )
    with pytest.raises(NotExactError, match=r"previous\(\) in memo.x"):
        network_of(*smooth_at_rest(text))


@pytest.mark.slow
@settings(max_examples=few(20), deadline=None)
@given(st.data())
def test_an_exact_run_obeys_the_characteristic_polynomial_of_the_lap(data: st.DataObject) -> None:
    model, point = smooth_at_rest(drawn_design(data, "set", "step"))
    lap = bridged_lap(network_of(model, point))
    assert not lap.doubt
    assert obeys(model, point, lap)


WRITERS = """
coherence: 1
components:
  tank: {{state: "level' = (3 - valve.open + 0.3 * (3 - delayed(valve.open, {late} s))) / 10 s", from: 5}}
loops:
  first:
    timescale: {{period: {period} s, phase: {phase} s, lands: {lands} s}}
    trigger: always
    rank: {rank}
    actuation: {{signal: valve.open, law: set, to: "3 + 0.4 * (tank.level - 5)", bounds: [-100, 100], from: 3}}
  second:
    timescale: {{period: {other} s, lands: {lands} s}}
    trigger: always
    rank: 2
    actuation:
      {{signal: valve.open, law: step, by: "0.1 * (delayed(tank.level, {late} s) - 5)", bounds: [-100, 100], from: 3}}
"""


@settings(max_examples=few(20), deadline=None)
@given(st.data())
def test_two_loops_that_write_one_command_obey_the_polynomial_of_their_lap(data: st.DataObject) -> None:
    drawn = {"late": (1, 3, 7), "period": (2, 4), "phase": (0, 1), "lands": (0, 1, 3), "rank": (1, 3), "other": (2, 6)}
    text = WRITERS.format(**{name: data.draw(st.sampled_from(options)) for name, options in drawn.items()})
    model, point = smooth_at_rest(text)
    lap = opened(model, point)
    polynomial = characteristic_polynomial(closed(lap).a)
    memory = int(40 / lap.length) + 1
    off = levels(model, point, lap, memory + len(polynomial) + 2)[memory:]
    assert not lap.doubt
    assert any(off)
    for k in range(2):
        assert sum(c * y for c, y in zip(reversed(polynomial), off[k:], strict=False)) == 0


def test_a_sensor_chain_of_two_samples_has_the_roots_of_the_executed_lap() -> None:
    text = RICH.format(late=1, keep="0.5", gain="0.2", step=2, period=2, phase=0, lands=0, rank=1, other=4, window=2,
                       second=SECONDS["proportional"].format(step=1, window=2))  # fmt: skip
    text = text.replace("sensor: [scrape 1 s, mean 2 s]", "sensor: [scrape 1 s, relist 4 s]")
    model, point = smooth_at_rest(text)
    assert growths(opened(model, point))[:4] == pytest.approx(growths(executed_lap(model, point))[:4], rel=1e-6)


PODS = """
coherence: 1
components: {pod: {usage: 40 / (pod.replicas * pod.request)}}
loops:
  horizontal:
    timescale: {period: 1 min}
    target: {signal: pod.usage, setpoint: 100 %}
    actuation: {signal: pod.replicas, law: proportional, bounds: [1, 64.5], from: 4}
  vertical:
    timescale: {period: 1 min}
    target: {signal: pod.usage, setpoint: 100 %}
    actuation: {signal: pod.request, law: proportional, bounds: [1, 64], from: 5}
"""


def test_a_root_that_rounding_of_an_irrational_point_decides_about_is_undecided() -> None:
    """They rest wherever replicas * request = 40; at a rounded point of that line the root is not exactly 1."""
    model, point = smooth_at_rest(PODS)
    assert point["pod.replicas"] * point["pod.request"] != 40
    assert judged(opened(model, point)).verdict == "undecided"
    exact = {"pod.replicas": Fraction(8), "pod.request": Fraction(5)}
    assert judged(opened(model, exact)).verdict == "marginal"


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_a_loop_of_products_and_a_sensor_chain_has_the_roots_of_the_executed_lap(data: st.DataObject) -> None:
    model, point = smooth_at_rest(drawn_design(data, "proportional").replace(" 7 s", " 3 s"))
    bridged, executed = bridged_lap(network_of(model, point)), executed_lap(model, point)
    assert len(bridged.cuts) == len(executed.cuts)
    assert growths(bridged)[:4] == pytest.approx(growths(executed)[:4], rel=1e-6)


def test_a_delay_inside_a_flow_that_feeds_itself_is_refused_by_name() -> None:
    text = LAG.replace("10 - room.temp", "10 - delayed(room.temp, 30 s)")
    with pytest.raises(LapError, match="continuous blocks with a delay form a loop"):
        opened(*smooth_at_rest(text))


def test_a_maximum_over_a_window_is_refused_by_name() -> None:
    law = 'law: set, to: "5 + 3 * (20 - delayed(room.temp, 60 s))"'
    text = LAG.replace("trigger: always", "target: {signal: room.temp, setpoint: 20, sensor: [max 60 s]}")
    with pytest.raises(NotExactError, match="max_over"):
        opened(*smooth_at_rest(text.replace(law, "law: proportional")))


def test_a_root_that_grows_beside_one_on_the_circle_is_unstable() -> None:
    """A level that keeps what it has, read by the loop of a room that swings: rounding hides the first root only."""
    model, point = smooth_at_rest(LAG)
    lap = bridged_lap(network_of(model, point))
    aside = dataclasses.replace(lap, end={**lap.end, "level of sum.x": {"level of sum.x": Fraction(1)}})
    cuts = tuple(dataclasses.replace(c, law={**c.law, "level of sum.x": Fraction(1, 10**9)}) for c in aside.cuts)
    verdict = judged(dataclasses.replace(aside, cuts=cuts))
    assert (verdict.verdict, verdict.unstable) == ("unstable", None)
