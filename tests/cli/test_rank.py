"""`coherence rank` from files: PetShop and RCAEval folders, tables with traces, an objective that is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence.cli._run import run
from tests.causal.ranking.made_incidents import made_incident
from tests.causal.ranking.test_call_traces import spans
from tests.causal.ranking.test_call_traces import write as write_traces
from tests.causal.ranking.test_rcaeval import START, write
from tests.paths import DATA


def ranked(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert run(["rank", *words, "-o", "json"]) == 0
    incidents = json.loads(capsys.readouterr().out)["incidents"]
    assert isinstance(incidents, list)
    return incidents


@pytest.mark.slow
def test_the_incidents_of_petshop_are_explained_with_a_score(capsys: pytest.CaptureFixture[str]) -> None:
    incidents = ranked(capsys, str(DATA / "petshop"))
    assert [(one["claimed"], one["place"]) for one in incidents] == [(True, 1)] * 3
    assert run(["rank", str(DATA / "petshop")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 labelled incidents: top 1: 1.000, top 3: 1.000"


def test_a_case_of_rcaeval_is_ranked_without_and_with_traces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    incident = made_incident(5, "delay")
    folder = write(tmp_path / "cases", incident, "delay")
    (alone,) = ranked(capsys, str(tmp_path / "cases"))
    numbers = {name: str(at) for at, name in enumerate(incident.calls, start=1)}
    parents = {callee: caller for caller, callees in incident.calls.items() for callee in callees}
    traces = write_traces(
        tmp_path / "traces.json",
        [spans(name, (at, numbers.get(parents.get(name, ""), ""))) for name, at in numbers.items()],
    )
    (along,) = ranked(capsys, str(folder), "--signal", incident.signal, "--traces", str(traces))
    assert (alone["claimed"], along["claimed"], along["place"]) == (True, True, 1)
    assert alone["method"].startswith("largest shift")
    assert "graph of calls" in along["method"]


def test_an_objective_says_when_the_incident_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    incident = made_incident(5, "delay")
    table = write(tmp_path, incident, "delay") / "data.csv"
    level = float(incident.normal[incident.signal].max())
    (found,) = ranked(capsys, str(table), "--slo", f"{incident.signal}<={level}")
    assert found["incident"].startswith(f"{START + len(incident.normal):g}")
    assert incident.truth in [one["service"] for one in found["services"][:3]]
    assert run(["rank", str(table), "--slo", f"{incident.signal}<=1e9"]) == 2
    assert "no incident to explain" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "say when the incident was"),
        (["--slo", "x"], "write NAME<=LEVEL"),
        (["--slo", "a<=1", "--signal", "a"], "leave out --signal"),
        (["--incident", "9..1"], "the smaller first"),
        (["--incident", "soon..1"], "is no time"),
    ],
)
def test_what_is_not_said_is_asked_for(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.csv"
    table.write_text("time,a_latency\n" + "".join(f"{at},{at % 3}\n" for at in range(40)))
    assert run(["rank", str(table), *words]) == 2
    assert message in capsys.readouterr().err
