"""Control coherence: the lazy path against a linear programme, worked examples, who undoes whom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench._causal_indices import linear_programme
from coherence.causal.data.index_inputs import IndexInputs, LoopAction, Tube
from coherence.causal.indices import IndexRefusal, MeasuredIndex
from coherence.causal.indices.control import coherence, least_variation, measure, variation
from tests.draws import few
from tests.paths import SPECS

paths = st.lists(st.integers(-20, 20), min_size=1, max_size=30)


def tube(values: list[float], low: list[float], high: list[float]) -> Tube:
    return Tube("servers", np.arange(len(values), dtype=float), np.array(values), np.array(low), np.array(high))


@settings(max_examples=few(60), deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40))
def test_the_least_variation_is_that_of_a_linear_programme(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    middle = np.cumsum(rng.normal(size=size))
    low, high = middle - rng.exponential(1.0, size), middle + rng.exponential(1.0, size)
    assert least_variation(low, high) == pytest.approx(linear_programme(low, high), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(paths, st.data())
def test_no_path_in_the_tube_moves_less(path: list[int], data: st.DataObject) -> None:
    below = data.draw(st.lists(st.integers(0, 5), min_size=len(path), max_size=len(path)))
    above = data.draw(st.lists(st.integers(0, 5), min_size=len(path), max_size=len(path)))
    u = np.array(path)
    assert least_variation(u - np.array(below), u + np.array(above)) <= variation(u)


@settings(max_examples=50, deadline=None)
@given(paths)
def test_a_tube_without_width_leaves_one_path(path: list[int]) -> None:
    assert least_variation(path, path) == variation(path)


def test_a_fight_of_two_loops() -> None:
    values = [10.0, 0.0] * 50
    found = measure(IndexInputs(tubes=(tube(values, [4.0] * 100, [6.0] * 100),)))
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.value == 0.0
    assert found.notes == ("servers lies outside its tube at 100.0% of the samples: it does not follow the need",)


def test_no_motion_needs_none_and_too_little_is_told() -> None:
    assert coherence(tube([1.0, 1.0], [0.0, 0.0], [2.0, 2.0])) == 1.0
    slow = tube([0.0, 1.0], [0.0, 4.0], [0.0, 5.0])
    found = measure(IndexInputs(tubes=(slow,)))
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.value == 4.0
    assert "does not follow" in found.says


def test_an_autoscaler_that_follows_one_rise_with_an_overshoot() -> None:
    assert coherence(tube([0.0, 4.0, 3.0], [0.0, 3.0, 3.0], [0.0, 4.0, 4.0])) == pytest.approx(3 / 5)


def test_only_the_horizon_counts() -> None:
    one = tube([0.0, 9.0, 0.0, 0.0, 1.0], [0.0] * 4 + [1.0], [9.0, 9.0, 0.0, 0.0, 9.0])
    short = measure(IndexInputs(tubes=(one,), horizon=2.0))
    whole = measure(IndexInputs(tubes=(one,)))
    assert isinstance(short, MeasuredIndex)
    assert isinstance(whole, MeasuredIndex)
    assert short.estimate.value == 1.0
    assert "over the last 2 s of the record alone" in short.notes[0]
    assert not any("alone" in note for note in whole.notes)
    assert whole.estimate.value == pytest.approx(1 / 19)


def test_who_undoes_whom() -> None:
    actions = [LoopAction(0.0, "throttle", "batch", -8.0), LoopAction(1.0, "backfill", "batch", 8.0),
               LoopAction(2.0, "throttle", "batch", -8.0), LoopAction(3.0, "backfill", "batch", 4.0)]  # fmt: skip
    one = tube([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    found = measure(IndexInputs(tubes=(one,), actions=tuple(actions)))
    assert isinstance(found, MeasuredIndex)
    told = {part.name: part.estimate.value for part in found.parts}
    assert told["net of gross motion, throttle on batch"] == 1.0
    assert told["of all motion of batch, backfill undoes of throttle"] == pytest.approx(12 / 28)
    assert told["of all motion of batch, throttle undoes of backfill"] == pytest.approx(8 / 28)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (tube([1.0], [2.0], [1.0]), "low exceeds high at 0 s"),
        (tube([float("nan")], [0.0], [1.0]), "not a number"),
        (Tube("u", np.zeros(2), np.zeros(2), np.zeros(1), np.zeros(2)), "differ in length"),
    ],
)
def test_a_tube_that_cannot_be_is_refused(bad: Tube, why: str) -> None:
    found = measure(IndexInputs(tubes=(bad,)))
    assert isinstance(found, IndexRefusal)
    assert why in found.why
    with pytest.raises(ValueError, match="the tube is empty at sample 0"):
        least_variation([1.0], [0.0])


@pytest.mark.parametrize(("name", "level", "steps", "expected"), [
    ("throttle-backfill", 70_000, 400, 70 / 3170),  # the most that never reaches the throttle; TV of the fight by hand
    ("throttle-backfill-repaired", 65_000, 400, 1.0),
])  # fmt: skip
def test_two_loops_of_a_design_by_its_exact_run(name: str, level: int, steps: int, expected: float) -> None:
    """The band: where the load starts, then the load that backfill may reach without ever waking the throttle."""
    from coherence.causal.data.series import Series
    from coherence.causal.session.request_inputs import request_inputs
    from coherence.language.reading import read_design
    from coherence.model.elaborate import elaborate
    from coherence.simulate.study.recording import telemetry
    from coherence.simulate.study.setting import Setting

    design = read_design(SPECS / name / "design.yaml")
    signal = telemetry(design, Setting(float(steps), 0.0, (1,)))["batch.load"]
    band = np.where(signal.times == 0, signal.values, float(level))
    names = ("batch.load", "batch.load.low", "batch.load.high")
    series = Series(names, np.column_stack([signal.values, band, band]), step=1.0)
    given = request_inputs(design, elaborate(design), series, log=None)
    assert given is not None
    found = measure(IndexInputs(tubes=given.facts.tubes, actions=given.facts.actions))
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.value == pytest.approx(expected, rel=1e-12)
