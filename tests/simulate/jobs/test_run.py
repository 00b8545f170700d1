"""Synchronous jobs: accounts that sum exactly, closed forms, limit cases, runs that a person can follow."""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.simulate.jobs.blame import blame
from coherence.simulate.jobs.closed_forms import best_interval, daly, expected_runtime, harmonic, normal_excess, young
from coherence.simulate.jobs.job import (
    Checkpoint,
    Failures,
    JobProgram,
    JobRecovery,
    Law,
    RankPause,
    Slowdowns,
    Stragglers,
    Watchdog,
    constant,
    uniform,
)
from coherence.simulate.jobs.ledger import STATES, ledger
from coherence.simulate.jobs.nodes import Nodes
from coherence.simulate.jobs.record import JobRun
from coherence.simulate.jobs.run import simulate
from coherence.simulate.jobs.series import of_job
from coherence.simulate.jobs.steps import Stream
from coherence.simulate.jobs.ticks import NEVER, SECOND, draw, generator, ticks, total, totals
from coherence.simulate.telemetry.contract import gaps
from tests.draws import few


def uniform_largest(n: int, low: float, high: float) -> float:
    """E[largest of n uniforms] = low + (high - low) n / (n + 1)."""
    return low + (high - low) * n / (n + 1)


QUICK = settings(max_examples=40, deadline=None)
HOUR, DAY = 3600.0, 86400.0
STEADY = JobProgram("train", 4, constant(10.0), 10)
BACK = JobRecovery(constant(5.0))


def within(values: list[float], truth: float) -> bool:
    """Is the truth in the 99 % interval of the mean?  (normal: 2.576, with a little for the unknown spread)"""
    half = 2.7 * statistics.stdev(values) / math.sqrt(len(values))
    return abs(statistics.fmean(values) - truth) <= half


def adds_up(run: JobRun, *, every: int = 0) -> bool:
    """Spans tile the time, the ledger has every rank-nanosecond, and the causes have every loss."""
    account, causes = ledger(run), blame(run, every=every)
    edges = [0, *itertools.chain.from_iterable((s.start, s.end) for s in run.spans), run.end]
    tiled = edges[::2] == edges[1::2]
    told = dict.fromkeys(STATES, 0)
    for one in causes:
        told[one.loss] += one.amount
    blamed = all(told[state] == account.counts[state] for state in STATES if state != "useful")
    whole = sum(account.counts.values()) == run.job.ranks * run.end
    return tiled and blamed and whole and min(account.counts.values()) >= 0 and told["useful"] == 0


# closed forms


def test_published_values() -> None:
    assert harmonic(1024) == pytest.approx(7.509175672278132, rel=1e-12)
    assert normal_excess(1024) == pytest.approx(3.2482396013754133, rel=1e-9)
    assert normal_excess(2) == pytest.approx(1 / math.sqrt(math.pi), rel=1e-9)
    assert normal_excess(1) == pytest.approx(0, abs=1e-9)
    assert young(30, 11134.8) == pytest.approx(817.3665028614764, rel=1e-12)
    assert daly(30, 11134.8) == pytest.approx(797.488846999204, rel=1e-12)
    assert best_interval(30, 11134.8) == pytest.approx(797.4900498343128, rel=1e-9)
    assert daly(30, 15) == 15


def test_best_interval_is_where_the_expected_runtime_is_flat() -> None:
    best = best_interval(30, 1000)
    near = [expected_runtime(work=1e6, interval=best * k, save=30, mtbf=1000, restart=60) for k in (0.99, 1, 1.01)]
    assert near[1] < min(near[0], near[2])


@pytest.mark.parametrize("ranks", [1, 2, 64, 1000])
def test_barrier_of_exponential_ranks(ranks: int) -> None:
    run = simulate(JobProgram("x", ranks, Law("exponential", 2.0), 3000), seed=7)
    assert within((run.steps.length / SECOND).tolist(), 2.0 * harmonic(ranks))


@pytest.mark.parametrize("ranks", [1, 8, 512])
def test_barrier_of_normal_ranks(ranks: int) -> None:
    run = simulate(JobProgram("x", ranks, Law("normal", 10.0, 0.05), 2000), seed=3)
    assert within((run.steps.length / SECOND).tolist(), 10.0 * (1 + 0.05 * normal_excess(ranks)))
    assert float(ledger(run)["waiting"]) == pytest.approx(ranks * 2000 * 0.5 * normal_excess(ranks), rel=0.1, abs=1e-6)


def test_barrier_of_uniform_ranks() -> None:
    run = simulate(JobProgram("x", 64, uniform(1.0, 2.0), 2000), seed=5)
    assert within((run.steps.length / SECOND).tolist(), uniform_largest(64, 1.0, 2.0))


@pytest.mark.parametrize("family", ["uniform", "exponential", "normal", "gamma", "lognormal"])
def test_laws_have_their_mean_and_variation(family: str) -> None:
    law = uniform(1.0, 3.0) if family == "uniform" else Law(family, 2.0, 0.25)
    drawn = draw(law, generator(11, family), (40_000,)) / SECOND
    cv = {"uniform": 1 / math.sqrt(12), "exponential": 1.0}.get(family, 0.25)
    assert drawn.mean() == pytest.approx(2.0, abs=2.6 * 2.0 * cv / 200)
    assert drawn.std() / drawn.mean() == pytest.approx(cv, rel=0.05)


FAILING = [  # save, mtbf of the job, restart, detection, interval, ranks
    (10, 1000.0, 30.0, 0.0, 140, 1),
    (10, 1000.0, 30.0, 20.0, 140, 8),
    (60, 500.0, 0.0, 0.0, 200, 4),
    (20, 300.0, 100.0, 50.0, 100, 3),
]


@pytest.mark.slow
@pytest.mark.parametrize(("save", "mtbf", "restart", "detection", "interval", "ranks"), FAILING)
def test_expected_runtime(save: int, mtbf: float, restart: float, detection: float, interval: int, ranks: int) -> None:
    job = JobProgram(
        "x", ranks, constant(1.0), interval * 100, checkpoint=Checkpoint(interval, constant(save)),
        failures=Failures(mtbf * ranks), recovery=JobRecovery(constant(restart), constant(detection)),
    )  # fmt: skip
    times = [simulate(job, seed=seed).seconds for seed in range(40)]
    truth = expected_runtime(
        work=job.work, interval=interval, save=save, mtbf=mtbf, restart=restart, detection=detection
    )
    assert within(times, truth)


@pytest.mark.slow
def test_least_runtime_is_at_the_best_interval() -> None:
    save, mtbf, restart = 20.0, 1000.0, 30.0
    best = round(best_interval(save, mtbf))
    assert best == pytest.approx(daly(save, mtbf), rel=0.01)

    def mean(interval: int) -> float:
        job = JobProgram(
            "x", 1, constant(1.0), best * 150, checkpoint=Checkpoint(interval, constant(save)),
            failures=Failures(mtbf), recovery=JobRecovery(constant(restart)),
        )  # fmt: skip
        return statistics.fmean(simulate(job, seed=seed).seconds for seed in range(12))

    assert mean(best) < min(mean(best // 3), mean(3 * best))


def test_never_saving_is_the_limit_of_long_intervals() -> None:
    def job(plan: Checkpoint | None) -> JobProgram:
        return JobProgram("x", 1, constant(1.0), 500, checkpoint=plan, failures=Failures(1000.0), recovery=BACK)

    never = [simulate(job(None), seed=seed).seconds for seed in range(150)]
    rare = [simulate(job(Checkpoint(math.inf, constant(0.0))), seed=seed).seconds for seed in range(150)]
    assert never == rare
    assert within(never, expected_runtime(work=500, interval=500, save=0, mtbf=1000, restart=5))


@pytest.mark.parametrize("shape", [0.7, 1.0, 3.0])
def test_nodes_live_for_their_mean_time(shape: float) -> None:
    job = JobProgram("x", 4000, constant(1.0), 1, failures=Failures(50_000.0, shape), recovery=BACK)
    assert within((Nodes(job, 2).ends / SECOND).tolist(), 50_000.0)


# runs that a person can follow


def test_one_rank_never_waits() -> None:
    run = simulate(JobProgram("x", 1, Law("gamma", 3.0, 0.8), 500), seed=1)
    account = ledger(run)
    assert account["waiting"] == 0
    assert account["useful"] == account.total == Fraction(run.end, SECOND)


def test_steady_ranks_without_failures() -> None:
    run = simulate(dataclasses.replace(STEADY, collective=constant(0.5)))
    assert (run.reason, run.done, run.seconds) == ("finished", 10, 105.0)
    account = ledger(run)
    assert [account[s] for s in ("useful", "collective", "waiting")] == [400, 20, 0]


def test_blocking_saves_add_their_time() -> None:
    run = simulate(dataclasses.replace(STEADY, checkpoint=Checkpoint(30.0, constant(5.0))))
    assert run.seconds == 3 * (30 + 5) + 10 + 5
    assert [h.time // SECOND for h in run.trace if h.what == "saved"] == [35, 70, 105, 120]
    assert ledger(run)["checkpoint"] == 4 * 20


def test_asynchronous_saves_overlap_the_steps() -> None:
    run = simulate(dataclasses.replace(STEADY, checkpoint=Checkpoint(30.0, constant(25.0), constant(1.0))))
    # snapshots 30-31, 61-62, 92-93; work ends at 103, the third save lands at 118, the last is taken 118-119
    assert [h.time // SECOND for h in run.trace if h.what == "saved"] == [56, 87, 118, 144]
    assert run.seconds == 144
    assert ledger(run)["checkpoint"] == 4 * (3 + (118 - 103) + 1 + 25)


def test_a_slow_asynchronous_save_holds_up_the_next() -> None:
    run = simulate(dataclasses.replace(STEADY, work=6, checkpoint=Checkpoint(20.0, constant(35.0), constant(0.0))))
    # taken at 20, lands at 55; due again at 40, so steps stop until 55
    assert [h.time // SECOND for h in run.trace if h.what == "saved"] == [55, 90, 125]


def test_stragglers_make_the_others_wait() -> None:
    run = simulate(dataclasses.replace(STEADY, stragglers=Stragglers((2,), 1.5)))
    account = ledger(run)
    assert [account[s] for s in ("slowed", "waiting", "useful")] == [50, 150, 400]
    assert {(b.loss, b.cause, b.amount // SECOND) for b in blame(run)} == {
        ("slowed", "stragglers", 50), ("waiting", "straggler rank 2", 150),
    }  # fmt: skip


def lasting(life: float, **more: Any) -> JobProgram:
    """All nodes live for `life` seconds, to a millionth: the time of the first failure is known."""
    job = JobProgram("train", 4, constant(10.0), 10, failures=Failures(life, 1e6, 4), recovery=BACK)
    return dataclasses.replace(job, **more)


def test_a_failure_takes_what_is_not_safe() -> None:
    run = simulate(
        lasting(88.0, checkpoint=Checkpoint(30.0, constant(5.0)), recovery=JobRecovery(constant(7.0), constant(3.0)))
    )
    # saved at 35 and 70; fails at 88, noticed at 91, up at 98 with 6 steps; 3 + save + 1 + save end at 148
    assert run.seconds == pytest.approx(148, abs=1e-3)
    account = ledger(run)
    assert float(account["lost"]) == pytest.approx(4 * 18, abs=1e-2)
    assert (float(account["detection"]), float(account["restart"])) == (12, 28)
    assert [(h.what, h.of) for h in run.trace][2:5] == [
        ("failed", "node 0"),
        ("noticed", "detection"),
        ("restarted", "step 6"),
    ]
    assert {b.cause for b in blame(run) if b.loss in ("lost", "detection", "restart")} == {"failure of node 0"}


def test_an_asynchronous_save_that_has_landed_is_safe() -> None:
    plan = Checkpoint(30.0, constant(25.0), constant(0.0))
    landed, flying = (simulate(lasting(life, checkpoint=plan), until=60.0) for life in (57.0, 52.0))
    assert float(ledger(landed)["lost"]) == pytest.approx(4 * 27, abs=1e-2)  # all since the snapshot at 30
    assert float(ledger(flying)["lost"]) == pytest.approx(4 * 52, abs=1e-2)


def test_without_detection_the_watchdog_notices() -> None:
    job = lasting(43.0, ranks=8, recovery=JobRecovery(constant(7.0), None), watchdogs=(Watchdog("guard", 60.0, 60.0),))
    failing = dataclasses.replace(job, failures=Failures(43.0, 40.0, 4))  # two nodes, at different times
    run = simulate(failing, seed=4, until=400.0)
    first = next(span for span in run.spans if span.state == "cut")
    noticed = next(h for h in run.trace if h.what == "noticed")
    # the living ranks end the step that the failure cut, 10 s after its start, and wait for 60 s
    assert noticed.time == first.start + 70 * SECOND
    assert noticed.of == "guard"


def test_nobody_notices_is_refused() -> None:
    with pytest.raises(ValueError, match="detection time of train is needed"):
        lasting(43.0, recovery=JobRecovery(constant(7.0), None))


def paused(lasts: Law, patience: float) -> JobRun:
    job = JobProgram(
        "train", 16, uniform(1.0, 2.0), pauses=(RankPause("shed", DAY, lasts),), recovery=BACK,
        checkpoint=Checkpoint(600.0, constant(5.0)), watchdogs=(Watchdog("guard", patience, patience),),
    )  # fmt: skip
    return simulate(job, seed=9, until=3 * DAY)


@pytest.mark.slow
def test_a_long_pause_makes_the_watchdog_kill() -> None:
    run = paused(uniform(300.0, 2400.0), 1800.0)
    assert adds_up(run)
    kills = [h for h in run.trace if h.what == "killed"]
    assert kills
    assert all(loss.cause.startswith("guard after shed of rank ") for loss in run.losses)
    ended = run.steps.slowest[:-1] - run.steps.first[:-1]  # the end of the run cuts the last step
    assert len(kills) == np.sum(ended > 1800 * SECOND) < len(run.steps.pauses)


@pytest.mark.slow
def test_a_patient_watchdog_never_kills() -> None:
    run = paused(uniform(300.0, 600.0), 1800.0)
    assert not run.losses
    assert ledger(run)["waiting"] > 15 * ledger(run)["paused"]
    assert any(b.cause.startswith("shed of rank ") and b.loss == "waiting" for b in blame(run))


def test_pauses_come_as_often_as_said() -> None:
    run = paused(uniform(1.0, 2.0), 1800.0)
    computed = float(ledger(run)["useful"]) / DAY
    assert abs(len(run.steps.pauses) - computed) <= 2.6 * math.sqrt(computed)


@pytest.mark.parametrize(
    ("writers", "snapshot", "progress"), [(1, None, False), (0, None, True), (16, None, True), (1, constant(2.0), True)]
)
def test_a_save_by_one_rank_under_the_watchdogs_eyes(writers: int, snapshot: Law | None, progress: bool) -> None:
    job = JobProgram(
        "train", 16, constant(1.0), recovery=BACK, watchdogs=(Watchdog("guard", 600.0, 600.0),),
        checkpoint=Checkpoint(1000.0, constant(700.0), snapshot, writers),
    )  # fmt: skip
    run = simulate(job, until=DAY)
    assert (ledger(run)["lost"] == 0) == progress
    assert any(h.what == "saved" for h in run.trace) == progress
    assert {loss.cause for loss in run.losses} == (set() if progress else {"guard after the save by some ranks"})


@pytest.mark.slow
def test_a_job_that_never_gets_to_a_save_is_given_up() -> None:
    job = JobProgram(
        "x", 2, constant(1.0), 1000, failures=Failures(10.0), recovery=BACK, checkpoint=Checkpoint(500.0, constant(1.0))
    )
    run = simulate(job)
    assert not run.finished
    assert run.reason.startswith("no progress: 1000 losses")
    assert adds_up(run)


def test_without_a_spare_the_job_is_idle_until_repair() -> None:
    recovery = JobRecovery(constant(5.0), constant(1.0), spares=0, repair=constant(100.0))
    run = simulate(lasting(43.0, recovery=recovery), until=160.0)
    assert float(ledger(run)["idle"]) == pytest.approx(400, abs=1e-2)
    spared = simulate(lasting(43.0, recovery=dataclasses.replace(recovery, spares=1)), until=80.0)
    assert ledger(spared)["idle"] == 0


def test_without_spares_and_repair_the_job_ends() -> None:
    run = simulate(lasting(43.0, recovery=JobRecovery(constant(5.0), spares=0)))
    assert (run.reason, run.finished) == ("no spare is left", False)
    assert adds_up(run)


def test_slowdowns_take_their_share_of_time() -> None:
    job = JobProgram("x", 8, constant(1.0), 60_000, slowdowns=Slowdowns(2.0, 900.0, 100.0, 2))
    run = simulate(job, seed=2)
    slow = run.steps.length > SECOND
    share = run.steps.length[slow].sum() / run.steps.length.sum()
    assert share == pytest.approx(0.1, abs=0.04)
    assert np.all(run.steps.slowed[slow] == 2 * SECOND)  # two ranks, one second each
    assert np.all(run.steps.waiting[slow] == 6 * SECOND)
    assert {b.cause for b in blame(run)} == {"slowdown"}


def test_the_end_of_a_run_cuts_a_step() -> None:
    run = simulate(STEADY, until=25.0)
    assert (run.reason, run.done, run.seconds) == ("time is up", 2, 25.0)
    assert ledger(run)["unfinished"] == 20


def test_the_longest_steps_are_counted_exactly() -> None:
    run = simulate(JobProgram("x", 16384, uniform(10_000.0, 20_000.0), 5, stragglers=Stragglers((1,), 2.0)), seed=3)
    assert adds_up(run)
    assert ledger(run).total > 2**63 // SECOND // 8


def test_policies_meet_the_same_steps() -> None:
    job = JobProgram("x", 32, Law("gamma", 1.0, 0.5), 500, pauses=(RankPause("p", HOUR, constant(5.0)),))
    saving = dataclasses.replace(job, checkpoint=Checkpoint(60.0, constant(5.0)))
    assert np.array_equal(simulate(job).steps.length, simulate(saving).steps.length)


# refusals


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Law("cauchy", 1.0), r"family\(=cauchy\)"),
        (lambda: Law("normal", 1.0, 0.5), "use gamma or lognormal"),
        (lambda: Law("constant", -1.0), r"mean\(=-1.0\)"),
        (lambda: uniform(2.0, 1.0), r"low\(=2.0\)"),
        (lambda: JobProgram("x", 0, constant(1.0), 1), r"ranks\(=0\) of x"),
        (lambda: JobProgram("x", 1, constant(0.0), 1), r"step\(=0.0\) of x"),
        (lambda: JobProgram("x", 1, constant(1.0), 1.5), "whole number of steps"),
        (lambda: JobProgram("x", 1, constant(1.0), 1, failures=Failures(1.0)), "restart time of x is needed"),
        (lambda: JobProgram("x", 2, constant(1.0), 1, stragglers=Stragglers((2,), 2.0)), r"stragglers\(=\[2\]\)"),
        (lambda: Checkpoint(0.0, constant(1.0)), r"every\(=0.0\)"),
        (lambda: Watchdog("w", 2.0, 1.0), r"earliest\(=2.0\) of w"),
        (lambda: Stragglers((0,), 0.5), r"factor\(=0.5\)"),
        (lambda: simulate(JobProgram("x", 1, constant(1.0))), "work of x or until is needed"),
        (lambda: JobProgram("x", 16384, constant(1e6), 1), "too long to count"),
        (
            lambda: simulate(JobProgram("x", 9999, constant(1.0), 1, constant(0.0), Stragglers((0,), 1e9))),
            "too long to count",
        ),
        (lambda: of_job(simulate(STEADY), sample_every=0.0), "at least 1 ns"),
    ],
)
def test_refusals_show_the_value(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]


# telemetry


def failing() -> JobRun:
    job = JobProgram(
        "train", 8, Law("gamma", 10.0, 0.2), 400, constant(0.5), checkpoint=Checkpoint(300.0, constant(20.0)),
        failures=Failures(8000.0, 0.8, 2), recovery=JobRecovery(uniform(30.0, 60.0), constant(10.0)),
    )  # fmt: skip
    return simulate(job, seed=6)


def test_telemetry_of_a_job() -> None:
    run = failing()
    told, account = of_job(run, sample_every=1.0), ledger(run)
    assert run.losses
    last = {name: float(one.values[-1]) for name, one in told.samples.items()}
    assert last["train.failures"] == sum(h.what == "failed" for h in run.trace)
    assert last["train.saves"] == sum(h.what == "saved" for h in run.trace) - 1  # the last comes after the last look
    assert last["train.down"] == pytest.approx(float(account["detection"] + account["restart"] + account["idle"]))
    assert last["train.steps"] > 400
    for signal in told.signals:
        values = told[signal.name].values
        assert signal.kind == "gauge" or np.all(np.diff(values) >= -1e-6), signal.name
    assert np.any(np.diff(told["train.progress"].values) < 0)
    assert {gap.missing for gap in gaps(told).values()} == {0}


def test_progress_is_what_the_spans_say() -> None:
    run = simulate(
        lasting(88.0, checkpoint=Checkpoint(30.0, constant(5.0)), recovery=JobRecovery(constant(7.0), constant(3.0)))
    )
    progress = of_job(run, sample_every=1.0)["train.progress"].values
    expected = {0: 0, 9: 0, 10: 1, 30: 3, 34: 3, 45: 4, 87: 7, 89: 6, 97: 6, 107: 6, 109: 7, 129: 9, 147: 10}
    assert {second: int(progress[second]) for second in expected} == expected


def test_causes_of_the_telemetry_are_the_ledger() -> None:
    run = failing()
    told: dict[str, float] = {}
    for cause in of_job(run, sample_every=60.0).causes:
        told[cause.loss] = told.get(cause.loss, 0.0) + cause.amount
    assert told == pytest.approx({s: float(ledger(run)[s]) for s in STATES if s != "useful" and ledger(run)[s]})


# laws


@st.composite
def jobs(draw: st.DrawFn) -> JobProgram:
    seconds = st.sampled_from([0.0, 0.5, 3.0, 20.0])
    laws = st.builds(constant, seconds) | st.builds(lambda a, b: uniform(min(a, b), max(a, b)), seconds, seconds)
    maybe = st.sampled_from
    ranks = draw(st.integers(1, 9))
    step = draw(
        st.sampled_from([Law("gamma", 2.0, 0.5), Law("normal", 2.0, 0.1), constant(2.0), Law("lognormal", 1.0, 1.0)])
    )
    return JobProgram(
        "x", ranks, step, draw(st.integers(1, 300)), draw(laws),
        draw(maybe([None, Stragglers((0,), 1.3)])),
        draw(maybe([None, Slowdowns(2.0, 50.0, 10.0, 2), Slowdowns(3.0, 5.0, 1.0)])),
        draw(maybe([(), (RankPause("p", 100.0, uniform(0.0, 60.0)), RankPause("q", 30.0, constant(1.0)))])),
        draw(st.none() | st.builds(Checkpoint, maybe([1.0, 30.0, 1e9]), laws, st.none() | laws, st.integers(0, 3))),
        draw(st.none() | st.builds(Failures, maybe([200.0, 5000.0]), maybe([0.6, 1.0, 4.0]), st.integers(1, 4))),
        draw(st.builds(JobRecovery, laws, laws, maybe([0, 1, math.inf]), st.none() | laws)),
        draw(maybe([(), (Watchdog("w", 10.0, 30.0),), (Watchdog("w", 4.0, 4.0), Watchdog("v", 2.0, 9.0))])),
    )  # fmt: skip


@pytest.mark.slow
@given(jobs(), st.integers(0, 5), st.sampled_from([50.0, 3000.0]))
@QUICK
def test_every_account_sums_exactly(job: JobProgram, seed: int, until: float) -> None:
    run = simulate(job, seed=seed, until=until)
    assert adds_up(run)
    assert adds_up(run, every=7 * SECOND)
    assert run.end <= ticks(until)


@pytest.mark.slow
@given(jobs(), st.integers(0, 5))
@settings(max_examples=few(20), deadline=None)
def test_the_same_seed_gives_the_same_run(job: JobProgram, seed: int) -> None:
    one, two = (simulate(job, seed=seed, until=500.0) for _ in range(2))
    assert (one.spans, one.losses, one.trace) == (two.spans, two.losses, two.trace)
    assert blame(one) == blame(two)


@pytest.mark.slow
@given(jobs(), st.integers(0, 5))
@settings(max_examples=few(20), deadline=None)
def test_a_longer_look_begins_with_the_shorter(job: JobProgram, seed: int) -> None:
    short, long = (simulate(job, seed=seed, until=until) for until in (200.0, 400.0))
    before = [h for h in long.trace if h.time < short.end]
    assert before == [h for h in short.trace if h.time < short.end]


@given(jobs(), st.integers(0, 5))
@settings(max_examples=few(20), deadline=None)
def test_telemetry_of_any_job_ends_where_the_run_does(job: JobProgram, seed: int) -> None:
    run = simulate(job, seed=seed, until=300.0)
    told = of_job(run, sample_every=10.0)
    assert {len(one) for one in told.samples.values()} == {run.end // (10 * SECOND) + 1}
    assert told["x.progress"].values.max() <= job.work


def step_by_step(job: JobProgram, seed: int, *, save: int, detection: int, restart: int) -> tuple[int, int]:
    """(end, failures) of a job with blocking saves by the plainest loop, over the same draws."""
    stream, nodes = Stream(job, seed), Nodes(job, seed)
    lengths = itertools.chain.from_iterable(stream.block().length.tolist() for _ in itertools.count())
    assert job.checkpoint is not None
    now = done = safe = since = failures = 0
    while safe < job.work:
        saving = done == job.work or now - since >= ticks(job.checkpoint.every)
        end = now + (save if saving else next(lengths))
        if nodes.next >= end:
            now, done = end, done + (not saving)
            safe, since = (done, now) if saving else (safe, since)
            continue
        while nodes.next < end:  # first the failure, then those on the way up
            now = nodes.next + detection
            while nodes.next <= now:
                nodes.fail()
                failures += 1
            nodes.replace(now)
            end = now + restart
        now = since = end
        done = safe
    return now, failures


@given(
    st.integers(1, 6), st.integers(1, 200), st.sampled_from([0.0, 7.0, 60.0]), st.sampled_from([0.0, 3.0, 50.0]),
    st.sampled_from([(0.0, 0.0), (9.0, 0.0), (0.0, 20.0), (9.0, 20.0)]), st.sampled_from([150.0, 2000.0]),
    st.integers(0, 9),
)  # fmt: skip
@QUICK
def test_runs_of_steps_at_once_equal_step_by_step(
    ranks: int, work: int, every: float, save: float, down: tuple[float, float], mtbf: float, seed: int
) -> None:
    detection, restart = down
    job = JobProgram(
        "x", ranks, Law("gamma", 2.0, 0.5), work, checkpoint=Checkpoint(every + 1, constant(save)),
        failures=Failures(mtbf * ranks, 0.9), recovery=JobRecovery(constant(restart), constant(detection)),
    )  # fmt: skip
    run = simulate(job, seed=seed)
    end, failures = step_by_step(job, seed, save=ticks(save), detection=ticks(detection), restart=ticks(restart))
    assert run.end == end
    assert sum(entry.what == "failed" for entry in run.trace) == failures


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=40))
@QUICK
def test_sums_are_exact_beyond_64_bits(numbers: list[int]) -> None:
    values = np.array(numbers, np.int64)
    assert total(values) == sum(numbers)
    groups = np.arange(len(numbers)) % 3
    assert totals(groups, values, 3) == [sum(numbers[k::3]) for k in range(3)]


@given(st.floats(0, 1e9))
@QUICK
def test_ticks_are_the_nearest_nanosecond(seconds: float) -> None:
    assert abs(Fraction(ticks(seconds), SECOND) - Fraction(seconds)) <= Fraction(1, 2 * SECOND)
    assert ticks(math.inf) == NEVER
