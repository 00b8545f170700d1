"""Networks of blocks and couplings with exact delays.

A block is G(s) = numerator(s) / denominator(s) * exp(-s delay), or the same plant behind a zero-order
hold of period `rate`.  A coupling adds gain times the output of its source to the input of its target.
With outputs y and inputs u: y = G(s) u and u = K y + r, so the closed loop is (I - G(s) K)^-1 G(s) and
its characteristic equation is det(I - G(s) K) = 0.

    >>> network = loop([0.05], [1, 0], delay=30)      # 0.05 exp(-30 s) / s, negative feedback
    >>> network.names
    ('loop',)
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.graphs import components

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Polynomial = tuple[float, ...]  # descending powers of s
NO_DELAY = 1e-100  # s; shorter ones are none, so that products with frequencies keep their digits


@dataclass(frozen=True)
class Block:
    """One transfer function.  `delay` and `rate` in seconds; `rate` None: continuous."""

    name: str
    numerator: Polynomial
    denominator: Polynomial
    delay: float = 0.0
    rate: float | None = None

    @property
    def order(self) -> int:
        """Returns the degree of the denominator: the number of its states."""
        return len(self.denominator) - 1

    @property
    def proper(self) -> bool:
        """Decides whether the numerator has no higher degree than the denominator."""
        return len(self.numerator) <= len(self.denominator)

    @property
    def feedthrough(self) -> float:
        """Returns G at infinite frequency, without its delay."""
        return self.numerator[0] / self.denominator[0] if len(self.numerator) == len(self.denominator) else 0.0

    def at(self, s: complex | NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Returns G(s) of a continuous block, for one s or many."""
        import numpy as np

        point = np.asarray(s, dtype=complex)
        ratio = np.polyval(self.numerator, point) / np.polyval(self.denominator, point)
        return np.asarray(ratio * np.exp(-point * self.delay))


@dataclass(frozen=True)
class Coupling:
    """The input of `target` gets `gain` times the output of `source`; an exact gain only in a sampled system."""

    source: str
    target: str
    gain: float | Fraction = 1.0


@dataclass(frozen=True)
class Network:
    """Blocks by name and sparse couplings.  Made by `network`, which checks it."""

    blocks: tuple[Block, ...]
    couplings: tuple[Coupling, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(block.name for block in self.blocks)

    @cached_property
    def index(self) -> dict[str, int]:
        """Returns the row of each name."""
        return {block.name: row for row, block in enumerate(self.blocks)}

    def part(self, names: Iterable[str]) -> Network:
        """Returns the network of some blocks alone, with the couplings among them."""
        members = set(names)
        return Network(
            tuple(block for block in self.blocks if block.name in members),
            tuple(c for c in self.couplings if c.source in members and c.target in members),
        )

    def components(self) -> tuple[Network, ...]:
        """Returns the strongly connected parts that hold a loop or a state, in the order of their first block.

        The network is stable exactly when all of them are.
        """
        after: dict[str, list[str]] = {block.name: [] for block in self.blocks}
        for coupling in self.couplings:
            after[coupling.source].append(coupling.target)
        groups = list(components(after))
        if len(groups) == 1:
            return (self,)
        labels = {name: number for number, group in enumerate(groups) for name in group}
        parts: dict[int, list[Block]] = {}
        for block in self.blocks:
            parts.setdefault(labels[block.name], []).append(block)
        inside: dict[int, list[Coupling]] = {}
        for coupling in self.couplings:
            label = labels[coupling.source]
            if label == labels[coupling.target]:
                inside.setdefault(label, []).append(coupling)
        return tuple(Network(tuple(blocks), tuple(inside.get(label, ()))) for label, blocks in parts.items())


def network(blocks: Iterable[Block], couplings: Iterable[Coupling] = ()) -> Network:
    """Returns a checked network.  Raises UsageError for what has no meaning, all problems at once."""
    net = Network(tuple(blocks), tuple(couplings))
    problems = [*_names(net), *itertools.chain.from_iterable(map(_block, net.blocks)), *_ends(net)]
    if problems:
        raise UsageError("; ".join(problems))
    return Network(tuple(_trimmed(block) for block in net.blocks), net.couplings)


def loop(
    numerator: Sequence[float], denominator: Sequence[float], delay: float = 0.0, *, name: str = "loop"
) -> Network:
    """Returns one negative-feedback loop around numerator / denominator * exp(-s delay)."""
    block = Block(name, tuple(map(float, numerator)), tuple(map(float, denominator)), float(delay))
    return network([block], [Coupling(name, name, -1.0)])


def _names(made: Network) -> list[str]:
    twice = [name for name, count in Counter(made.names).items() if count > 1]
    return [f"the block '{name}' stands twice: give each its own name" for name in twice]


def _block(block: Block) -> list[str]:
    numbers = (*block.numerator, *block.denominator, block.delay)
    if not all(math.isfinite(number) for number in numbers):
        return [f"{block.name} has a coefficient or delay that is not a finite number"]
    problems = []
    if not any(block.denominator):
        problems.append(f"the denominator of {block.name} is zero")
    elif len(_cut(block.numerator)) > len(_cut(block.denominator)):
        problems.append(f"{block.name} differentiates (numerator of higher degree): add a lag to its denominator")
    if block.delay < 0:
        problems.append(f"the delay of {block.name} is {block.delay:g} s: it must be >= 0")
    if block.rate is not None and not (block.rate > 0 and math.isfinite(block.rate)):
        problems.append(f"the sampling period of {block.name} is {block.rate:g} s: it must be > 0")
    return problems


def _ends(net: Network) -> list[str]:
    problems = []
    for coupling in net.couplings:
        unknown = [end for end in (coupling.source, coupling.target) if end not in net.index]
        problems += [f"a coupling names '{end}', which is no block: {did_you_mean(end, net.names)}" for end in unknown]
        if not math.isfinite(coupling.gain):
            problems.append(f"the gain from {coupling.source} to {coupling.target} is not a finite number")
    return problems


def _cut(polynomial: Polynomial) -> Polynomial:
    """Returns a polynomial without leading zeros."""
    return tuple(itertools.dropwhile(lambda c: c == 0, polynomial)) or (0.0,)


def _trimmed(block: Block) -> Block:
    delay = block.delay if block.delay >= NO_DELAY else 0.0
    return Block(block.name, _cut(block.numerator), _cut(block.denominator), delay, block.rate)
