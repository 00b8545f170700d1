"""What each verb refuses, and the parts of its result that no command prints."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import coherence as co
from coherence.base.errors import UsageError
from coherence.base.places import Place
from coherence.door.bound import WITNESS_COUNT, bound, bounds, floors
from coherence.door.check import codes
from coherence.door.execute import execute
from coherence.door.fit import of_frame
from coherence.door.fix import unified_diff
from coherence.door.import_design import import_design
from coherence.door.operating_points import as_json
from coherence.door.region import region
from coherence.door.second_opinions import CrossChecks
from coherence.door.simulate import simulate
from coherence.door.sweep import axis_text, sweep
from coherence.door.unread import unread_json
from coherence.findings.finding import Evidence, Finding, Grade, NotRead, Severity, Verdict
from coherence.loops.interchange.cross_check import CrossCheck, SecondOpinion
from tests.door.test_front_door import CALLS, LAG
from tests.loops.settling.test_enclosed_laps import ROOM

HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 5
  metrics:
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}
"""


def test_check_takes_one_code_or_several_and_knows_them() -> None:
    assert codes("COH2") == ("COH2",)
    assert codes(["COH201", "COH3"]) == ("COH201", "COH3")
    with pytest.raises(UsageError, match="COH999"):
        co.check(CALLS, select="COH999")


def test_check_gives_findings_by_verdict() -> None:
    result = co.check(CALLS, select="COH201")
    assert tuple(result) == result.findings
    assert {finding.code for finding in result.conflicts} == {"COH201"}
    assert len(result.conflicts) + len(result.proved) + len(result.undecided) == len(result.findings)


def test_fix_gives_a_design_that_is_proved_and_the_diff_to_it() -> None:
    repaired = co.fix(CALLS, select="COH201")
    assert [finding.code for finding in repaired.removed] == ["COH201"]
    assert co.check(repaired.design, select="COH201").proved
    assert repaired.to_frame()["line"].tolist() == [6]
    assert unified_diff("/a/b.yaml", "x\n", "x\n") == ""
    assert unified_diff("/a/b.yaml", "x", "y").endswith("+y\n\\ No newline at end of file\n")


def test_execute_names_loops_and_signals_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="there is no loop 'clt': did you mean 'ctl'"):
        execute(LAG, until=60, order=("clt",))
    run = execute(LAG, until="3 min")
    assert list(run.to_frame().index) == [0.0, 60.0, 120.0, 180.0]
    assert run.actions["loop"].tolist() == ["ctl"] * len(run.actions)
    assert run.to_frame()["tank.level"].iloc[1] == float(run.instants[1].after["tank.level"])
    with pytest.raises(UsageError, match=r"no signal 'tank\.lvl'"):
        run.plot(signal="tank.lvl")


def test_simulate_refuses_what_leaves_nothing() -> None:
    with pytest.raises(UsageError, match="leaves nothing"):
        simulate(LAG, until="1 min", warm_up="1 min")
    with pytest.raises(UsageError, match="at least one run"):
        simulate(LAG, runs=0)


def test_axes_are_pairs_or_pairs_with_a_number() -> None:
    assert axis_text("a.b", ("30 %", "80 %", 6)) == "a.b=30 %:80 %:6"
    with pytest.raises(UsageError, match="give"):
        axis_text("a", "3")
    with pytest.raises(UsageError, match="a map has one or two"):
        sweep(LAG)
    with pytest.raises(UsageError, match="states no number"):
        region(CALLS, {"calls.0.trys": (1, 2)})


def test_a_manifest_has_no_region(tmp_path: Path) -> None:
    (tmp_path / "hpa.yaml").write_text(HPA, encoding="utf-8")
    with pytest.raises(UsageError, match="is a manifest"):
        region(tmp_path / "hpa.yaml", {"spec.maxReplicas": (1, 2)})


def test_manifests_become_a_design_that_reads_as_they_do(tmp_path: Path) -> None:
    file = tmp_path / "hpa.yaml"
    file.write_text(HPA, encoding="utf-8")
    made = import_design(file)
    assert list(made.design.loops) == list(co.read(file).loops) == list(co.read(made.text).loops)
    with pytest.raises(UsageError, match="no importer for 'Hpa'"):
        import_design(file, kind="Hpa")
    with pytest.raises(UsageError, match="at least one"):
        import_design()


def test_a_witness_of_many_parts_is_not_run() -> None:
    inputs = {"size": "8 GiB", "bandwidth": "300 GB/s"}
    small, large = bound("all_reduce_end_point", n=8, **inputs), bound("all_reduce_end_point", n=10**9, **inputs)
    assert small.attained == pytest.approx(small.value)
    assert large.attained is None
    assert f"up to {WITNESS_COUNT:,}" in (large.answers.why if large.answers else "")
    assert large.value == pytest.approx(2 * 8 * 2**30 / 300e9)


def test_bounds_are_listed_and_say_what_they_need() -> None:
    assert "all_reduce_end_point" in bounds()
    with pytest.raises(UsageError, match="give n, size, bandwidth"):
        bound("all_reduce_end_point").value  # noqa: B018
    with pytest.raises(UsageError, match="did you mean"):
        bound("all_reduce_endpoint")


def test_floors_have_a_row_each() -> None:
    result = floors(CALLS)
    assert set(result.to_frame()["bound"]) == {row["bound"] for row in result.data["designs"][0]["floors"]} | {
        row["bound"] for row in result.data["designs"][0]["without_a_number"]
    }


def test_a_frame_is_telemetry_by_its_index() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a.b": [1.0, np.nan, 3.0]}, index=pd.to_datetime([0, 15, 30], unit="s"))
    measured = of_frame(table)
    assert measured["a.b"].times.tolist() == [0.0, 30.0]
    assert measured.grid.tolist() == [0.0, 15.0, 30.0]
    with pytest.raises(UsageError, match="no telemetry"):
        of_frame(pd.DataFrame({"a.b": ["x"]}, index=[0.0]))


def test_the_parts_of_documents_are_plain_data() -> None:
    place = Place("d.yaml", 1, 1, 1, 2)
    evidence = Evidence(Grade.PROVED, "m", numbers={"load": (0.5, "1")})
    finding = Finding("COH224", "s", Verdict.PROVED, Severity.INFO, "fine", (place,), ("web",), evidence)
    assert as_json((finding,))[0]["numbers"] == {"load": {"value": 0.5, "unit": "1"}}
    assert json.loads(json.dumps(unread_json([NotRead(place, "limits", "a", "b", "why")])))[0]["reason"] == "why"


def test_second_opinions_differ_where_one_contradicts() -> None:
    agreeing = CrossCheck("x", "stable", (SecondOpinion("poles", "stable", ""),))
    contrary = CrossCheck("x", "stable", (SecondOpinion("poles", "unstable", ""),))
    assert not CrossChecks((agreeing,)).differ
    assert CrossChecks((agreeing, contrary)).differ
    assert CrossChecks().to_dict() == {}


@pytest.mark.slow  # a whole analysis
def test_analyze_takes_a_proof_of_settling_back_where_something_unread_may_change_it() -> None:
    noisy = (
        "coherence: 1\ninfrastructure: {boundaries: {wall: {around: [room], noise: 5 %}}}\n" + ROOM.partition("\n")[2]
    )
    result = co.analyze(noisy.replace("  ctl:\n", "  ctl:\n    inside: none\n"))
    assert result.verdict == "undecided"
    assert "needs what boundaries.wall.noise changes" in result.data["groups"][0]["exact"]["how"]


def test_without_pandas_an_answer_has_its_lines_and_a_frame_names_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = co.check("coherence: 1\ncomponents: {web: {copies: 2}}\n", select="COH201")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(co.CoherenceError, match=r"a data frame needs .*coherence-engine\[causal\]"):
        report.to_frame()
    assert report._repr_html_().startswith("<p>CheckResult")
    assert "<table" not in report._repr_html_()
