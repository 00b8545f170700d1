"""What the five experiments on signatures share: known truths by name, each drawn again for every seed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bench.harness import Row
from coherence.causal.signatures.signature import Signature

SEEDS = 300
MOST_FALSE, LEAST_SEEN = 6, 270  # of 300 seeds, of tests at 1 %
Chance = np.random.Generator


@dataclass(frozen=True)
class Experiment:
    """A mode with systems whose truth is known: `nulls` must not be rejected, `effects` must."""

    mode: str
    nulls: Mapping[str, Callable[[Chance], Signature]]
    effects: Mapping[str, Callable[[Chance], Signature]]

    def signatures(self, name: str, seeds: int = SEEDS) -> list[Signature]:
        """What the test answers about one truth, seed by seed."""
        system = {**self.nulls, **self.effects}[name]
        return [system(chance(f"{self.mode} {name}", seed)) for seed in range(seeds)]

    def rejections(self, name: str, seeds: int = SEEDS) -> int:
        """Of how many seeds the null is rejected."""
        return sum(signature.rejects for signature in self.signatures(name, seeds))

    def rows(self) -> Iterator[Row]:
        """One row for each truth."""
        for name in self.nulls:
            yield Row(f"{self.mode}: {name}: null rejected", self.rejections(name), f"<= {MOST_FALSE}", f"of {SEEDS}")
        for name in self.effects:
            yield Row(f"{self.mode}: {name}: seen", self.rejections(name), f">= {LEAST_SEEN}", f"of {SEEDS}")


def chance(name: str, seed: int) -> Chance:
    """The stream of one run: no two truths share one."""
    return np.random.default_rng((zlib.crc32(name.encode()), seed))


def waits(gaps: np.ndarray, services: np.ndarray) -> np.ndarray:
    """Waits of one server, first come first served: sums of service less gap above their least so far (Lindley)."""
    steps = np.concatenate([[0.0], np.cumsum(services[:-1] - gaps[1:])])
    return np.asarray(steps - np.minimum.accumulate(steps))
