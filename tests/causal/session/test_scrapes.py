"""Moments at which signals change between scrapes."""

from __future__ import annotations

import numpy as np

from coherence.causal.data.series import Series
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.session.scrapes import ScrapeRhythm, scrape_of, scraped_apart


def test_the_period_and_the_moment_of_a_held_signal_are_found() -> None:
    rng = np.random.default_rng(1)
    for every, moment in ((2, 1), (8, 3), (60, 59)):
        values = np.repeat(rng.normal(size=40), every)
        assert scrape_of(np.concatenate([np.full(moment, 9.0), values])) == ScrapeRhythm(every, moment % every)


def test_what_changes_at_all_times_or_at_any_time_has_no_period() -> None:
    rng = np.random.default_rng(2)
    assert scrape_of(rng.normal(size=800)) is None
    assert scrape_of(np.cumsum(rng.random(800) < 0.1).astype(float)) is None
    assert scrape_of(np.ones(800)) is None


def test_what_a_loop_writes_rests_between_its_turns_and_is_left_out() -> None:
    rng = np.random.default_rng(3)
    series = Series(("a", "y"), np.column_stack([np.repeat(rng.normal(size=100), 4), np.roll(np.repeat(rng.normal(
        size=100), 4), 1)]), 15.0)  # fmt: skip
    plain, written = Influence("a", "y"), Influence("a", "y", either=True)
    assert len(list(scraped_apart(series, CausalGraph(("a", "y"), (plain,))))) == 1
    assert list(scraped_apart(series, CausalGraph(("a", "y"), (written,)))) == []
