"""Timers that restart members: which of them a run carries out, and what it says of the others."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes import Processes, processes
from coherence.simulate.requests.program import MemberRestarts, Service
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

PLAIN = """\
coherence: 1
workload: {web: {rate: 10 req/s, service: {mean: 1 s, cv: 1}}}
components: {s: {copies: 20, takes: {start: 20 s .. 40 s}}}
calls: [{from: web, to: s}]
"""
WATCHDOG = "from: s.serve starts, after: 4 s, unless: s.serve ends, then: restart s"
PROBE = "from: s hangs, first: 5 s, every: 10 s, misses: 3, reply_within: 1 s, then: restart s"
STARTUP = "from: s.start starts, every: 10 s, misses: 6, unless: s.start ends, then: restart s"
START = Service(30.0, "uniform", pytest.approx(10 / 3**0.5 / 30))  # type: ignore[arg-type]


def program(*timers: str, text: str = PLAIN) -> Processes:
    own = "".join(f"  t{number}: {{{timer}}}\n" for number, timer in enumerate(timers))
    return processes(read_text(f"{text}timers:\n{own}", "d.yaml"))


def restarts(*timers: str) -> MemberRestarts | None:
    return program(*timers).program.stations[0].restarts


@pytest.mark.parametrize(
    ("timer", "expected"),
    [
        (WATCHDOG, MemberRestarts(working=((4.0, 4.0),), start=START)),
        (WATCHDOG + ", jitter: 1 s", MemberRestarts(working=((3.0, 5.0),), start=START)),
        (
            WATCHDOG.replace("after: 4 s", "after: unlimited"),
            MemberRestarts(working=((float("inf"),) * 2,), start=START),
        ),
        (PROBE, MemberRestarts(hung=((26.0, 36.0),), start=START)),
        (PROBE + ", paced_by: reply", MemberRestarts(hung=((28.0, 38.0),), start=START)),
        (PROBE.replace("within: 1 s", "within: 15 s"), MemberRestarts(hung=((50.0, 60.0),), start=START)),
        (STARTUP, MemberRestarts(starting=((50.0, 60.0),), start=START)),
    ],
)
def test_a_timer_says_when_members_begin_anew(timer: str, expected: MemberRestarts) -> None:
    assert restarts(timer) == expected


@pytest.mark.parametrize(
    ("timer", "why"),
    [
        ("from: s overloaded, after: 4 s, then: restart s", "no event 's overloaded'"),
        ("from: s.drain starts, after: 4 s, unless: s.drain ends, then: restart s", "no event 's.drain starts'"),
        ("from: s.serve starts, after: 4 s, then: restart s", "`unless: s.serve ends`"),
        (PROBE + ", unless: s answers", "the end of a pause"),
        (WATCHDOG + ", renew: 2 s", "nothing that renews it"),
        ("from: s hangs, then: restart s", "it has no time"),
        ("after: 4 s, then: restart s", "no event ''"),
    ],
)
def test_a_timer_that_is_not_run_is_named(timer: str, why: str) -> None:
    made = program(timer)
    assert made.program.stations[0].restarts is None
    assert any(note.startswith("t0 is not run: ") and why in note for note in made.assumptions)


def test_timers_are_not_run_where_members_change_or_loops_scale() -> None:
    preemptive = PLAIN.replace("copies: 20", "copies: 20, discipline: preemptive")
    assert any("preemptive" in note for note in program(WATCHDOG, text=preemptive).assumptions)
    scaled = PLAIN + (
        "loops: {hpa: {target: {signal: s.busy, setpoint: 50 %}, timescale: {period: 15 s}, "
        "actuation: {signal: s.ready, law: proportional, bounds: [1, 40]}}}\n"
    )
    assert any("t0 is not run: loops set" in note for note in program(WATCHDOG, text=scaled).assumptions)


def test_timers_that_do_something_else_are_left_alone() -> None:
    assert restarts("from: s hangs, after: 4 s, then: unlist s", "from: s hangs, after: 4 s") is None


@pytest.mark.slow
def test_each_key_of_a_restart_moves_a_run() -> None:
    def shown(timer: str, text: str = PLAIN) -> dict[tuple[str, str], float]:
        setting = Setting(until=300.0, seeds=(1,), pauses=(("s", 60.0, 120.0),))
        own = study(read_text(f"{text}timers: {{t: {{{timer}}}}}\n", "d.yaml"), setting)
        return {(reading.of, reading.what): reading.value for reading in own.readings}

    base = shown(WATCHDOG)
    assert base["s", "members begin anew"] > 0 < base["s", "lost in it"]
    assert base["web", "succeed"] < 100
    others = [WATCHDOG.replace("4 s", "2 s"), WATCHDOG + ", jitter: 1 s", WATCHDOG.replace("restart", "unlist"), PROBE]
    runs = [base, *map(shown, others), shown(WATCHDOG, PLAIN.replace("20 s .. 40 s", "5 s"))]
    runs += [shown(PROBE.replace(*change)) for change in (("5 s", "9 s"), ("10 s", "30 s"), ("3", "1"), ("1 s", "8 s"))]
    assert len({tuple(sorted(run.items())) for run in runs}) == len(runs)
