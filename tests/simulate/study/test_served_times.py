"""Percentiles of inference servers are those of the requests of all runs, with intervals, as those of stations are."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes import FIRST_BURST
from coherence.simulate.serving.chain import serve_engines
from coherence.simulate.serving.of_design import engines_of
from coherence.simulate.study.repeated_runs import Study, StudyReading
from coherence.simulate.study.samples import FOLLOWED, study
from coherence.simulate.study.setting import Setting

SERVER = """\
coherence: 1
workload:
  chat: {rate: 2 req/s, prompt: {mean: 600 token, cv: 1.2, max: 4000 token}, answer: 200 token}
components:
  engine: {uses: inference_server, blocks: 4000 block, step_time: 10 ms, per_prompt_token: 30 us/token}
calls:
  - {from: chat, to: engine}
"""


def run(text: str, **options: object) -> Study:
    return study(read_text(text, "d.yaml"), Setting(**{"until": 300.0, "seeds": (1, 2, 3, 4), **options}))  # type: ignore[arg-type]


def reading(of: Study, what: str) -> StudyReading:
    return next(reading for reading in of.readings if reading.what == what)


def times_of(text: str, seeds: tuple[int, ...], until: float, kind: str) -> np.ndarray:
    """Returns the times of all requests of all runs, from the servers themselves; those not served are infinite."""
    pooled = []
    for seed in seeds:
        engines = engines_of(read_text(text, "d.yaml"), first_burst=FIRST_BURST)
        ((_, served),) = serve_engines(engines, seed=seed, until=until, traces={}, followed=until * FOLLOWED / 100)
        times = {"wait": served.wait, "first token": served.ttft, "whole answer": served.latency}[kind]
        pooled.append(np.where(np.isfinite(times), times, np.inf))
    return np.concatenate(pooled)


@pytest.mark.parametrize("kind", ["wait", "first token", "whole answer"])
def test_a_percentile_is_that_of_all_requests_within_a_bin(kind: str) -> None:
    own = run(SERVER)
    pooled = times_of(SERVER, (1, 2, 3, 4), 300.0, kind)
    for percent in (50, 95, 99):
        exact = float(np.quantile(pooled, percent / 100, method="inverted_cdf"))
        shown = reading(own, f"{kind} P{percent}")
        assert shown.value == pytest.approx(exact, rel=0.005)
        assert shown.too_short or (shown.low or 0.0) <= exact <= (shown.high or 0.0)


def test_requests_that_are_not_served_are_longer_than_every_answer() -> None:
    flooded = SERVER.replace("rate: 2 req/s", "rate: 60 req/s")
    own = run(flooded, until=60.0, seeds=(1,))
    pooled = times_of(flooded, (1,), 60.0, "whole answer")
    assert not np.isfinite(np.quantile(pooled, 0.95, method="inverted_cdf"))
    assert reading(own, "whole answer P95").more_than


@pytest.mark.slow
def test_the_interval_of_short_runs_holds_the_value_of_a_long_one() -> None:
    long = reading(run(SERVER, until=20_000.0, seeds=(99,)), "first token P95")
    inside = 0
    for seed in range(1, 41):
        short = reading(run(SERVER, until=600.0, seeds=(seed,)), "first token P95")
        assert short.low is not None
        assert short.high is not None
        inside += short.low <= long.value <= short.high
    assert inside >= 34  # of 40: with a share of 95 % fewer come three times in a thousand


def test_a_pause_makes_each_run_a_story() -> None:
    own = run(SERVER, pauses=(("engine", 100.0, 20.0),))
    assert any("stated times" in note for note in own.notes)
