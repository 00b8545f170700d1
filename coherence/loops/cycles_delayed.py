"""Cycles of a linear plant under sloped elements that look back: saturations, dead bands and tolerances with delay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coherence.loops.cycles import Answer, default_starts
from coherence.loops.cycles_smooth import smooth_cycles
from coherence.loops.delayed_runs_smooth import Rate
from coherence.loops.describing import screen
from coherence.loops.relay import Array, Element, Pieces, System


def limit_cycles_delayed(system: System) -> Answer:
    """As `cycles.limit_cycles`, for one common delay and elements without hysteresis; else undecided, and why."""
    delays = {d for d in (*system.rise, *system.fall) if d > 0}
    if len(delays) > 1:
        return _undecided(f"sloped elements with different delays ({', '.join(f'{d:g} s' for d in sorted(delays))})")
    if not all(map(_without_memory, system.elements)):
        return _undecided("a sloped element with delay beside one with hysteresis")
    starts = [start.z[:-1].tolist() for start in default_starts(system)]
    fastest = float(np.max(np.abs(np.linalg.eigvals(system.matrices[0]))))
    delay = delays.pop()
    scale = 4 / fastest if fastest else 0.0
    answer = smooth_cycles(
        _rate(system), system.size, delay=delay, starts=starts, scale=scale, outputs=system.matrices[2]
    )
    return replace(answer, guesses=screen(system))


def _undecided(what: str) -> Answer:
    return Answer((), {"undecided": 1}, f"undecided: {what} has no exact method here", ())


def _without_memory(element: Element) -> bool:
    return isinstance(element, Pieces) or element.up == element.down


def _rate(system: System) -> Rate:
    a, b, c, drift = system.matrices
    late = np.array([max(pair) > 0 for pair in zip(system.rise, system.fall, strict=True)])
    pieces = [_as_pieces(element) for element in system.elements]

    def rate(x: Array, past: Array) -> Array:
        column = (-1,) + (1,) * (x.ndim - 1)
        inputs = np.where(late.reshape(column), c @ past, c @ x)
        outputs = np.stack([piece.at(y) for piece, y in zip(pieces, inputs, strict=True)])
        return np.asarray(a @ x + b @ outputs + drift.reshape(column))

    return rate


def _as_pieces(element: Element) -> Pieces:
    if isinstance(element, Pieces):
        return element
    return Pieces(element.up, (0.0,) * len(element.levels), element.levels)
