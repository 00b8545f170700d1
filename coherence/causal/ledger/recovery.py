"""Estimates what switching sources off would win back: a counterfactual, never a share of the ledger.

C(S) is C_eff on the same arrivals with every source of S off; a caller finds it by executing.

    f[S] = 1 - C_eff / C(S)         recovered[S] = C(S) - C_eff = f / (1 - f) C_eff      (f = 0.2 gives +25 %)
    sum_i phi_i = C(all) - C_eff    A[S] = recovered[S] / ledger[S], the amplification of S

What is safe: C(S) <= C_nom.  What is not: recovered >= 0 (a faster tick can cost), recovered <= the ledger's share of S
(A > 1: the source is a cause of other losses), and gains that add.  SOURCE: definitions.md 1.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.answers.intervals import LEVEL, Estimate, estimate
from coherence.causal.attribution.shapley import members, refuse_many, shapley
from coherence.causal.data.series import Floats

Off = frozenset[str]


@dataclass(frozen=True)
class Gain:
    """One set of sources off, in work units per second; `share` is f, `ratio` recovered / C_eff.

    `amplification`: recovered over what the ledger books on the set; NaN where it books nothing.
    """

    off: tuple[str, ...]
    reached: Estimate  # C(S)
    recovered: Estimate  # C(S) - C_eff
    share: float
    ratio: float
    amplification: Estimate


@dataclass(frozen=True)
class RecoveryLosses:
    """`gains`: every set of sources, smallest first; `shapley`: phi of each source, adding up to the gain of all.

    `overlap`: how far the gains of single sources add up to more than all of them win together.
    """

    effective: Estimate
    nominal: float
    gains: tuple[Gain, ...]
    shapley: Mapping[str, Estimate]
    overlap: Estimate
    violations: tuple[str, ...]

    def __getitem__(self, off: tuple[str, ...]) -> Gain:
        """The gain of one set of sources."""
        return next(gain for gain in self.gains if set(gain.off) == set(off))


def recovery(
    sources: Sequence[str],
    reached: Callable[[Off], float | Sequence[float] | Floats],
    *,
    nominal: float,
    ledger: Mapping[str, float] | None = None,
    level: float = LEVEL,
) -> RecoveryLosses:
    """The gains of every set of at most 12 sources.

    `reached(off)` is C with these sources off, in work units per second: one number, or one for each seed, the same
    seeds for every set (they are paired).  `ledger[source]`: what the ledger books on it, in work units per second.
    Raises UsageError: too many sources, no finite number, sets with different numbers of seeds.
    """
    refuse_many(sources, "sources of loss")
    if not sources or len(set(sources)) < len(sources):
        raise UsageError(f"sources(={list(sources)!r}) must be different names, at least one")
    values = _values(sources, reached)
    by_set = {frozenset(sources[p] for p in members(c, len(sources))): row for c, row in enumerate(values.T)}
    base, everything = by_set[frozenset()], by_set[frozenset(sources)]
    sets = [frozenset(one) for size in range(1, len(sources) + 1) for one in combinations(sources, size)]
    booked = ledger or {}
    gains = tuple(_gain(off, sources, by_set[off], base, booked, level) for off in sets)
    phi = shapley(values)
    alone = sum((by_set[frozenset([source])] - base for source in sources), np.zeros_like(base))
    return RecoveryLosses(
        effective=_mean(base, level),
        nominal=nominal,
        gains=gains,
        shapley={source: _mean(phi[:, p], level) for p, source in enumerate(sources)},
        overlap=_mean(alone - (everything - base), level),
        violations=tuple(_violations(by_set, sources, nominal, level)),
    )


def _values(sources: Sequence[str], reached: Callable[[Off], float | Sequence[float] | Floats]) -> Floats:
    """(seeds, 2^n), coalitions as bit masks."""
    rows: list[Floats] = []
    for coalition in range(1 << len(sources)):
        off = frozenset(sources[p] for p in members(coalition, len(sources)))
        row = np.atleast_1d(np.asarray(reached(off), np.float64))
        if row.ndim != 1 or not np.isfinite(row).all() or (rows and len(row) != len(rows[0])):
            named = ", ".join(sorted(off)) or "nothing"
            raise UsageError(
                f"C with {named} off is {row.tolist()!r}: give one finite number for each seed of every set"
            )
        rows.append(row)
    return np.array(rows).T


def _mean(row: Floats, level: float) -> Estimate:
    """The mean over seeds; deleting one at a time gives Student's interval."""
    without = (row.sum() - row) / (len(row) - 1) if len(row) > 1 else row[:0]
    return estimate(float(row.mean()), without, level=level)


def _ratio(above: Floats, below: float, level: float) -> Estimate:
    if not below:
        return Estimate(np.nan, np.nan, np.nan, np.nan, level)
    return _mean(above / below, level)


def _gain(
    off: Off, sources: Sequence[str], row: Floats, base: Floats, booked: Mapping[str, float], level: float
) -> Gain:
    won, was, is_now = row - base, float(base.mean()), float(row.mean())
    share = 1 - was / is_now if is_now else np.nan
    ratio = is_now / was - 1 if was else np.nan
    whole = sum(booked.get(one, 0.0) for one in off)
    named = tuple(source for source in sources if source in off)
    return Gain(named, _mean(row, level), _mean(won, level), share, ratio, _ratio(won, whole, level))


def _violations(by_set: Mapping[Off, Floats], sources: Sequence[str], nominal: float, level: float) -> Iterator[str]:
    """C(S) above C_nom: by its mean where there is one run, by the lower end of its interval where there are more."""
    for off, row in by_set.items():
        reached = _mean(row, level)
        least = reached.low if len(row) > 1 else reached.value
        if least > nominal * (1 + 1e-9):
            named = ", ".join(source for source in sources if source in off) or "nothing"
            yield (
                f"assumption violated: with {named} off {reached.value:.6g} units/s were reached, above C_nom ="
                f" {nominal:.6g}; check the isolated rates and what counts as finished in time"
            )
