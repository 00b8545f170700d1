"""A loop opened at one place, as systems of python-control: L, S = 1 / (1 + L) and T = L / (1 + L).

A sampled loop is opened at what its sampler reads and has exact discrete state spaces, one sample of which is a lap
of all rates (with several instants in a lap: as many inputs and outputs).  A loop of continuous blocks is opened at
the output of a block; it has state spaces where it is rational, and with delays its exact frequency response.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.loops.interchange.python_control import frequency_response, python_control, state_space
from coherence.loops.multirate.opened_lap import OpenedLap, opened_lap
from coherence.loops.multirate.sampled_system import Multirate, multirate
from coherence.loops.networks.network import Block, Coupling, Network

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

POINTS = 2_000  # of a frequency response whose frequencies nobody names
BEYOND = 100.0  # how far it goes below the slowest and above the fastest time of the loop


@dataclass(frozen=True)
class LoopSystems:
    """The systems of python-control of one loop: StateSpace, or FrequencyResponseData where there are delays."""

    L: Any
    S: Any
    T: Any


@dataclass(frozen=True)
class OpenLoop:
    """A loop opened at `name`: `sampled` as one lap, `continuous` as the strongly connected network around it.

    `notes` say what the design has beside the linear loop, and which side of a kink was taken.  `behind`: the block
    behind which a continuous loop is opened, where `name` is not its name.
    """

    name: str
    sampled: OpenedLap | None = None
    continuous: Network | None = None
    notes: tuple[str, ...] = ()
    behind: str = ""

    @property
    def block(self) -> str:
        """Returns the name of the block behind which a continuous loop is opened."""
        return self.behind or self.name

    @property
    def rational(self) -> bool:
        """Decides whether L, S and T are state spaces."""
        return self.continuous is None or not any(block.delay for block in self.continuous.blocks)

    @property
    def systems(self) -> LoopSystems:
        """Returns L, S and T."""
        if self.sampled is not None:
            lap, dt = self.sampled, float(self.sampled.period)
            control, every = python_control(), (lap.loop, lap.sensitivity, lap.complement)
            return self._named(*(control.ss(*matrices, dt) for matrices in every))
        return self.over(_frequencies(self._network)) if not self.rational else self._state_spaces()

    @property
    def L(self) -> Any:  # noqa: N802 the letter of the field
        """Returns the loop transfer: minus what comes back of what is put in."""
        return self.systems.L

    @property
    def S(self) -> Any:  # noqa: N802 the letter of the field
        """Returns the sensitivity: what becomes of a disturbance where the loop is opened."""
        return self.systems.S

    @property
    def T(self) -> Any:  # noqa: N802 the letter of the field
        """Returns the complementary sensitivity, I - S."""
        return self.systems.T

    def over(self, omega: ArrayLike) -> LoopSystems:
        """Returns the exact frequency responses of L, S and T at frequencies in rad/s, delays included."""
        grid = np.atleast_1d(np.asarray(omega, dtype=float))
        if self.sampled is not None:
            control, systems = python_control(), self.systems
            return self._named(*(control.frd(system, grid) for system in (systems.L, systems.S, systems.T)))
        opened, closed, probe = _probed(self._network, self.block)
        back = frequency_response(opened, grid, inputs=[probe], outputs=[self.block])
        after = frequency_response(closed, grid, inputs=[probe], outputs=[probe])
        through = frequency_response(closed, grid, inputs=[probe], outputs=[self.block])
        return self._named(-back, after, -through)

    @property
    def _network(self) -> Network:
        assert self.continuous is not None
        return self.continuous

    def _state_spaces(self) -> LoopSystems:
        opened, closed, probe = _probed(self._network, self.block)
        back, both = state_space(opened), state_space(closed)
        row, column = closed.index[self.block], closed.index[probe]
        return self._named(-back[row, column], both[column, column], -both[row, column])

    def _named(self, *systems: Any) -> LoopSystems:
        """Returns L, S and T with names that plots of python-control print."""
        for letter, system in zip("LST", systems, strict=True):
            system.name = system.sysname = f"{letter} of {self.name}"
        return LoopSystems(*systems)


def opened_at(system: Network | Multirate, name: str) -> OpenLoop:
    """Returns the loop opened at a block of a continuous network, or at a sampler of a sampled one.

    Raises UsageError for what is in no loop, and for a block between samplers.
    """
    if isinstance(system, Network) and not any(block.rate for block in system.blocks):
        return OpenLoop(name, continuous=_around(system, name))
    rates = multirate(system) if isinstance(system, Network) else system
    if name in {block.name for block in rates.blocks}:
        samplers = ", ".join(sampler.name for sampler in rates.samplers)
        raise UsageError(f"{name} stands between samplers and has no transfer function: open the loop at {samplers}")
    return OpenLoop(name, sampled=opened_lap(rates, name))


def _around(system: Network, name: str) -> Network:
    """Returns the strongly connected part that holds a block."""
    if name not in system.index:
        raise UsageError(f"'{name}' is no block: {did_you_mean(name, system.names)}")
    part = next((part for part in system.components() if name in part.index), None)
    if part is None or not part.couplings:
        raise UsageError(f"{name} is in no loop")
    return part


def _probed(system: Network, name: str) -> tuple[Network, Network, str]:
    """Returns the network cut behind a block, the closed one, and the name of the block without dynamics at the cut."""
    probe = f"at {name}"
    while probe in system.index:
        probe += "'"
    blocks = (*system.blocks, Block(probe, (1.0,), (1.0,)))
    couplings = tuple(replace(c, source=probe) if c.source == name else c for c in system.couplings)
    return Network(blocks, couplings), Network(blocks, (*couplings, Coupling(name, probe))), probe


def _frequencies(system: Network) -> Any:
    """Returns frequencies that hold all times of a network, in rad/s."""
    roots = [np.abs(np.roots(p)) for block in system.blocks for p in (block.numerator, block.denominator)]
    delays = np.array([block.delay for block in system.blocks])
    rates = np.concatenate([*roots, 1 / delays[delays > 0]])
    rates = rates[(rates > 0) & np.isfinite(rates)]
    return np.geomspace(rates.min() / BEYOND, rates.max() * BEYOND, POINTS)
