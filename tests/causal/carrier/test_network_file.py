"""The file of a fitted network is read by pgmpy and by our reader, and has the joint distribution of the fit."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bench.references.network_files import linear_network
from coherence.causal.carrier.linear_gaussian import joint, network
from coherence.causal.carrier.network_file import MARK, network_json
from coherence.causal.data.series import Series
from coherence.causal.fitting.fit import Fitted, fit
from coherence.causal.fitting.graph import CausalGraph, Influence

GRAPH = CausalGraph(
    ("a", "b", "c"), (Influence("a", "b"), Influence("b", "c"), Influence("a", "c", Fraction(15), Fraction(15)))
)


def fitted() -> Fitted:
    rng = np.random.default_rng(1)
    a = rng.normal(5, 1, 800)
    b = 2 * a + rng.normal(size=800)
    c = 0.5 * b + np.roll(a, 1) * 3e-7 + rng.normal(0, 1e-4, 800)
    return fit(Series(("a", "b", "c"), np.column_stack([a, b, c]), 15.0), GRAPH)


def test_what_is_written_is_read_to_the_last_digit(tmp_path: Path) -> None:
    file, ours = tmp_path / "n.json", network(fitted())
    file.write_text(network_json(fitted()))
    assert MARK in file.read_bytes()
    again = linear_network(file)
    assert [name for name, _ in again.columns] == ["a", "b", "c", "a@1"]
    for one, other in zip(joint(ours), joint(again), strict=True):
        assert np.array_equal(one, other)


def test_pgmpy_loads_it_and_has_the_same_moments(tmp_path: Path) -> None:
    models = pytest.importorskip("pgmpy.models")
    file, ours = tmp_path / "n.json", network(fitted())
    file.write_text(network_json(fitted()))
    model = models.LinearGaussianBayesianNetwork.load(str(file))
    labels = ["a", "b", "c", "a@1"]
    assert sorted(model.nodes()) == sorted(labels)
    assert model.check_model()
    for row, label in enumerate(labels):
        cpd = model.get_cpds(label)
        assert cpd.beta[0] == ours.constant[row]
        assert cpd.std == pytest.approx(np.sqrt(ours.variance[row]), rel=1e-12)
        assert [ours.matrix[row, labels.index(cause)] for cause in cpd.evidence] == list(cpd.beta[1:])


def test_what_is_refused_is_no_arrow_and_is_listed() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=12)
    short = fit(Series(("a", "b"), np.column_stack([a, 2 * a + rng.normal(size=12)]), 15.0),
                CausalGraph(("a", "b"), (Influence("a", "b"),)))  # fmt: skip
    data = json.loads(network_json(short))
    assert data["arcs"] == []
    assert [(entry["effect"], entry["causes"]) for entry in data["refused"]] == [("b", ["a"])]
    assert "too few" in data["refused"][0]["why"]
