"""Ranges of what a Prometheus answers, beside the samples that made it; answers that give no range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.units import quantity
from coherence.causal.telemetry import prometheus
from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget, escaped
from coherence.checking.measured import measuring
from coherence.checking.measured.facts import kind_modules
from coherence.checking.measured.measuring import Answered, Measured, Settings
from coherence.checking.measured.overlay_text import value_text
from tests.draws import few

BOUNDS = (0.005, 0.1, 0.5, 1, 2.5, 10)
FACT = AskedFact("activities", ("components", "web", "takes", "load"), "web", "s", "the time of a start")
TARGET = FactTarget("web", "Deployment", "prod", 3600)


def answered(
    monkeypatch: pytest.MonkeyPatch, series: Mapping[str, float], share: Fraction = Fraction(1), *, le: bool = False
) -> Answered:
    """What is measured where a query of the user gives these values, by the label that tells them apart."""

    def give(read: object, query: str, start: float, end: float, step: float) -> object:
        del read, query, start, step
        return {(("le" if le else "pod", name),): np.array([[end, value]]) for name, value in series.items()}

    monkeypatch.setattr(measuring, "series_of", give)
    (answer,) = measuring.measured_facts("http://localhost:1", {FACT: TARGET}, Settings(1e9, share, {FACT.name: "own"}))
    return answer


def measured(answer: Answered) -> Measured:
    assert answer.measured is not None, answer.tried
    return answer.measured


def buckets(samples: list[float]) -> dict[str, float]:
    """Cumulative counts, as a client library keeps them."""
    return {f"{bound:g}": float(sum(x <= bound for x in samples)) for bound in (*BOUNDS, math.inf)}


@pytest.mark.slow
@given(st.lists(st.floats(1e-4, 10), min_size=1, max_size=30))
@settings(max_examples=150, deadline=None)
def test_a_histogram_gives_the_narrowest_buckets_that_hold_all_samples(samples: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        found = measured(
            answered(patch, {("+Inf" if k == "inf" else k): v for k, v in buckets(samples).items()}, le=True)
        )
    lower = [bound for bound in (0, *BOUNDS) if bound < min(samples)]
    assert found.high == Fraction(str(next(bound for bound in BOUNDS if bound >= max(samples))))
    assert found.low == Fraction(str(max(lower)))
    assert found.samples == len(samples)


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=60), st.sampled_from([1.0, 0.9, 0.5]))
@settings(max_examples=few(150), deadline=None)
def test_samples_give_a_range_that_holds_at_least_the_share(samples: list[float], share: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        found = measured(answered(patch, {str(k): x for k, x in enumerate(samples)}, Fraction(share)))
    held = sum(found.low <= Fraction(x) <= found.high for x in samples)
    assert held >= share * len(samples)
    if share == 1:
        assert (found.low, found.high) == (Fraction(min(samples)), Fraction(max(samples)))


@given(st.fractions(Fraction(1, 10**6), 10**7), st.fractions(1, 3))
def test_a_written_range_is_never_narrower(low: Fraction, factor: Fraction) -> None:
    high = low * factor
    for unit in ("s", "req/s", ""):
        text = value_text(Measured(low, high, 3, FactQuery("x", "y", "samples")), unit)
        first, _, last = text.partition(" .. ")
        assert quantity(first)[0] <= low
        assert quantity(last or first)[0] >= high
        assert quantity(first)[0] > low * Fraction(998, 1000)


@pytest.mark.parametrize(
    ("series", "le", "words"),
    [
        ({}, False, "no samples"),
        ({"a": math.nan, "b": 3}, False, "1 of 2 samples are no amounts, such as nan"),
        ({"a": math.inf}, False, "no amounts, such as inf"),
        ({"a": -2.0}, False, "no amounts, such as -2"),
        ({"a": 1e300}, False, "beyond reason"),
        ({"a": 0.0}, False, "all samples are 0"),
        ({"1": 3.0}, True, 'lack le="+Inf"'),
        ({"1": 0.0, "+Inf": 0.0}, True, "no samples"),
        ({"1": 3.0, "+Inf": 5.0}, True, "2 of 5 samples are above the largest bucket"),
        ({"1": 5.0, "2": 3.0, "+Inf": 6.0}, True, "no cumulative buckets"),
        ({"1": math.nan, "+Inf": 6.0}, True, "holds nan samples"),
        ({"much": 1.0, "+Inf": 6.0}, True, "no `le` that is a number"),
    ],
)
def test_what_gives_no_range_says_why(
    monkeypatch: pytest.MonkeyPatch, series: dict[str, float], le: bool, words: str
) -> None:
    found = answered(monkeypatch, series, le=le)
    assert found.measured is None
    assert words in found.tried[0][1]


def test_a_share_leaves_out_what_is_above_the_largest_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    series = {"0.1": 10.0, "1": 990.0, "10": 998.0, "+Inf": 1000.0}
    assert answered(monkeypatch, series, le=True).measured is None
    found = measured(answered(monkeypatch, series, Fraction(98, 100), le=True))
    assert (found.low, found.high) == (Fraction(1, 10), Fraction(1))


def test_limits_are_those_of_the_reader() -> None:
    read = prometheus.server_read("http://localhost:1", measuring.LIMITS)
    assert (read.limits.answer_bytes, read.limits.seconds) == (16 << 20, 120)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod", "", "Odd"])
def test_every_kind_of_fact_writes_queries_for_every_kind_of_object(kind: str) -> None:
    target = FactTarget('we"b', kind, "prod", 3600)
    for name in kind_modules():
        for key in ("load", "run", "serve", "unavailable", "copies", "demand"):
            also = ((("components", "x", "cpu"), "y"),)
            fact = AskedFact(name, ("components", "x", key), "x", "s", "w", also)
            for query in kind_modules()[name].queries(fact, target):
                assert query.promql.count("(") == query.promql.count(")")
                assert 'we"b' not in query.promql.replace('we\\"b', "")


def test_pods_of_an_object_are_not_those_of_one_whose_name_is_longer() -> None:
    import re

    pattern = TARGET.pods().partition('pod=~"')[2].rstrip('"')
    assert re.fullmatch(pattern, "web-7d9f8b6c5d-x2x4z")
    assert not re.fullmatch(pattern, "web-api-7d9f8b6c5d-x2x4z")
    assert not re.fullmatch(pattern, "web-api-x2x4z")  # pods of a DaemonSet `web-api`
    assert escaped('a.b"') == r"a\\.b\""
