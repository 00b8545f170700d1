"""Layer scores multiply to the share in time as fractions, and each miss has one layer; delays split exactly."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.causal.data.index_inputs import IndexInputs
from coherence.causal.data.request_log import RequestLog, request_log
from coherence.causal.indices import IndexRefusal, MeasuredIndex, index_entries, measured_indices
from coherence.causal.indices.delay import stage_delays
from coherence.causal.indices.hidden import measure as hidden
from coherence.causal.indices.layers import chain
from coherence.causal.sections.indices import index_to_dict, render_indices
from tests.causal.indices.systems import pool


def random_log(seed: int, size: int = 200) -> RequestLog:
    """Three layers; some requests end within one, some are in flight, some layers are faster than their need."""
    rng = np.random.default_rng(seed)
    came = np.cumsum(rng.exponential(1.0, size))
    shares = rng.exponential(0.1, (3, size))
    stamps = came + np.cumsum(shares + rng.normal(0.05, 0.1, (3, size)).clip(-shares / 2), axis=0)
    stopped = rng.random(size) < 0.2
    stage = rng.integers(0, 3, size)
    for layer in range(3):
        stamps[layer, stopped & (stage <= layer)] = math.nan
    ends = np.where(
        stopped,
        np.fmax(np.fmax(came, np.nan_to_num(stamps[0], nan=0)), np.nan_to_num(stamps[1], nan=0)) + 0.3,
        stamps[2],
    )
    layers = {name: (stamps[row], shares[row]) for row, name in enumerate(("queue", "dispatch", "run"))}
    return request_log(
        came, shares.sum(axis=0), ends, completed=~stopped, deadline=rng.uniform(0.2, 0.8, size), layers=layers
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_scores_multiply_to_the_share_in_time_exactly(seed: int) -> None:
    log = random_log(seed)
    found = chain(log)
    assert math.prod(found.scores, start=Fraction(1)) == found.product == Fraction(int(log.in_time.sum()), len(log))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_each_miss_has_exactly_one_layer(seed: int) -> None:
    log = random_log(seed)
    found = chain(log)
    assert np.array_equal(found.lost >= 0, ~log.in_time)
    for number, (before, after) in enumerate(zip(found.counts, found.counts[1:], strict=False)):
        assert (found.lost == number).sum() == before - after


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_the_delays_of_the_stages_add_up_to_the_delay(seed: int) -> None:
    log = random_log(seed)
    assert sum(stage_delays(log).values()) == pytest.approx(log.delay, abs=1e-9)


def test_a_layer_by_hand() -> None:
    """Deadline 1: 0.9 s in the queue leave 0.1 s for a need of 0.2; the second request is lost while running."""
    log = request_log([0.0, 0.0, 0.0], 0.2 * np.ones(3), [1.1, 1.3, 0.5], completed=np.ones(3, bool), deadline=1.0,
                      layers={"queue": ([0.9, 0.1, 0.1], None), "run": ([1.1, 1.3, 0.5], None)})  # fmt: skip
    found = chain(log)
    assert found.scores == (Fraction(1), Fraction(2, 3), Fraction(1, 2))
    assert found.lost.tolist() == [1, 2, -1]


def test_the_delay_index_splits_by_stages_and_adds_up() -> None:
    found = measured_indices(IndexInputs(pool(0.85, overhead=0.3, until=100.0), servers=20), ["DI"])[0]
    assert isinstance(found, MeasuredIndex)
    parts = [part.estimate.value for part in found.parts if part.name.startswith("DI of ")]
    assert len(parts) == 2
    assert sum(parts) == pytest.approx(found.estimate.value, rel=1e-9)


def test_hidden_time_of_a_launch_and_of_waste() -> None:
    log = request_log([0.0, 1.0], [0.1, 0.1], [0.2, 1.5], completed=[True, False], held=[0.103, 0.097], devices=1.0)
    found = hidden(IndexInputs(log, provisioned=2.0))
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.value == pytest.approx(0.5)
    assert found.parts[0].estimate.value == pytest.approx(0.1 / 3.0)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.9])
def test_hidden_capacity_does_not_depend_on_load(load: float) -> None:
    found = hidden(IndexInputs(pool(load, overhead=0.03, until=60.0)))
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.value == pytest.approx(0.03 / 1.03, abs=1e-9)


def test_useful_above_held_is_a_violated_assumption() -> None:
    found = hidden(IndexInputs(request_log([0.0], [1.0], [2.0], completed=[True], held=[0.5])))
    assert isinstance(found, IndexRefusal)
    assert found.why == "assumption violated: useful 1 device-seconds exceed the 0.5 held"


def test_every_index_says_what_it_lacks_and_has_a_page() -> None:
    assert set(index_entries()) == {"CC", "CI", "DI", "HCL", "WPI", "kappa"}
    for name, entry in index_entries().items():
        for heading in ("Definition", "Words", "Unit and range", "Invariances", "Nulls", "Falsifier", "Source"):
            assert f"## {heading}" in entry.page, (name, heading)
        found = entry.measure(IndexInputs())
        assert isinstance(found, IndexRefusal)
        assert found.measure
        assert json.loads(json.dumps(index_to_dict(found)))["known"] is False


def test_missing_columns_are_named() -> None:
    bare = IndexInputs(request_log([0.0, 1.0], [1.0, 1.0], [1.5, 2.5]))
    told = "\n".join(render_indices(measured_indices(bare)))
    for words in (
        "column 'deadline'",
        "column 'service'",
        "column 'held'",
        "how many servers the latency class may claim",
    ):
        assert words in told


def test_the_latency_class_must_be_named() -> None:
    log = request_log([0.0, 1.0], [1.0, 1.0], [1.5, 2.5], work_class=["chat", "batch"])
    found = measured_indices(IndexInputs(log, servers=1), ["DI"])[0]
    assert isinstance(found, IndexRefusal)
    assert found.measure == ("which of the classes batch, chat is the latency class (its workload has `entitlement`)",)
    alone = measured_indices(IndexInputs(log.of_class("chat"), servers=1), ["DI"])[0]
    assert isinstance(alone, MeasuredIndex)
    with pytest.raises(UsageError, match="there is no index 'DJ'"):
        measured_indices(IndexInputs(log), ["DJ"])


def test_lines_and_data() -> None:
    found = measured_indices(
        IndexInputs(pool(0.3, overhead=0.055, deadline=60.0, until=60.0), servers=20), ["CI", "DI"]
    )
    told = render_indices(found, parts=False)
    assert told[0].startswith("CI  >= 0.")
    assert "5.5% slower" in told[1]
    data = json.loads(json.dumps([index_to_dict(one) for one in found]))
    assert data[0]["bound"] == ">="
    assert data[0]["high"] is None
    assert data[1]["value"] == pytest.approx(0.055)


def test_one_request_has_a_value_and_no_interval() -> None:
    found = measured_indices(IndexInputs(request_log([0.0], [1.0], [1.5]), servers=1), ["DI"])[0]
    assert isinstance(found, MeasuredIndex)
    assert found.estimate.value == pytest.approx(0.5)
    assert found.estimate.high == math.inf
