"""Networks with known parameters are read, simulated and fitted again: the truth comes back."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from bench.references.network_files import discrete_network, linear_network
from bench.references.probability_tables import counted, distances
from coherence.base.errors import InputError
from coherence.causal.carrier.linear_gaussian import joint, simulated
from coherence.causal.data.series import Series
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.graph import CausalGraph, Influence

MODELS = Path(str(files("pgmpy"))) / "utils" / "example_models"
# those whose probabilities are large enough for a normal interval of 100,000 draws
DISCRETE = (
    "alarm",
    "asia",
    "cancer",
    "child",
    "earthquake",
    "hepar2",
    "insurance",
    "sachs",
    "survey",
    "water",
    "win95pts",
)
LINEAR = {
    "nodes": ["b", "a"],
    "cpds": {
        "a": {"coefficients": {"(Intercept)": [1.0]}, "variance": [0.5], "parents": []},
        "b": {"coefficients": {"(Intercept)": [-2.0], "a": [3.0]}, "variance": [0.25], "parents": ["a"]},
    },
}
BIF = """network unknown { }
variable rain { type discrete [ 2 ] { yes, no }; }
variable "wet grass" {
  type discrete [ 3 ] { dry, damp, wet };  // three
}
probability ( rain ) { table 0.2, 0.8; }
probability ( "wet grass" | rain ) {
  (yes) 0.0, 0.1, 0.9;
  (no) 0.7, 0.25, 0.05;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "nodes", "arcs"),
    [
        ("ecoli70", 46, 70),
        pytest.param("magic-niab", 44, 66, marks=pytest.mark.slow),
        pytest.param("magic-irri", 64, 102, marks=pytest.mark.slow),
        pytest.param("arth150", 107, 150, marks=pytest.mark.slow),
    ],
)
def test_linear_networks_are_refitted_within_five_standard_errors(name: str, nodes: int, arcs: int) -> None:
    truth = linear_network(MODELS / f"{name}.json")
    names = tuple(column[0] for column in truth.columns)
    pairs = np.argwhere(truth.matrix).tolist()
    assert (len(names), len(pairs)) == (nodes, arcs)
    graph = CausalGraph(names, tuple(Influence(names[cause], names[effect]) for effect, cause in pairs))
    again = fit(Series(names, simulated(truth, 100_000, 1), 1.0), graph)
    checked = 0
    for effect, node in again.nodes.items():
        for number, (cause, _) in enumerate(node.equation.columns):
            away = node.coefficients[0, number] - truth.matrix[names.index(effect), names.index(cause)]
            assert abs(away) <= 5 * node.error[number]
            checked += 1
        assert node.noise**2 == pytest.approx(float(truth.variance[names.index(effect)]), rel=0.03)
    assert checked == arcs


@pytest.mark.parametrize("name", ["asia", "cancer", "earthquake", "survey", "sachs"])
def test_discrete_networks_are_counted_within_five_standard_errors(name: str) -> None:
    _counted(MODELS / f"{name}.bif.gz")


@pytest.mark.slow
def test_every_discrete_network_is_counted_within_five_standard_errors() -> None:
    for name in DISCRETE:
        _counted(MODELS / f"{name}.bif.gz")


def _counted(path: Path) -> None:
    found = discrete_network(path)
    drawn = found.drawn(100_000, seed=1)
    far = np.concatenate([distances(table, drawn, fewest=200) for table in found.tables])
    assert len(far) > len(found.tables)
    assert far.max() <= 5


def test_a_linear_network_means_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(json.dumps(LINEAR))
    found = linear_network(path)
    mean, covariance = joint(found)
    np.testing.assert_allclose(mean, [1.0, 1.0])
    np.testing.assert_allclose(covariance, [[4.75, 1.5], [1.5, 0.5]])
    drawn = simulated(found, 50_000, 3)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, rtol=0.05)


def test_a_discrete_network_means_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "two.bif.gz"
    path.write_bytes(gzip.compress(BIF.encode()))
    found = discrete_network(path)
    assert found.states == {"rain": ("yes", "no"), "wet grass": ("dry", "damp", "wet")}
    rain, grass = found.tables
    np.testing.assert_allclose(grass.probabilities, [[0.0, 0.1, 0.9], [0.7, 0.25, 0.05]])
    drawn = found.drawn(20_000, seed=2)
    estimates, given = counted(grass, drawn)
    assert given.sum() == 20_000
    assert estimates[0, 0] == 0.0
    assert float(counted(rain, drawn)[0][0]) == pytest.approx(0.2, abs=0.02)
    assert distances(grass, drawn).max() < 5
    drawn["wet grass"][:] = 0
    assert distances(grass, drawn).max() == np.inf, "what cannot happen has happened"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a linear network"),
        ('{"nodes": ["a"]}', "not a linear network: KeyError"),
        (json.dumps(LINEAR).replace("[0.5]", "[-0.5]"), "a variance of -0.5"),
        (json.dumps(LINEAR).replace('"a": [3.0]', '"c": [3.0]'), "KeyError"),
    ],
)
def test_bad_linear_networks_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        linear_network(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0.2, 0.8", "0.2, 0.9", "do not sum to 1"),
        ("0.2, 0.8", "0.2", "1 probabilities for 2 states of 'rain'"),
        ("0.2, 0.8", "0.2, many", "'many' is not a number"),
        ("(yes) 0.0", "(maybe) 0.0", "'rain' has no state 'maybe'"),
        ("[ 3 ]", "[ 4 ]", "'wet grass' says 4 states and names 3"),
        ("| rain", "| snow", "'snow' is no variable"),
        ("(no) 0.7, 0.25, 0.05;\n}\n", "", "ends too early"),
        ("probability ( rain ) { table 0.2, 0.8; }", "", "no probability of 'rain'"),
        ("network", "netwerk", "'netwerk' where a variable"),
    ],
)
def test_bad_discrete_networks_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "bad.bif"
    assert old in BIF
    path.write_text(BIF.replace(old, new))
    with pytest.raises(InputError, match=said):
        discrete_network(path)


def test_an_absent_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        discrete_network(tmp_path / "none.bif")
