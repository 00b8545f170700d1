"""A folder of designs within one limit of the run: each has its share, and what was cut short is counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import coherence as co
from coherence.base.watchdog import current_run
from coherence.checking import design_check
from coherence.cli._run import run
from coherence.findings.finding import Finding
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules

DESIGN = """\
coherence: 1
components: {web: {takes: {serve: 200 ms}}}
calls:
  - {from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3}
  - {from: jobs, to: web, deadline: 2 s}
"""
LIMIT = 3000.0  # s: no machine is so slow that the shares below would be others


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder of three designs; nothing is kept between runs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in "abc":
        (tmp_path / "designs" / name).mkdir(parents=True)
        (tmp_path / "designs" / name / "design.yaml").write_text(DESIGN, encoding="utf-8")
    return tmp_path / "designs"


@pytest.fixture
def lefts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Returns what each design has left of the run where its first question is asked; the second one uses all up."""
    seen: list[float] = []
    module = next(m for m in question_modules() if m.questions[0].code == "COH201")

    def ask(subject: Subject) -> Iterator[Finding]:
        del subject
        seen.append(current_run().left)
        if len(seen) == 2:
            current_run().end = 0.0
        return iter(())

    more = [m for m in question_modules() if m.questions[0].code == "COH203"]
    monkeypatch.setattr(design_check, "question_modules", lambda: [replace(module, ask=ask), *more])
    return seen


def test_one_limit_is_shared_out_and_what_one_design_leaves_is_for_the_others(
    folder: Path, lefts: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(folder), "--time-limit", str(LIMIT), "-o", "json"]) == 0
    assert LIMIT / 3 - 100 < lefts[0] <= LIMIT / 3 < lefts[1] <= LIMIT / 2 < lefts[2] <= LIMIT
    document = json.loads(capsys.readouterr().out)
    assert document["counts"]["designs"] == {"total": 3, "unanswered": 2, "cut_short": 1}
    (finding,) = document["findings"]
    assert "the time limit of the whole run is over; 1 pair of policies is not asked" in finding["message"]
    assert document["counts"]["pairs"]["undecided"] == 1


def test_the_text_says_how_many_designs_were_cut_short(
    folder: Path, lefts: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    run(["check", str(folder), "--time-limit", str(LIMIT)])
    assert len(lefts) == 3
    assert "a limit ended the search in 1 of 3 designs" in capsys.readouterr().out


def test_without_a_limit_of_the_run_each_design_has_its_own(folder: Path, lefts: list[float]) -> None:
    result = co.check(folder)
    assert all(left <= 60 for left in lefts)
    assert result.report.accounting.cut_short == 1


def test_memory_that_is_over_leaves_a_design_undecided_and_the_others_answered(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, *more = [m for m in question_modules() if m.questions[0].code in ("COH201", "COH203")]
    asked: list[Subject] = []

    def ask(subject: Subject) -> Iterator[Finding]:
        asked.append(subject)
        if len(asked) == 1:
            raise MemoryError
        yield from module.ask(subject)

    monkeypatch.setattr(design_check, "question_modules", lambda: [replace(module, ask=ask), *more])
    assert run(["check", str(folder), "-o", "json", "--memory", "1 PB"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["counts"]["designs"]["cut_short"] == 1
    assert document["counts"]["verdicts"]["conflict"] == 2
