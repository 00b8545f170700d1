"""`coherence bound`: the registry, one bound, a design, proofs; what is wrong is named with its remedy."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from coherence.cli._run import run

INPUTS = ("n=8", "size=8 GiB", "bandwidth=300 GB/s")


def answered(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["bound", *words, "-o", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_bound_at_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "all_reduce_end_point", *INPUTS)
    assert found["value"]["low"] == found["value"]["high"] == pytest.approx(0.05010795178666667, rel=1e-12)
    assert run(["bound", "all_reduce_end_point", *INPUTS]) == 0
    text = capsys.readouterr().out
    assert "50.108 ms" in text
    assert "without end_point_reduction" in text
    assert "28.6331 ms" in text


def test_a_range_gives_the_least_value_first(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "all_reduce_end_point", "n=8", "size=8 GiB", "bandwidth=200 GB/s .. 300 GB/s")
    assert found["value"]["low"] == pytest.approx(0.05010795178666667)
    assert found["value"]["high"] == pytest.approx(1.5 * 0.05010795178666667)


def test_a_range_whose_middle_the_bound_does_not_hold_at_is_answered_from_its_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answered(capsys, "election_messages", "n=4 .. 8")["value"]
    assert (found["low"], found["high"]) == (2.5, 6.5)
    [slope] = found["elasticities"]
    assert slope["elasticity"] == pytest.approx((0.5 + 1 / (4 * math.log(2))) * 4 / 2.5)  # of the formula, at n = 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("all_reduce_end_pont",), "did you mean 'all_reduce_end_point'"),
        (("all_reduce_end_point", "n=8"), "needs size"),
        (("all_reduce_end_point", *INPUTS[:2], "bandwidth=0 GB/s"), "bandwidth = 0"),
        (("all_reduce_end_point", "n=1.5", *INPUTS[1:]), "a whole number"),
        (("all_reduce_end_point", "n=8", "size=8 s", INPUTS[2]), "B expected"),
        (("all_reduce_end_point", "n=8", "size=x", INPUTS[2]), "size = 'x'"),
        (("all_reduce_end_point", "n=8", "n=9"), "given twice"),
        (("all_reduce_end_point", "m=8"), "has no symbol 'm'"),
        (("all_reduce_end_point", "n"), "is no input"),
        (("all_reduce_end_point", "n=9 .. 8", *INPUTS[1:]), "empty"),
        ((), "name a design or a bound"),
    ],
)
def test_what_is_wrong_is_named(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    assert run(["bound", *words]) == 2
    assert said in capsys.readouterr().err


def test_several_values_and_pairs_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bound", "data_rate", "eigenvalues=2,1.5,0.5"]) == 0
    assert "1.58496 bit/sample" in capsys.readouterr().out
    words = ("task_graph_time", "times=2 s,3 s,5 s,4 s,1 s", "edges=0>1,0>2,0>3,1>4,2>4,3>4", "workers=3")
    assert answered(capsys, *words)["value"]["low"] == 8
    assert run(["bound", "quorum_latency", "round_trips=2 ms,x"]) == 2
    assert "round_trips = 'x'" in capsys.readouterr().err


def test_what_attains_a_floor_is_written_for_a_runtime(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words, file = ("fabric=0>1,1>2,2>0", "size=1GB"), tmp_path / "ring.xml"
    assert run(["bound", "all_reduce_fabric", *words, "--schedule", str(file)]) == 0
    root = ET.fromstring(file.read_text())  # noqa: S314  (written a line above)
    assert (root.get("coll"), root.get("ngpus"), len(root)) == ("allreduce", "3", 3)
    assert run(["bound", "all_reduce_ring", *INPUTS, "--schedule", str(file)]) == 2
    assert "all_gather_fabric, all_reduce_fabric" in capsys.readouterr().err
    assert run(["bound", "all_gather_fabric", "--schedule", str(file)]) == 2
    assert "give the fabric" in capsys.readouterr().err


def test_a_bound_that_depends_on_nothing_is_told_on_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bound", "age_best_load"]) == 0
    assert "= 0.53101" in capsys.readouterr().out


def test_the_registry_is_listed_and_has_latex(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bound", "--list"]) == 0
    assert "all_reduce_end_point" in capsys.readouterr().out
    assert run(["bound", "all_reduce_end_point", "-o", "latex"]) == 0
    assert r"\begin{equation}" in capsys.readouterr().out
    assert any(one["name"] == "checkpoint_interval_exact" for one in answered(capsys, "--list")["bounds"])


def test_proofs_are_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "checkpoint_interval_exact", "--prove")
    proofs = [(proof["how"].split(",")[0], proof["holds"]) for proof in found["proofs"]]
    assert proofs == [("identity", True), ("smt", True)]


def test_a_design_without_floors_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text("coherence: 1\ncomponents: {web: {copies: 2}}\n")
    (design,) = answered(capsys, str(file))["designs"]
    (line,) = design.pop("not_read")
    assert design == {"path": str(file), "floors": [], "without_a_number": [], "assumptions": []}
    assert (line["section"], line["entry"], line["key"]) == ("components", "web", "copies")


def test_the_witness_is_run_at_the_inputs_and_its_gap_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bound", "all_reduce_end_point", *INPUTS]) == 0
    assert "50.108 ms, 1 times the bound" in capsys.readouterr().out
    assert answered(capsys, "all_reduce_end_point", *INPUTS)["value"]["attained"] == pytest.approx(0.05010795178666667)
    assert run(["bound", "all_reduce_end_point", "n=8", "size=8 GiB", "bandwidth=200 GB/s .. 300 GB/s"]) == 0
    assert "run at single values only" in capsys.readouterr().out
