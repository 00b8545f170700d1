"""Target tracking against two alarms that a plain program raises, minute by minute.

SOURCE: Application Auto Scaling user guide and Amazon EC2 Auto Scaling user guide, Target tracking scaling policies:
the policy has two alarms; the high one is raised by three datapoints of one minute in a row above the target, the low
one by fifteen below it (the 90 % of PutScalingPolicy is an omission of the part); what is added is in proportion to the
metric and rounded up; within the cooldown nothing is done.  Which datapoint of an alarm counts is not published: any of
them may.  Datapoints of before a change are weighed with the members of then, which is an omission, too.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from coherence.language.expressions.evaluate import Constants
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import SampledLoop
from coherence.simulate.execute.laws import Memory, decide
from tests.draws import source, trace_counts

MINUTE, COOLDOWN = 60, 300  # s
HIGH, LOW = 3, 15  # datapoints


@dataclass
class Alarms:
    """A policy: its target, its datapoints since the last change, and when that was."""

    lowest: int
    highest: int
    target: Fraction
    points: list[Fraction] = field(default_factory=list)
    changed: int = -COOLDOWN - 1

    def allowed(self, capacity: int, time: int) -> set[int] | None:
        """Returns what may be wanted now; None where datapoints of another capacity would count."""
        if time - self.changed <= COOLDOWN:
            return {capacity}
        if len(self.points) < HIGH:
            return None
        if min(self.points[-HIGH:]) > self.target:
            return self._sizes(capacity, HIGH)
        if len(self.points) < LOW:
            return None if max(self.points) < self.target else {capacity}
        return self._sizes(capacity, LOW) if max(self.points[-LOW:]) < self.target else {capacity}

    def _sizes(self, capacity: int, points: int) -> set[int]:
        wanted = {math.ceil(capacity * point / self.target) for point in self.points[-points:]}
        return {min(self.highest, max(self.lowest, size)) for size in wanted}


class View(Constants):
    """What the loop sees: the metric."""

    time = Fraction(0)


def part(alarms: Alarms) -> SampledLoop:
    """Returns the loop of the part, set as the plain one."""
    text = f"""coherence: 1
loops:
  tracking:
    uses: aws_target_tracking
    target: {{signal: web.cpu, setpoint: {alarms.target.numerator} / {alarms.target.denominator}, sensor: []}}
    actuation: {{signal: web.tasks, bounds: [{alarms.lowest}, {alarms.highest}]}}
"""
    (loop,) = elaborate(read_text(text)).loops
    return loop


def seen(metric: Fraction, time: int) -> View:
    view = View({"web.cpu": metric})
    view.__dict__["time"] = Fraction(time)
    return view


def run(alarms: Alarms, loop: SampledLoop, capacity: int, metrics: list[Fraction]) -> list[int]:
    """Returns the capacity after each minute, each held against the alarms."""
    memory, sizes = Memory(), list[int]()
    for minute, metric in enumerate(metrics):
        time = minute * MINUTE
        alarms.points.append(metric)
        value = decide(loop, seen(metric, time), memory, True, capacity, capacity).value
        size = capacity if value is None else int(value)
        allowed = alarms.allowed(capacity, time)
        assert allowed is None or size in allowed, (alarms, minute, capacity, size, allowed)
        if size != capacity:
            memory.changed = Fraction(time)
            alarms.points, alarms.changed, capacity = [], time, size
        sizes.append(capacity)
    return sizes


def drawn(rng: random.Random) -> tuple[Alarms, list[Fraction]]:
    lowest = rng.randint(1, 5)
    alarms = Alarms(lowest, lowest + rng.randint(0, 200), Fraction(rng.randint(10, 90), 100))
    metrics = list[Fraction]()
    while len(metrics) < 60:
        low, high = rng.choice([(0, 100), (0, 30), (60, 100)])
        metrics += [Fraction(rng.randint(low, high), 100) for _ in range(rng.randint(1, 25))]
    return alarms, metrics


@trace_counts(20, parts=10, of=("aws_target_tracking",))
def test_each_minute_is_one_that_the_alarms_allow(traces: int) -> None:
    rng, moved = source(31), 0
    for _ in range(traces):
        alarms, metrics = drawn(rng)
        start = rng.randint(alarms.lowest, alarms.highest)
        moved += len(set(run(alarms, part(alarms), start, metrics))) > 1
    assert moved > traces // 2


@pytest.mark.parametrize(("minutes", "metric", "size"), [(2, 90, 10), (3, 90, 15), (14, 30, 10), (15, 30, 5)])
def test_an_alarm_is_raised_by_so_many_datapoints_and_no_fewer(minutes: int, metric: int, size: int) -> None:
    alarms = Alarms(1, 50, Fraction(60, 100))
    quiet = [Fraction(60, 100)] * 20
    sizes = run(alarms, part(alarms), 10, [*quiet, *[Fraction(metric, 100)] * minutes])
    assert sizes[-1] == size
