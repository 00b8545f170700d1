"""Integrates one smooth piece of a flow until a guard falls below zero, with dense output; a linear one in closed form.

Dormand-Prince 8(5,3) with its interpolant of order 7, as scipy has it: at a tolerance of 1e-10 a pair of
order 5 takes some ten times as many steps, and the interpolant, in which events are sought and delayed
values read, is of order 4.  SOURCE: Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, II.5-II.6.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from typing import Any

from coherence.language.expressions.evaluate import NotExactError

Array = Any  # numpy array of float64
RELATIVE, ABSOLUTE = 1e-11, 1e-11
ROUNDING = 1e-13
LOOKS = 8  # times that guards are looked at in one step


class Integral:
    """y(0) = start, y' = rates(t, y), up to the first time at which a guard falls below zero.

    `guards(t, y)` returns (distances, roundings): a distance counts as negative below -rounding.  `longest`: of a step.
    """

    def __init__(
        self,
        start: Array,
        rates: Callable[[float, Array], Array],
        guards: Callable[[float, Array], tuple[Array, Array]],
        longest: float = math.inf,
    ) -> None:
        self.start, self.rates, self.guards, self.longest = start, rates, guards, longest
        self.ends: list[float] = [0.0]
        self.parts: list[Callable[[float], Array]] = []
        self.event: float | None = None
        self.residual = 0.0

    def extend(self, limit: float) -> float | None:
        """Integrate up to `limit`, at most to the event; its time, or None.  Raises NotExactError."""
        from scipy.integrate import DOP853

        if self.event is not None or limit <= self.ends[-1]:
            return self.event
        start = self.ends[-1]
        solver = DOP853(self.rates, start, self.at(start), limit, max_step=self.longest, rtol=RELATIVE, atol=ABSOLUTE)
        while self.event is None and solver.status == "running":
            message = solver.step()
            if solver.status == "failed":
                raise NotExactError(f"a flow that cannot be followed beyond {self.ends[-1]:g} s: {message}")
            part = solver.dense_output()
            self.parts.append(part)  # before its guards are looked at: these may read a delay shorter than the step
            self.ends.append(solver.t)
            self.event = self._first_event(part, solver.t_old, solver.t)
            self.ends[-1] = solver.t if self.event is None else self.event
        return self.event

    def at(self, time: float) -> Array:
        """y at a time; beyond the end, y at the end."""
        if not self.parts:
            return self.start
        time = min(max(time, 0.0), self.ends[-1])
        index = min(max(bisect.bisect_left(self.ends, time) - 1, 0), len(self.parts) - 1)
        return self.parts[index](time)

    def slope(self, time: float) -> Array:
        """y' at a time, by a difference of the interpolant (good for the side of a tie)."""
        if not self.parts:
            return self.rates(0.0, self.start)
        step = 1e-6 * self.ends[-1]
        low, high = max(time - step, 0.0), min(time + step, self.ends[-1])
        return (self.at(high) - self.at(low)) / (high - low)

    def _first_event(self, part: Callable[[float], Array], low: float, high: float) -> float | None:
        before = low
        for look in range(1, LOOKS + 1):
            now = low + (high - low) * look / LOOKS
            gaps, roundings = self.guards(now, part(now))
            if not len(gaps):
                return None  # nor will there be any: branches stay as they are, and so do the guards
            crossed = [i for i, (gap, rounding) in enumerate(zip(gaps, roundings, strict=True)) if gap < -rounding]
            if crossed:
                earliest = min((self._crossing(part, i, before, now), i) for i in crossed)
                self.residual = abs(float(self.guards(earliest[0], part(earliest[0]))[0][earliest[1]]))
                return earliest[0]
            before = now
        return None

    def _crossing(self, part: Callable[[float], Array], index: int, low: float, high: float) -> float:
        """Returns where a guard that is negative at `high` passes zero."""
        from scipy.optimize import brentq

        def gap(time: float) -> float:
            return float(self.guards(time, part(time))[0][index])

        start = next((t for t in (low + (high - low) * 0.5**k for k in (60, *range(1, 50))) if gap(t) > 0), None)
        if gap(low) > 0:
            start = low
        if start is None:
            return low
        return float(brentq(gap, start, high, xtol=1e-15 * max(high, 1e-9), rtol=1e-15))


class LinearIntegral:
    """y(0) = start, y' = matrix y + drive, which no guard ends; stands where `Integral` does.

    With z = (y, 1), z' = M z, and z(t) = exp(M t) z(0) from the start at any time, without steps.
    """

    event, residual = None, 0.0

    def __init__(self, start: Array, matrix: Array, drive: Array) -> None:
        import numpy as np

        size = len(start)
        self.whole = np.zeros((size + 1, size + 1))
        self.whole[:size, :size], self.whole[:size, size] = matrix, drive
        self.start = np.append(start, 1.0)

    def extend(self, limit: float) -> float | None:
        """Returns None, no event.  Raises NotExactError where y leaves the floats before `limit`."""
        import numpy as np

        if not np.isfinite(self.at(limit)).all():
            raise NotExactError(f"a flow that cannot be followed up to {limit:g} s: it leaves the floats")
        return None

    def at(self, time: float) -> Array:
        """y at a time."""
        from scipy.linalg import expm

        return (expm(self.whole * max(time, 0.0)) @ self.start)[:-1]

    def slope(self, time: float) -> Array:
        """y' at a time."""
        import numpy as np

        return (self.whole @ np.append(self.at(time), 1.0))[:-1]
