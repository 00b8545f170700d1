"""Promises about flows that are no straight lines break where, and when, their closed forms say."""

from __future__ import annotations

import math

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.promises.decisions import condition_of, decide, part_of
from coherence.verify.promises.float_runs import BreakingRun, breaking_run
from coherence.verify.promises.outcomes import Open
from tests.draws import seeds, source

LAG = """coherence: 1
components: {{a: {{state: "x' = ({to} - a.x) / {lag} s", from: 0}}}}
promises: {{p: "{promise}"}}
"""
SPRING = """coherence: 1
components:
  a: {{state: "x' = b.x / 1 s", from: 0}}
  b: {{state: "x' = (1 - a.x - {damping} * b.x) / 1 s", from: 0}}
promises: {{p: always a.x <= {limit}}}
"""


def found(text: str) -> BreakingRun | None:
    model = elaborate(read_text(text))
    promise = model.promises["p"]
    return breaking_run(part_of(model, promise), condition_of(model, promise), promise.kind, 600)


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_a_lag_breaks_a_limit_when_its_exponential_does(seed: int) -> None:
    draw = source(seed)
    to, lag = round(draw.uniform(0.5, 20), 2), round(draw.uniform(0.2, 200), 1)
    share = draw.choice([0.2, 0.5, 0.9, 0.999, 1.001, 1.5])
    kind, side = draw.choice([("always", "<="), ("never", ">")])
    run = found(LAG.format(to=to, lag=lag, promise=f"{kind} a.x {side} {share * to!r}"))
    if share > 1:
        assert run is None
    else:
        assert run is not None
        assert float(run.time) == pytest.approx(-lag * math.log(1 - share), rel=2e-2 if share > 0.99 else 1e-4)


@pytest.mark.parametrize("damping", [0.1, 0.4, 1.2])
@pytest.mark.parametrize("beside", [0.99, 1.01])
def test_an_overshoot_breaks_what_is_below_its_peak(damping: float, beside: float) -> None:
    ratio = damping / 2
    peak = 1 + math.exp(-math.pi * ratio / math.sqrt(1 - ratio * ratio))
    assert (found(SPRING.format(damping=damping, limit=beside * peak)) is not None) is (beside < 1)


def test_what_has_no_run_in_floats_and_what_must_come_stay_open() -> None:
    model = elaborate(read_text(LAG.format(to=1, lag=1, promise="eventually a.x > 0.5")))
    outcome = decide(model, model.promises["p"], time_limit=60)
    assert isinstance(outcome, Open)
    assert outcome.curved
    assert found(LAG.format(to=1, lag=1, promise="eventually a.x > 0.5")) is None
    assert found(LAG.format(to=1, lag=1, promise="always a.x <= delayed(a.x, 1 s) + 0.1")) is None
