"""Gangs over several tiers: their steps beside a plain replay of one link in turn, and in equal shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.jobs.run import simulate as simulate_job
from coherence.simulate.jobs.steps import Stream
from coherence.simulate.processes import processes
from coherence.simulate.processes.exchanges import exchanged, with_step_times
from coherence.simulate.requests.engine import RequestResult, simulate
from coherence.simulate.requests.program import Arrivals
from coherence.simulate.study.recording import telemetry
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

GANG = """coherence: 1
workload: {prompts: {rate: 20 req/s}}
infrastructure:
  tiers: {east: {count: 80}, west: {count: 80}}
  links: [{ends: [east, west], bandwidth: 1 GB/s, latency: 2 ms}]
components:
  left: {runs_on: east, copies: 4, takes: {step: 500 ms .. 1 s}}
  right: {runs_on: west, copies: 3, takes: {step: 900 ms .. 1100 ms}}
  prefill: {runs_on: east, copies: 60, takes: {serve: 0 s}}
  decode: {runs_on: west, copies: 60, takes: {serve: 0 s}}
calls:
  - {from: left, to: right, carries: 200 MB}
  - {from: prompts, to: prefill}
  - {from: prefill, to: decode, carries: 25 MB}
"""
ALONE = GANG.replace("workload: {prompts: {rate: 20 req/s}}\n", "").replace("  - {from: prompts, to: prefill}\n", "")


def run_of(text: str, times: np.ndarray, until: float = 60.0) -> RequestResult:
    design = read_text(text, "d")
    program = with_step_times(design, processes(design).program, seed=3, until=until)
    sources = tuple(
        one if one.again else replace(one, arrivals=Arrivals("trace", times=tuple(times.tolist())))
        for one in program.sources
    )
    return simulate(replace(program, sources=sources), seed=3, until=until)


def replayed(steps: np.ndarray, times: np.ndarray, until: float, *, fair: bool) -> tuple[list[float], list[float]]:
    """Returns when each step of the gang and each request ends, of one link that is followed in small events."""
    latency, works = 0.002, {"gang": 0.2, "request": 0.025}
    waiting, ends = list[list[float | str]](), {"gang": list[float](), "request": list[float]()}
    coming, number, now = list(times), 0, 0.0
    gang_at = float(steps[0])
    while now <= until:
        served = waiting if fair else waiting[:1]
        rate = 1 / len(waiting) if fair and waiting else 1.0
        over = min((now + float(one[1]) / rate for one in served), default=np.inf)
        until_next = min(over, gang_at, coming[0] if coming else np.inf)
        for one in served:
            one[1] = float(one[1]) - rate * (until_next - now)
        now = until_next
        for one in [one for one in served if float(one[1]) <= 1e-12]:
            waiting.remove(one)
            ends[str(one[0])].append(now + latency)
            if one[0] == "gang":
                number += 1
                gang_at = now + latency + float(steps[number])
        if gang_at <= now:
            waiting.append(["gang", works["gang"]])
            gang_at = np.inf
        while coming and coming[0] <= now:
            coming.pop(0)
            waiting.append(["request", works["request"]])
    return ends["gang"], ends["request"]


@pytest.mark.parametrize("fair", [False, True])
def test_steps_and_requests_that_share_a_link_end_as_a_plain_replay_says(fair: bool) -> None:
    text = GANG.replace("latency: 2 ms", "latency: 2 ms, shares: fair") if fair else GANG
    times = np.cumsum(np.random.default_rng(5).exponential(0.05, 800))
    result = run_of(text, times)
    steps = np.concatenate([Stream(jobs_of(read_text(text, "d"))[0], 3).block().length / 1e9])
    gang, requests = replayed(steps, times, 60.0, fair=fair)
    by_source = {name: result.requests.source == k for k, name in enumerate(s.name for s in result.program.sources)}
    own = result.requests.end[by_source["left steps"]]
    assert len(own) > 40
    assert own == pytest.approx(gang[: len(own)], abs=1e-6)
    assert sorted(result.requests.end[by_source["prompts"]]) == pytest.approx(sorted(requests)[: len(times)], abs=1e-6)
    waits = np.diff(own) - steps[1 : len(own)]
    assert max(waits) > 1.1 * min(waits)  # requests are in the way


def test_a_gang_alone_has_all_of_its_link() -> None:
    result = run_of(ALONE, np.zeros(0))
    lasted = result.requests.latency
    assert exchanged(result.program, 0, lasted) == pytest.approx([0.202] * len(lasted), abs=1e-9)


def test_the_account_of_a_gang_has_what_it_waited_for_its_link() -> None:
    (job,) = jobs_of(read_text(GANG, "d"))
    assert (job.name, job.ranks, [count for count, _ in job.groups]) == ("left", 7, [4, 3])
    run = simulate_job(replace(job, exchange=(0.3, 0.5)), seed=3, until=30)
    assert run.steps.collective[:4].tolist() == [300_000_000, 500_000_000, 300_000_000, 500_000_000]
    by_rank = run.steps.needed / 7e9  # s, of each rank on average
    assert float(by_rank.mean()) == pytest.approx((4 * 0.75 + 3 * 1.0) / 7, abs=0.02)
    values = {(r.of, r.what): r.value for r in study(read_text(GANG, "d"), Setting(until=60.0, seeds=(3,))).readings}
    alone = {(r.of, r.what): r.value for r in study(read_text(ALONE, "d"), Setting(until=60.0, seeds=(3,))).readings}
    assert values["left", "collective"] > 1.03 * alone["left", "collective"] > 0


def test_what_is_recorded_of_a_gang_has_its_exchanges() -> None:
    record = telemetry(read_text(ALONE, "d"), Setting(until=60.0, seeds=(3,)))
    assert any(signal.name.startswith("left.") for signal in record.signals)


def test_what_stands_for_the_gang_is_said_of_its_first() -> None:
    stated = GANG.replace("copies: 3,", "copies: 3, mtbf: 10 d,")
    with pytest.raises(InputError, match="right is of the gang of left, where mtbf of all of them is stated"):
        jobs_of(read_text(stated, "d"))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "bandwidth: 1 GB/s",
            "bandwidth: 0 GB/s",
            "bandwidth of link east - west is 0 GB/s: left -> right would never",
        ),
        ("latency: 2 ms", "count: 0", "count of link east - west is 0: left -> right would never arrive"),
    ],
)
def test_a_link_that_carries_nothing_is_refused(before: str, after: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        study(read_text(ALONE.replace(before, after), "d"), Setting(until=10.0, seeds=(1,)))


def test_a_gang_between_whose_tiers_no_link_leads_says_so() -> None:
    run = study(
        read_text(ALONE.replace("ends: [east, west]", "ends: [east, south]"), "d"), Setting(until=10.0, seeds=(1,))
    )
    assert any(note.startswith("left -> right passes no link: needs a link") for note in run.assumptions)
