"""The autoscaler of managed instance groups against a plain one, decision by decision.

SOURCE: Compute Engine documentation (API v1), "Understanding autoscaler decisions" and "Autoscaling groups of
instances", Stabilization period: it asks for as many instances as bring the mean utilization to the target, rounded up;
it adds them at once, and removes down to the most that was asked for in the stabilization period, ten minutes, both of
its ends included.  The program itself is not published.
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

TICK, PERIOD = 60, 600  # s


@dataclass
class Group:
    """What one policy states, and what it asked for so far: (time, instances)."""

    lowest: int
    highest: int
    target: Fraction
    asked_for: list[tuple[int, int]] = field(default_factory=list)

    def decide(self, instances: int, utilization: Fraction, time: int) -> int:
        """Returns the instances after one decision."""
        wanted = math.ceil(instances * utilization / self.target)
        self.asked_for = [(at, many) for at, many in self.asked_for if at >= time - PERIOD] + [(time, wanted)]
        size = wanted if wanted >= instances else min(instances, max(many for _, many in self.asked_for))
        return max(self.lowest, min(self.highest, size))


class View(Constants):
    """What the loop sees: the mean utilization of the instances."""

    time = Fraction(0)


def part(group: Group) -> SampledLoop:
    """Returns the loop of the part, set as the plain one."""
    text = f"""coherence: 1
loops:
  autoscaler:
    uses: google_instance_autoscaler
    target: {{signal: web.cpu, setpoint: {group.target.numerator} / {group.target.denominator}, sensor: []}}
    actuation: {{signal: web.instances, bounds: [{group.lowest}, {group.highest}]}}
"""
    (loop,) = elaborate(read_text(text)).loops
    return loop


def seen(utilization: Fraction, time: int) -> View:
    view = View({"web.cpu": utilization})
    view.__dict__["time"] = Fraction(time)
    return view


def drawn(rng: random.Random) -> Group:
    lowest = rng.randint(1, 5)
    return Group(lowest, lowest + rng.randint(0, 200), Fraction(rng.randint(1, 99), 100))


@trace_counts(40, parts=10, of=("google_instance_autoscaler",))
def test_each_decision_is_that_of_the_documentation(traces: int) -> None:
    rng = source(11)
    for _ in range(traces):
        group = drawn(rng)
        loop, memory, instances = part(group), Memory(), rng.randint(group.lowest, group.highest)
        for step in range(24):
            high = 100 if rng.random() < Fraction(2, 3) else 20
            utilization = Fraction(rng.randint(0, high), 100)
            wanted = group.decide(instances, utilization, step * TICK)
            value = decide(loop, seen(utilization, step * TICK), memory, True, instances, instances).value
            assert value == wanted, (group, step, utilization, instances)
            instances = wanted


@pytest.mark.parametrize(("minutes", "left"), [(0, 10), (10, 10), (11, 1)])
def test_it_removes_once_the_peak_is_older_than_ten_minutes(minutes: int, left: int) -> None:
    group = Group(1, 20, Fraction(1, 2))
    loop, memory, size = part(group), Memory(), 10
    for minute in range(minutes + 1):
        load = Fraction(1, 2) if minute == 0 else Fraction(0)
        value = decide(loop, seen(load, minute * TICK), memory, True, size, size).value
        assert value == group.decide(size, load, minute * TICK)
        size = int(value)
    assert size == left
