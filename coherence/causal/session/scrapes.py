"""Finds signals that rest between scrapes, and declared influences between two that are never measured together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.graph import CausalGraph

LONGEST = 240  # rows between scrapes
ON_TIME = 0.95  # share of the changes at one moment of the period
CHANGES = 0.8  # share of the periods with a change
FEWEST = 20  # changes


@dataclass(frozen=True)
class ScrapeRhythm:
    """A signal changes every `every` rows, `moment` rows after the first."""

    every: int
    moment: int


def scraped_apart(series: Series, graph: CausalGraph) -> Iterator[tuple[str, str, ScrapeRhythm, ScrapeRhythm]]:
    """Yields (cause, effect, scrape, scrape) for declared influences between signals with different scrapes."""
    written = {one.effect for one in graph.influences if one.period or one.either}
    scrapes = {name: scrape_of(series[name]) for name in series.names if name not in written}
    yielded = set()
    for influence in graph.influences:
        pair = (influence.cause, influence.effect)
        cause, effect = map(scrapes.get, pair)
        if cause is None or effect is None or influence.cause == influence.effect or pair in yielded:
            continue
        delayed = {lag % cause.every for lag in influence.lags(series.step)}
        if cause.every != effect.every or (effect.moment - cause.moment) % cause.every not in delayed:
            yielded.add(pair)
            yield *pair, cause, effect


def scrape_of(values: Floats) -> ScrapeRhythm | None:
    """The longest period at one moment of which a signal changes; None where it changes at all times, or seldom."""
    changes = np.flatnonzero(np.diff(np.nan_to_num(values)) != 0) + 1
    if not FEWEST <= len(changes) <= len(values) / 2 * 1.1:
        return None
    for every in range(min(LONGEST, len(values) // FEWEST), 1, -1):
        at = np.bincount(changes % every)
        moment = int(at.argmax())
        if at[moment] >= ON_TIME * len(changes) and len(changes) >= CHANGES * len(values) / every:
            return ScrapeRhythm(every, moment)
    return None
