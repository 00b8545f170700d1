"""What a tier draws, beside Little's law, and where a loop puts members to sleep; powers that cannot be."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

TEXT = """coherence: 1
workload: {r: {rate: 6 req/s, service: {mean: 1 s, cv: 0}}}
infrastructure: {tiers: {gpu: {count: 10, idle_power: 60 W, full_power: 400 W, sleep_power: 10 W}}}
components: {pool: {runs_on: {tier: gpu, devices: 1}, copies: 8}}
calls: [{from: r, to: pool}]
"""


def run_of(text: str, until: float = 2000.0) -> Study:
    return study(read_text(text, "d"), Setting(until=until, warmup=0.0, seeds=(1, 2)))


def values(text: str) -> dict[str, float]:
    return {reading.what: reading.value for reading in run_of(text).readings if reading.of == "gpu"}


def test_a_tier_draws_what_its_devices_do() -> None:
    drawn = values(TEXT)  # 6 of 8 serve on average (Little), 2 of 10 sleep; two fixed seeds
    assert drawn["power"] == pytest.approx(8 * 60 + 6 * 340 + 2 * 10, rel=0.03)
    assert drawn["held by nobody"] == pytest.approx(20)
    assert drawn["energy per answer"] == pytest.approx(2540 / 6, rel=0.01)
    assert values(TEXT.replace(", sleep_power: 10 W", ""))["power"] == pytest.approx(drawn["power"] + 2 * 50)
    assert values(TEXT.replace("devices: 1}", "devices: 1/2}"))["power"] == pytest.approx(
        (drawn["power"] - 20) / 2 + 6 * 10
    )


def test_members_that_serve_several_at_once_draw_by_the_share_of_these() -> None:
    limit = "limits: {slots: {counts: pool.ongoing, at_most: 4, per: replica, when_full: wait}}\n"
    several = values(TEXT.replace("copies: 8", "copies: 2") + limit)  # 2 devices, 6 of 8 requests at once
    assert several["power"] == pytest.approx(2 * 60 + 6 / 4 * 340 + 8 * 10, rel=0.03)
    assert several["held by nobody"] == pytest.approx(80)


SLEEP = """coherence: 1
workload: {r: {rate: 2 req/s, service: {mean: 1 s, cv: 0}}}
infrastructure: {tiers: {gpu: {count: 10, idle_power: 60 W, full_power: 400 W, sleep_power: 10 W}}}
components:
  pool: {uses: replica_pool, runs_on: {tier: gpu, devices: 1}, rate_per_replica: 1 req/s, takes: {start: 30 s}}
calls: [{from: r, to: pool}]
loops:
  saver:
    trigger: always
    timescale: {period: 1000 s, phase: 1000 s}
    actuation: {signal: pool.desired, law: set, to: "4", from: 8, bounds: [4, 8]}
"""


@pytest.mark.slow
def test_members_that_a_loop_takes_away_sleep() -> None:
    drawn = values(SLEEP)
    assert drawn["power"] == pytest.approx(6 * 60 + 2 * 340 + 4 * 10, rel=0.03)
    assert drawn["held by nobody"] == pytest.approx(40, abs=0.5)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("full_power: 400 W", "full_power: 50 W", "idle_power of gpu is above its full_power: 60 W and 50 W"),
        ("sleep_power: 10 W", "sleep_power: 70 W", "sleep_power of gpu is above its idle_power: 70 W and 60 W"),
        ("sleep_power: 10 W", "sleep_power: 10 s", "sleep_power of gpu is 10 s, W expected"),
    ],
)
def test_powers_that_cannot_be_are_refused(before: str, after: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        run_of(TEXT.replace(before, after), 10.0)
    assert raised.value.problems[0].message == message


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("count: 10, ", "", "its count is not stated"),
        (", full_power: 400 W", "", "its full_power is not stated"),
        (
            "devices: 1}, copies: 8}",
            "devices: 1}, copies: 8}, job: {runs_on: gpu, copies: 2}",
            "job on it is no one queue of requests",
        ),
        ("copies: 8", "capacity: 8 req/s", "the members of pool are not stated"),
        ("devices: 1}", "devices: 2}", "members on it hold 16 devices of 10"),
        ("{tier: gpu, devices: 1}", "gpu", "`devices` of pool is not stated"),
    ],
)
def test_a_power_that_is_not_told_says_why(before: str, after: str, why: str) -> None:
    text = TEXT.replace(before, after)
    text += "claims: {gpu: 2 * pool.copies}\n" if "devices` of" in why else ""
    run = run_of(text, 10.0)
    assert f"the power of gpu is not told: {why}" in run.assumptions
    assert not [reading for reading in run.readings if reading.of == "gpu"]
