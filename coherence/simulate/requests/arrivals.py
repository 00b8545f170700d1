"""Draws arrival times: unit renewals in operational time, through the inverse of the integrated rate.

Poisson, regular and Gamma arrivals with bursts and the Markov-modulated Poisson process are one
thing: a renewal process of rate 1 in operational time L(t) = integral of the rate from 0 to t.  All
are made in blocks of BLOCK arrivals, so memory does not grow with the length of the run, and a
block does not depend on how far anybody asked.
SOURCE: Cinlar, Introduction to Stochastic Processes (1975), section 4.7 (time change of a Poisson process).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from coherence.base.errors import UsageError
from coherence.simulate.requests.draws import BLOCK, Floats, Sampler, stream, unit
from coherence.simulate.requests.program import Arrivals, RateBurst, TimesInBlocks

Pieces = Iterator[tuple[float, float]]  # (from this time, this rate), times ascending, without end or until the last


def blocks(arrivals: Arrivals, seed: int, name: str) -> Iterator[Floats]:
    """Arrival times in seconds, ascending, in blocks; ends when no more come.  `name` names the random stream."""
    if arrivals.kind == "trace":
        if isinstance(arrivals.times, TimesInBlocks):
            yield from arrivals.times.blocks()
        else:
            yield from _replayed(checked_trace(name, arrivals.times))
        return
    if not _any(arrivals):
        return
    increments = _increments(arrivals, seed, f"arrivals of {name}")
    curve = _Curve(_pieces(arrivals, seed, f"states of {name}"))
    last = 0.0
    while True:
        operational = last + np.cumsum(increments(BLOCK))
        last = float(operational[-1])
        times = curve.inverse(operational)
        finite = times[np.isfinite(times)]
        if finite.size:
            yield finite
        if finite.size < BLOCK:
            return


def _any(arrivals: Arrivals) -> bool:
    rates = [rate for rate, _ in arrivals.states] or [arrivals.rate, *(burst.rate for burst in arrivals.bursts)]
    return any(rate > 0 for rate in rates)


def _increments(arrivals: Arrivals, seed: int, name: str) -> Sampler:
    if arrivals.kind == "regular":
        return np.ones
    if arrivals.kind == "gamma":
        return unit(stream(seed, name), "gamma", arrivals.cv) if arrivals.cv > 0 else np.ones
    return stream(seed, name).standard_exponential


def checked_trace(name: str, times: object) -> Floats:
    """Returns the times of a trace as an array.  Raises UsageError at the first missing, negative or unordered time."""
    given = list(times) if isinstance(times, tuple | list) else np.asarray(times).tolist()
    for index, time in enumerate(given):
        if not isinstance(time, int | float) or not math.isfinite(time):
            raise _bad(name, index, time, "is missing or not a finite number", "leave the row out or mend it")
        if time < 0:
            raise _bad(name, index, time, "is negative", "count seconds from the start of the run")
        if index and time < given[index - 1]:
            before = f"comes before times[{index - 1}] = {given[index - 1]!r}"
            raise _bad(name, index, time, before, "sort the trace by time")
    return np.asarray(given, dtype=np.float64)


def _bad(name: str, index: int, found: object, why: str, remedy: str) -> UsageError:
    return UsageError(f"source {name}: arrivals.times[{index}] = {found!r} {why}; help: {remedy}")


def _replayed(times: Floats) -> Iterator[Floats]:
    for first in range(0, len(times), BLOCK):
        yield times[first : first + BLOCK]


class _Curve:
    """Operational time: the integral of a piecewise constant rate, known as far as it was asked for."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.times, self.rates, self.sums = [0.0], [next(pieces)[1]], [0.0]
        self.ended = False

    def inverse(self, operational: Floats) -> Floats:
        """Returns the times at which the integral reaches ascending values; infinite where it never does."""
        self._extend(float(operational[-1]))
        if len(self.times) == 1 and self.rates[0] > 0:
            return self.times[0] + (operational - self.sums[0]) / self.rates[0]
        times, rates, sums = (np.asarray(column) for column in (self.times, self.rates, self.sums))
        piece = np.maximum(np.searchsorted(sums, operational, side="left") - 1, 0)
        with np.errstate(divide="ignore"):
            instants: Floats = times[piece] + (operational - sums[piece]) / rates[piece]
        self._forget(int(piece[-1]))
        return instants

    def _extend(self, value: float) -> None:
        while not self.ended and self.sums[-1] < value:
            piece = next(self.pieces, None)
            if piece is None:
                self.ended = True
                return
            self.sums.append(self.sums[-1] + self.rates[-1] * (piece[0] - self.times[-1]))
            self.times.append(piece[0])
            self.rates.append(piece[1])

    def _forget(self, before: int) -> None:
        for column in (self.times, self.rates, self.sums):
            del column[:before]


def _pieces(arrivals: Arrivals, seed: int, name: str) -> Pieces:
    if arrivals.kind == "mmpp":
        return _modulated(arrivals.states, stream(seed, name))
    return _bursting(arrivals.rate, arrivals.bursts)


def _modulated(states: tuple[tuple[float, float], ...], random: np.random.Generator) -> Pieces:
    """States in a cycle from the first, with exponential stays."""
    time = 0.0
    while True:
        for rate, stay in states:
            yield time, rate
            time += stay * random.standard_exponential()


def _bursting(rate: float, bursts: tuple[RateBurst, ...]) -> Pieces:
    """Returns the rate, or that of the last listed burst that is on."""
    time = 0.0
    while math.isfinite(time):
        on = [burst.rate for burst in bursts if _is_on(burst, time)]
        yield time, on[-1] if on else rate
        time = min((_next_edge(burst, time) for burst in bursts), default=math.inf)


def _edges(burst: RateBurst, time: float) -> Iterator[float]:
    """Yields the edges of the turns of a burst around a time."""
    turn = max(0, math.floor((time - burst.start) / burst.every)) if burst.every > 0 else 0
    for k in (turn - 1, turn, turn + 1, turn + 2) if burst.every > 0 else (0,):
        if k >= 0:
            yield burst.start + k * burst.every
            yield burst.start + k * burst.every + burst.lasts


def _next_edge(burst: RateBurst, time: float) -> float:
    return min((edge for edge in _edges(burst, time) if edge > time), default=math.inf)


def _is_on(burst: RateBurst, time: float) -> bool:
    edges = list(_edges(burst, time))
    return any(start <= time < end for start, end in zip(edges[::2], edges[1::2], strict=True))
