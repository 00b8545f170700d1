"""Runs x'(t) = f(x(t), x(t - delay)): many starts side by side, and one run to high accuracy.

SOURCE: Bellen and Zennaro, Numerical Methods for Delay Differential Equations (2003), ch. 3 and 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coherence.loops.cycles.relay import Array

RELATIVE, ABSOLUTE = 1e-9, 1e-12
Rate = Callable[[Array, Array], Array]  # f(x, past) for arrays of shape (size, ...)
Curve = Callable[[float], Array]
HUGE = 1e12


@dataclass(frozen=True)
class Smooth:
    """x'(t) = rate(x(t), x(t - delay)).  `rate` works on arrays (size, many) column by column."""

    rate: Rate
    size: int
    delay: float = 0.0


def many(system: Smooth, starts: Array, *, step: float, steps: int) -> Array:
    """Runs from constant histories (size, many), by Runge-Kutta of order 4; shape (steps + 1, size, many).

    The step must divide the delay.  Delayed values between grid points are cubic, so that the order stays 4.
    """
    lag = round(system.delay / step)
    x = np.empty((steps + 1, *starts.shape))
    slope = np.zeros_like(x)
    x[0] = starts

    def past(k: int, half: bool) -> Array:
        at = k - lag
        if at < 0:
            return starts
        if not half:
            return np.asarray(x[at])
        mean, bend = (x[at] + x[at + 1]) / 2, (slope[at] - slope[at + 1]) * (step / 8)
        return np.asarray(mean + bend)

    with np.errstate(all="ignore"):
        for k in range(steps):
            here = x[k]
            if lag == 0:
                x[k + 1] = here + _undelayed(system, here, step)
                continue
            first, middle, last = past(k, half=False), past(k, half=True), past(k + 1, half=False)
            a = slope[k] = system.rate(here, first)
            b = system.rate(here + step / 2 * a, middle)
            c = system.rate(here + step / 2 * b, middle)
            d = system.rate(here + step * c, last)
            x[k + 1] = np.clip(here + step / 6 * (a + 2 * b + 2 * c + d), -HUGE, HUGE)
            slope[k + 1] = system.rate(x[k + 1], last)
    return x


def _undelayed(system: Smooth, here: Array, step: float) -> Array:
    def rate(x: Array) -> Array:
        return system.rate(x, x)

    a = rate(here)
    b = rate(here + step / 2 * a)
    c = rate(here + step / 2 * b)
    d = rate(here + step * c)
    return np.asarray(np.clip(step / 6 * (a + 2 * b + 2 * c + d), -HUGE, HUGE))


def accurate(system: Smooth, history: Curve, until: float) -> list[tuple[float, float, Curve]]:
    """Runs from a history (a function of times <= 0) by the method of steps: (begin, end, curve) of each step.

    Steps end where the delay has passed once more, so that each sees a smooth past.
    """
    from scipy.integrate import solve_ivp

    pieces: list[tuple[float, float, Curve]] = []
    begin, x = 0.0, np.asarray(history(0.0), float)
    stride = system.delay or until
    while begin < until * (1 - 1e-12):
        end = min(begin + stride, until)
        before = pieces[-1][2] if pieces else history

        def rate(time: float, now: Array, before: Curve = before) -> Array:
            return system.rate(now, now if not system.delay else before(time - system.delay))

        solved = solve_ivp(
            rate,
            (begin, end),
            x,
            method="DOP853",
            rtol=RELATIVE,
            atol=ABSOLUTE * (1 + np.max(np.abs(x))),
            dense_output=True,
        )
        pieces.append((begin, end, solved.sol))
        begin, x = end, solved.y[:, -1]
    return pieces
