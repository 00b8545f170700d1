"""Runs loops whose sloped elements look back, from event to event: several delays, hysteresis beside them.

Between events a run solves x' = M x + (delayed outputs), a linear equation with a forcing that is known: the
run one delay ago.  A step is a Taylor polynomial; it ends at the next crossing (located on the polynomial), at the
next arrival, and where a kink of the past returns after a delay, so that no step integrates across one.

SOURCE: Bellen and Zennaro, Numerical Methods for Delay Differential Equations (2003), ch. 3 (method of steps,
tracking of discontinuities).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from coherence.loops.cycles.delayed_runs import Levels, Pending, Start
from coherence.loops.cycles.delayed_runs_flow import first_exit
from coherence.loops.cycles.relay import Array, Pieces, System

NODES, DEGREE = 11, 16  # of the forcing (its values in a step), of the solution
FINENESS = 0.5  # largest step times the norm of M
GENERATIONS = 3  # a kink that has returned more often is smooth enough for a step
SAME, INSTANT = 1e-9, 1e-12  # of a delay: kinks closer than this are one; of a step: no time at all
HUGE = 1e9  # times the size of the start: run away


@dataclass(frozen=True)
class SlopedPiece:
    """x on [start, end]: coefficients (size, degree + 1), ascending powers of (t - start) / length."""

    start: float
    end: float
    length: float
    coefficients: Array

    def at(self, time: float) -> Array:
        """Returns x at a time."""
        s = (time - self.start) / self.length
        return np.asarray(self.coefficients @ s ** np.arange(self.coefficients.shape[1]))

    def many(self, times: Array) -> Array:
        """Returns x at many times: (size, len(times))."""
        s = (times - self.start) / self.length
        return np.asarray(self.coefficients @ s[None, :] ** np.arange(self.coefficients.shape[1])[:, None])


class SlopedRun:
    """One run.  `advance` makes one step; `ended` is "away", "sliding" or "".

    `history`: x at times <= 0 (default: at rest in the start).
    """

    def __init__(self, system: System, start: Start, history: Callable[[float], Array] | None = None) -> None:
        self.system, self.time, self.x = system, 0.0, np.asarray(start.z[:-1], float)
        still = self.x
        self.history = history or (lambda _: still)
        self.seen, self.held = start.seen, start.held
        self.pending = sorted(start.pending, key=lambda p: p.time)
        self.breaks: list[tuple[float, int]] = []
        self.pieces: list[SlopedPiece] = []
        self.starts: list[float] = []
        self.ended, self.instant, self.events = "", 0, 0
        self.size = 1 + float(np.max(np.abs(self.x), initial=0.0))
        self.delays = tuple(
            up if isinstance(e, Pieces) else 0.0 for e, up in zip(system.elements, system.rise, strict=True)
        )
        self.back = sorted({d for d in self.delays if d > 0})
        for delay in self.back:
            self._expect(delay, 1)

    def at(self, time: float) -> Array:
        """Returns x at a time that the run has passed, or before it."""
        if time <= 0 or not self.pieces:
            return np.asarray(self.history(time))
        return self.pieces[bisect.bisect_right(self.starts, time) - 1].at(time)

    def sampled(self, times: Array) -> Array:
        """Returns x at rising times: (size, len(times))."""
        where = np.searchsorted(self.starts, times, side="right") - 1
        states = np.empty((self.system.size, len(times)))
        for k in np.unique(where):
            chosen = where == k
            states[:, chosen] = self.pieces[int(k)].many(times[chosen])
        return states

    def advance(self) -> None:
        """Advances one step, up to the next event at most."""
        matrix, constant, slopes = flow_of(self.system, self.held, self.delays)
        end = self.time + self._longest(matrix)
        length = end - self.time
        piece = SlopedPiece(self.time, end, length, self._solved(matrix, constant, slopes, length))
        crossing = self._crossing(piece)
        if crossing is not None:
            piece = SlopedPiece(self.time, self.time + crossing[0] * length, length, piece.coefficients)
        if piece.end > piece.start:
            self.pieces.append(piece)
            self.starts.append(piece.start)
        self.instant = self.instant + 1 if piece.end - piece.start <= INSTANT * length else 0
        self.time = piece.end
        self.x = piece.coefficients @ (crossing[0] if crossing else 1.0) ** np.arange(DEGREE + 1)
        if crossing is not None:
            self._cross(crossing[1], crossing[2])
        self._arrive()
        while self.breaks and self.breaks[0][0] <= self.time + SAME * self.back[0]:
            self._return(self.breaks.pop(0)[1])
        if self.instant > 40 + 4 * len(self.seen):
            self.ended = "sliding"
        if not np.all(np.isfinite(self.x)) or np.max(np.abs(self.x)) > HUGE * self.size:
            self.ended = "away"

    def _longest(self, matrix: Array) -> float:
        norm = float(np.max(np.sum(np.abs(matrix), axis=1)))
        limits = [FINENESS / norm] if norm else []
        limits += self.back[:1]
        limits += [self.pending[0].time - self.time] if self.pending else []
        limits += [self.breaks[0][0] - self.time] if self.breaks else []
        return max(min(limits, default=1.0), 0.0) or 1e-300

    def _solved(self, matrix: Array, constant: Array, slopes: Array, length: float) -> Array:
        """Returns Taylor coefficients of the solution in units of the step."""
        forcing = np.zeros((self.system.size, DEGREE + 1))
        forcing[:, 0] = constant
        places, inverse = nodes()
        c, b = self.system.matrices[2], self.system.matrices[1]
        for delay in self.back:
            late = [e for e, d in enumerate(self.delays) if d == delay and slopes[e]]
            if late:
                past = np.array([self.at(self.time + length * s - delay) for s in places]).T
                inputs = (c[late] @ past) @ inverse.T
                forcing[:, :NODES] += (b[:, late] * slopes[late]) @ inputs
        coefficients = np.empty((self.system.size, DEGREE + 1))
        coefficients[:, 0] = self.x
        for k in range(DEGREE):
            coefficients[:, k + 1] = (matrix @ coefficients[:, k] + forcing[:, k]) * (length / (k + 1))
        return coefficients

    def _crossing(self, piece: SlopedPiece) -> tuple[float, int, int] | None:
        """Returns (place in the step, element, direction) of the first crossing."""
        best: tuple[float, int, int] | None = None
        for index, (element, level) in enumerate(zip(self.system.elements, self.seen, strict=True)):
            interval = element.bounds(level)
            if interval == (-math.inf, math.inf):
                continue
            p = (self.system.matrices[2][index] @ piece.coefficients)[::-1]
            slack = 1e-13 * float(np.sum(np.abs(p)))
            leaving = first_exit(p, interval, best[0] if best else 1.0, slack, exact=False)
            if leaving is not None and (best is None or leaving[0] < best[0]):
                best = leaving[0], index, leaving[1]
        return best

    def _cross(self, index: int, direction: int) -> None:
        level = self.seen[index] + direction
        self.seen = (*self.seen[:index], level, *self.seen[index + 1 :])
        element = self.system.elements[index]
        delay = (self.system.rise if direction > 0 else self.system.fall)[index]
        due, self.events = self.time + delay, self.events + 1
        self.pending = [p for p in self.pending if p.element != index or p.time <= due]
        self.pending.append(Pending(due, index, level, self.events))
        self.pending.sort(key=lambda p: p.time)
        count = len(element.slopes if isinstance(element, Pieces) else element.levels)
        if element.endless and level in {0, count - 1}:
            self.ended = "away"

    def _arrive(self) -> None:
        while self.pending and self.pending[0].time <= self.time * (1 + 1e-14):
            first = self.pending.pop(0)
            self.held = (*self.held[: first.element], first.level, *self.held[first.element + 1 :])
            self._return(0)

    def _return(self, generation: int) -> None:
        """Records that a kink now comes back after each delay of a sloped element."""
        for delay in self.back if generation < GENERATIONS else ():
            self._expect(self.time + delay, generation + 1)

    def _expect(self, due: float, generation: int) -> None:
        """Expects a kink at a time to come, unless one is expected there."""
        place = bisect.bisect(self.breaks, (due, generation))
        slack = SAME * self.back[0]
        if not any(abs(due - other) <= slack for other, _ in self.breaks[max(place - 1, 0) : place + 1]):
            self.breaks.insert(place, (due, generation))


@lru_cache(maxsize=1)
def nodes() -> tuple[Array, Array]:
    """Returns Chebyshev places in [0, 1], and the matrix from values there to ascending coefficients."""
    places = (1 - np.cos(math.pi * np.arange(NODES) / (NODES - 1))) / 2
    return places, np.asarray(np.linalg.inv(np.vander(places, increasing=True)), dtype=float)


@lru_cache(maxsize=512)
def flow_of(system: System, held: Levels, delays: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """Returns (matrix, constant, slopes of the delayed elements) while the elements are on these levels and pieces."""
    a, b, c, drift = system.matrices
    now, late, outputs = np.zeros(len(held)), np.zeros(len(held)), np.zeros(len(held))
    for index, (element, level) in enumerate(zip(system.elements, held, strict=True)):
        if isinstance(element, Pieces):
            (late if delays[index] else now)[index] = element.slopes[level]
            outputs[index] = element.intercepts[level]
        else:
            outputs[index] = element.levels[level]
    return a + b @ (now[:, None] * c), b @ outputs + drift, late
