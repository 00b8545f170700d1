"""Drawn noise beside the law run by hand with the same values, and beside chance: other seeds, given values, means."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import model_of
from coherence.simulate.study.drawn_noise import drawn_noise
from coherence.simulate.study.exact_runs import exactly
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting
from tests.model.test_boundary_noise import design

TEXT = design("-12 % .. 12 %")
PATH = "vm.noise.hpa.pool.util"


def commands(setting: Setting) -> list[Fraction]:
    return [Fraction(i.after["pool.desired"]) for i in exactly(model_of(read_text(TEXT, "d")), setting)]


def test_a_run_is_the_law_with_the_values_that_were_drawn() -> None:
    model, now, expected = model_of(read_text(TEXT, "d")), Fraction(40), []
    noise = drawn_noise(model, 7, {})
    for _ in range(20):
        now = 40 + 2 * noise.values()[PATH] * now
        expected.append(now)
    assert commands(Setting(285.0, seeds=(7,))) == expected
    assert min(expected) >= 40 * (1 - Fraction(24, 100) / (1 - Fraction(24, 100)))
    assert max(expected) <= 40 / (1 - Fraction(24, 100))


def test_another_seed_is_another_run_and_a_given_value_is_kept() -> None:
    assert commands(Setting(150.0, seeds=(1,))) != commands(Setting(150.0, seeds=(2,)))
    fixed = commands(Setting(150.0, values={PATH: Fraction(0)}))
    assert set(fixed) == {Fraction(40)}


def test_values_are_drawn_evenly() -> None:
    noise = drawn_noise(model_of(read_text(TEXT, "d")), 1, {})
    drawn = [float(noise.values()[PATH]) for _ in range(4000)]
    spread = 0.24 / 12**0.5
    assert abs(sum(drawn) / 4000) < 4 * spread / 4000**0.5
    assert sum(v * v for v in drawn) / 4000 == pytest.approx(spread**2, rel=0.06)


def test_a_study_says_so_and_claims_no_long_run() -> None:
    own = study(read_text(TEXT, "d"), Setting(600.0))
    assert own.notes == (f"{PATH} is drawn evenly from its range, anew at each sample",)


REQUESTS = """coherence: 1
infrastructure: {boundaries: {vm: {around: [pool], noise: -25 % .. 25 %}}}
workload: {users: {rate: 40 req/s, service: {mean: 500 ms, cv: 1}}}
components: {pool: {uses: replica_pool, desired: 1 .. 400, rate_per_replica: 2 req/s, takes: {start: 0 s}}}
loops:
  hpa:
    inside: none
    target: {signal: pool.busy, setpoint: 50 %, tolerance: 30 %}
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: pool.desired, from: 40, bounds: [1, 400]}
calls: [{from: users, to: pool, on_timeout: cancel}]
"""


def test_loops_over_requests_read_with_noise_too() -> None:
    noisy, quiet = (
        study(read_text(REQUESTS.replace("inside: none", inside), "d"), Setting(300.0, seeds=(1,)))
        for inside in ("inside: none", "inside: vm")
    )
    assert writes(noisy) > writes(quiet)
    assert any("is drawn evenly" in note for note in noisy.assumptions)
    assert not any("is drawn evenly" in note for note in quiet.assumptions)


def writes(own: Study) -> float:
    return next(reading.value for reading in own.readings if (reading.of, reading.what) == ("hpa", "writes"))
