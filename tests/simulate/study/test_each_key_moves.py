"""Each key that a run reads moves the run, in designs that use most of what the language says of requests."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

CLASSES = """\
coherence: 1
workload:
  gold: {rate: 14 req/s, service: {mean: 100 ms, cv: 1}, priority: 2, deadline: 3 s}
  bulk: {rate: 4 req/s, service: {mean: 150 ms, law: lognormal, cv: 2, max: 900 ms}, arrivals: {cv: 2},
         burst: {rate: 20 req/s, lasts: 5 s, every: 30 s}}
components:
  s: {copies: 2, discipline: preemptive}
  t: {copies: 1}
  u: {copies: 1, takes: {start: 2 s}}
calls:
  - {from: gold, to: s, stage: a, per_try: 150 ms, tries: 4, on_timeout: cancel, budget: rb,
     pause: {base: 50 ms, factor: 3, cap: 400 ms, jitter: full}}
  - {from: gold, to: u, stage: a, hedge_after: 45 ms, on_timeout: cancel, per_try: 400 ms}
  - {from: bulk, to: s, per_try: 250 ms, tries: 3, on_timeout: abandon,
     breaker: {share: 30 %, last: 10, at_least: 4, open_for: 2 s, trials: 2}}
  - {from: bulk, to: t, fallback_for: s, on_timeout: abandon}
limits:
  rb: {uses: retry_budget, but_at_least: 0, counts: gold.retries in flight, at_most: 200 % of gold in flight}
  room: {counts: s.waiting, at_most: 6, when_full: reject}
  shed: {counts: u.wait, at_most: 150 ms, when_full: reject}
  win: {counts: attempts(t), at_most: 3, window: 1 s, when_full: reject}
timers:
  dog: {from: u.serve starts, after: 300 ms, unless: u.serve ends, then: restart u, jitter: 2 ms}
"""
CHANGES_OF_CLASSES = [
    ("priority: 2", "priority: 0"),
    ("deadline: 3 s", "deadline: 500 ms"),
    ("law: lognormal, cv: 2", "law: gamma, cv: 2"),
    ("max: 900 ms", "max: 300 ms"),
    ("arrivals: {cv: 2}", "arrivals: {cv: 1}"),
    ("rate: 20 req/s, lasts", "rate: 40 req/s, lasts"),
    ("lasts: 5 s", "lasts: 9 s"),
    ("every: 30 s", "every: 15 s"),
    ("discipline: preemptive", "discipline: preemptive repeat"),
    ("discipline: preemptive", "discipline: lifo"),
    ("start: 2 s", "start: 9 s"),
    ("stage: a, per_try", "per_try"),
    ("150 ms, tries: 4", "150 ms, tries: 2"),
    ("per_try: 150 ms", "per_try: 300 ms"),
    ("base: 50 ms", "base: 250 ms"),
    ("factor: 3", "factor: 1"),
    ("cap: 400 ms", "cap: 60 ms"),
    ("jitter: full}", "jitter: 10 %}"),
    ("hedge_after: 45 ms", "hedge_after: 30 ms"),
    ("per_try: 400 ms", "per_try: 50 ms"),
    ("tries: 3, on_timeout: abandon", "tries: 3, on_timeout: cancel"),
    ("share: 30 %", "share: 90 %"),
    ("last: 10", "last: 5"),
    ("at_least: 4", "at_least: 9"),
    ("open_for: 2 s", "open_for: 20 s"),
    ("trials: 2", "trials: 5"),
    ("fallback_for: s, ", ""),
    ("at_most: 200 %", "at_most: 1 %"),
    ("at_most: 6", "at_most: 1"),
    ("at_most: 150 ms", "at_most: 1 ms"),
    ("at_most: 3, window", "at_most: 1, window"),
    ("window: 1 s", "window: 9 s"),
    ("when_full: reject}\ntimers", "when_full: wait}\ntimers"),
    ("after: 300 ms", "after: 40 ms"),
    ("jitter: 2 ms", "jitter: 20 ms"),
    ("unless: u.serve ends, ", ""),
    ("then: restart u", "then: unlist u"),
]

CASES = """\
coherence: 1
workload: {web: {rate: 12 req/s, service: {mean: 80 ms, cv: 1}, cases: {big: 20 %, small: 80 %}}}
components: {lb: {cases: {a: 3, b: 1}}, a: {copies: 1}, b: {copies: 1}, x: {copies: 1}}
infrastructure: {links: [{ends: [lb, a], bandwidth: 10 MB/s, latency: 5 ms}]}
calls:
  - {from: web, to: lb, case: small, deadline: 2 s, on_timeout: cancel}
  - {from: web, to: x, case: big}
  - {from: lb, to: a, case: a, per_try: 300 ms, on_timeout: abandon, tries: 2, retry_when: [timeout], carries: 100 kB}
  - {from: lb, to: b, case: b, per_try: 300 ms, on_timeout: abandon, tries: 2}
limits: {cap: {counts: lb.attempts in flight, at_most: 6, when_full: reject}}
promises: {p: "always mean(a.busy) <= 90 %", q: "always a.waiting <= 400"}
"""
CHANGES_OF_CASES = [
    ("a: 3, b: 1", "a: 1, b: 1"),
    ("big: 20 %", "big: 60 %"),
    ("deadline: 2 s", "deadline: 200 ms"),
    ("retry_when: [timeout]", "retry_when: [unavailable]"),
    ("latency: 5 ms", "latency: 50 ms"),
    ("bandwidth: 10 MB/s", "bandwidth: 1 MB/s"),
    ("carries: 100 kB", "carries: 1 MB"),
    ("at_most: 6", "at_most: 1"),
    ("<= 400", "<= 1"),
    ("cv: 1", "cv: 3"),
    ("tries: 2}", "tries: 5}"),
]

SERVING = """\
coherence: 1
workload:
  chat: {rate: 1.7 req/s, prompt: {mean: 2000 token, cv: 1}, answer: {mean: 28 token, cv: 1}}
components:
  engine: {uses: inference_server, max_num_seqs: 128, max_num_batched_tokens: 2048 token, blocks: 3657 block,
           step_time: 12 ms, per_prompt_token: 80 us/token, per_request: 40 us, per_cached_token: 80 ns/token}
calls: [{from: chat, to: engine}]
"""
CHANGES_OF_SERVING = [
    ("blocks: 3657", "blocks: 300"),
    ("step_time: 12 ms", "step_time: 30 ms"),
    ("mean: 2000", "mean: 1600"),
    ("mean: 28", "mean: 300"),
    ("max_num_seqs: 128", "max_num_seqs: 2"),
    ("tokens: 2048", "tokens: 512"),
    ("80 us", "100 us"),
    ("40 us", "4 ms"),
    ("80 ns", "800 ns"),
    ("cv: 1}, answer", "cv: 2}, answer"),
    ("rate: 1.7", "rate: 1"),
]

STALE = """\
coherence: 1
workload: {web: {rate: 30 req/s, service: {mean: 100 ms, cv: 1}, deadline: 500 ms}}
components: {s: {copies: 2, discipline: lifo}}
calls: [{from: web, to: s, on_timeout: abandon}]
"""
CHANGES_OF_STALE = [
    ("abandon", "cancel"),
    ("lifo", "fifo"),
    ("500 ms", "5 s"),
    ("copies: 2", "copies: 3"),
]


def shown(text: str) -> tuple[object, ...]:
    """Returns the figures, verdicts and assumptions of a run."""
    run = study(read_text(text, "d.yaml"), Setting(until=90.0, seeds=(1,)))
    figures = tuple((reading.key, reading.value) for reading in run.readings)
    verdicts = tuple((judged.promise.name, judged.verdict, judged.message) for judged in run.promises)
    return figures, verdicts, run.assumptions


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (CLASSES, CHANGES_OF_CLASSES),
        (CASES, CHANGES_OF_CASES),
        (SERVING, CHANGES_OF_SERVING),
        (STALE, CHANGES_OF_STALE),
    ],
    ids=["classes", "cases", "serving", "stale work"],
)
def test_each_key_moves_a_run(text: str, changes: list[tuple[str, str]]) -> None:
    before = shown(text)
    assert all(old in text for old, _ in changes)
    assert [change for change in changes if shown(text.replace(*change, 1)) == before] == []
