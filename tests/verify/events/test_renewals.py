"""Renewals are in time where the latest of them comes before the earliest end of the lease."""

from __future__ import annotations

import itertools

import pytest

from coherence.language.reading import read_text
from coherence.verify.events.renewals import in_time
from coherence.verify.patterns.timers import _overrun

DESIGN = """coherence: 1
components: {{worker: {{takes: {{task: 2 min .. 5 min}}}}}}
timers:
  lease: {{from: worker.task starts, after: 90 s, {renew}unless: worker.task ends, then: redeliver}}
  beat: {{from: worker.task starts, every: 30 s, then: send beat}}
"""


@pytest.mark.parametrize(
    ("renew", "answer"),
    [
        ("renew: 89 s, ", True),
        ("renew: 30 s .. 89 s, ", True),
        ("renew: 90 s, ", False),
        ("renew: 30 s .. 90 s, ", False),
        ("renew: beat, ", True),
        ("renew: heartbeat, ", None),
        ("", False),
    ],
)
def test_renewals_are_in_time_where_the_latest_comes_before_the_end(renew: str, answer: bool | None) -> None:
    design = read_text(DESIGN.format(renew=renew), "d")
    assert in_time(design, design.timers["lease"]) is answer


CLOCKED = """coherence: 1
components: {{job: {{takes: {{run: {least} s .. {most} s}}}}}}
timers:
  clock: {{every: {every} s, then: job.run starts}}
  dead: {{from: job.run {start}, after: {after} s, unless: job.run {end}, then: kill job}}
"""


@pytest.mark.parametrize(("start", "end"), [("starts", "starts"), ("ends", "starts"), ("ends", "ends")])
@pytest.mark.parametrize(("least", "most", "every"), [(1, 1, 10), (1, 3, 10), (2, 9, 10), (4, 6, 7)])
def test_a_timer_that_the_next_time_ends_fires_as_runs_of_the_clock_tell(
    start: str, end: str, least: int, most: int, every: int
) -> None:
    for after in range(1, 24):
        fired = set()
        for runs in itertools.product(range(least, most + 1), repeat=2):
            times = {"starts": [n * every for n in range(2)], "ends": [n * every + run for n, run in enumerate(runs)]}
            late = times[start][0] + after - next(t for t in times[end] if t > times[start][0])
            fired |= {late < 0} if late else {True, False}  # at one moment either may be first
        text = CLOCKED.format(start=start, end=end, least=least, most=most, every=every, after=after)
        design = read_text(text, "d")
        case = next(case for case in _overrun.cases(design) if case.timer.name == "dead")
        assert case.relation == {frozenset({True}): "after", frozenset({False}): "before"}.get(
            frozenset(fired), "possible"
        )


TWO = """coherence: 1
components: {{job: {{takes: {{run: {least} s .. {most} s}}}}}}
timers:
  first: {{every: {one} s, then: job.run starts}}
  second: {{every: {other} s, then: job.run starts}}
  dead: {{from: job.run {start}, after: {after} s, unless: job.run starts, then: kill job}}
"""


@pytest.mark.parametrize("start", ["starts", "ends"])
@pytest.mark.parametrize(("one", "other"), [(6, 6), (6, 4), (7, 12)])
@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 3), (2, 5)])
def test_what_two_clocks_bring_comes_at_the_latest_with_the_quickest(
    start: str, one: int, other: int, least: int, most: int
) -> None:
    for after in range(1, 16):
        fired, at_once = set(), False
        for phase, run in itertools.product(range(other), range(least, most + 1)):
            ticks = {n * one for n in range(40)} | {phase + n * other for n in range(40)}
            for tick in (tick for tick in ticks if tick < 100):
                begun = tick + (run if start == "ends" else 0)
                late = begun + after - min(t for t in ticks if t > begun)
                fired.add(late < 0)
                at_once = at_once or not late
        text = TWO.format(one=one, other=other, start=start, least=least, most=most, after=after)
        case = next(case for case in _overrun.cases(read_text(text, "d")) if case.timer.name == "dead")
        assert case.relation != "after"
        assert case.relation != "before" or fired == {False}
        assert case.relation != "possible" or True in fired or at_once
        assert case.relation == "before" or after <= min(one, other)
