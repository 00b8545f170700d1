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

from coherence.loops.analysis.network_questions import slowest
from coherence.loops.interchange.open_loop import OpenLoop
from coherence.loops.multirate.opened_lap import OpenedLap
from coherence.loops.networks.delayed_verdict import DelayVerdict, verdict
from coherence.loops.networks.network import Network
from coherence.reporting.pictures.figure import Line, Panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

WRAPPED = 1e-8  # what is left of an answer after twice the horizon
POINTS, FINER = 400, 16  # times that are drawn, and frequencies beyond those of the samples
DECAYS = 6.0  # of the slowest mode that are drawn
TIMES = 10.0  # of the slowest time of a network that are drawn, where no mode is known
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


def step_panel(loops: Sequence[OpenLoop]) -> Panel:
    """Returns the answers of the loops that are stable: the transform of no other can be inverted."""
    judged: dict[Network, DelayVerdict] = {}
    lines = []
    for style, loop in enumerate(loops):
        course = _answer(loop, judged)
        if course is not None:
            rows = tuple(zip(*(values.tolist() for values in course), strict=True))
            lines.append(Line(loop.name, rows, style, steps=loop.sampled is not None))
    return Panel("step: answer of T to a step of 1", "time, s", "answer (ratio)", tuple(lines), levels=(1.0,))


def _answer(loop: OpenLoop, judged: dict[Network, DelayVerdict]) -> tuple[Array, Array] | None:
    """Returns times and the answer of a loop over some decays of its slowest mode; None where it is not stable."""
    if loop.sampled is not None:
        radius = float(np.abs(np.linalg.eigvals(loop.sampled.complement[0])).max(initial=0.0))
        laps = math.ceil(-DECAYS / math.log(radius)) if 0 < radius < 1 else LEAST_LAPS
        return step_of_lap(loop.sampled, min(max(laps, LEAST_LAPS), MOST_LAPS)) if radius < 1 else None
    net = loop.continuous
    assert net is not None
    if net not in judged:
        judged[net] = verdict(net, confirm=False)
    answer = judged[net]
    if answer.verdict != "stable":
        return None
    horizon = DECAYS / -answer.abscissa if answer.rightmost else TIMES * slowest(net)
    return step_of_network(net, loop.block, horizon)
