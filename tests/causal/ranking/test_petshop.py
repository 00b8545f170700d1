"""The PetShop format is read exactly or refused with its place; the incidents at hand are explained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.causal.ranking import petshop
from tests.paths import DATA

HEAD = (
    "microservice,web,web,web,db,db,db\n"
    "metric,latency,requests,availability,latency,requests,availability\n"
    "statistic,Average,Sum,Average,Average,Sum,Average\n"
    "unix_timestamp,,,,,,\n"
)
GRAPH = ",web,db\nweb,0.0,1.0\ndb,0,0\n"
TARGET = {
    "target": {"node": "web", "metric": "latency", "agg": "Average", "timestamp": 300},
    "root_cause": {"node": "db"},
}


def folder(root: Path) -> Path:
    """A small scenario: the database became slow."""
    random = np.random.default_rng(1)

    def lines(count: int, extra: np.ndarray[tuple[int], np.dtype[np.float64]], start: int) -> str:
        slow = 0.02 + 0.001 * random.standard_normal(count) + extra
        web = 0.05 + 0.002 * random.standard_normal(count) + 2 * slow
        rows = [f"{start + 300 * n},{web[n]},100,99.5,{slow[n]},200,100" for n in range(count)]
        return HEAD + "\n".join(rows) + "\n"

    (root / "noissue").mkdir(parents=True)
    (root / "train" / "issue_0").mkdir(parents=True)
    (root / "graph.csv").write_text(GRAPH)
    (root / "noissue" / "metrics.csv").write_text(lines(300, np.zeros(300), 0))
    (root / "train" / "issue_0" / "metrics.csv").write_text(lines(5, np.array([0, 0, 0.1, 0.05, 0]), 900_000))
    (root / "train" / "issue_0" / "target.json").write_text(json.dumps(TARGET))
    return root


def test_a_scenario_is_read_and_its_incident_explained(tmp_path: Path) -> None:
    found = petshop.scenario(folder(tmp_path / "shop"))
    assert found.name == "shop"
    assert found.calls == {"web": ("db",), "db": ()}
    assert found.normal is not None
    assert found.normal.services == ("web", "db")
    (one,) = found.issues
    assert (one.name, one.label, one.service, one.time) == ("shop/train/issue_0", "db", "web", 300.0)
    ranking = petshop.rank_issue(found.calls, found.normal, one.metrics, one.service, one.metric)
    assert ranking.names[0] == "db"
    assert ranking.claims_cause
    assert [each.name for each in petshop.scenarios(tmp_path)] == ["shop"]


def test_costs_are_those_of_a_request_of_the_target(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(HEAD + "0,0.5,10,90,0.1,20,95\n300,0.5,10,100,,0,\n600,0.5,,100,0.1,20,100\n")
    read = petshop.metrics(path)
    seconds = petshop.costs(read, "web", "latency", ("web", "db", "cache"))
    np.testing.assert_allclose(seconds["db"], [0.2, 0.0, np.nan])
    np.testing.assert_allclose(seconds["web"], [0.5, 0.5, np.nan])
    assert seconds.excluded[0].what == "cache"
    failures = petshop.costs(read, "web", "availability", ("web", "db"))
    np.testing.assert_allclose(failures["db"], [0.1, 0.0, np.nan])
    assert failures.units["db"] == "failures"
    with pytest.raises(InputError, match="no cost for 'requests'"):
        petshop.costs(read, "web", "requests", ("web",))
    with pytest.raises(InputError, match="the target 'shop' is not measured"):
        petshop.costs(read, "shop", "latency", ("web",))


def test_calls_that_their_caller_measures() -> None:
    graph = {"a": ("x_remote", "y_remote", "b"), "b": ("y_remote", "q Database::SQL")}
    assert petshop.measured_by(graph) == {"x_remote": "a", "q Database::SQL": "b"}
    assert petshop.reached(graph, "a") == ("a", "x_remote", "y_remote", "b", "q Database::SQL")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a,b\n", "three header rows of one length"),
        (HEAD, "three header rows of one length"),
        (HEAD + "0,x,1,1,1,1,1\n", r"metrics.csv:5:1: 'x' is not a number"),
        (HEAD + "0,1,1,1,1,1\n", r"metrics.csv:5:1: 5 cells for 6 columns"),
        (HEAD + "300,1,1,1,1,1,1\n0,1,1,1,1,1,1\n", r"metrics.csv:6:1: times must be epoch seconds that increase"),
        (HEAD.replace("db", "web") + "0,1,1,1,1,1,1\n", "two columns are web/latency/Average"),
    ],
)
def test_bad_metrics_are_refused_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        petshop.metrics(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (",web,web\n", "must name every service once"),
        (",web,db\nweb,0\n", r"graph.csv:2:1: 1 cells for 2 services"),
        (",web,db\nweb,0,yes\n", "'yes' is not a number"),
        (",web,db\nweb,0,1\n", "no row for 'db'"),
    ],
)
def test_bad_graphs_are_refused_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "graph.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        petshop.calls(path)


def test_bad_incidents_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no graph\.csv here"):
        petshop.scenario(tmp_path)
    root = folder(tmp_path / "shop")
    (root / "train" / "issue_0" / "target.json").write_text('{"target": {}}')
    with pytest.raises(InputError, match="not an incident: KeyError"):
        petshop.scenario(root)
    (root / "train" / "issue_0" / "target.json").write_text("{")
    with pytest.raises(InputError, match="not an incident"):
        petshop.scenario(root)
    (root / "noissue" / "metrics.csv").unlink()
    (root / "train" / "issue_0" / "target.json").write_text(json.dumps(TARGET))
    assert petshop.scenario(root).normal is None


@pytest.mark.parametrize(("name", "issue"), [("low_traffic", 0), ("high_traffic", 1), ("high_traffic", 4)])
def test_labelled_incidents(name: str, issue: int) -> None:
    found = petshop.scenario(DATA / "petshop" / name)
    assert found.normal is not None
    (one,) = (incident for incident in found.issues if incident.name.endswith(f"issue_{issue}"))
    ranking = petshop.rank_issue(found.calls, found.normal, one.metrics, one.service, one.metric)
    assert ranking.names[0] == one.label
    assert ranking.claims_cause
