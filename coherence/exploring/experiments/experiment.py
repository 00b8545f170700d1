"""Defines what an experiment has: systems whose truth is known, by name, each drawn again for every seed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from coherence.causal.signatures.signature import Signature

SEEDS = 300
MOST_FALSE, LEAST_SEEN = 6, 270  # of 300 seeds, of tests at 1 %
FEW = 60  # seeds of a point of a curve
SIZES = (0, 0.05, 0.1, 0.15, 0.2)
Chance: TypeAlias = np.random.Generator
System: TypeAlias = Callable[[Chance], Signature]


@dataclass(frozen=True)
class KnownTruth:
    """A system whose truth is known, and the stream of chance of its runs, one for each seed."""

    stream: str
    system: System
    seeds: int

    def signature(self, seed: int) -> Signature:
        """Returns what the test answers about one run."""
        return self.system(chance(self.stream, seed))


@dataclass(frozen=True)
class PowerCurve:
    """How often the null of a family of systems is rejected, by the size of the effect."""

    name: str
    x: str
    sizes: Sequence[float]
    system: Callable[[Any], System]
    seeds: int = FEW

    def truths(self) -> Iterator[KnownTruth]:
        """Yields the system of each size."""
        for size in self.sizes:
            yield KnownTruth(f"{self.name} {size}", self.system(size), self.seeds)


@dataclass(frozen=True)
class Experiment:
    """A mode with systems whose truth is known: `nulls` must not be rejected, `effects` must.

    `claim`: what its signature is held to be, and what is to be said of that; `about`: its systems, in words.
    """

    mode: str
    claim: str
    about: str
    nulls: Mapping[str, System]
    effects: Mapping[str, System]
    curves: Sequence[PowerCurve] = ()

    def truth(self, name: str) -> KnownTruth:
        """Returns a null or an effect by its name."""
        return KnownTruth(f"{self.mode} {name}", {**self.nulls, **self.effects}[name], SEEDS)

    def truths(self, *, curves: bool) -> Iterator[KnownTruth]:
        """Yields its systems, with those of its curves or without."""
        yield from map(self.truth, (*self.nulls, *self.effects))
        for curve in self.curves if curves else ():
            yield from curve.truths()

    def signatures(self, name: str, seeds: int = SEEDS) -> list[Signature]:
        """Returns what the test answers about a system, seed by seed."""
        return [self.truth(name).signature(seed) for seed in range(seeds)]


def chance(name: str, seed: int) -> Chance:
    """Returns the stream of a run: no two systems share one."""
    return np.random.default_rng((zlib.crc32(name.encode()), seed))


def waits(gaps: np.ndarray, services: np.ndarray) -> np.ndarray:
    """Returns waits of one server, first come first served: sums of service less gap above their least so far.

    SOURCE: D. V. Lindley, The theory of queues with a single server, 1952.
    """
    steps = np.concatenate([[0.0], np.cumsum(services[:-1] - gaps[1:])])
    return np.asarray(steps - np.minimum.accumulate(steps))
