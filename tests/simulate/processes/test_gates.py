"""Limits on sends in a window and buckets of tokens: which gates they are, and what they let through."""

from __future__ import annotations

import pytest

from coherence.base.queueing import erlang_b
from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.engine import RequestResult, RequestRun
from coherence.simulate.requests.program import Gate, Program

PLAIN = """\
coherence: 1
workload: {web: {rate: 10 req/s, service: {mean: 40 ms, cv: 1}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
"""


def program(text: str) -> Program:
    return processes(read_text(text, "d.yaml")).program


def run(text: str, *, until: float) -> RequestResult:
    running = RequestRun(program(text), seed=3)
    running.advance(until)
    return running.result()


@pytest.mark.parametrize("counts", ["attempts(s)", "s.requests", "web.attempts", "web.requests"])
def test_a_limit_on_sends_in_a_window_is_a_gate(counts: str) -> None:
    text = PLAIN + f"limits: {{rl: {{counts: {counts}, at_most: 5, window: 1 s, when_full: reject}}}}\n"
    assert program(text).gates == (Gate("rl", ("web -> s",), 5.0, window=1.0),)
    result = run(text, until=2000)
    assert float(result.requests.completed.mean()) == pytest.approx(1 - erlang_b(5, 10.0), abs=0.01)


def test_a_limit_that_makes_wait_delays_sends_until_there_is_room() -> None:
    text = PLAIN.replace("10 req/s", "3 req/s").replace("copies: 1", "copies: 100")
    result = run(text + "limits: {rl: {counts: attempts(s), at_most: 5, window: 1 s}}\n", until=2000)
    assert result.requests.completed.all()
    assert result.counters["web.arrivals"] - result.counters["web.completed"] < 10
    starts = result.requests.end[result.requests.latency > 0.5]
    assert len(starts)


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ("at_most: 5, window: 1 s, when_full: evict and redo", "is neither waiting nor rejecting"),
        ("at_most: 5, window: 1 s, per: web", "there is one of it per web"),
        ("at_most: 5, window: unlimited", "it needs `at_most` as a number"),
    ],
)
def test_a_limit_in_a_window_that_is_not_run_is_named(limit: str, why: str) -> None:
    made = processes(read_text(PLAIN + f"limits: {{rl: {{counts: attempts(s), {limit}}}}}\n", "d.yaml"))
    assert not made.program.gates
    assert any(why in note for note in made.assumptions)


def test_a_bucket_of_tokens_lets_its_rate_through() -> None:
    text = """coherence: 1
workload: {web: {rate: 20 req/s, service: {mean: 1 ms, cv: 0}}}
components:
  bucket: {uses: token_bucket, rate: 5 req/s, burst: 40 req, arrivals: web.attempts}
  s: {copies: 100}
calls: [{from: web, to: bucket}, {from: bucket, to: s}]
"""
    assert program(text).gates == (Gate("bucket", ("web -> bucket",), 40.0, rate=5.0),)
    result = run(text, until=2000)
    assert result.counters["bucket -> s.calls"] == pytest.approx(5 * 2000 + 40, abs=2)


QUOTA = """\
coherence: 1
workload: {jobs: {rate: 30 req/s, burst: {rate: 300 req/s, lasts: 10 s}, service: {mean: 1 ms, cv: 0}}}
components: {api: {copies: 10}}
limits: {quota: {counts: attempts(api), at_most: 3600, window: 1 min, when_full: reject, refused: REFUSED}}
calls: [{from: jobs, to: api, tries: 4, pause: 100 ms, retry_when: [rate_limited], fails: {rate_limited: 10 ms}}]
"""


@pytest.mark.parametrize(("refused", "low", "high"), [("count", 0.0, 0.2), ("do not count", 0.97, 1.0)])
def test_retries_keep_a_quota_full_that_counts_what_it_refuses_as_check_says(
    refused: str, low: float, high: float
) -> None:
    """COH247 calls the first a conflict: an hour of refusals after ten seconds of high load."""
    result = run(QUOTA.replace("REFUSED", refused), until=1200)
    late = result.requests.completed[result.requests.start > 600]
    assert low <= float(late.mean()) <= high


@pytest.mark.parametrize(("most", "gate"), [("5, but_at_least: 8", 8.0), ("5 * 2", 10.0), ("5, but_at_least: 2", 5.0)])
def test_a_gate_lets_the_larger_of_cap_and_floor_through(most: str, gate: float) -> None:
    text = PLAIN + f"limits: {{rl: {{counts: attempts(s), at_most: {most}, window: 1 s, when_full: reject}}}}\n"
    assert program(text).gates == (Gate("rl", ("web -> s",), gate, window=1.0),)


TOKENS = PLAIN.replace("rate: 10 req/s", "rate: 10 req/s, prompt: {mean: 900 token}, answer: 300 token")
PER_SECOND = (
    "limits: {tpm: {counts: s.tokens, at_most: 6000 token, window: 1 s, when_full: reject, refused: do not count}}\n"
)


def test_a_quota_in_tokens_is_a_gate_of_sends_of_the_mean_size() -> None:
    read = processes(read_text(TOKENS + PER_SECOND, "d.yaml"))
    assert read.program.gates == (Gate("tpm", ("web -> s",), 5.0, window=1.0),)
    assert any("as if each send counted 1200" in note for note in read.assumptions)
    result = run(TOKENS + PER_SECOND, until=2000)
    assert float(result.requests.completed.mean()) == pytest.approx(1 - erlang_b(5, 10.0), abs=0.01)


@pytest.mark.parametrize("tokens", ["", ", tokens: 5000 token"])
def test_a_quota_in_tokens_of_several_sizes_is_not_run_and_named(tokens: str) -> None:
    other = f"  batch: {{rate: 1 req/s, service: {{mean: 40 ms, cv: 1}}{tokens}}}\n"
    text = TOKENS.replace("workload: {web: ", "workload:\n  web: ").replace("}}\ncomp", "}\n" + other + "comp")
    text = text.replace("to: s}]", "to: s}, {from: batch, to: s}]")
    read = processes(read_text(text + PER_SECOND, "d.yaml"))
    assert not read.program.gates
    assert any("do not all count equally many tokens" in note for note in read.assumptions)
