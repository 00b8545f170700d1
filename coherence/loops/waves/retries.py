"""Retries over layers: tries that reach the last tier for one request, worst case and on average.

SOURCE: Beyer et al., Site Reliability Engineering (2016), chapter 22 (three layers of four attempts: 64 tries).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.base.errors import UsageError
from coherence.base.sends import expected


@dataclass(frozen=True)
class Layer:
    """A caller that tries up to `attempts` times; `budget`: retries per first try it is allowed on average, or None."""

    attempts: int
    budget: float | None = None


@dataclass(frozen=True)
class Retries:
    """Per layer from the top: tries it sends per request of the user, and the share of its requests that fail."""

    tries: tuple[Any, ...]
    failures: tuple[Any, ...]

    @property
    def amplification(self) -> Any:
        """Returns tries that reach the last tier per request of the user."""
        return self.tries[-1]


def worst_case(layers: Sequence[Layer] | Sequence[int]) -> Fraction:
    """Returns tries at the last tier per request when everything fails:
    the product over the layers, each cut by its budget.
    """
    return Fraction(retries(layers, Fraction(1)).amplification)


def retries(layers: Sequence[Layer] | Sequence[int], failure: Any) -> Retries:
    """Returns what happens when each try of the last tier fails by itself with this probability.

    A layer of n attempts over a callee that fails with p sends (1 - p^n) / (1 - p) tries and fails with p^n.
    A budget cuts the tries; the failures then are those of the tries that are left (mean-field).
    """
    if not 0 <= failure <= 1:
        raise UsageError(f"a failure probability of {failure}: give one from 0 to 1")
    ratios, failures, p = [], [], failure
    for layer in reversed([_layer(layer) for layer in layers]):
        wanted = expected(p, layer.attempts)
        sent = _limited(layer, wanted)
        share = (sent - 1) / (wanted - 1) if wanted > 1 else 1
        p = p * (1 - share) + p**layer.attempts * share
        ratios.append(sent)
        failures.append(p)
    tries, total = [], 1
    for ratio in reversed(ratios):
        total = total * ratio
        tries.append(total)
    return Retries(tuple(tries), tuple(reversed(failures)))


def _layer(layer: Layer | int) -> Layer:
    made = layer if isinstance(layer, Layer) else Layer(layer)
    if made.attempts < 1 or (made.budget is not None and made.budget < 0):
        raise UsageError(f"{made.attempts} attempts, budget {made.budget}: attempts >= 1, budget >= 0")
    return made


def _limited(layer: Layer, tries: Any) -> Any:
    if layer.budget is None:
        return tries
    limit = 1 + Fraction(repr(float(layer.budget)))
    return min(tries, limit if isinstance(tries, Fraction | int) else float(limit))
