"""A plain fixed-step integrator of sampled loops over linear plants with delays: the oracle, which imports no engine.

Plants are flows x' = sum of weight * signal(t - delay); loops read such sums every period and hold what they decide.
Heun's method on a grid that all delays, periods and phases are multiples of.  Growth is measured, not computed: of
the largest deviation in windows of many laps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Term = tuple[str, float, int]  # signal, weight, delay in seconds


@dataclass(frozen=True)
class PlainLoop:
    """u = sum of terms (`integrates`: u + sum) every `period` seconds from `phase`, in force `lands` later; between
    `low` and `high`.
    """

    signal: str
    terms: Sequence[Term]
    period: int
    phase: int
    lands: int
    integrates: bool
    low: float = -math.inf
    high: float = math.inf


@dataclass(frozen=True)
class PlainDesign:
    """Flows by signal, and loops in the order in which they decide."""

    flows: Mapping[str, Sequence[Term]]
    loops: Sequence[PlainLoop]

    @property
    def memory(self) -> int:
        terms = [*(t for row in self.flows.values() for t in row), *(t for loop in self.loops for t in loop.terms)]
        return max((delay for _, _, delay in terms), default=0) + max((loop.lands for loop in self.loops), default=0)


class _Run:
    """The run from a constant past, `fine` steps a second."""

    def __init__(self, design: PlainDesign, start: Mapping[str, float], fine: int) -> None:
        self.design, self.fine = design, fine
        self.past = {signal: [level] * (design.memory * fine + 1) for signal, level in start.items()}
        self.commanded = {loop.signal: start[loop.signal] for loop in design.loops}
        self.landing: list[tuple[int, str, float]] = []
        self.step = 0

    def seen(self, signal: str, delay: int) -> float:
        row = self.past[signal]
        return row[len(row) - 1 - delay * self.fine]

    def advance(self) -> None:
        """Lands, decides and flows for one step; a command holds from the instant at which it lands."""
        self._decide()
        flows, h = self.design.flows, 1 / self.fine
        first = {x: sum(w * self.seen(s, d) for s, w, d in row) for x, row in flows.items()}
        guess = {x: self.past[x][-1] + h * rate for x, rate in first.items()}
        second = {x: sum(w * self._ahead(s, d, guess) for s, w, d in row) for x, row in flows.items()}
        for signal, row in self.past.items():
            level = row[-1] + h * (first[signal] + second[signal]) / 2 if signal in flows else row[-1]
            row.append(level)
        self.step += 1

    def _ahead(self, signal: str, delay: int, guess: Mapping[str, float]) -> float:
        """Returns a signal at the end of the step; a command holds over all of it."""
        if signal not in self.design.flows:
            return self.seen(signal, delay)
        if delay:
            row = self.past[signal]
            return row[len(row) - delay * self.fine]
        return guess[signal]

    def _decide(self) -> None:
        """Decides at whole seconds: what is read is what was there before anything decided at the instant."""
        if self.step % self.fine:
            return
        second = self.step // self.fine
        for _, signal, level in [entry for entry in self.landing if entry[0] == second]:
            self.past[signal][-1] = level
        self.landing = [entry for entry in self.landing if entry[0] > second]
        for loop in self.design.loops:
            if second % loop.period != loop.phase:
                continue
            read = sum(w * self.seen(s, d) for s, w, d in loop.terms)
            level = read + (self.commanded[loop.signal] if loop.integrates else 0.0)
            self.commanded[loop.signal] = level = min(max(level, loop.low), loop.high)
            if loop.lands:
                self.landing.append((second + loop.lands, loop.signal, level))
            else:
                self.past[loop.signal][-1] = level


def measured_growth(
    design: PlainDesign, *, seconds: int, window: int, fine: int, start: Mapping[str, float] | None = None
) -> float:
    """Returns the growth rate in 1/s between the largest deviations of two windows (s), the last and the middle one."""
    signals = (*design.flows, *(x.signal for x in design.loops))
    run = _Run(design, start or {s: 1.0 + 0.37 * k for k, s in enumerate(signals)}, fine)
    largest: dict[int, float] = {}
    for second in range(seconds):
        for _ in range(fine):
            run.advance()
        level = max(abs(row[-1]) for row in run.past.values())
        if level > 1e100:
            return math.inf
        for number, begin in enumerate((seconds // 2 - window, seconds - window)):
            if begin <= second < begin + window:
                largest[number] = max(largest.get(number, 0.0), level)
        for row in run.past.values():
            del row[: len(row) - design.memory * fine - 1]
    return math.log(max(largest[1], 1e-300) / max(largest[0], 1e-300)) / (seconds - seconds // 2)
