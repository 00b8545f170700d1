"""Promises are judged in runs: by instants, by figures, by requests; each is answered."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.study.repeated_runs import JudgedPromise, PromiseVerdict
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

REQUESTS = """\
coherence: 1
workload: {clients: {rate: 60 req/s, service: {mean: 40 ms, cv: 1}}}
components: {workers: {copies: 4}}
calls: [{from: clients, to: workers}]
promises: {p: "PROMISE"}
"""
LOOP = """\
coherence: 1
components: {room: {state: "t' = t + fire.level", step: 1 s, from: 20}}
loops:
  cold: {timescale: {period: 1 s}, trigger: {enter: t <= 15, leave: t >= 18}, actuation: {}}
  heater:
    timescale: {period: 1 s}
    rules: [{when: cold, to: 1}, {when: not cold, to: -1}]
    actuation: {signal: fire.level, bounds: [-1, 1], from: -1}
promises: {p: "PROMISE"}
"""


def judge(text: str, promise: str, *, until: float = 120.0, seeds: tuple[int, ...] = (1, 2, 3)) -> JudgedPromise:
    (judged,) = study(read_text(text.replace("PROMISE", promise), "d.yaml"), Setting(until, seeds=seeds)).promises
    return judged


@pytest.mark.parametrize(
    ("promise", "verdict", "message"),
    [
        ("always workers.wait <= 2 s", "held", "at every instant of all 3 runs"),
        ("workers.backlog <= 2", "broken", "not so at"),
        ("never workers.backlog > 2", "broken", "so at"),
        ("eventually workers.backlog == 0", "held", "in all 3 runs"),
        ("eventually workers.backlog > 10000", "undecided", "came to be in 0 of 3 runs, which end after 2 min"),
        ("eventually_always workers.backlog <= 500", "held", "throughout the last tenth of all 3 runs"),
        ("eventually_always workers.backlog > 500", "undecided", "a run that ends cannot tell what comes later"),
        ("always fleet.load <= 2", "undecided", "needs what fleet.load is in a run"),
        ("quantile(clients.latency, 0.99) <= 2 s", "held", "P99 of clients is"),
        ("quantile(clients.latency, 0.5) <= 1 ms", "broken", "P50 of clients is"),
        ("2 s >= quantile(clients.latency, 0.95)", "held", "P95 of clients is"),
        ("quantile(clients.latency, 0.97) <= 2 s", "undecided", "and not that of 97 %"),
        ("tail(clients.latency, 2 s) <= 5 %", "held", "P95 of clients is"),
        ("tail(clients.latency, 1 ms) <= 1 %", "broken", "P99 of clients is"),
        ("quantile(workers.latency, 0.99) <= 2 s", "held", "P99 of clients is"),
        ("quantile(clients.size, 0.99) <= 2", "undecided", "runs have no distribution of clients.size"),
        ("quantile(clients.latency, 0.99) <= quantile(clients.latency, 0.5)", "undecided", "compared with a number"),
        ("clients.success >= 90 %", "held", "succeed of clients is 100 %"),
        ("always workers.waiting <= 500", "held", "at every instant of all 3 runs"),
        ("always workers.served <= 500 req/s", "held", "of all 3 runs, with rates of requests as they are measured"),
        ("always workers.queued <= 2", "broken", "workers.queued = "),
        ("always workers.in_flight <= 4", "broken", "workers.in_flight = "),
        ("always clients.in_flight <= 4", "broken", "clients.in_flight = "),
        ("always workers.ready >= 4", "held", "at every instant of all 3 runs"),
        ("always mean(workers.waiting) <= 100", "held", "waiting of workers is"),
        ("always mean(workers.busy) <= 5 %", "broken", "busy of workers is"),
        ("always mean(workers.available) >= 5", "broken", "servers of workers is 4"),
        ("always mean(clients.not_ended) <= 5 %", "held", "not ended of clients is"),
        ("always mean(clients.time_out) <= 1 %", "held", "time out of clients -> workers is"),
        ("always mean(clients.sends_per_call) < 1", "broken", "sends per call of clients -> workers is 1"),
        ("always mean(workers.gold) <= 1", "undecided", "runs print no gold of workers, but sends_per_call"),
        ("after clients.accepted then clients.completed within 5 s", "held", "of every request of all 3 runs"),
        ("after clients.accepted then clients.completed within 30 ms", "broken", "not answered at"),
        ("after outage then clients.completed within 5 s", "undecided", "decided by `coherence check`"),
        ("after workers.waiting >= 5 then workers.waiting <= 0 within 200 ms", "broken", "due since"),
        ("after workers.waiting >= 5 then workers.waiting <= 4 within 1 min", "held", "each answer came in time"),
        ("after workers.waiting >= 5000 then workers.waiting <= 4 within 1 min", "held", "no answer was ever due"),
        ("last clients.accepted before clients.completed", "undecided", "decided by `coherence check`"),
    ],
)
def test_a_promise_about_requests_is_judged(promise: str, verdict: str, message: str) -> None:
    judged = judge(REQUESTS, promise)
    assert (str(judged.verdict), message in judged.message) == (verdict, True), judged.message


def test_a_breach_names_the_run_the_time_and_the_values() -> None:
    judged = judge(REQUESTS, "always workers.wait <= 1 ms")
    assert judged.seed == 1
    assert judged.seconds is not None
    assert 0 < judged.seconds <= 120
    assert "of the run with seed 1: workers.wait = " in judged.message


def test_only_of_rates_a_message_says_that_they_are_measured_once_a_second() -> None:
    assert "once a second" not in judge(REQUESTS, "always workers.wait <= 20 s", seeds=(1,)).message
    assert "once a second" in judge(REQUESTS, "always workers.utilization <= 900 %", seeds=(1,)).message


def test_a_short_run_has_no_interval_and_a_straddling_one_cannot_tell() -> None:
    assert "too short to tell: --for" in judge(REQUESTS, "quantile(clients.latency, 0.99) <= 2 s", seeds=(1,)).message
    straddles = judge(REQUESTS, "mean(clients.latency) <= 2 s")
    assert straddles.verdict in {PromiseVerdict.HELD, PromiseVerdict.UNDECIDED}
    p99 = judge(REQUESTS, "quantile(clients.latency, 0.99) <= 2 s").reading
    assert p99 is not None
    middle = judge(REQUESTS, f"quantile(clients.latency, 0.99) <= {1000 * p99.value:.1f} ms")
    assert (middle.verdict, "lies inside the interval" in middle.message) == (PromiseVerdict.UNDECIDED, True)


def test_requests_that_never_end_break_a_promise_of_answers() -> None:
    overloaded = REQUESTS.replace("copies: 4", "copies: 1")
    judged = judge(overloaded, "after clients.accepted then clients.completed within 20 s", seeds=(1,))
    assert judged.verdict is PromiseVerdict.BROKEN
    assert judged.seconds == pytest.approx(20, abs=20)


@pytest.mark.parametrize(
    ("promise", "verdict", "message"),
    [
        ("always t <= 19", "broken", "not so at 0 s"),
        ("always t <= 20", "held", "at every instant of this run"),
        ("never cold", "broken", "so at"),
        ("eventually t <= 15", "held", "in this run"),
        ("eventually t <= 10", "broken", "and the run repeats every"),
        ("eventually_always t >= 14", "held", "throughout the last tenth of this run"),
        ("eventually_always t <= 16", "broken", "and the run repeats every"),
        ("always t >= 14 for 5 s or t < 20.5", "held", "at every instant of this run"),
        ("t reaches 15", "held", "in this run"),
        ("t reaches 16.5", "broken", "and the run repeats every"),
        ("after t <= 15 then t >= 18 within 3 s", "held", "each answer came in time in this run"),
        ("after cold then not cold within 2 s", "broken", "not answered at 7 s: due since 5 s"),
        ("after t <= 15 then cold within 0 s", "broken", "not answered at 4 s: due since 4 s, when room.t = 15"),
        ("after t <= 15 then door opens within 4 s", "undecided", "decided by `coherence check`"),
    ],
)
def test_an_exact_run_that_repeats_for_ever_decides_what_comes_later(promise: str, verdict: str, message: str) -> None:
    judged = judge(LOOP, promise)
    assert (str(judged.verdict), message in judged.message) == (verdict, True), judged.message


def test_every_promise_of_a_design_has_an_answer() -> None:
    text = REQUESTS.replace(
        '{p: "PROMISE"}', "{a: never workers.wait > 1 s, b: clients.success >= 1 %, c: last x before y}"
    )
    found = study(read_text(text, "d.yaml"), Setting(30.0, seeds=(1, 2)))
    assert [judged.promise.name for judged in found.promises] == ["a", "b", "c"]


def test_loops_over_requests_are_watched_too() -> None:
    text = """\
coherence: 1
workload: {clients: {rate: 60 req/s, service: {mean: 40 ms, cv: 1}}}
components:
  workers: {uses: replica_pool, rate_per_replica: 25 req/s, takes: {start: 30 s}}
loops:
  scaler:
    target: {signal: workers.backlog, setpoint: 1}
    timescale: {period: 15 s}
    trigger: workers.backlog > 3
    actuation: {signal: workers.desired, law: step, by: 1, bounds: [4, 5]}
calls: [{from: clients, to: workers}]
promises: {cap: always workers.desired <= 5, least: always workers.desired >= 5}
"""
    judged = study(read_text(text, "d.yaml"), Setting(60.0, seeds=(1, 2))).promises
    assert [str(promise.verdict) for promise in judged] == ["held", "broken"]
