"""Jobs and agents read from designs: every key has its meaning, and what is missing is named."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.language.catalogue import shipped
from coherence.language.reading import read_design, read_text
from coherence.simulate.jobs.job import (
    Checkpoint,
    Failures,
    JobProgram,
    JobRecovery,
    Law,
    RankPause,
    Slowdowns,
    Stragglers,
    constant,
    uniform,
)
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.jobs.run import simulate
from coherence.simulate.processes.job_agents import agent_source

SPEC = "{copies: 64, takes: {step: 1 s .. 2 s, pause: %s, restart: 5 min}, pause_every: 10 d}"
SHED = """
loops:
  shed: {per: rank, timescale: {period: 1 s}, trigger: rank.temp > 85 C,
         actuation: {signal: rank.pause, law: set, to: 1}}
timers:
  watchdog: {from: first rank waits, after: 30 min, unless: all of rank.step end, then: restart rank}
"""
AGENT = (
    "{uses: agent_loop, turns: %s, first_tokens: 9 token, tokens_per_turn: 9 token, model_time: 2 s, tool_time: 1 s}"
)
RUNS = "workload: {runs: {rate: 3 req/s}}\ncalls: [{from: runs, to: helper}]\n"


def jobs(text: str) -> tuple[JobProgram, ...]:
    return jobs_of(read_text(f"coherence: 1\n{text}\n"))


def job(component: str, more: str = "") -> JobProgram:
    (made,) = jobs(f"components: {{rank: {component}}}\n{more}")
    return made


def refused(component: str, more: str = "") -> str:
    with pytest.raises(InputError) as told:
        job(component, more)
    return str(told.value)


def test_a_barrier_is_a_job() -> None:
    (made,) = jobs("components: {train: {uses: barrier, ranks: 8, typical: 10 s, spread: 5 %, work: 100 step}}")
    assert made == JobProgram("train", 8, Law("normal", 10.0, 0.05), 100)


@pytest.mark.parametrize(("spread", "family"), [("0 %", "constant"), ("30 %", "normal"), ("31 %", "gamma")])
def test_wide_spreads_are_gamma(spread: str, family: str) -> None:
    (made,) = jobs(f"components: {{train: {{uses: barrier, ranks: 8, typical: 10 s, spread: {spread}}}}}")
    assert made.step.family == family
    assert math.isinf(made.work)


def test_components_without_steps_are_no_jobs() -> None:
    assert jobs("components: {web: {copies: 3, takes: {start: 5 s}}, one: {takes: {step: 1 s}}}") == ()


def test_saves_by_a_timer() -> None:
    timer = "timers: {save: {uses: checkpoint, from: job starts, every: 30 min, then: rank.checkpoint starts}}"
    made = job("{copies: 2, takes: {step: 1 s, checkpoint: 20 s .. 40 s}}", timer)
    assert made.checkpoint == Checkpoint(1800.0, uniform(20.0, 40.0))


def test_saves_by_a_key_asynchronous_and_by_one_rank() -> None:
    made = job("{copies: 2, takes: {step: 1 s, checkpoint: 30 s, snapshot: 2 s}, checkpoint: 15 min, writers: 1}")
    assert made.checkpoint == Checkpoint(900.0, constant(30.0), constant(2.0), 1)


def test_failures_and_what_follows() -> None:
    takes = "{step: 1 s, detection: 1 min, restart: 5 min .. 9 min, repair: 2 h, collective: 10 ms}"
    made = job(f"{{copies: 64, takes: {takes}, mtbf: 50000 h, shape: 0.7, ranks_per_node: 8 rank, spares: 2}}")
    assert made.failures == Failures(1.8e8, 0.7, 8)
    assert made.recovery == JobRecovery(uniform(300.0, 540.0), constant(60.0), 2, constant(7200.0))
    assert (made.nodes, made.collective) == (8, constant(0.01))


def test_slow_ranks() -> None:
    keys = "stragglers: 2, slower: 20 %, slowed_every: 6 h, slowed_by: 50 %, slowed_ranks: 8"
    made = job(f"{{copies: 64, takes: {{step: 1 s, slowed: 5 min}}, {keys}}}")
    assert made.stragglers == Stragglers((0, 1), 1.2)
    assert made.slowdowns == Slowdowns(1.5, 21600.0, 300.0, 8)


@pytest.mark.parametrize(
    ("timer", "window"),
    [
        ("after: 30 min", (1800.0, 1800.0)),
        ("after: 0 s .. 10 s", (0.0, 10.0)),
        ("after: 20 s .. 25 s, jitter: 2 s", (18.0, 27.0)),
        ("first: 120 s, every: 10 s, misses: 3, reply_within: 1 s", (140.0, 151.0)),
        ("every: 1 s, misses: 3, reply_within: 5 s", (2.0, 16.0)),
        ("after: 20 s, jitter: -2 s .. 5 s", (18.0, 25.0)),
        ("uses: nccl_watchdog", (600.0, 600.1)),
    ],
)
def test_watchdogs(timer: str, window: tuple[float, float]) -> None:
    timers = f"timers: {{guard: {{from: first rank waits, {timer}, then: restart rank}}}}"
    made = job("{copies: 2, takes: {step: 1 s, restart: 5 min}}", timers)
    (guard,) = made.watchdogs
    assert (guard.name, guard.earliest, guard.latest) == ("guard", *map(pytest.approx, window))
    assert made.recovery == JobRecovery(constant(300.0), None)


@pytest.mark.parametrize("timer", ["after: unlimited, then: restart rank", "after: 5 s, then: alert somebody"])
def test_timers_that_end_nothing_are_no_watchdogs(timer: str) -> None:
    assert job("{copies: 2, takes: {step: 1 s}}", f"timers: {{g: {{from: first rank waits, {timer}}}}}").watchdogs == ()


def test_everything_that_is_missing_is_named_at_once() -> None:
    told = refused("{copies: 2, mtbf: 9 h, stragglers: 1, slowed_by: 5 %, checkpoint: 9 s, takes: {step: 1 s}}")
    for words in (
        "needs the time until a failure is noticed", "needs its restart time", "needs how much its stragglers",
        "needs how long ranks are slowed", "needs how often ranks are slowed", "needs how long a save takes",
    ):  # fmt: skip
        assert words in told, words
    assert "<design>:2:14: rank cannot run" in told


@pytest.mark.parametrize(
    ("component", "words"),
    [
        ("{copies: 2, takes: {step: 1 s, checkpoint: 9 s}}", "needs when it saves"),
        ("{copies: 2, takes: {step: 1 s}, work: 1.5}", "needs a whole number for work, not 1.5"),
        ("{copies: 2, takes: {step: 1 s, restart: 1 s}, mtbf: 5}", "mtbf of rank is 5, a duration expected"),
        ("{copies: 2, takes: {step: 0 s}}", "step(=0.0) of rank must be > 0 s"),
        ("{copies: 0, takes: {step: 1 s}}", "ranks(=0) of rank must be > 0"),
    ],
)
def test_numbers_that_cannot_be(component: str, words: str) -> None:
    assert words in refused(component)


def test_a_shedding_job_says_what_it_needs() -> None:
    told = refused("{copies: 64, takes: {step: 1 s .. 2 s, pause: 5 min}}", SHED)
    assert "needs its restart time" in told
    assert "needs how often shed sets pause of one member" in told


@pytest.mark.parametrize(("spec", "kills"), [("shed-barrier", True), ("shed-barrier-repaired", False)])
def test_the_barrier_designs_do_what_was_proved(spec: str, kills: bool) -> None:
    (made,) = jobs_of(read_design(Path(shipped("specs")) / spec / "design.yaml"))
    run = simulate(made, seed=1, until=4 * 86_400.0)
    assert any(entry.what == "killed" for entry in run.trace) == kills
    assert len(run.steps.pauses) > 3


@pytest.mark.parametrize(("pause", "kills"), [("5 min .. 40 min", True), ("5 min .. 10 min", False)])
def test_shedding_against_the_barrier(pause: str, kills: bool) -> None:
    made = job(SPEC % pause, SHED)
    assert made.pauses == (RankPause("shed", 864_000.0, uniform(300.0, 60 * float(pause.split()[3]))),)
    run = simulate(made, seed=1, until=4 * 86_400.0)
    assert any(entry.what == "killed" for entry in run.trace) == kills
    assert len(run.steps.pauses) > 5


# agents


def test_a_fixed_number_of_turns_is_written_out() -> None:
    agent = agent_source(read_text(f"coherence: 1\ncomponents: {{helper: {AGENT % '2'}}}\n{RUNS}"), "helper")
    model, tool = ("helper -> helper.model",), ("helper -> helper.tool",)
    assert agent.source.plan == (model, tool, model, tool, model)
    assert (agent.source.name, agent.source.turns, agent.source.arrivals.rate) == ("runs", (1, 1), 3.0)
    assert [(s.name, s.service.mean) for s in agent.stations] == [("helper.model", 2.0), ("helper.tool", 1.0)]
    assert [r.station for r in agent.routes] == ["helper.model", "helper.tool"]


def test_a_range_of_turns_keeps_mean_time_and_load() -> None:
    text = f"coherence: 1\ncomponents: {{helper: {AGENT % '3 .. 20'}}}\n{RUNS}"
    agent = agent_source(read_text(text.replace("tool_time: 1 s", "tool_time: 1 s, tool_servers: 5")), "helper")
    low, high = agent.source.turns
    assert (low, high) == (4, 21)
    passes = (low + high) / 2
    times = [station.service.mean for station in agent.stations]
    assert passes * times[0] == pytest.approx((11.5 + 1) * 2.0)
    assert passes * times[1] == pytest.approx(11.5 * 1.0)
    assert agent.stations[1].servers == 5
    assert any("one tool call too many" in note for note in agent.notes)


@pytest.mark.parametrize(
    ("turns", "more", "words"),
    [
        ("3", "", "needs one workload that starts it (no workload calls it)"),
        ("3", "workload: {runs: {}}\ncalls: [{from: runs, to: helper}]\n", "needs the rate of runs"),
        ("2.5", RUNS, "needs whole numbers of turns"),
    ],
)
def test_what_an_agent_needs(turns: str, more: str, words: str) -> None:
    with pytest.raises(InputError) as told:
        agent_source(read_text(f"coherence: 1\ncomponents: {{helper: {AGENT % turns}}}\n{more}"), "helper")
    assert words in str(told.value)


def test_no_such_agent() -> None:
    design = read_text(f"coherence: 1\ncomponents: {{helper: {AGENT % '2'}}}\n{RUNS}")
    with pytest.raises(LookupError, match="its agents: helper"):
        agent_source(design, "helpr")
