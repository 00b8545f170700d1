"""Computes the space-time field of a path through a network with feedback and exact delays.

The transform of the answer is known in closed form; it is inverted on a line right of the axis, over twice
the horizon so that what wraps around has been damped by 1e-8, with an input that is held between its samples.
SOURCE: Durbin 1974, Numerical inversion of Laplace transforms; delays stay exact, no state is approximated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.loops.networks.network import Network
from coherence.loops.networks.stability import Judge, stability
from coherence.loops.waves.chain_field import Field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

WRAPPED = 1e-8  # what is left of an answer after twice the horizon
FINER = 16  # frequencies beyond those of the samples
CHUNK = 4096  # frequencies solved at once


def closed_field(
    network: Network, path: Sequence[str], source: Sequence[float] | Array, *, step: float, judge: Judge = stability
) -> Field:
    """Returns the field along a path for an input at its first block, held between samples `step` seconds apart.

    Accurate to about 1e-3 of the largest value, best for blocks that do not jump.  Raises UsageError for unknown
    or sampled blocks and for a closed loop that is not proved stable.
    """
    unknown = [name for name in path if name not in network.index]
    if unknown or not path:
        hints = "; ".join(f"'{name}' is no block: {did_you_mean(name, network.names)}" for name in unknown)
        raise UsageError(hints or "an empty path: name its blocks in order")
    verdict = judge(network)
    if verdict.verdict != "stable":
        raise UsageError(f"no field: the closed loop is {verdict.verdict} ({verdict.reason})")
    given = np.asarray(source, dtype=float)
    rows = [network.index[name] for name in path]
    values = _answer(network, rows, given, step)
    return Field(np.arange(len(given)) * step, ("input", *path), np.column_stack([given, values]))


def _answer(network: Network, rows: Sequence[int], given: Array, step: float) -> Array:
    count, span = len(given), 2 * len(given) * step
    size = 2 * count * FINER
    damping = -math.log(WRAPPED) / span
    s = damping + 2j * math.pi * np.arange(size // 2 + 1) / span
    held = _held(given, s, damping, step, size)
    spectrum = np.empty((len(rows), len(s)), dtype=complex)
    for begin in range(0, len(s), CHUNK):
        part = slice(begin, begin + CHUNK)
        spectrum[:, part] = _transfer(network, rows, s[part]) * held[part]
    spectrum *= np.sinc(np.arange(len(s)) / (len(s) - 1))  # Lanczos: no ringing beside jumps
    course = np.fft.irfft(spectrum, size, axis=1) * size / span
    time = np.arange(count) * step
    return np.asarray((course[:, : count * FINER : FINER] * np.exp(damping * time)).T)


def _held(given: Array, s: Array, damping: float, step: float, size: int) -> Array:
    """Returns the transform of the held input: (1 - exp(-s h)) / s times the sum of u_k exp(-s k h), periodic in
    frequency.
    """
    weighted = given * np.exp(-damping * step * np.arange(len(given)))
    whole = np.fft.fft(weighted, 2 * len(given))
    sums = whole[np.arange(size // 2 + 1) % (2 * len(given))]
    return np.asarray(-np.expm1(-s * step) / s * sums)


def _transfer(network: Network, rows: Sequence[int], s: Array) -> Array:
    """Returns the transfer from the input of the first row's block to the outputs of the rows' blocks, for many s."""
    size = len(network.blocks)
    gains = np.zeros((size, size))
    for coupling in network.couplings:
        gains[network.index[coupling.target], network.index[coupling.source]] += coupling.gain
    blocks = np.stack([block.at(s) for block in network.blocks], axis=1)
    closed = np.eye(size) - blocks[:, :, None] * gains
    right = np.zeros((len(s), size, 1), dtype=complex)
    right[:, rows[0], 0] = blocks[:, rows[0]]
    return np.asarray(np.linalg.solve(closed, right)[:, list(rows), 0].T)
