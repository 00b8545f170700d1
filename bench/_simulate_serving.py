"""The inference server against two recordings of real vLLM servers, and its speed.

The error at x100 is of another kind: pauses of 0.2 to 0.3 s of client or server (a request that meets four
others waits 0.24 s where 0.02 s are predicted) decide the P99 of 500 requests where there is no queue.
The fourteen slowest requests fall into six such pauses, each request 0.16 to 0.33 s beyond its prediction, while
the median differs by 10 ms. Chance alone leaves the measured P99 of 0.376 s between 0.31 and 0.46 s (bootstrap of
blocks of 25 requests, 95 %), -17 to +22 %: 500 requests do not tell a P99 to within 15 %.

Rows of the recordings are there only where the recordings are (`../shared/data`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bench import _serving_recordings as recordings
from bench import _serving_replays as replays
from bench.harness import Row, interleaved
from bench.references.load_curve import knee
from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.server import InferenceServer, StepTime, TokenLoad, load

SPLITS = ((100, 400, 800), (200, 600, 1000))  # each speed-up is predicted once, from the other split
WITHIN = "<= 0.15"


def rows() -> Iterator[Row]:
    """Errors of percentiles of the measured run and of the burst curve, then requests per second."""
    if recordings.MEASURED.exists():
        yield from measured_run()
    if recordings.BURST.exists():
        yield from burst_curve()
    yield speed()


def measured_run() -> Iterator[Row]:
    """The run predicted from its first third, and from the data sheet alone; LLMServingSim's errors beside it."""
    run = recordings.read_measured_run()
    measured = replays.measured_times(run)
    peer = simulator_errors(measured)
    served = replays.predict_run(run, replays.fit_first_part(run))
    for what in ("wait", "ttft", "latency"):
        errors = replays.errors(getattr(served, what), measured[what])
        for rank, error, other in zip(replays.RANKS, errors, peer[what], strict=True):
            yield Row(
                f"measured vLLM run, {what} P{rank}: error, step time from its first third",
                abs(error),
                WITHIN,
                "share",
                f"LLMServingSim {abs(other):.3f}",
            )
    served = replays.predict_run(run, replays.from_data_sheet(run))
    error = replays.errors(served.wait, measured["wait"])[-1]
    yield Row("measured vLLM run, wait P99: error, step time from the data sheet", abs(error), WITHIN, "share")


def simulator_errors(measured: Mapping[str, recordings.Array]) -> dict[str, tuple[float, ...]]:
    """LLMServingSim's errors on the same run, from its own output (nanoseconds)."""
    with (recordings.MEASURED / "outputs" / "sim.csv").open(newline="") as file:
        found = {int(row["request id"]): row for row in csv.DictReader(file)}
    names = {"wait": "queuing_delay", "ttft": "TTFT", "latency": "latency"}
    columns = {what: np.array([float(found[i][name]) for i in sorted(found)]) for what, name in names.items()}
    return {what: replays.errors(column / 1e9, measured[what]) for what, column in columns.items()}


def burst_curve() -> Iterator[Row]:
    """Time to first token at each speed-up, predicted from three others; then where the curve breaks."""
    runs = {speed_up: recordings.read_burst_run(speed_up) for speed_up in recordings.SPEED_UPS}
    errors: dict[int, float] = {}
    tails: dict[int, float] = {}
    for split in SPLITS:
        for speed_up, (ttft, _) in replays.cross_predict(runs, split).items():
            run = runs[speed_up]
            errors[speed_up] = abs(replays.errors(ttft, run.first - run.arrival)[-1])
            tails[speed_up] = float(np.percentile(ttft, 99))
    fitted = f"fitted on {', '.join(f'x{speed_up}' for speed_up in SPLITS[0])}"
    for speed_up in SPLITS[1]:
        yield Row(f"BurstGPT replay x{speed_up}, TTFT P99: error, {fitted}", errors[speed_up], WITHIN, "share")
    worst = max(errors, key=lambda speed_up: errors[speed_up])
    what = "BurstGPT replay, TTFT P99: mean error, each speed-up predicted from the half without it"
    yield Row(what, float(np.mean(list(errors.values()))), WITHIN, "share", f"worst x{worst} {errors[worst]:.3f}")
    measured = [float(np.percentile(run.first - run.arrival, 99)) for run in runs.values()]
    yield knee_row(list(runs), measured, [tails[speed_up] for speed_up in runs])


def knee_row(speed_ups: Sequence[int], measured: Sequence[float], predicted: Sequence[float]) -> Row:
    """Whether the curve breaks between the same two speed-ups; all six points predicted, none fitted on."""
    seen, said = knee(speed_ups, measured), knee(speed_ups, predicted)
    what = f"BurstGPT replay, knee between x{said[0]:g} and x{said[1]:g} as measured"
    return Row(what, float(seen == said), "== 1", "yes", f"measured x{seen[0]:g} to x{seen[1]:g}")


def speed() -> Row:
    """Requests served per second of our time, on an overloaded server."""
    made, server = heavy_load(), InferenceServer(128, 2048, 36578)
    taken = interleaved({"serve": lambda: serve(server, StepTime(0.012, 45e-6, 40e-6, 80e-9), made)}, repeats=5)
    peer = "LLMServingSim 1.9 by its own log of 300 requests, on its authors' machine"
    return Row("inference server, requests simulated per second", len(made) / taken["serve"], ">= 10000", "1/s", peer)


def heavy_load() -> TokenLoad:
    """3,000 requests at 10 per second with lengths of a chat: geometric, means 800 and 500 tokens."""
    draw = np.random.default_rng(1)
    arrival = np.cumsum(draw.exponential(0.1, 3000))
    return load(arrival, draw.geometric(1 / 800, 3000), draw.geometric(1 / 500, 3000))
