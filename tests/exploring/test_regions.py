"""Parameter regions, against arithmetic: n tries of p seconds end within d seconds where n p <= d."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.exploring.box_answers import BoxAnswers, BoxJob, spelled
from coherence.exploring.regions import NO_PROOF, CandidateDesign, Region, region
from coherence.exploring.render_half_spaces import beside
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text
from tests.draws import few

CALL = "coherence: 1\ncalls:\n  - {from: a, to: b, deadline: 10 s, per_try: 3 s, tries: 3, retry_when: [timeout]}\n"
OTHER = "  - {from: c, to: d, deadline: 1 s, per_try: 3 s, tries: 3, retry_when: [timeout]}\n"
OWN = [module for module in question_modules() if module.questions[0].code == "COH201"]


def made(*parameters: str, text: str = CALL, asks: int = 60) -> Region:
    return region(parameters, {"d": text}, lambda s: read_text(s["d"], "d"), OWN, most_asks=asks)


def test_the_edge_of_one_number_is_found() -> None:
    found = made("calls.0.per_try=1:8")
    safe, unsafe, rest = found.cells
    assert (safe.status, unsafe.status, rest.status) == ("safe", "unsafe", "undecided")
    assert safe.box[0][0] == 1
    assert rest.box[0][0] < Fraction(10, 3) < rest.box[0][1]
    assert unsafe.why == ("COH201 of a -> b",)
    assert found.share("undecided") < Fraction(1, 100)


@pytest.mark.slow
def test_no_box_is_safe_by_a_proof_that_an_unread_boundary_takes_back() -> None:
    fleet = (
        "components: {a: {runs_on: near}, b: {runs_on: far}}\n"
        "infrastructure:\n"
        "  tiers: {near: {count: 1}, far: {count: 1}}\n"
        "  boundaries: {vm: {around: [b], added_delay: 1 s}}\n"
    )
    every = question_modules()
    keys, sources = ["calls.0.per_try=1:8"], {"d": CALL + fleet}
    mapped = region(keys, sources, lambda s: read_text(s["d"], "d"), every, most_asks=60)
    assert {cell.status for cell in mapped.cells} == {"unsafe", "undecided"}
    (inequality,) = beside(mapped, keys, sources, lambda s: read_text(s["d"], "d"), every, time_limit=20)
    assert not inequality.result.sets


def test_whole_numbers_are_never_cut_between() -> None:
    found = made("calls.0.tries=1:6")
    assert [(cell.status, cell.box) for cell in found.cells] == [
        ("safe", ((Fraction(1), Fraction(3)),)),
        ("unsafe", ((Fraction(4), Fraction(6)),)),
    ]


@pytest.mark.slow
@settings(max_examples=few(12), deadline=None)
@given(st.integers(2, 9), st.integers(4, 30), st.lists(st.fractions(0, 1), min_size=4, max_size=4))
def test_every_point_of_a_box_is_as_the_box_says(tries: int, deadline: int, at: list[Fraction]) -> None:
    text = CALL.replace("10 s", f"{deadline} s")
    found = made("calls.0.per_try=100 ms:9 s", f"calls.0.tries=2:{tries + 1}", text=text, asks=50)
    assert sum((found.share(status) for status in ("safe", "unsafe", "undecided")), Fraction(0)) == 1
    for cell in found.cells:
        (low, high), (least, most) = cell.box
        for share in at:
            each = low + share * (high - low)
            count = least + (share * (most - least)) // 1
            if cell.status != "undecided":
                assert (count * each > deadline) == (cell.status == "unsafe"), (cell, each, count)


def test_conflicts_that_the_number_does_not_touch_are_named_apart() -> None:
    found = made("calls.0.per_try=1:3", text=CALL + OTHER)
    assert found.untouched == ("COH201 of c -> d",)
    assert [cell.status for cell in found.cells] == ["safe"]


def test_ends_keep_all_their_digits() -> None:
    (axis,) = made("calls.0.per_try=100 ms:1", asks=1).axes
    assert spelled(axis, Fraction(1, 8)) == "0.125 s"
    assert spelled(axis, Fraction(3)) == "3 s"
    with pytest.raises(UsageError):
        spelled(axis, Fraction(1, 3))


def test_the_command_prints_a_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(CALL)
    words = ["region", str(path), "-p", "calls.0.tries=1:6", "--select", "COH201"]
    assert run(words) == 0
    assert "safe    1 .. 3" in capsys.readouterr().out
    assert run([*words, "-o", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["shares"] == {"safe": 0.5, "candidate": 0.0, "unsafe": 0.5, "undecided": 0.0}
    assert data["cells"][0]["box"] == {"calls.0.tries": ["1", "3"]}


@pytest.mark.parametrize("wrong", ["calls.0.nothing=1:2", "calls.0.tries=1", "calls.0.per_try=1 kW:2 kW"])
def test_what_cannot_be_a_key_is_said(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(CALL)
    assert run(["region", str(path), "-p", wrong]) == 2


def test_what_is_undecided_at_one_end_alone_is_not_safe() -> None:
    """Beyond what the question can count it does not answer; the other end is proved, and says nothing of it."""
    found = made("calls.0.tries=1:1e300")
    assert not found.left_open
    assert found.share("safe") < Fraction(1, 100)
    assert {cell.status for cell in found.cells} == {"undecided"}


def test_neighbours_of_whole_numbers_are_one_line() -> None:
    found = made("calls.0.tries=1:4", text=CALL.replace("3 s", "3 s .. 5 s"))
    assert [(cell.status, *map(int, cell.box[0])) for cell in found.cells] == [("safe", 1, 2), ("unsafe", 3, 4)]


def test_an_unknown_code_selects_nothing_and_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(CALL)
    for words in (["region", str(path), "-p", "calls.0.tries=1:6"], ["check", str(path)]):
        assert run([*words, "--select", "COH999"]) == 2
        assert "no code begins with 'COH999'" in capsys.readouterr().err
        assert run([*words, "--time-limit", "nan"]) == 2
        capsys.readouterr()


def test_tries_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(CALL.replace("tries: 3", "tries: 1.5"))
    assert run(["check", str(path)]) == 2
    assert "'1.5' is no whole number" in capsys.readouterr().err


def test_what_no_question_speaks_of_is_a_candidate_and_not_safe() -> None:
    found = made("calls.0.pause=1 s:2 s", text="coherence: 1\ncalls:\n  - {from: a, to: b, pause: 1 s}\n")
    assert [(cell.status, cell.why) for cell in found.cells] == [("candidate", NO_PROOF)]


def test_what_is_undecided_whatever_the_values_is_not_safe_for_its_own_numbers() -> None:
    text = CALL.replace("[timeout]", "[unavailable]").replace("10 s", "5 s")
    found = made("calls.0.deadline=5 s:6 s", text=text)
    assert found.left_open == ("COH201 of a -> b",)
    assert [cell.status for cell in found.cells] == ["undecided"]


LIVELOCK = """coherence: 1
loops:
  up:   {timescale: {period: 60 s}, trigger: web.work / pool.n >= 0.8,
         actuation: {signal: pool.n, law: step, by: 5, bounds: [2, 8], from: 2}}
  down: {timescale: {period: 60 s}, trigger: web.work / pool.n <= 0.5,
         actuation: {signal: pool.n, law: step, by: -4, bounds: [2, 10], from: 2}}
"""


def test_a_livelock_at_some_work_is_no_safe_region() -> None:
    found = region(
        ("loops.up.actuation.by=5:6",),
        {"d": LIVELOCK},
        lambda s: read_text(s["d"], "d"),
        question_modules(),
        most_asks=20,
    )
    assert found.share("safe") == 0


def test_conflicts_are_a_design_s_own_where_they_name_an_owner_of_its_numbers() -> None:
    design = read_text("coherence: 1\n", "d")
    answers = BoxAnswers(BoxJob((), (), (), 20.0, Subject(design, {}), lambda _: design))
    candidate = CandidateDesign(answers, (), frozenset({"a -> b", "limit"}))
    mine, shared, other = ("COH201", ("a -> b",)), ("COH209", ("c -> d", "limit")), ("COH201", ("c -> d",))
    assert candidate.own([mine, shared, other]) == {mine, shared}
    assert candidate.own([]) == frozenset()


def test_manifests_are_refused_whatever_kinds_they_are_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ray.yaml"
    groups = "workerGroupSpecs: [{groupName: gpu, replicas: 2, maxReplicas: 10}]"
    head = "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: ray}\n"
    path.write_text(f"{head}spec: {{enableInTreeAutoscaling: true, {groups}}}\n")
    assert run(["region", str(path), "-p", "components.ray_gpu.copies=1:6"]) == 2
    assert "is a manifest" in capsys.readouterr().err


def test_the_boxes_that_are_asked_are_counted_aloud() -> None:
    heard: list[float] = []
    mapped = region(
        ["calls.0.per_try=1 s:9 s"], {"d": CALL}, lambda s: read_text(s["d"], "d"), OWN, most_asks=20, bar=heard.append
    )
    assert heard[-1] == mapped.asks / 20 > 3 / 20
    assert len(set(heard)) > 3
