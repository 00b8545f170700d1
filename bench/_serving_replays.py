"""Predictions for the recordings: a step time fitted on one part of the data, the rest predicted from arrivals.

Nothing is fitted to a wait, a queue, or a percentile: the step time comes from counters of work against seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench._serving_recordings import LLAMA_8B, Array, BurstRun, MeasuredRun
from bench.references.accelerator import step_time
from coherence.simulate.serving.engine import Served, serve
from coherence.simulate.serving.fit import fit_step_time, until, written_by
from coherence.simulate.serving.server import InferenceServer, StepTime, TokenLoad, load

RANKS = (50, 90, 99)
# Shares of the published peaks that well-tuned engines reach, assumed before any comparison
OF_BANDWIDTH, OF_FLOPS = 0.85, 0.65


def fit_first_part(run: MeasuredRun, *, share: float = 1 / 3) -> StepTime:
    """Step time from the counters of the first part of the run, and from nothing that happened later."""
    return fit_step_time(until(run.counters, share * float(run.last.max())))[0]


def from_data_sheet(run: MeasuredRun) -> StepTime:
    """Step time from the data sheet and the model's shape alone; nothing is fitted."""
    return step_time(run.accelerator, LLAMA_8B, of_bandwidth=OF_BANDWIDTH, of_flops=OF_FLOPS)


def measured_times(run: MeasuredRun) -> dict[str, Array]:
    """wait, ttft, latency and tpot as measured."""
    arrival = run.load.arrival
    tpot = (run.last - run.first) / np.maximum(run.load.output - 1, 1)
    return {"wait": run.scheduled - arrival, "ttft": run.first - arrival, "latency": run.last - arrival, "tpot": tpot}


def errors(predicted: Array, measured: Array) -> tuple[float, ...]:
    """Relative errors of the percentiles RANKS."""
    return tuple(float(x) for x in np.percentile(predicted, RANKS) / np.percentile(measured, RANKS) - 1)


def predict_run(run: MeasuredRun, step: StepTime) -> Served:
    """The whole run from arrivals and token counts."""
    return serve(run.server, step, run.load)


@dataclass(frozen=True)
class BurstModel:
    """What three speed-ups teach about the fourth: seconds of a step, tokens per text, and the way to the engine.

    `prompt_ratio`: the model's prompt tokens per token of the client's tokenizer.  `written`: client's prompt
    tokens -> (characters, tokens written) seen.  `front`: seconds between client and engine.
    """

    step: StepTime
    residual: float
    server: InferenceServer
    prompt_ratio: float
    written: Mapping[int, tuple[tuple[float, int], ...]]
    front: float


def fit_burst(runs: Sequence[BurstRun]) -> BurstModel:
    """Fit on whole runs.  The limits of a step are vLLM's defaults for a model of 128 Ki context: 256 and 512."""
    step, residual = fit_step_time(*(run.counters for run in runs))
    server = InferenceServer(256, 512, runs[0].blocks)
    prompts = sum(run.counters.prefilled.sum() for run in runs) / sum(run.asked.sum() for run in runs)
    model = BurstModel(step, residual, server, float(prompts), _written(runs), 0.0)
    return BurstModel(step, residual, server, float(prompts), model.written, _front(model, runs))


def burst_load(model: BurstModel, run: BurstRun) -> TokenLoad:
    """Arrivals and token counts of a run.  Its recorded times are not read, only arrivals and lengths of texts."""
    prompt = np.maximum(1, np.round(run.asked * model.prompt_ratio))
    return load(run.arrival, prompt, [_tokens(model, *pair) for pair in zip(run.asked, run.characters, strict=True)])


def predict_burst(model: BurstModel, run: BurstRun) -> tuple[Array, Array]:
    """(time to first token, latency) as the client sees them."""
    served = serve(model.server, model.step, burst_load(model, run))
    return served.ttft + model.front, served.latency + model.front


def cross_predict(runs: Mapping[int, BurstRun], fitted_on: Sequence[int]) -> dict[int, tuple[Array, Array]]:
    """Speed-up -> (ttft, latency) predicted, for every speed-up that is not fitted on."""
    model = fit_burst([runs[speed_up] for speed_up in fitted_on])
    return {key: predict_burst(model, run) for key, run in runs.items() if key not in fitted_on}


def _written(runs: Sequence[BurstRun]) -> dict[int, tuple[tuple[float, int], ...]]:
    seen: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for run in runs:
        for asked, characters, tokens in zip(run.asked, run.characters, written_by(run.counters), strict=True):
            seen[int(asked)].append((float(characters), int(tokens)))
    return {asked: tuple(sorted(pairs)) for asked, pairs in seen.items()}


def _tokens(model: BurstModel, asked: float, characters: float) -> int:
    """Tokens of the text of nearest length to the same prompt: sampling at temperature 0 repeats most texts exactly."""
    pairs = model.written[int(asked)]
    nearest = min(abs(length - characters) for length, _ in pairs)
    return int(np.median([tokens for length, tokens in pairs if abs(length - characters) == nearest]))


def _front(model: BurstModel, runs: Sequence[BurstRun]) -> float:
    """Median seconds by which the client saw first tokens later than the engine wrote them, where little runs.

    Little: the measured time to first token is below a tenth of a second, so that no queue can be in it.
    """
    gaps = []
    for run in runs:
        seen = run.first - run.arrival
        gaps.append((seen - serve(model.server, model.step, burst_load(model, run)).ttft)[seen < 0.1])
    return max(0.0, float(np.median(np.concatenate(gaps))))
