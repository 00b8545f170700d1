"""Certifies that loops do not disturb each other: small gain, and separation of time scales.

Both show that a matrix of non-negative numbers which bounds the interaction at frequency w has a spectral
radius below 1 at every w.  Without a certificate nothing is said: the loops may still be stable together.

    small gain    |T_i(jw)| |K_ij| between loops that are stable alone (T_i: block i with its own loop closed).
                  The radius falls when loops are taken out, so every set of these loops is stable.
    separation    |G_f(jw) - G_f(0)| |H_fg(jw)| for the fast blocks f, where H is what returns to their inputs in
                  the network with each fast block replaced by its static gain, which must be stable.

SOURCE: Skogestad and Postlethwaite, Multivariable Feedback Control, 2nd ed., theorems 4.11, 8.6 and 10.6 (generalised
with the spectral radius of non-negative matrices, which bounds every mu of diagonal uncertainty).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.margins.peaks_response import ClosedLoopResponse, Local, local, response
from coherence.loops.margins.peaks_tail import FAR, first_edge, tail
from coherence.loops.networks.network import Block, Network
from coherence.loops.networks.stability import Judge, stability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Real = NDArray[np.float64]
    # entries at the middles and their bounds over the intervals, [interval, row, column]
    Entries = Callable[[Real, Real], tuple[Real, Real]]

INTERVALS = 20_000
NARROW = 1e-9


@dataclass(frozen=True)
class SeparationCertificate:
    """`holds`: the radius stays below 1 at every frequency; `radius`: the largest bound met, at `frequency` rad/s."""

    holds: bool
    reason: str
    radius: float = math.inf
    frequency: float | None = None


def small_gain(network: Network, *, judge: Judge = stability) -> SeparationCertificate:
    """Returns a certificate that a network and every part of it are stable."""
    alone = [network.part([name]) for name in network.names]
    for part in alone:
        verdict = judge(part)
        if verdict.verdict != "stable":
            return SeparationCertificate(False, f"{part.names[0]} alone is not shown stable: {verdict.reason}")
    parts = [response(part) for part in alone]
    gains = np.abs(response(network).gains)
    np.fill_diagonal(gains, 0)

    def entries(middle: Real, half: Real) -> tuple[Real, Real]:
        verdict = [_sizes(local(part, middle, half), half) for part in parts]
        values, bounds = (np.stack([pair[k][:, 0, 0] for pair in verdict], axis=1) for k in (0, 1))
        return values[:, :, None] * gains, bounds[:, :, None] * gains

    def beyond(edge: float) -> Real:
        tails = [tail(part, edge) for part in parts]
        return np.array([abs(t.limit[0, 0]) + t.distance for t in tails])[:, None] * gains

    return _contracts(entries, beyond, "the loops are, with all their parts,")


def separation(network: Network, fast: Sequence[str], *, judge: Judge = stability) -> SeparationCertificate:
    """Returns a certificate that a network is stable because some blocks are so fast that their static gain may
    stand for them.

    Raises UsageError for unknown names.
    """
    unknown = [name for name in fast if name not in network.index]
    if unknown or not fast:
        raise UsageError(f"no block of the network: {', '.join(unknown)}" if unknown else "name the fast blocks")
    chosen = [network.blocks[network.index[name]] for name in fast]
    for block in chosen:
        lag = judge(Network((block,), ()))
        if lag.verdict != "stable":
            return SeparationCertificate(
                False, f"the fast block {block.name} has no static gain to stand for it: {lag.reason}"
            )
    slow = Network(tuple(_static(b) if b.name in fast else b for b in network.blocks), network.couplings)
    verdict = judge(slow)
    if verdict.verdict != "stable":
        return SeparationCertificate(
            False, f"the network of the slow blocks alone is not shown stable: {verdict.reason}"
        )
    errors = [response(Network((b,), ()), outputs=[b.name], inputs=[b.name], shift=_gain(b)) for b in chosen]
    return _separated(errors, response(slow, inputs=list(fast), sensitivity=True))


def _separated(errors: Sequence[ClosedLoopResponse], slow: ClosedLoopResponse) -> SeparationCertificate:
    feeding = slow.gains[list(slow.columns)]
    size = float(np.linalg.norm(feeding, 2))

    def entries(middle: Real, half: Real) -> tuple[Real, Real]:
        sizes = [_sizes(local(error, middle, half), half) for error in errors]
        values, bounds = (np.stack([pair[k][:, 0, 0] for pair in sizes], axis=1) for k in (0, 1))
        back = local(slow, middle, half)
        returned = Local(feeding @ back.value, feeding @ back.slope, size * back.bend, back.contraction)
        least, most = _sizes(returned, half)
        return values[:, :, None] * least, bounds[:, :, None] * most

    def beyond(edge: float) -> Real:
        tails = [tail(error, edge) for error in errors]
        back = tail(slow, edge)
        rows = np.array([abs(t.limit[0, 0]) + t.distance for t in tails])
        return np.asarray(rows[:, None] * (np.abs(feeding @ back.limit) + size * back.distance))

    return _contracts(entries, beyond, "the network is")


def _gain(block: Block) -> float:
    return block.numerator[-1] / block.denominator[-1]


def _static(block: Block) -> Block:
    return replace(block, numerator=(_gain(block),), denominator=(1.0,), delay=0.0)


def _sizes(taylor: Local, half: Real) -> tuple[Real, Real]:
    """Returns |T| entry by entry: at the middles, and bounds over the intervals."""
    wide = half[:, None, None]
    bend = np.where(taylor.contraction < 1, taylor.bend, np.inf)[:, None, None]
    size = np.abs(taylor.value)
    return size, size + np.abs(taylor.slope) * wide + bend * wide**2 / 2


def _contracts(entries: Entries, beyond: Callable[[float], Real], what: str) -> SeparationCertificate:
    """Decides whether the spectral radius stays below 1 from 0 to infinity."""
    with np.errstate(invalid="ignore"):
        edge = first_edge(lambda start: bool(_radius(beyond(start)[None])[0] < 1)) or FAR
        highest, where, spent = float(_radius(beyond(edge)[None])[0]), math.inf, 0
    if not highest < 1:
        return SeparationCertificate(False, "the interaction does not fall below 1 at high frequencies", highest)
    middle, half = np.array([edge / 2]), np.array([edge / 2])
    while len(middle):
        spent += len(middle)
        with np.errstate(invalid="ignore"):  # unbounded times no coupling: not a number, counts as unbounded
            values, bounds = entries(middle, half)
        least, most = _radius(values), _radius(bounds)
        fail = ~(least < 1)
        if fail.any():
            at = int(fail.argmax())
            return SeparationCertificate(False, "the interaction is not below 1", float(least[at]), float(middle[at]))
        done = most < 1
        if done.any() and float(most[done].max()) > highest:
            highest, where = float(most[done].max()), float(middle[done][most[done].argmax()])
        middle, half = middle[~done], half[~done] / 2
        if spent > INTERVALS or bool((half < NARROW * edge * 1e-6).any()):
            return SeparationCertificate(
                False, "the interaction comes too near to 1 to be bounded", 1.0, float(middle[0])
            )
        middle, half = np.concatenate([middle - half, middle + half]), np.concatenate([half, half])
    return SeparationCertificate(
        True, f"{what} stable: the interaction stays below 1 at every frequency", highest, where
    )


def _radius(matrices: Real) -> Real:
    """Returns spectral radii; infinite for matrices that are not finite."""
    finite = np.isfinite(matrices).all(axis=(1, 2))
    radii = np.full(len(matrices), np.inf)
    if finite.any():
        radii[finite] = np.abs(np.linalg.eigvals(matrices[finite])).max(axis=1)
    return radii
