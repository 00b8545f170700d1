"""What a stream holds is the same however it is cut, and a cause that rests at first is a cause."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.causal.data.extents import extents_of
from coherence.causal.data.series import Series
from coherence.causal.session.context import Context, FitSettings
from coherence.language.reading import read_text
from tests.causal.systems import table, wandering

DESIGN = "coherence: 1\ncomponents: {q: {wait: a.load * k + b.load * m, k: 0 .. 10, m: 0 .. 10}}\n"


def cut(series: Series, rows: int) -> list[Series]:
    return [series.between(low, low + rows) for low in range(0, len(series), rows)]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 100), st.integers(1, 120), st.integers(1, 130))
def test_any_cut_gives_the_same_extents(seed: int, length: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    holes = np.where(rng.random((length, 2)) < 0.3, np.nan, rng.integers(0, 3, (length, 2)))
    series = Series(("a", "b"), holes, 1.0)
    parts, whole = extents_of(cut(series, rows)), extents_of([series])
    assert parts is not None
    assert whole is not None
    assert parts.rows == whole.rows == length
    for name in ("counts", "low", "high"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name))
    assert whole.counts.tolist() == np.isfinite(holes).sum(axis=0).tolist()


def test_of_nothing_there_are_none() -> None:
    assert extents_of([]) is None


@pytest.mark.parametrize("rows", [500, 1700])
def test_a_cause_that_rests_in_the_first_chunk_is_told(rows: int) -> None:
    rng = np.random.default_rng(1)
    a, b = wandering(rng, 4000, 0.6) + 3, np.where(np.arange(4000) < 2000, 3.0, 3 + wandering(rng, 4000, 0.6))
    series = table(**{"a.load": a, "b.load": b, "q.wait": 2 * a + b + wandering(rng, 4000, 0.6)})
    chunks, design = cut(series, rows), read_text(DESIGN, "d.yaml")
    streamed = Context(design, chunks[0], FitSettings(loss="q.wait"), lambda: chunks, extents_of(chunks))
    whole = Context(design, series, FitSettings(loss="q.wait"))
    for cause in (("a.load", 0), ("b.load", 0)):
        strength = streamed.fitted.nodes["q.wait"].coefficient(cause)
        assert strength == pytest.approx(whole.fitted.nodes["q.wait"].coefficient(cause), abs=1e-6)
    assert streamed.fitted.nodes["q.wait"].coefficient(("b.load", 0)) == pytest.approx(1, abs=0.15)
