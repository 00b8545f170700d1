"""The Horizontal Pod Autoscaler's documented algorithm, on its own: what the testbed's controller decides.

    desired = ceil(current x measured / setpoint), unless |measured / setpoint - 1| <= tolerance

then the stabilization windows, then the policies (the one that allows most binds), then the bounds; a count outside
its bounds is moved to the nearer one at once, and nothing is recommended.  Times are planned instants, so that a window
of k periods holds k + 1 recommendations: windows are closed.  This is a second opinion on `coherence.model.laws` and
the executor, written from the document alone and kept apart from them on purpose; tests compare their runs.  Numbers
may be `Fraction` (exact) or `float` (what Prometheus answers).

SOURCE: Kubernetes documentation, Horizontal Pod Autoscaling: "Algorithm details", "Configurable scaling behavior".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from coherence.base.errors import CoherenceError

Number = Fraction | float
Way = Literal["up", "down"]


class NoSetpointError(CoherenceError):
    """A ratio to nothing."""


@dataclass(frozen=True)
class Policy:
    """At most `pods` more or fewer, or a share `percent` (1 = 100 %), within `per` seconds; which is more."""

    way: Way
    pods: int
    percent: Fraction
    per: Fraction


@dataclass(frozen=True)
class Behaviour:
    """The fields of an HPA.  Windows in seconds; `setpoint` in the unit of what is measured."""

    setpoint: Fraction
    tolerance: Fraction
    lowest: int
    highest: int
    hold_down: Fraction = Fraction(0)
    hold_up: Fraction = Fraction(0)
    policies: tuple[Policy, ...] = ()


@dataclass(slots=True)
class Controller:
    """An HPA at work: its behaviour, and what it remembers of recommendations and of its own scalings."""

    behaviour: Behaviour
    recommended: list[tuple[Fraction, int]] = field(default_factory=list)
    scalings: list[tuple[Fraction, int]] = field(default_factory=list)

    def decide(self, time: Fraction, current: int, measured: Number) -> int:
        """The replicas wanted at `time` (s), when there are `current` and the metric reads `measured`."""
        desired = self._bounded(current)
        if desired == current:
            held = self._stabilized(time, current, recommendation(self.behaviour, current, measured))
            desired = self._bounded(self._paced(time, current, held))
        self.scalings.append((time, desired - current))
        return desired

    def _stabilized(self, time: Fraction, current: int, wanted: int) -> int:
        """Not below the highest, not above the lowest recommendation of the windows; never across `current`."""
        down, up = self.behaviour.hold_down, self.behaviour.hold_up
        self.recommended = [(at, n) for at, n in self.recommended if at >= time - max(down, up)] + [(time, wanted)]
        if wanted < current:
            return min(current, max(n for at, n in self.recommended if at >= time - down))
        return max(current, min(n for at, n in self.recommended if at >= time - up)) if wanted > current else current

    def _paced(self, time: Fraction, current: int, wanted: int) -> int:
        """As far as the policies of that direction allow; without any, all the way."""
        way: Way = "up" if wanted > current else "down"
        reach = [self._reach(policy, time, current) for policy in self.behaviour.policies if policy.way == way]
        if not reach or wanted == current:
            return wanted
        return min(wanted, max(current, *reach)) if way == "up" else max(wanted, min(current, *reach))

    def _reach(self, policy: Policy, time: Fraction, current: int) -> int:
        """How far one policy lets the count go from where its period began: without what was added since, with
        what was removed.  Scalings by others are no part of either.
        """
        start = current - sum(change for at, change in self.scalings if at > time - policy.per)
        if policy.way == "up":
            return max(start + policy.pods, math.ceil(start * (1 + policy.percent)))
        return min(start - policy.pods, math.floor(start * (1 - policy.percent)))

    def _bounded(self, wanted: int) -> int:
        return min(max(wanted, self.behaviour.lowest), self.behaviour.highest)


def recommendation(behaviour: Behaviour, current: int, measured: Number) -> int:
    """Ratio, tolerance, ceil."""
    if not behaviour.setpoint:
        raise NoSetpointError("an autoscaler needs a setpoint above 0")
    ratio = measured / behaviour.setpoint if isinstance(measured, Fraction) else measured / float(behaviour.setpoint)
    lowest, highest = 1 - behaviour.tolerance, 1 + behaviour.tolerance
    return current if lowest <= ratio <= highest else math.ceil(current * ratio)
