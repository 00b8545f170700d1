"""Which promises have a margin in telemetry, and what their drift is held against."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.session.promised_margins import PromisedMargin, promised_margins
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
    return {m.promise: m for m in promised_margins(context(DESIGN, {"r.arrivals": arrivals, "gate.latency": grows}))}


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
