"""Each bound is told of designs, or says why none states its inputs; what is told beside arithmetic of its own."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.minimums.bound import Bound
from coherence.minimums.design_floors import DesignFloor, design_floors
from coherence.minimums.loop_floors import loop_floors
from coherence.minimums.registry import bounds, entries
from coherence.model.elaborate import elaborate

OF_LOOPS = ("recovery_time", "sampled_gain", "stale_updates", "lost_readings")


def told(text: str, bound: str) -> list[DesignFloor]:
    design = read_text("coherence: 1\n" + text)
    floors = (*design_floors(design), *loop_floors(elaborate(design)))
    return [floor for floor in floors if floor.bound.name == bound]


@pytest.mark.parametrize("bound", bounds(), ids=lambda bound: bound.name)
def test_a_bound_is_told_of_designs_or_says_why_not(bound: Bound) -> None:
    read = bound.applies is not None or bound.name in OF_LOOPS
    assert read != bool(bound.unread)
    named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", bound.unread))
    assert named <= set(entries()), "what is told instead is a bound"
    others = [entries()[name].bound for name in named]
    assert all(other.applies is not None or other.name in OF_LOOPS for other in others)


LINKS = """
infrastructure:
  tiers: {east: {count: 4}, mid: {count: 4}, west: {count: 4}}
  links:
    - {ends: [east, mid], latency: 10 ms, jitter: 2 ms}
    - {ends: [mid, west], latency: 20 ms .. 30 ms, jitter: 4 ms .. 6 ms}
"""


@pytest.mark.parametrize(
    ("bound", "low", "high"),
    [
        ("linearizable_read", 0.006 / 4, 0.008 / 4),
        ("linearizable_write", 0.006 / 2, 0.008 / 2),
        ("sequential_consistency", 0.030, 0.048),
        ("clock_skew_path", 0.003, 0.004),
    ],
)
def test_copies_at_the_ends_of_links_have_floors_of_their_delays(bound: str, low: float, high: float) -> None:
    (found,) = told(LINKS, bound)
    assert found.floor is not None
    assert float(found.floor.low) == pytest.approx(low)
    assert float(found.floor.high) == pytest.approx(high)
    assert found.application.thing.endswith("east and west")
    assert len(found.application.places) == 2


def test_links_of_which_no_delay_is_stated_have_no_such_floors() -> None:
    text = LINKS.replace("latency: 10 ms, jitter: 2 ms", "bandwidth: 1 GB/s").replace(
        "latency: 20 ms .. 30 ms, jitter: 4 ms .. 6 ms", "bandwidth: 1 GB/s"
    )
    assert not told(text, "linearizable_read")
    assert not told(text, "sequential_consistency")


ONE = """
workload: {{users: {{rate: {rate}, service: {{mean: 20 ms, cv: {cv}, law: lognormal}}}}}}
components: {{web: {{copies: {copies}}}}}
calls: [{{from: users, to: web{call}}}]
"""


@pytest.mark.parametrize(("cv", "wait"), [("0.5", 0.4 * 0.02 * 1.25 / 1.2), ("2", 0.4 * 0.02 * 5 / 1.2)])
def test_one_server_has_the_wait_of_its_spread(cv: str, wait: float) -> None:
    (found,) = told(ONE.format(rate="20 req/s", cv=cv, copies=1, call=""), "single_server_wait")
    assert found.floor is not None
    assert float(found.floor.low) == float(found.floor.high) == pytest.approx(wait)


def test_a_range_of_rates_gives_a_range_of_waits() -> None:
    (found,) = told(ONE.format(rate="10 req/s .. 25 req/s", cv=2, copies=1, call=""), "single_server_wait")
    assert found.floor is not None
    assert float(found.floor.low) == pytest.approx(0.2 * 0.02 * 5 / 1.6)
    assert float(found.floor.high) == pytest.approx(0.5 * 0.02 * 5 / 1)


@pytest.mark.parametrize(
    ("rate", "copies", "call", "why"),
    [
        ("20 req/s", 1, ", per_try: 1 s, on_timeout: cancel", "cancels late tries"),
        ("20 req/s", 1, ", per_try: 1 s, tries: 2", "tries of users -> web"),
        ("60 req/s", 1, "", "load"),
    ],
)
def test_one_server_that_does_something_else_is_asked_for(rate: str, copies: int, call: str, why: str) -> None:
    (found,) = told(ONE.format(rate=rate, cv=2, copies=copies, call=call), "single_server_wait")
    assert found.floor is None
    assert why in found.why


def test_several_servers_have_no_wait_of_one() -> None:
    assert not told(ONE.format(rate="20 req/s", cv=2, copies=2, call=""), "single_server_wait")


def test_a_lease_has_its_period_and_asks_for_the_rest() -> None:
    (found,) = told("timers: {lease: {after: 40 s, renew: 10 s, then: restart web}}\n"
                    "components: {web: {copies: 1}}", "failover_time")  # fmt: skip
    assert found.application.spans == {"period": (10, 10)}
    assert "longest delay of what renews lease" in found.why


PLANT = """
components:
  rack: {{state: "heat' = {plant}"{step}, from: 10}}
  fan: {{share: 2}}
loops:
  cool:
    target: {{signal: rack.heat, setpoint: 10}}
    timescale: {{period: 10 s, lands: 0 s}}
    actuation: {{signal: fan.speed, law: proportional, bounds: [0, 100], from: 1}}
"""


@pytest.mark.parametrize(
    ("plant", "step", "share"),
    [
        ("1.5 * heat - fan.speed", "5 s", Fraction(16, 81)),  # twice between two readings: 1/(9/4)^2
        ("heat + heat / fan.share - fan.speed", "10 s", Fraction(4, 9)),
        ("-(1.25 * heat) + fan.speed", "10 s", Fraction(16, 25)),
        ("heat / 10 s - fan.speed / 1 s", "", math.exp(-2)),
    ],
)
def test_a_state_that_runs_away_has_readings_that_may_not_be_lost(plant: str, step: str, share: Fraction) -> None:
    (found,) = told(PLANT.format(plant=plant, step=f", step: {step}" if step else ""), "lost_readings")
    assert found.floor is not None
    assert float(found.floor.low) == pytest.approx(float(share))
    assert found.application.thing == "rack.heat read by cool"


@pytest.mark.parametrize(
    ("plant", "step"),
    [
        ("0.5 * heat - fan.speed", "5 s"),  # it fades by itself
        ("2 * heat - fan.speed", "4 s"),  # no whole number of steps between two readings
        ("max(2 * heat, 3) - fan.speed", "5 s"),  # no one number
        ("heat * fan.speed", "5 s"),
        ("2 * heat", "5 s"),  # nothing moves it
    ],
)
def test_what_has_no_one_growth_has_no_such_share(plant: str, step: str) -> None:
    assert not told(PLANT.format(plant=plant, step=f", step: {step}"), "lost_readings")
