"""Draws the noise of boundaries in runs: evenly from its range, anew at each instant at which a loop samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from coherence.model.boundary_noise import NOISE
from coherence.model.model import Constant, Model
from coherence.simulate.execute.instants import Schedule

GRAIN = 1024  # parts of a range between which values are drawn, so that exact arithmetic stays short


@dataclass(frozen=True)
class DrawnNoise:
    """The noises of a model that nobody has given a value, and the chance of a run."""

    noises: tuple[Constant, ...]
    chance: Random

    def values(self) -> dict[str, Fraction]:
        """Returns a new value for each noise."""
        return {noise.path: self._drawn(noise) for noise in self.noises}

    def _drawn(self, noise: Constant) -> Fraction:
        low, high = noise.range.low or Fraction(0), noise.range.high or Fraction(0)
        return low + (high - low) * Fraction(self.chance.randint(0, GRAIN), GRAIN)

    def schedule(self, model: Model, until: Fraction) -> Schedule:
        """Returns new values for each instant at which a loop of a model samples, up to a time (s)."""
        times = sorted({time for loop in model.loops for time in _samples(loop.phase, loop.period, until)})
        return tuple((time, path, value) for time in times for path, value in self.values().items())

    def notes(self) -> Iterator[str]:
        """Yields what is said of each noise."""
        for noise in self.noises:
            yield f"{noise.path} is drawn evenly from its range, anew at each sample"


def drawn_noise(model: Model, seed: int, given: Mapping[str, Any]) -> DrawnNoise:
    """Returns the noises of a model in a run of a seed, but for those that are given."""
    own = [c for path, c in model.constants.items() if NOISE in path and c.varies and path not in given]
    return DrawnNoise(tuple(own), Random(f"noise {seed}"))  # noqa: S311  (a seeded run)


def _samples(phase: Fraction | None, period: Fraction, until: Fraction) -> Iterator[Fraction]:
    time = phase or Fraction(0)
    while period > 0 and time <= until:
        yield time
        time += period
