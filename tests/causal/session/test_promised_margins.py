"""Which promises have a margin in telemetry, and what their drift is held against."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Series
from coherence.causal.session.context import Context, FitSettings
from coherence.causal.session.promised_margins import PromisedMargin, UnfollowedPromise, promised_margins
from coherence.language.reading import read_text
from tests.causal.sections.contexts import context

DESIGN = """coherence: 1
workload: {r: {rate: 100 req/s}}
components: {gate: {latency: r.arrivals * each, each: 0 .. 100, most: 300, open: 0 .. 9}}
promises:
  sla: always gate.latency <= gate.most
  floor: never gate.latency < 10
  ratio: always gate.latency / r.arrivals <= 9
  open: always gate.latency <= gate.open
  later: eventually gate.latency <= 400
  unseen: always gate.waiting <= 3
  means: always mean_over(gate.latency, 5 min) <= 400
"""


def margins(rows: int = 400, *, latency: float = 0.0, load: float = 0.0) -> dict[str, PromisedMargin]:
    """Returns the margins where latency grows by itself, or with the load, by so much a row."""
    rng = np.random.default_rng(3)
    arrivals = 100 + load * np.arange(rows) + rng.normal(0, 3, rows)
    grows = 2 * arrivals + latency * np.arange(rows) + rng.normal(0, 1, rows)
    every = promised_margins(context(DESIGN, {"r.arrivals": arrivals, "gate.latency": grows}))
    return {one.promise: one for one in every if isinstance(one, PromisedMargin)}


def test_a_promise_has_a_margin_where_its_signals_are_measured() -> None:
    drifting = margins(latency=0.1)
    assert list(drifting) == ["sla", "floor", "ratio"]
    sla = drifting["sla"]
    assert sla.at_equal == ("r.arrivals",)
    assert sla.drift is not None
    assert sla.drift.slope == pytest.approx(-0.01, rel=0.05)
    assert sla.drift.shrinks
    assert sla.drift.breach[0] == pytest.approx((100 - 0.1 * 400) / 0.01, rel=0.1)
    assert drifting["floor"].drift is not None
    assert drifting["floor"].drift.slope == pytest.approx(0.01, rel=0.05)


def test_load_alone_is_no_drift() -> None:
    drift = margins(load=0.05)["sla"].drift
    assert drift is not None
    assert not drift.shrinks


def test_what_tells_no_slope_says_why() -> None:
    assert margins(60)["sla"].refused == "a slope needs 100 samples, and has 60"
    broken = margins(latency=1.0)["sla"]
    assert (broken.samples, broken.broken > 200) == (400, True)
    assert broken.drift is not None
    assert broken.drift.breach[0] == 0.0


def test_what_has_no_margin_says_why() -> None:
    columns = {"r.arrivals": np.arange(300.0), "gate.latency": np.arange(300.0)}
    every = promised_margins(context(DESIGN, columns))
    why = {one.promise: one.why for one in every if isinstance(one, UnfollowedPromise)}
    assert why == {
        "open": "gate.open: no column, and no one number in the design",
        "later": "only what holds always, or never, has a margin at every sample",
        "unseen": "gate.waiting: no column, and no one number in the design",
        "means": "it depends on what was before, not on one sample",
    }


@pytest.mark.parametrize(("promise", "broken"), [
    ("always gate.latency <= 3", 100), ("always gate.latency < 3", 200), ("never gate.latency > 3", 100),
    ("never gate.latency >= 3", 200), ("always 3 >= gate.latency", 100), ("never gate.latency < 3", 200),
])  # fmt: skip
def test_a_sample_at_the_limit_breaks_what_is_strict(promise: str, broken: int) -> None:
    design = f"coherence: 1\ncomponents: {{gate: {{latency: 0 .. 9}}}}\npromises: {{p: {promise}}}\n"
    level = np.repeat([1.0, 2.0, 3.0, 3.0 + 1e-15, 4.0], [100, 100, 50, 50, 100])
    (margin,) = promised_margins(context(design, {"gate.latency": level}))
    assert isinstance(margin, PromisedMargin)
    assert (margin.samples, margin.broken) == (400, broken)


def test_a_limit_with_a_unit_says_how_a_column_without_one_is_read() -> None:
    design = "coherence: 1\ncomponents: {gate: {latency: 0 s .. 9 s}}\npromises: {p: always gate.latency <= 400 ms}\n"
    levels = np.linspace(0.1, 0.3, 200)[:, None]
    for units, of, bare in (
        ({}, PromisedMargin, ("gate.latency",)), ({"gate.latency": "s"}, PromisedMargin, ()),
        ({"gate.latency": "B"}, UnfollowedPromise, ()),
    ):  # fmt: skip
        series = Series(("gate.latency",), levels, 10.0, units=units)
        (margin,) = promised_margins(Context(read_text(design, "design.yaml"), series, FitSettings()))
        assert isinstance(margin, of)
        assert not isinstance(margin, PromisedMargin) or margin.without_unit == bare
