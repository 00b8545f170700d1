"""Bands from the tolerance of a proportional loop: by hand, and what control coherence makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Floats, Series
from coherence.causal.indices.control import coherence
from coherence.causal.session.request_inputs import request_inputs
from coherence.causal.session.tolerance_tubes import tolerance_tubes
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate

LOOP = """
  hpa:
    target: {{signal: web.cpu, setpoint: 50 %{more}}}
    timescale: {{period: 15 s}}
    actuation: {{signal: {u}, bounds: [2, 12]}}
"""
TOLERANT = ", tolerance: 10 %"


def text(*, more: str = TOLERANT, written: str = "web.replicas", beside: str = "") -> str:
    """Returns a design of one autoscaler."""
    components = 'components: {web: {cpu: "10 / replicas", replicas: 2 .. 12}}'
    return f"coherence: 1\n{components}\nloops:{LOOP.format(more=more, u=written)}\n{beside}"


def series(replicas: Floats, cpu: Floats) -> Series:
    return Series(("web.replicas", "web.cpu"), np.column_stack([replicas, cpu]), 15.0)


def test_the_band_is_where_the_law_would_not_act() -> None:
    replicas, cpu = np.array([4.0, 10.0, 10.0, 3.0, 5.0]), np.array([1.0, 0.5, 0.02, 4.0, np.nan])
    ((tube, loop),) = tolerance_tubes(elaborate(read_text(text())), series(replicas, cpu))
    assert (tube.name, loop.name) == ("web.replicas", "hpa")
    assert tube.times.tolist() == [0, 15, 30, 45]
    # 4 x 1 / 0.5 = 8 are needed: 8 / 1.1 = 7.3 rounds up, 8 / 0.9 = 8.9 down; 10; 0.4 and 24 are beyond the bounds
    assert tube.low.tolist() == [8, 10, 2, 12]
    assert tube.high.tolist() == [8, 11, 2, 12]


def test_a_total_that_all_share_needs_no_members() -> None:
    model = elaborate(read_text(text(more=f"{TOLERANT}, type: average").replace("10 / replicas", "1 .. 9")))
    ((tube, _),) = tolerance_tubes(model, series(np.array([2.0, 9.0]), np.array([2.6, 2.6])))
    assert (tube.low.tolist(), tube.high.tolist()) == ([5, 5], [5, 5])


@pytest.mark.parametrize("design", [
    text(more=""), text(more=", tolerance: 10 %, type: value").replace("50 %", "web.least"),
    text(written="web.pods"), text().replace("10 / replicas", "min(1, 10 / replicas)"),
    text().replace('cpu: "10 / replicas", ', ""), text().replace("10 / replicas", "delayed(10 / replicas, 30 s)"),
    text(beside="  other: {timescale: {period: 9 s}, actuation: {signal: web.replicas, law: step, by: 1}}"),
])  # fmt: skip
def test_without_a_tolerance_or_a_number_there_is_no_band(design: str) -> None:
    design = design.replace("replicas: 2 .. 12}", "replicas: 2 .. 12, least: 10 % .. 90 %}")
    given = series(np.array([2.0, 9.0]), np.array([0.6, 0.6]))
    assert list(tolerance_tubes(elaborate(read_text(design)), given)) == []


def test_a_calm_loop_moves_as_little_as_it_must_and_a_cycle_does_not() -> None:
    design = read_text(text())
    model = elaborate(design)
    work = 3 + 2 * np.sin(np.arange(400) / 60)
    calm = np.ceil(work / 0.5)
    cycling = np.where(np.arange(400) % 2, 12.0, 6.0)
    coherent = []
    for replicas in (calm, cycling):
        given = request_inputs(design, model, series(replicas, work / replicas), log=None)
        assert given is not None
        (tube,) = given.facts.tubes
        coherent.append(coherence(tube))
        assert given.notes == (
            "taken for the band of web.replicas: the tolerance of hpa, 10% around what its law asks for",
        )
        assert {action.loop for action in given.facts.actions} == {"hpa"}
    assert coherent[0] > 0.8
    assert coherent[1] < 0.1
