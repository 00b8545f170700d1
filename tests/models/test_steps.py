"""Parts that step, follow or count, against plain programs: throttles, backfill, ejection, power and backlogs.

SOURCE: Slurm 20.11 to 25.11, src/plugins/sched/backfill/backfill.c: backfill_agent (a pass every bf_interval),
_attempt_backfill (at most bf_max_job_start jobs of a pass, those that fit).
Envoy 1.28 to 1.31, source/common/upstream/outlier_detection_impl.cc: onIntervalTimer, processSuccessRateEjections,
ejectHost (within max_ejection_percent, or the first one; test_envoy_ejection has the shares of every version).
The others stand for no one program: a controller with two marks, a meter behind a lag, jobs that always have work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest

from coherence.language.expressions.evaluate import Constants
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import SampledLoop
from coherence.simulate.execute.laws import Memory, decide
from tests.draws import source, trace_counts
from tests.models.readings import readings

SHARE = 10


class View(Constants):
    """What a loop sees at one sample."""

    time = Fraction(0)


def loop_of(body: str) -> SampledLoop:
    (loop,) = elaborate(read_text(f"coherence: 1\nloops: {{one: {{{body}}}}}\n")).loops
    return loop


def driven(loop: SampledLoop, start: int, worlds: Sequence[Mapping[str, int]]) -> list[int]:
    """Returns the value that a loop commands after each sample of the signals that it reads."""
    memory, mode, value, after = Memory(), False, start, list[int]()
    for number, world in enumerate(worlds):
        view = View({name: Fraction(level) for name, level in world.items()} | {loop.signal: Fraction(value)})
        view.__dict__["time"] = number * loop.period
        decision = decide(loop, view, memory, mode, Fraction(value), Fraction(value))
        mode = decision.mode
        value = value if decision.value is None else int(decision.value)
        after.append(value)
    return after


# --- a throttle with two marks


@pytest.mark.slow
@trace_counts(300, parts=20, of=("power_throttle",))
def test_a_throttle_sheds_from_the_cap_on_until_it_reads_the_lower_mark(traces: int) -> None:
    rng = source(101)
    for _ in range(traces):
        cap, gap, step, start = rng.randint(20, 99), rng.randint(0, 20), rng.randint(1, 9), rng.randint(0, 60)
        loop = loop_of(
            f"uses: power_throttle, trigger: {{enter: rack.power >= {cap}, leave: rack.power <= {cap - gap - 1}}}, "
            f"actuation: {{signal: batch.load, by: -{step}, bounds: [0, 60]}}"
        )
        powers = [rng.randint(cap - gap - 10, cap + 10) for _ in range(40)]
        load, shedding, plain = start, False, list[int]()
        for power in powers:
            shedding = power >= cap or (shedding and power > cap - gap - 1)
            load = max(0, load - step) if shedding else load
            plain.append(load)
        assert driven(loop, start, [{"rack.power": power} for power in powers]) == plain, (cap, gap, powers)


# --- backfill


@trace_counts(300, parts=20, of=("slurm_backfill",))
def test_each_pass_of_backfill_starts_the_jobs_that_fit_up_to_its_limit(traces: int) -> None:
    """Jobs of one accelerator each, of which more are always waiting; running ones end between passes."""
    rng = source(102)
    for _ in range(traces):
        size, most = rng.randint(1, 64), rng.randint(1, 20)
        loop = loop_of(f"uses: slurm_backfill, actuation: {{signal: part.busy, by: {most}, bounds: [0, {size}]}}")
        memory, running = Memory(), list[int]()
        for number in range(30):
            running = [left - 1 for left in running if left > 1]
            view = View({"part.busy": Fraction(len(running))})
            view.__dict__["time"] = number * loop.period
            busy = Fraction(len(running))
            value = decide(loop, view, memory, True, busy, busy).value
            started = 0
            while started < most and len(running) < size:
                running.append(rng.randint(1, 12))
                started += 1
            assert (busy if value is None else value) == len(running), (size, most, number)


# --- ejection at a sweep


@trace_counts(300, parts=20, of=("outlier_detection",))
def test_each_sweep_ejects_the_hosts_that_fail_while_the_share_allows_it(traces: int) -> None:
    """At most one host begins to fail between two sweeps, and none returns."""
    rng = source(103)
    for _ in range(traces):
        hosts, percent = rng.randint(1, 40), rng.choice((1, 10, 25, 50, 100))
        most = max(1, hosts * percent // 100)  # the share from 1.28 on; the parts of the cap say it by version
        loop = loop_of(
            "uses: outlier_detection, trigger: web.failing > web.ejected, "
            f"actuation: {{signal: web.ejected, bounds: [0, {most}]}}"
        )
        failing, ejected, plain, worlds = 0, 0, list[int](), list[dict[str, int]]()
        for _ in range(30):
            failing = min(hosts, failing + (rng.random() < 0.4))
            while ejected < failing and (ejected == 0 or (ejected + 1) * 100 <= percent * hosts):
                ejected += 1
            worlds.append({"web.failing": failing})
            plain.append(ejected)
        assert driven(loop, 0, worlds) == plain, (hosts, percent)


# --- power and backlog

GROUP = """coherence: 1
components:
  job: {{busy: 0 .. 1}}
  group: {{uses: accelerator_power, members: {members}, idle_power: {idle} W, peak_power: {peak} W, busy: job.busy}}
loops:
"""


@trace_counts(60, parts=50, of=("accelerator_power",))
def test_the_power_of_a_group_follows_what_its_members_draw_with_the_lag(traces: int) -> None:
    rng = source(104)
    for _ in range(traces // SHARE):
        members, idle = rng.randint(1, 64), rng.randint(20, 100)
        peak = idle + rng.randint(0, 600)
        run = readings(GROUP.format(members=members, idle=idle, peak=peak), ("group.power", "group.headroom"))
        for _ in range(SHARE):
            shares = {at: Fraction(rng.randint(0, 8), 8) for at in sorted({0, *rng.sample(range(20), 4)})}
            power, headroom = run([(at, "job.busy", share) for at, share in shares.items()], 20)
            level = Fraction(0)
            for second in range(20):
                assert power[second] == level, (members, idle, peak, shares)
                assert headroom[second] == members * peak - level
                share = next(share for at, share in reversed(shares.items()) if at <= second)
                level += (sum(idle + (peak - idle) * share for _ in range(members)) - level) / 5


@trace_counts(60, parts=50, of=("backlog",))
def test_units_of_a_backlog_do_their_steps_while_they_are_held(traces: int) -> None:
    rng = source(105)
    for _ in range(traces // SHARE):
        rate = rng.randint(1, 9)
        run = readings(
            f"""coherence: 1
components: {{want: {{units: 0 .. 50}}, batch: {{uses: backlog, rate_each: {rate} step/s}}}}
loops:
  hold: {{rank: 1, timescale: {{period: 1 s}}, actuation: {{signal: batch.running, law: set, to: want.units, from: 0}}}}
""",
            ("batch.done", "batch.progress"),
        )
        for _ in range(SHARE):
            units = {at: rng.randint(0, 50) for at in sorted({0, *rng.sample(range(20), 4)})}
            done, progress = run([(at, "want.units", held) for at, held in units.items()], 20)
            steps = [0] * 50
            for second in range(20):
                assert done[second] == sum(steps), (rate, units)
                held = next(held for at, held in reversed(units.items()) if at <= second)
                assert progress[second] == held * rate
                steps = [done_ + rate * (unit < held) for unit, done_ in enumerate(steps)]
