"""Two recordings of real vLLM servers, predicted from a part of each; and public arrivals that drive a server."""

from __future__ import annotations

import numpy as np
import pytest

from bench import _serving_recordings as recordings
from bench import _serving_replays as replays
from bench._simulate_serving import SPLITS, simulator_errors
from bench.references.load_curve import knee
from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.fit import written_by
from coherence.simulate.serving.server import TokenLoad
from coherence.simulate.serving.trace import ArrivalTrace, replayed_from_file

pytestmark = pytest.mark.skipif(
    not recordings.DATA.is_dir(), reason=f"{recordings.DATA} is not there: a clone without the recordings"
)


@pytest.fixture(scope="module")
def run() -> recordings.MeasuredRun:
    return recordings.read_measured_run()


@pytest.fixture(scope="module")
def bursts() -> dict[int, recordings.BurstRun]:
    return {speed_up: recordings.read_burst_run(speed_up) for speed_up in recordings.SPEED_UPS}


def test_the_cache_of_the_measured_run_follows_from_its_configuration(run: recordings.MeasuredRun) -> None:
    assert run.server.blocks == 36578  # LLMServingSim's log says the same
    assert (run.server.max_num_seqs, run.server.max_num_batched_tokens) == (128, 2048)


def test_the_counters_of_the_measured_run_agree_with_its_requests(run: recordings.MeasuredRun) -> None:
    assert run.counters.prefilled.sum() == run.load.prompt.sum()
    assert run.counters.written.sum() == run.load.output.sum()
    off = np.abs(written_by(run.counters) / run.load.output - 1)
    assert np.median(off) < 0.01


def test_the_queue_of_the_measured_run_is_predicted_from_its_first_third(run: recordings.MeasuredRun) -> None:
    served = replays.predict_run(run, replays.fit_first_part(run))
    for what, measured in replays.measured_times(run).items():
        assert replays.errors(getattr(served, what), measured) == pytest.approx((0, 0, 0), abs=0.05), what
    assert served.preemptions.sum() == 0


@pytest.mark.parametrize("share", [0.25, 0.4, 0.5])
def test_the_prediction_does_not_hang_on_the_part_that_is_fitted(run: recordings.MeasuredRun, share: float) -> None:
    served = replays.predict_run(run, replays.fit_first_part(run, share=share))
    assert replays.errors(served.wait, replays.measured_times(run)["wait"]) == pytest.approx((0, 0, 0), abs=0.1)


def test_the_data_sheet_alone_predicts_the_queue_within_fifteen_percent(run: recordings.MeasuredRun) -> None:
    served = replays.predict_run(run, replays.from_data_sheet(run))
    assert replays.errors(served.wait, replays.measured_times(run)["wait"]) == pytest.approx((0, 0, 0), abs=0.15)


def test_the_peer_is_read_right(run: recordings.MeasuredRun) -> None:
    found = simulator_errors(replays.measured_times(run))
    assert found["ttft"][0] == pytest.approx(-0.086, abs=0.001)  # its own summary: -8.6 % and -2.0 %
    assert found["ttft"][2] == pytest.approx(-0.020, abs=0.001)


def test_record_times_are_of_completion_and_arrivals_follow_the_speed_up(
    bursts: dict[int, recordings.BurstRun],
) -> None:
    for speed_up, burst in bursts.items():
        assert (np.diff(burst.arrival) > 0).all()
        assert (np.diff(burst.last) < 0).any()
        assert burst.arrival[-1] * speed_up == pytest.approx(38965, rel=2e-3)


def test_the_size_of_the_cache_is_in_its_shares(bursts: dict[int, recordings.BurstRun]) -> None:
    assert {burst.blocks for burst in bursts.values()} == {36282}
    assert recordings.cache_size(np.array([0.25, 1 / 3, 0.0])) == 12


def test_most_texts_stop_at_the_same_limit_of_tokens(bursts: dict[int, recordings.BurstRun]) -> None:
    tokens = written_by(bursts[100].counters)
    assert np.median(tokens) == pytest.approx(1024, abs=3)
    assert (np.abs(tokens - 1024) <= 8).sum() > 250


@pytest.mark.parametrize("split", SPLITS)
def test_the_burst_curve_is_predicted_from_half_of_it(
    bursts: dict[int, recordings.BurstRun], split: tuple[int, ...]
) -> None:
    for speed_up, (ttft, latency) in replays.cross_predict(bursts, split).items():
        burst = bursts[speed_up]
        limit = 0.15 if speed_up > 100 else 0.25  # no queue there: pauses of the real server make its tail
        assert replays.errors(ttft, burst.first - burst.arrival)[-1] == pytest.approx(0, abs=limit), speed_up
        assert replays.errors(latency, burst.last - burst.arrival)[-1] == pytest.approx(0, abs=0.2), speed_up


@pytest.mark.slow
def test_the_knee_is_where_it_was_measured(bursts: dict[int, recordings.BurstRun]) -> None:
    predicted = {key: ttft for split in SPLITS for key, (ttft, _) in replays.cross_predict(bursts, split).items()}
    tails = [
        [float(np.percentile(times, 99)) for times in curve]
        for curve in ([predicted[key] for key in bursts], [burst.first - burst.arrival for burst in bursts.values()])
    ]
    assert knee(list(bursts), tails[0]) == knee(list(bursts), tails[1]) == (200, 400)


@pytest.fixture(scope="module")
def azure() -> dict[str, ArrivalTrace]:
    names = {"conv": "AzureLLMInferenceTrace_conv.csv", "code": "AzureLLMInferenceTrace_code_first30min.csv"}
    return {short: replayed_from_file(recordings.AZURE / name) for short, name in names.items()}


def test_bursts_not_the_mean_make_the_queue_of_the_code_trace(
    azure: dict[str, ArrivalTrace], run: recordings.MeasuredRun
) -> None:
    burst = azure["code"].load
    spread = np.sort(np.random.default_rng(1).uniform(0, burst.arrival[-1], len(burst)))
    step = replays.fit_first_part(run)
    tails = [
        serve(run.server, step, made).percentiles("wait")[2]
        for made in (burst, TokenLoad(spread, burst.prompt, burst.output))
    ]
    assert tails[0] > 10 * tails[1]
