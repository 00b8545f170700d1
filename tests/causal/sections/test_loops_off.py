"""What `coherence fit` says of a loss without its loops."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.sections import loops_off
from tests.causal.sections.contexts import context, lines, tables

SCALED = """coherence: 1
workload: {web: {rate: 10 req/s .. 1000 req/s}}
components: {pool: {replicas: 1 .. 100, cpu: web.arrivals / (pool.replicas * 10)}}
loops:
  hpa:
    timescale: {period: 10 s}
    target: {signal: pool.cpu, setpoint: 60 %}
    actuation: {signal: pool.replicas, bounds: [2, 20], law: proportional}
"""


@pytest.mark.filterwarnings("error")
def test_a_loss_that_has_no_number_without_its_loops_is_refused() -> None:
    """Nothing divided by no replica is no number; at a level that is stated, by hand, arrivals over replicas and 10."""
    rng = np.random.default_rng(2)
    arrivals, replicas = 60 + rng.normal(0, 5, 300), np.round(10 + rng.normal(0, 1, 300))
    columns = {"web.arrivals": arrivals, "pool.replicas": replicas, "pool.cpu": arrivals / (replicas * 10)}
    (said,) = lines(loops_off.answer(context(SCALED, columns, loss="pool.cpu")))
    assert said.startswith("refused: pool.cpu is no number with every loop off, where pool.replicas stands at 0")
    stated = loops_off.answer(context(SCALED, columns, loss="pool.cpu", reference={"pool.replicas": 5.0}))
    (table,) = tables(stated)
    assert float(table.rows[-2][1]) == pytest.approx(arrivals.mean() / 50, rel=0.01)
