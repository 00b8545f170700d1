"""Judges flows with delays that bend at an equilibrium, by the response from their bends to what these compare.

    z = G w,    w[j] = |z[j]|

Where some weights D > 0 and Popov's numbers q make

    G* D G - D + Re(i omega q G) < 0 at every frequency,

the flows are as stable as they are without their bends (w = 0): a quadratic functional falls along every run, and it is
positive exactly where these decay.  Beside that a run along a ray, exp(r t) v with r > 0, keeps the signs of what bends
compare, so that it is a root of one branch whose own signs agree.

SOURCE: Brockett and Lee 1967, Frequency-domain instability criteria for time-varying and nonlinear systems (Proc. IEEE
55); Popov 1961.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.matrix_inequalities import Inequality, solved
from coherence.loops.networks.network import Block, Coupling, network

Array = Any
COARSE, FINE, ROUNDS, HALVINGS = 160, 3_000, 4, 24
LOWEST, HIGHEST = 1e-4, 1e2  # frequencies, times the pace of the flows, between which weights are looked for
MOST_POINTS = 60_000  # intervals of frequencies that are looked at together
CLEAR = 1e-7  # an eigenvalue below minus this part of the largest coefficient is negative
MOST_BENDS, RATES = 6, 400
STEPS, STARTS, LONGEST, RESIZED = (8, 16), 6, 600, 20  # steps in a unit of pace; units of a run; steps
GROWN, STEADY = math.log(1e3), 0.9  # of a run that is taken as growing: in each half
OPEN = "no form was found that falls along every run, and no ray that grows"
SURE, TINY = 1e-7, 1e-12


class BentFlows:
    """The blocks of a part: integrators with a leak, delays, and bends (whose outputs are w)."""

    def __init__(self, blocks: Sequence[Block], couplings: Sequence[Coupling], bends: Collection[str]) -> None:
        names = [block.name for block in blocks]
        self.bends = np.array([k for k, name in enumerate(names) if name in bends])
        self.others = np.array([k for k, name in enumerate(names) if name not in bends])
        self.gains = np.zeros((len(names), len(names)))
        for coupling in couplings:
            self.gains[names.index(coupling.target), names.index(coupling.source)] += float(coupling.gain)
        self.blocks = [replace(blocks[k], delay=float(blocks[k].delay)) for k in self.others]
        inner = {block.name for block in self.blocks}
        self.couplings = [replace(c, gain=float(c.gain)) for c in couplings if {c.source, c.target} <= inner]
        self.flows = np.array([block.order > 0 for block in self.blocks])
        self.leaks = np.array([float(block.denominator[-1]) if block.order else 1.0 for block in self.blocks])
        self.delays = np.array([float(block.delay) for block in self.blocks])

    @property
    def pace(self) -> float:
        """Returns how fast the flows move at most, 1/s."""
        weights, flows = np.abs(self.gains), self.others[self.flows]
        passing = np.setdiff1d(np.arange(len(weights)), flows)
        through = np.linalg.inv(np.eye(len(passing)) - weights[np.ix_(passing, passing)])
        by_others = weights[np.ix_(flows, passing)] @ through @ weights[np.ix_(passing, flows)]
        rates = (weights[np.ix_(flows, flows)] + by_others).sum(axis=1) + np.abs(self.leaks[self.flows])
        return float(max(rates.max(initial=0.0), TINY))

    def responses(self, s: Array) -> Array:
        """Returns G at each s, (k, m, m).  Raises LinAlgError at a root of the flows without their bends."""
        others, bends, s = self.others, self.bends, np.asarray(s)[:, None]
        late = np.exp(-s * self.delays)[:, :, None]
        left = np.where(self.flows, s + self.leaks, 1.0)[:, :, None] * np.eye(len(others))
        by_bends = np.linalg.solve(
            left - late * self.gains[np.ix_(others, others)], late * self.gains[np.ix_(others, bends)]
        )
        return self.gains[np.ix_(bends, others)] @ by_bends + self.gains[np.ix_(bends, bends)]

    @property
    def is_direct(self) -> bool:
        """Decides whether a bend compares another one: then z may jump, which Popov's term does not cover."""
        return bool(self.gains[np.ix_(self.bends, self.bends)].any())

    def changes(self, omegas: Array, half: Array) -> tuple[Array, Array]:
        """Returns the norm of G at each frequency, and what G changes at most within `half` of it.

        G = N M^-1 U + K, where M and U move by at most `steep` and `steep_by_bends` a rad/s.
        """
        others, bends = self.others, self.bends
        inner, by_bends = self.gains[np.ix_(others, others)], self.gains[np.ix_(others, bends)]
        steep = _norm(self.delays[:, None] * inner) + 1.0
        steep_by_bends = _norm(self.delays[:, None] * by_bends)
        s = 1j * omegas[:, None]
        late = np.exp(-s * self.delays)[:, :, None]
        inverse = np.linalg.inv(
            np.where(self.flows, s + self.leaks, 1.0)[:, :, None] * np.eye(len(others)) - late * inner
        )
        shown = inverse @ (late * by_bends)
        read = self.gains[np.ix_(bends, others)]
        turned = half * steep * _norm(inverse)
        moved = _norm(read @ inverse) * half * (steep_by_bends + steep * _norm(shown))
        return _norm(read @ shown + self.gains[np.ix_(bends, bends)]), np.where(
            turned < 1, moved / (1 - turned), np.inf
        )

    def bound(self, omega: float) -> Array | None:
        """Returns what the absolute response is at most at this frequency and beyond; None where it has no bound."""
        blocks, inner = (
            np.abs(self.gains[np.ix_(self.others, self.others)]),
            self.gains[np.ix_(self.bends, self.others)],
        )
        left = np.diag(np.where(self.flows, omega, 1.0)) - blocks
        reached = np.linalg.inv(left)
        if (reached < -SURE).any():
            return None  # below the pace of what feeds back
        through = np.abs(inner) @ reached @ np.abs(self.gains[np.ix_(self.others, self.bends)])
        return np.asarray(through + np.abs(self.gains[np.ix_(self.bends, self.bends)]))

    def without(self) -> str:
        """Returns the verdict on the flows without their bends."""
        return verdict(network(self.blocks, self.couplings)).verdict


def _norm(matrices: Array) -> Array:
    """Returns the largest singular value of each matrix."""
    return np.asarray(np.linalg.norm(matrices, 2, axis=(-2, -1)))


def of_flows(flows: BentFlows, check: Callable[[], object] = bool) -> tuple[str, str]:
    """Returns the verdict on flows that bend, and how it was decided."""
    if not len(flows.others) or len(flows.bends) > MOST_BENDS:
        return "undecided", OPEN
    try:
        if _grows_along_a_ray(flows):
            return "unstable", "a ray that comes back to itself longer"
        without = flows.without()
        if without in ("stable", "unstable") and _as_without(flows, check):
            return without, "a form that falls, by the frequency response"
    except np.linalg.LinAlgError:
        pass  # on a root of the flows without their bends
    if grows_steadily(flows, check):
        return "unstable", "a run that grows [simulated]"
    return "undecided", OPEN


def _as_without(flows: BentFlows, check: Callable[[], object]) -> bool:
    """Decides whether weights are found with which the inequality holds at every frequency."""
    omegas = np.append(0.0, np.geomspace(flows.pace * LOWEST, flows.pace * HIGHEST, FINE))
    forms = _forms(flows, omegas)
    numbers = np.arange(forms.shape[1])
    positive = numbers < len(numbers) // 2
    chosen = list(range(0, len(omegas), len(omegas) // COARSE))
    for _ in range(ROUNDS):
        y = solved([Inequality(numbers, forms[chosen])], positive, check)
        if y is None:
            return False
        bad = np.flatnonzero(_largest(forms, y) > -CLEAR * np.abs(forms).max(axis=(1, 2, 3)))
        if not len(bad):
            return _holds(flows, y)
        chosen += bad[:: max(1, len(bad) // COARSE)].tolist()
    return False


def _holds(flows: BentFlows, y: Array) -> bool:
    """Decides whether the inequality holds at all frequencies: by a bound from one on, in intervals below it."""
    last = next((top for top in flows.pace * 2.0 ** np.arange(25) if _holds_beyond(flows, y, top)), None)
    if last is None:
        return False
    return holds_between(flows, y, np.append(0.0, np.geomspace(flows.pace * LOWEST, last, COARSE)))


def _holds_beyond(flows: BentFlows, y: Array, omega: float) -> bool:
    """Decides whether what the blocks make at most of anything from a frequency on satisfies the inequality."""
    bound = flows.bound(omega)
    if bound is None:
        return False
    m = len(bound)
    popov = np.abs(y[m:, None]) * bound * omega / flows.pace if y[m:].any() else 0 * bound
    form = bound.T @ np.diag(y[:m]) @ bound + popov + popov.T - np.diag(y[:m])
    return bool(np.linalg.eigvalsh(form)[-1] < 0)


def _forms(flows: BentFlows, omegas: Array) -> Array:
    """Returns the forms of D and q at each frequency, (k, 2 m, 2 m, 2 m), as real symmetric matrices."""
    g, m = flows.responses(1j * omegas), len(flows.bends)
    turned = 0 * g if flows.is_direct else 1j * (omegas / flows.pace)[:, None, None] * g
    forms = np.zeros((len(omegas), 2 * m, m, m), dtype=complex)
    for j in range(m):
        forms[:, j] = g[:, j, :, None].conj() * g[:, j, None, :]
        forms[:, j, j, j] -= 1
        forms[:, m + j, j, :] += turned[:, j]
        forms[:, m + j, :, j] += turned[:, j].conj()
    return np.concatenate(
        [np.concatenate([forms.real, -forms.imag], axis=3), np.concatenate([forms.imag, forms.real], axis=3)], axis=2
    )


def _largest(forms: Array, y: Array) -> Array:
    """Returns the largest eigenvalue at each frequency."""
    return np.linalg.eigvalsh(np.einsum("a,kaij->kij", y, forms))[:, -1]


def holds_between(flows: BentFlows, y: Array, omegas: Array) -> bool:
    """Decides whether the inequality holds in every interval: at its middle, and by more than it changes from there."""
    low, high = omegas[:-1], omegas[1:]
    for _ in range(HALVINGS):
        middle, half = (low + high) / 2, (high - low) / 2
        largest = _largest(_forms(flows, middle), y)
        if (largest >= 0).any():
            return False
        left = largest + _change(flows, y, middle, half) >= 0
        if not left.any():
            return True
        low, high = np.concatenate([low[left], middle[left]]), np.concatenate([middle[left], high[left]])
        if len(low) > MOST_POINTS:
            return False
    return False


def _change(flows: BentFlows, y: Array, omegas: Array, half: Array) -> Array:
    """Returns what the norm of the form changes at most within `half` of each frequency."""
    sizes, moved = flows.changes(omegas, half)
    weights, popov = np.abs(y).reshape(2, -1).max(axis=1)
    change = weights * (2 * sizes + moved) * moved
    if popov and not flows.is_direct:
        change += 2 * popov * ((omegas + half) * moved + half * sizes) / flows.pace
    return np.asarray(change)


def _grows_along_a_ray(flows: BentFlows) -> bool:
    rates = np.geomspace(flows.pace * 1e-5, flows.pace * 2, RATES)
    responses = flows.responses(rates)
    return any(
        _ray(flows, rates[k], rates[k + 1], np.array(signs), responses[k])
        for signs in itertools.product((1.0, -1.0), repeat=len(flows.bends))
        for k in _changes(responses, np.array(signs))
    )


def _changes(responses: Array, signs: Array) -> Iterator[int]:
    """Yields the intervals of rates in which a branch has a root."""
    unit = np.eye(len(signs))
    values = np.linalg.slogdet(unit - responses * signs)[0]
    yield from map(int, np.flatnonzero(values[:-1] * values[1:] < 0))


def _ray(flows: BentFlows, low: float, high: float, signs: Array, first: Array) -> bool:
    """Decides whether a root, and no pole, lies in an interval of rates and has the signs of its branch."""
    try:
        return _agrees(*_root(flows, low, high, signs, first), signs)
    except np.linalg.LinAlgError:
        return False  # a root of the flows without their bends


def _root(flows: BentFlows, low: float, high: float, signs: Array, first: Array) -> tuple[Array, Array]:
    """Returns the singular values where the branch changes its sign, and what bends compare there."""
    unit = np.eye(len(signs))
    begin = np.linalg.slogdet(unit - first * signs)[0]
    for _ in range(60):
        middle = (low + high) / 2
        same = np.linalg.slogdet(unit - flows.responses([middle])[0] * signs)[0] == begin
        low, high = (middle, high) if same else (low, middle)
    _, sizes, rows = np.linalg.svd(unit - flows.responses([high])[0] * signs)
    return sizes, rows[-1].real


def _agrees(sizes: Array, z: Array, signs: Array) -> bool:
    """Decides whether a root is one, and whether what bends compare there has these signs."""
    clear = np.abs(z) > SURE * np.abs(z).max()
    agrees = (z * signs > 0).all() or (z * signs < 0).all()
    return bool(clear.all() and agrees and sizes[-1] < SURE * max(1.0, sizes[0]))


def grows_steadily(flows: BentFlows, check: Callable[[], object]) -> bool:
    """Decides whether runs of both steps, one half of the other, grow by far and as much in each half."""
    return all(_grows(flows, 1 / (flows.pace * fine), check) for fine in STEPS)


def _grows(flows: BentFlows, step: float, check: Callable[[], object]) -> bool:
    """Decides it of a run by Heun's method from several directions, each followed by itself."""
    lags = np.maximum(np.rint(flows.delays[~flows.flows] / step).astype(int), 1)
    x = np.random.default_rng(1).normal(size=(int(flows.flows.sum()), STARTS))
    past = np.zeros((int(lags.max(initial=1)) + 1, len(lags), STARTS))
    logs, half = np.zeros((2, STARTS)), int(LONGEST / (flows.pace * step)) // 2
    for k in range(2 * half):
        late, ahead = (past[(k + j - lags) % len(past), np.arange(len(lags))] for j in (0, 1))
        rate, past[k % len(past)] = _moved(flows, x, late)
        x = x + step / 2 * (rate + _moved(flows, x + step * rate, ahead)[0])
        if k % RESIZED == 0:
            check()
            size = np.maximum(np.abs(x).max(axis=0), TINY)
            logs[k // half] += np.log(size)
            x, past = x / size, past / size
    return bool(((logs.min(axis=0) > GROWN) & (logs.min(axis=0) > STEADY * logs.max(axis=0))).any())


def _moved(flows: BentFlows, x: Array, late: Array) -> tuple[Array, Array]:
    """Returns the rates of flows, and what enters each delay, where these show `late`."""
    shown = np.zeros((len(flows.gains), x.shape[1]))
    shown[flows.others[flows.flows]], shown[flows.others[~flows.flows]] = x, late
    for _ in flows.bends:  # a bend may compare another one
        shown[flows.bends] = np.abs(flows.gains[flows.bends] @ shown)
    entering = flows.gains[flows.others] @ shown
    return entering[flows.flows] - flows.leaks[flows.flows, None] * x, entering[~flows.flows]
