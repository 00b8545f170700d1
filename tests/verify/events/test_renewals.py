"""Renewals are in time where the latest of them comes before the earliest end of the lease."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.verify.events.renewals import in_time, renewal_of
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


STILL = """coherence: 1
components: {{worker: {{takes: {{pause: {least} s .. {most} s}}}}}}
timers:
  beats: {{from: worker starts, every: {every} s, then: worker beats}}
  dead: {{from: worker beats, after: 5 s, renew: worker beats, then: reassign job}}
"""


@pytest.mark.parametrize(("least", "most"), [(0, 4), (3, 3), (2, 9)])
@pytest.mark.parametrize("every", [2, 5])
def test_a_pause_between_two_renewals_is_counted_once(least: int, most: int, every: int) -> None:
    """What is due while the sender stands still is sent at the end of it; a pause begins at any tenth of a second."""
    apart: set[int] = set()
    for begins, lasts in itertools.product(range(10 * every), range(10 * least, 10 * most + 1)):
        due = [10 * every * n for n in range(20)]
        stands = range(10 * every + begins, 10 * every + begins + lasts)
        sent = sorted({stands.stop if time in stands else time for time in due})
        apart |= {after - before for before, after in itertools.pairwise(sent)}
    design = read_text(STILL.format(least=least, most=most, every=every), "d")
    renewal = renewal_of(design, design.timers["dead"])
    assert renewal is not None
    assert renewal.pause is not None
    assert renewal.pause[0] == "worker.pause"
    assert renewal.interval.latest == Fraction(max(apart), 10)
    assert renewal.interval.earliest <= min(apart) / 10
