"""Floors of a design's own loops: against the exact analysis of loops, and against runs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import analysed
from coherence.minimums.design_floors import DesignFloor, design_floors
from coherence.minimums.lags import ways, weights
from coherence.minimums.loop_floors import loop_floors
from coherence.model.elaborate import elaborate
from coherence.model.model import Model


def model(text: str) -> Model:
    return elaborate(read_text(text))


def scaler(
    *, signal: str = "web.usage", sensor: str = "", period: str = "15 s", lands: str = "0 s", phase: str = "",
    count: str = "commanded",
) -> Model:  # fmt: skip
    return model(
        f"""
coherence: 1
components:
  web: {{load: 100, usage: load / web.desired}}
loops:
  hpa:
    target: {{signal: "{signal}", setpoint: 0.5{f", sensor: [{sensor}]" if sensor else ""}}}
    timescale: {{period: {period}, lands: {lands}{f", phase: {phase}" if phase else ""}}}
    actuation: {{signal: web.desired, law: proportional, count: {count}, bounds: [1, 1000], from: 120}}
"""
    )


def floors(found: tuple[DesignFloor, ...], name: str) -> dict[str, DesignFloor]:
    return {one.application.thing: one for one in found if one.bound.name == name}


def number(found: tuple[DesignFloor, ...], name: str, thing: str = "hpa") -> float:
    floor = floors(found, name)[thing].floor
    assert floor is not None, floors(found, name)[thing].why
    return float(floor.low)


def exact_gain(made: Model) -> float:
    """The largest stable factor on the law, of the exact lap."""
    (group,) = analysed(made, time_limit=300.0).groups  # ends by itself, on a busy machine too
    (point,) = (p for p in group.points if p.loops)
    (loop,) = point.loops
    assert loop.gain_high is not None
    return loop.gain_high


@pytest.mark.parametrize(("delay", "wanted"), [(0, 2.0), (14, 2.0), (15, 1.0), (16, 1.0), (30, 0.6180339887)])
def test_a_delay_counts_in_whole_decisions(delay: int, wanted: float) -> None:
    made = scaler(signal=f"delayed(web.usage, {delay} s)" if delay else "web.usage")
    assert number(loop_floors(made), "sampled_gain") == pytest.approx(wanted, rel=1e-6)
    assert exact_gain(made) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("lands", "wanted"), [(14, 2.0), (15, 2.0), (16, 1.0), (31, 0.6180339887)])
def test_what_lands_at_a_sample_is_seen_by_it(lands: int, wanted: float) -> None:
    made = scaler(lands=f"{lands} s")
    assert number(loop_floors(made), "sampled_gain") == pytest.approx(wanted, rel=1e-6)
    assert exact_gain(made) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("period", "window", "delay", "lands", "scrape", "phase"),
    [
        (4, 10, 0, 0, 0, 0),
        (4, 3, 0, 5, 0, 0),
        pytest.param(4, 7, 0, 0, 2, 1, marks=pytest.mark.slow),
        (6, 25, 5, 0, 0, 1),
        (6, 13, 7, 8, 2, 1),
        (12, 30, 20, 0, 1, 3),
        (4, 9, 3, 6, 1, 2),
        (6, 6, 6, 6, 2, 0),
    ],
)
def test_the_largest_gain_is_that_of_the_exact_lap(
    period: int, window: int, delay: int, lands: int, scrape: int, phase: int
) -> None:
    chain = ", ".join([*([f"scrape {scrape} s"] if scrape else []), f"mean {window} s"])
    made = scaler(
        signal=f"delayed(web.usage, {delay} s)" if delay else "web.usage", sensor=chain, period=f"{period} s",
        lands=f"{lands} s", phase=f"{phase} s",
    )  # fmt: skip
    assert number(loop_floors(made), "sampled_gain") == pytest.approx(exact_gain(made), rel=1e-6)


@pytest.mark.parametrize(("delay", "updates"), [(15, 1.4426950409), (30, 2.4663034624), (135, 9.4912215810)])
def test_readings_of_one_age_cost_updates(delay: int, updates: float) -> None:
    """1/log((d + 1)/d) for a reading of d decisions ago; the slowest root of the best gain of the loop is d/(d + 1)."""
    found = loop_floors(scaler(signal=f"delayed(web.usage, {delay} s)"))
    assert number(found, "stale_updates") == pytest.approx(updates, rel=1e-9)
    age = delay // 15
    best = age**age / (age + 1) ** (age + 1)
    poly = [1.0, -1.0, *[0.0] * (age - 1), best]
    assert max(abs(np.roots(poly))) == pytest.approx(age / (age + 1), rel=1e-4)


def test_fresh_readings_and_those_of_several_ages_have_no_such_floor() -> None:
    for made in (scaler(), scaler(sensor="mean 40 s", phase="1 s")):
        assert floors(loop_floors(made), "stale_updates") == {}


def test_weights_of_a_window_add_to_one() -> None:
    made = scaler(sensor="mean 40 s", phase="1 s")
    (loop,) = made.loops
    (way,) = ways(made, loop)
    shares = weights(way, loop)
    assert shares == (Fraction(15, 40), Fraction(15, 40), Fraction(10, 40))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: scaler(sensor="scrape 5 s, mean 1 min"), "phase of hpa"),
        (lambda: scaler(sensor="scrape 4 s, mean 1 min", phase="0 s"), "does not divide"),
        (lambda: scaler(sensor="max 1 min"), "maxima"),
        (lambda: scaler(signal="web.usage + delayed(web.usage, 40 s)"), "add up"),
        (lambda: scaler(signal="web.usage + rate_of(web.usage)"), "add up"),
        (lambda: scaler(signal="previous(web.usage)"), "a state or another loop"),
        (lambda: scaler(lands="20 s", count="landed"), "count: commanded of hpa"),
    ],
)
def test_what_is_missing_for_a_gain_is_named(made: object, said: str) -> None:
    found = floors(loop_floors(made()), "sampled_gain")["hpa"]  # type: ignore[operator]
    assert found.floor is None
    assert said in found.why


def test_both_ways_of_a_minimum_have_their_gain() -> None:
    made = model(
        """
coherence: 1
workload: {web: {rate: 98 req/s}}
components:
  pool:
    rate_per_replica: 40 req/s
    boot: 1.7 s
    ready: min(pool.replicas, delayed(pool.replicas, pool.boot))
    usage: web.attempts / (pool.ready * pool.rate_per_replica)
loops:
  hpa:
    target: {signal: pool.usage, setpoint: 50 %}
    timescale: {period: 1 s}
    actuation: {signal: pool.replicas, law: proportional, bounds: [1, 12], from: 4}
"""
    )
    found = floors(loop_floors(made), "sampled_gain")
    values = {thing: float(one.floor.low) for thing, one in found.items() if one.floor}
    assert values == {"hpa (undelayed)": pytest.approx(2.0), "hpa (delayed 1.7 s)": pytest.approx(1.0)}
    assert number(loop_floors(made), "recovery_time") == 1.0


def test_recovery_waits_for_a_decision_and_for_its_effect() -> None:
    made = scaler(signal="delayed(web.usage, 20 s)", lands="5 s")
    found = loop_floors(made)
    assert number(found, "recovery_time") == 40.0
    assert floors(found, "recovery_time")["hpa"].application.places, "it is told where the numbers stand"


def test_a_way_through_another_loop_is_a_way_back() -> None:
    """`slow` reads what `fast` writes from what `slow` wrote: the dead time is that of the quickest way."""
    made = model(
        """
coherence: 1
components:
  a: {from_slow: a.slow * 2, through: a.fast + 1}
loops:
  fast:
    target: {signal: "delayed(a.from_slow, 3 s)"}
    timescale: {period: 2 s, lands: 1 s}
    actuation: {signal: a.fast, law: set, to: "delayed(a.from_slow, 3 s)", bounds: [0, 100], from: 1}
  slow:
    target: {signal: "delayed(a.slow, 30 s) + a.through", setpoint: 5}
    timescale: {period: 10 s}
    actuation: {signal: a.slow, law: proportional, bounds: [1, 100], from: 1}
"""
    )
    assert number(loop_floors(made), "recovery_time", "slow") == 14.0


def test_a_loop_without_a_way_back_has_no_floor_of_its_own() -> None:
    made = model(
        """
coherence: 1
components: {web: {load: 100}}
loops:
  one_way:
    target: {signal: web.load, setpoint: 0.5}
    timescale: {period: 5 s}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 10], from: 1}
"""
    )
    assert loop_floors(made) == ()


def test_ages_of_a_design_are_those_of_its_chain() -> None:
    """scrape + window + relist + sync: half of each on average, all of it at most."""
    made = scaler(sensor="scrape 30 s, mean 5 min, relist 1 min", period="45 s")
    found = design_floors(made.design)
    assert number(found, "reading_age_mean") == 217.5
    assert number(found, "reading_age_longest") == 435.0


def test_irate_spans_two_scrapes_whatever_its_window() -> None:
    found = design_floors(scaler(sensor="scrape 30 s, irate 5 min", period="10 s").design)
    assert number(found, "reading_age_mean") == 35.0
    assert number(found, "reading_age_longest") == 70.0


def test_a_period_that_is_missing_is_asked_for() -> None:
    design = read_text(
        "coherence: 1\ncomponents: {web: {load: 1}}\nloops:\n  l:\n    target: {signal: web.load, sensor: [mean 5 s]}\n"
        "    timescale: {hold_down: 1 s}\n    actuation: {signal: web.x, law: set, to: 1}\n"
    )
    found = floors(design_floors(design), "reading_age_mean")["l"]
    assert found.floor is None
    assert "period of l" in found.why


def test_the_largest_reading_of_a_window_may_be_its_newest() -> None:
    found = floors(design_floors(scaler(sensor="max 1 min", period="10 s").design), "reading_age_mean")["hpa"].floor
    assert found is not None
    assert (found.low, found.high) == (5, 35)
