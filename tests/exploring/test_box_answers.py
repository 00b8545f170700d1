"""Answers about boxes are the same whoever gives them, and where work that was stopped goes on from its file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from coherence.base.jobs import WorkerPool
from coherence.cli._run import run
from coherence.exploring.box_answers import BoxAnswer, BoxAnswers, BoxJob
from coherence.exploring.regions import Region, region
from coherence.exploring.swept_numbers import axes
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text

CALL = "coherence: 1\ncalls:\n  - {from: a, to: b, deadline: 10 s, per_try: 3 s, tries: 3, retry_when: [timeout]}\n"
KEYS = ("calls.0.per_try=1:8", "calls.0.deadline=1:30")
OWN = [module for module in question_modules() if module.questions[0].code == "COH201"]
BOX = ((Fraction(1), Fraction(2)), (Fraction(9), Fraction(9)))


def mapped(file: Path | None = None, workers: int = 1, **more: Any) -> Region:
    own = {"most_asks": 40, "workers": WorkerPool(workers), "file": file, **more}
    return region(KEYS, {"d": CALL}, lambda s: read_text(s["d"], "d"), OWN, **own)


def job(time_limit: float = 20.0) -> BoxJob:
    sources = {"d": CALL}
    subject = Subject(read_text(CALL, "d"), sources, time_limit)
    return BoxJob(axes(KEYS, sources), ("COH201",), tuple(sources.items()), time_limit, subject)


@pytest.mark.slow
def test_a_region_that_was_stopped_goes_on_and_says_the_same(tmp_path: Path) -> None:
    file, alone = tmp_path / "r.jsonl", mapped()
    assert mapped(file) == alone
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join([*lines[:9], lines[9][:40]]), encoding="utf-8")  # killed while it wrote
    assert mapped(file) == alone
    assert sorted(file.read_text(encoding="utf-8").splitlines(keepends=True)) == sorted(lines), "each box once"


def test_nothing_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.jsonl"
    alone = mapped(file)
    monkeypatch.setattr(BoxJob, "__call__", lambda *_: pytest.fail("a box was asked about again"))
    assert mapped(file) == alone


def test_ctrl_c_keeps_what_was_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, alone, asked = tmp_path / "r.jsonl", mapped(), BoxJob.__call__
    left = iter(range(12))

    def interrupted(self: BoxJob, box: Any) -> BoxAnswer:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return asked(self, box)

    monkeypatch.setattr(BoxJob, "__call__", interrupted)
    assert mapped(file).stopped
    monkeypatch.setattr(BoxJob, "__call__", asked)
    assert mapped(file) == alone


@pytest.mark.parametrize("damage", ["{}", '{"box": [["1", "x"]]}', '{"box": 3}', "[]", '{"box": [["1/0"]]}'])
def test_a_damaged_line_is_asked_about_again(tmp_path: Path, damage: str) -> None:
    file, alone = tmp_path / "r.jsonl", mapped()
    mapped(file)
    head, first, *rest = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([head, damage, json.dumps({**json.loads(first), "rows": [["safe", 1]]}), *rest, ""]))
    assert mapped(file) == alone


def test_what_a_clock_cut_short_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.jsonl"
    answers = BoxAnswers(job(), file=file)
    monkeypatch.setattr(BoxJob, "_answered", lambda *_: BoxAnswer(cut_short=True))
    assert answers.get(BOX).cut_short
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1, "the head alone"


@pytest.mark.slow
def test_answers_to_other_questions_or_under_another_limit_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.yaml").write_text(CALL)
    given = ["region", str(tmp_path / "d.yaml"), "-p", KEYS[0], "--asks", "5", "--into", str(tmp_path / "r.jsonl")]
    assert run([*given, "-s", "COH201"]) == 0
    for other in (["-s", "COH202"], ["-s", "COH201", "--time-limit", "3"]):
        assert run([*given, *other]) == 2
        assert "holds another region" in capsys.readouterr().err


def test_what_was_read_is_known_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    read = BoxAnswers(job(), file=file).get(BOX).places
    assert read
    assert BoxAnswers(job(), file=file).get(BOX).places == read


@pytest.mark.slow
def test_two_processes_say_what_one_says() -> None:
    assert mapped(workers=2) == mapped()
