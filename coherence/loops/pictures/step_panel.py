"""Computes and draws the answer of closed loops to a step of what they are to follow.

Of continuous blocks the transform of the answer is known in closed form; it is inverted on a line right of the axis,
over twice the horizon, so that what wraps around has been damped by 1e-8.
SOURCE: Durbin 1974, Numerical inversion of Laplace transforms; delays stay exact, no state is approximated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.loops.interchange.open_loop import OpenLoop
from coherence.loops.multirate.opened_lap import OpenedLap
from coherence.loops.networks.network import Network
from coherence.reporting.pictures.figure import Line, Panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

WRAPPED = 1e-8  # what is left of an answer after twice the horizon
POINTS, FINER = 400, 16  # times that are drawn, and frequencies beyond those of the samples
DECAYS = 6.0  # of the slowest mode that are drawn
LEAST_LAPS, MOST_LAPS = 20, 300


def step_of_network(net: Network, name: str, horizon: float) -> tuple[Array, Array]:
    """Returns times (s) and T(s) / s in time: minus what comes back behind a block for a step of 1 put in there."""
    step, span = horizon / POINTS, 2 * horizon
    size = 2 * POINTS * FINER
    damping = -math.log(WRAPPED) / span
    s = damping + 2j * math.pi * np.arange(size // 2 + 1) / span
    spectrum = _complement(net, name, s) / s
    spectrum *= np.sinc(np.arange(len(s)) / (len(s) - 1))  # Lanczos: no ringing beside jumps
    course = np.fft.irfft(spectrum, size) * size / span
    time = np.arange(POINTS) * step
    return time, np.asarray(course[: POINTS * FINER : FINER] * np.exp(damping * time))


def _complement(net: Network, name: str, s: Array) -> Array:
    """Returns T = 1 - S of the loop opened behind a block."""
    size, at = len(net.blocks), net.index[name]
    gains = np.zeros((size, size))
    for coupling in net.couplings:
        gains[net.index[coupling.target], net.index[coupling.source]] += coupling.gain
    blocks = np.stack([block.at(s) for block in net.blocks], axis=1)
    closed = np.eye(size) - blocks[:, :, None] * gains
    unit = np.zeros((len(s), size, 1), dtype=complex)
    unit[:, at, 0] = 1.0
    return np.asarray(1 - np.linalg.solve(closed, unit)[:, at, 0])


def step_of_lap(lap: OpenedLap, laps: int) -> tuple[Array, Array]:
    """Returns times (s) and T on a step: minus what is read of the loop, at the first instant of each lap."""
    a, b, c, d = lap.complement
    x, rows = np.zeros(len(a)), []
    held = np.ones(lap.decisions)
    for _ in range(laps):
        rows.append(float((c @ x + d @ held)[0]))
        x = a @ x + b @ held
    return np.arange(laps) * float(lap.period), np.array(rows)


def step_panel(loops: Sequence[OpenLoop], decay: float | None) -> Panel:
    """Returns the answers of the loops that are stable; `decay` in 1/s of the slowest mode of a continuous network."""
    lines = []
    for style, loop in enumerate(loops):
        if loop.sampled is not None:
            radius = float(np.abs(np.linalg.eigvals(loop.sampled.complement[0])).max(initial=0.0))
            if radius >= 1:
                continue
            laps = math.ceil(-DECAYS / math.log(radius)) if radius else LEAST_LAPS
            time, course = step_of_lap(loop.sampled, min(max(laps, LEAST_LAPS), MOST_LAPS))
        else:
            assert loop.continuous is not None
            time, course = step_of_network(loop.continuous, loop.name, DECAYS / decay if decay else 100.0)
        rows = tuple(zip(time.tolist(), course.tolist(), strict=True))
        lines.append(Line(loop.name, rows, style, steps=loop.sampled is not None))
    return Panel("step: answer of T to a step of 1", "time, s", "answer (ratio)", tuple(lines), levels=(1.0,))
