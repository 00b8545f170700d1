"""Cycles and runs of sampled loops over linear plants."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.cycles.sampled import sampled_cycle
from coherence.loops.cycles.sampled_runs import MOST_TICKS, SampledRun, clock_of
from coherence.loops.designs.confirmed_cycles import confirmed, observed
from coherence.loops.designs.predicted_cycles import starts
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices

TANK = """coherence: 1
components:
  tank: {{state: "level' = ({inflow} - {drain}) / 1 s", from: 0}}
loops:
  valve:
    timescale: {{period: {period}{lands}}}
    rules:
      - {{when: "tank.level > 2", to: 1}}
      - {{when: "tank.level < 1", to: 0}}
    actuation: {{signal: tank.drain, bounds: [0, 1], from: 0}}
"""


def tank(period: str = "1 s", lands: str = "2 s", inflow: str = "0.3") -> Model:
    """An integrator under a relay: fills at `inflow`, drains at 0.7 while the valve is open."""
    text = TANK.format(inflow=inflow, drain="tank.drain", period=period, lands=f", lands: {lands}")
    return elaborate(read_text(text))


def test_the_clock_is_the_greatest_step_of_all_times() -> None:
    clock = clock_of(tank("3 s", "2 s"), {"valve": Fraction(0)})
    assert (float(clock.tick), float(clock.lap), clock.ticks) == (1.0, 3.0, 3)
    assert clock_of(tank("3 s", "2 s"), {"valve": Fraction(1, 2)}).tick == Fraction(1, 2)
    with pytest.raises(NotExactError, match="a common period"):
        clock_of(tank(f"{MOST_TICKS + 1} s", "1 s"), {"valve": Fraction(0)})


def test_a_run_moves_in_rationals_by_what_is_held() -> None:
    model = tank()
    run = SampledRun(model, starts(model, {})[0])
    levels = [run.advance().after["tank.level"] for _ in range(10)]
    assert levels[:8] == [Fraction(3 * k, 10) for k in range(8)]
    assert max(levels) <= Fraction(3)


@pytest.mark.parametrize("late", ["0 s", "1 s", "2 s", "5 s"])
def test_a_flow_reads_what_was_commanded_so_long_ago(late: str) -> None:
    """A valve that acts late and a pipe behind a valve that acts at once let the same level flow."""
    piped = TANK.format(inflow="0.3", drain=f"delayed(tank.drain, {late})", period="1 s", lands="")
    valve = TANK.format(inflow="0.3", drain="tank.drain", period="1 s", lands=f", lands: {late}")
    runs = [SampledRun(model, starts(model, {})[0]) for model in map(elaborate, map(read_text, (piped, valve)))]
    levels = [[run.advance().after["tank.level"] for _ in range(40)] for run in runs]
    assert levels[0] == levels[1]
    assert max(levels[0]) > 2 + Fraction(3, 10) * (int(late[0]) - 1)  # it goes on rising for as long


def test_a_copy_goes_its_own_way() -> None:
    model = tank()
    run = SampledRun(model, starts(model, {})[0])
    for _ in range(5):
        run.advance()
    twin = run.copy()
    ahead = [twin.advance() for _ in range(20)]
    assert run.number == 5
    assert [run.advance() for _ in range(20)] == ahead


def test_the_cycle_of_a_tank_is_exact_and_the_executor_confirms_it() -> None:
    model = tank()
    values = starts(model, {})[0]
    cycle = sampled_cycle(model, values)
    assert cycle is not None
    assert not cycle.rests
    assert cycle.duty["valve"] == pytest.approx(0.3)  # it drains at 1 what comes in at 0.3
    low, high = cycle.ranges["tank.level"]
    assert (low < 1, high > 2) == (True, True)
    share = cycle.period * Fraction(3, 10)  # what flows in while the valve is open for that share of the time
    assert share == int(share)
    assert confirmed(model, Choices(dict(values)), cycle.period, cycle.ranges, start=cycle.start) == (True, "")


def test_the_executor_contradicts_a_wrong_period_and_wrong_ranges() -> None:
    model = tank()
    values = starts(model, {})[0]
    cycle = sampled_cycle(model, values)
    assert cycle is not None
    agrees, why = confirmed(model, Choices(dict(values)), cycle.period * Fraction(3, 4), cycle.ranges)
    assert (agrees, "another period" in why) == (False, True)
    shifted = {path: (low + 0.5, high + 0.5) for path, (low, high) in cycle.ranges.items()}
    agrees, why = confirmed(model, Choices(dict(values)), cycle.period, shifted)
    assert (agrees, "moves tank" in why) == (False, True)
    seen = observed(model, Choices(dict(values)), cycle.period, cycle.start + 20 * cycle.period, ["tank.level"])
    assert seen.ranges["tank.level"] == pytest.approx(cycle.ranges["tank.level"])
    assert seen.apart == 0


def test_a_tank_without_inflow_rests() -> None:
    model = tank(inflow="0")
    cycle = sampled_cycle(model, starts(model, {})[0])
    assert cycle is not None
    assert cycle.rests
    assert np.ptp(cycle.ranges["tank.level"]) == 0


@pytest.mark.parametrize(("gain", "rests"), [("0.6", True), pytest.param("1.1", False, marks=pytest.mark.slow)])
def test_numbers_that_grow_long_go_on_in_floats(gain: str, rests: bool) -> None:
    """A law that multiplies makes numbers longer at every sample; one swings without a lap of whole samples."""
    text = f"""coherence: 1
components:
  tank: {{state: "level' = (1 - 0.5 * valve.open) / 1 s", from: 4}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 0 s}}
    trigger: always
    actuation:
      signal: valve.open
      law: set
      to: "max(0.1 * delayed(tank.level, 3 s), 2 + {gain} * (delayed(tank.level, 3 s) - 5))"
      bounds: [0, 100]
      from: 2
"""
    model = elaborate(read_text(text))
    values = starts(model, {})[0]
    run = SampledRun(model, values)
    ticks = [run.advance() for _ in range(4000)]
    assert run.in_floats
    assert all(isinstance(tick.after["tank.level"], Fraction) for tick in ticks[:100])
    cycle = sampled_cycle(model, values)
    assert (cycle is not None and cycle.rests) is rests
    late = [float(tick.after["tank.level"]) for tick in ticks[-40:]]
    assert (max(late) - min(late) < 1e-6) is rests


def test_a_run_that_grows_past_a_float_has_no_cycle() -> None:
    model = elaborate(
        read_text("""coherence: 1
components:
  power: {state: "p' = 1000 * p + batch.load", step: 1 s, from: 1}
loops:
  fill:
    timescale: {period: 1 s}
    rules: [{when: p < 5, by: 1}]
    actuation: {signal: batch.load, bounds: [0, 9], from: 0}
""")
    )
    assert sampled_cycle(model, starts(model, {})[0]) is None
