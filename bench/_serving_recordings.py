"""Two recordings of real vLLM servers: loads, measured times and counters.  Seconds from the first arrival.

SOURCE: casys-kaist/LLMServingSim, bench/examples (vLLM 0.19, Llama-3.1-8B on an RTX PRO 6000, 300 requests);
liao4s/BurstGPT_test, example/logs (vLLM with Llama-3.2-1B on 24 GiB, 500 requests at six speeds).
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.references.accelerator import Accelerator, Shape, cache_blocks
from coherence.simulate.serving.fit import Counters
from coherence.simulate.serving.server import InferenceServer, TokenLoad, load

Array = NDArray[Any]
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MEASURED = DATA / "vllm_measured_llmservingsim" / "bench" / "examples" / "RTXPRO6000" / "Llama-3.1-8B"
BURST = DATA / "burstgpt_replay_vllm" / "example" / "logs"
AZURE = DATA / "azure_llm_2023" / "data"
SPEED_UPS = (100, 200, 400, 600, 800, 1000)

LLAMA_8B = Shape(parameters=8_030_261_248, layers=32, kv_heads=8, head_size=128)  # SOURCE: Llama-3.1-8B, config.json
RTX_PRO_6000_FLOPS = 503.8e12  # dense bfloat16; SOURCE: NVIDIA RTX Blackwell PRO architecture, table of peaks


@dataclass(frozen=True)
class MeasuredRun:
    """Requests of one run: what came, and when each was scheduled, wrote its first and its last token."""

    server: InferenceServer
    accelerator: Accelerator
    load: TokenLoad
    scheduled: Array
    first: Array
    last: Array
    counters: Counters


def read_measured_run(folder: Path = MEASURED) -> MeasuredRun:
    """The overloaded run.  Memory and bandwidth from config.json, the limits of a step from meta.json."""
    meta = json.loads((folder / "vllm" / "meta.json").read_text())["engine_kwargs"]
    memory = json.loads((folder / "config.json").read_text())["nodes"][0]["instances"][0]["npu_mem"]
    accelerator = Accelerator(memory["mem_size"] * 2.0**30, memory["mem_bw"] * 1e9, RTX_PRO_6000_FLOPS)
    blocks = cache_blocks(accelerator, LLAMA_8B, utilization=memory["mem_util"])
    rows = [json.loads(line) for line in (folder / "vllm" / "requests.jsonl").read_text().splitlines()]
    column = {name: np.array([row[name] for row in rows], float) for name in rows[0] if name != "request_id"}
    zero = column["queued_ts"][0]
    scheduled, first, last = (column[f"{name}_ts"] - zero for name in ("scheduled", "first_token", "last_token"))
    made = load(column["queued_ts"] - zero, column["input_toks"], column["output_toks"])
    counters = _second_by_second(folder / "vllm" / "timeseries.csv", made, first, last)
    server = InferenceServer(meta["max_num_seqs"], meta["max_num_batched_tokens"], blocks)
    return MeasuredRun(server, accelerator, made, scheduled, first, last, counters)


def _second_by_second(path: Path, made: TokenLoad, first: Array, last: Array) -> Counters:
    """The engine's counters; tokens held are those counted so far, without those of requests that have finished."""
    series = _columns(path)
    edges = np.concatenate(([0.0], series["t"]))
    counted = np.concatenate(([0.0], np.cumsum(series["prompt_throughput"] + series["gen_throughput"])))
    gone = np.array([(made.prompt + made.output)[last <= t].sum() for t in edges])
    return Counters(edges, series["prompt_throughput"], series["gen_throughput"], counted - gone, first, last)


@dataclass(frozen=True)
class BurstRun:
    """One speed-up.  `asked`: prompt tokens as the client counts; `characters`: of the prompt and what was written.

    Times are the client's: `first` and `last` chunk.  Arrival = record time - total time: in order of event_id, and
    spans shrink as the speed-up.
    """

    speed_up: int
    arrival: Array
    first: Array
    last: Array
    asked: Array
    characters: Array
    counters: Counters
    blocks: int


def read_burst_run(speed_up: int, folder: Path = BURST) -> BurstRun:
    """Requests in order of event_id, and the server's log, on one clock."""
    stem = f"scale{speed_up}_prompt500"
    events = json.loads((folder / "detail_log" / f"detail_log_{stem}.json").read_text())
    rows = [events[key] for key in sorted(events, key=int)]
    column = {name: np.array([row[name] for row in rows], float) for name in rows[0]}
    arrival = column["record_time"] - column["total_chunk_time"]
    zero, first, last = arrival[0], arrival + column["first_chunk_time"], column["record_time"]
    log = _columns(folder / "vllm_log" / f"vllm_log_{stem}.csv")
    blocks = cache_size(log["gpu_kvcache_usage"] / 100)
    counters = _half_second_by_half_second(log, blocks, zero, first - zero, last - zero)
    return BurstRun(
        speed_up, arrival - zero, first - zero, last - zero, column["in_len"], column["out_len"], counters, blocks
    )


def cache_size(usage: Array) -> int:
    """Blocks of the cache, from shares in use: the least number of which all shares are whole parts."""
    return math.lcm(*(Fraction(float(share)).limit_denominator(200_000).denominator for share in usage))


def _half_second_by_half_second(
    log: Mapping[str, Array], blocks: int, zero: float, first: Array, last: Array
) -> Counters:
    edges = log["timestamp"] - zero
    seconds = np.diff(edges)
    prefilled, written = (log[f"{name}_throughput"][1:] * seconds for name in ("prompt", "generation"))
    return Counters(edges, prefilled, written, log["gpu_kvcache_usage"] / 100 * blocks * 16, first, last)


def _columns(path: Path) -> dict[str, Array]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
