"""Runs are the same whoever makes them, in any order, and where their file was left."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.base.jobs import WorkerPool
from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.study import samples
from coherence.simulate.study.latencies import Latencies
from coherence.simulate.study.promises import ConditionNotes
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.samples import SeedJob, study
from coherence.simulate.study.seed_results import KeptRuns, Labour, SeedResult, as_json, result_from
from coherence.simulate.study.setting import Setting

STATION = """
coherence: 1
workload: {web: {rate: 9 req/s, service: {mean: 100 ms, cv: 1}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
promises:
  queue: always s.waiting <= 20
  answered: after web.accepted then web.completed within 60 s
"""
SETTING = Setting(120.0, seeds=tuple(range(1, 7)), finds_start_up=True)
SOURCES = {"design.yaml": STATION}


def told(labour: Labour, setting: Setting = SETTING, text: str = STATION) -> str:
    own = study(read_text(text, "design.yaml"), setting, labour=labour)
    return repr((own.readings, own.promises, own.notes, own.samples, own.setting))


def result_of(setting: Setting) -> SeedResult:
    design = read_text(STATION, "design.yaml")
    return SeedJob((design, processes(design)), 0.0)(setting)


def test_every_field_of_a_run_comes_back_from_a_file_bit_for_bit() -> None:
    first = result_of(SETTING.alone(1))
    assert first.places
    moments = ((3, Fraction(1, 3)), Fraction(7, 11), (None, Fraction(2)))
    notes = ConditionNotes(moments[0], "x = 1", 2, "needs y", *moments[1:], True, False)
    loads = first.record.loads
    assert loads
    whole = replace(first, notes={**first.notes, "p": notes}, record=replace(first.record, stopped="why"))
    back = result_from(json.loads(json.dumps(as_json(whole))))
    assert back is not None
    assert (back.notes, back.places) == (whole.notes, whole.places)
    for field in fields(RunRecord):
        if field.name != "latencies":
            assert getattr(back.record, field.name) == getattr(whole.record, field.name)
    for field in fields(Latencies):
        np.testing.assert_array_equal(
            getattr(back.record.latencies["web"], field.name), getattr(whole.record.latencies["web"], field.name)
        )


@pytest.mark.parametrize("spoiled", [
    {"sample": 3}, {"sample": [["a", "b", "c", "x"]]}, {"latencies": {"web": {}}}, {"loads": {"s": [1]}},
    {"places": [[1]]}, {"notes": {"p": {"broken": [1, "1/0"]}}},
])  # fmt: skip
def test_a_damaged_run_is_made_again(spoiled: dict[str, object]) -> None:
    row = json.loads(json.dumps(as_json(result_of(SETTING.alone(1)))))
    assert result_from(row) is not None
    assert result_from({**row, **spoiled}) is None


def test_a_table_larger_than_any_run_s_is_not_allocated() -> None:
    row = json.loads(json.dumps(as_json(result_of(SETTING.alone(1)))))
    row["latencies"]["web"]["counts"]["shape"] = [120, 10**12]
    assert result_from(row) is None


@pytest.mark.slow
def test_two_processes_tell_the_same() -> None:
    assert told(Labour(WorkerPool(2), sources=SOURCES)) == told(Labour())


@pytest.mark.slow
@pytest.mark.parametrize("precision", [None, 0.2])
def test_a_study_that_was_stopped_goes_on_and_tells_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: float | None
) -> None:
    setting, file = replace(SETTING, precision=precision, until=600.0), tmp_path / "runs.jsonl"
    text = STATION.replace("9 req/s", "5 req/s")  # few runs are precise enough
    alone = told(Labour(), setting, text)
    told(Labour(store=KeptRuns(file, setting), sources=SOURCES, design="d"), setting, text)
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([lines[0], *reversed(lines[3:]), lines[1][: len(lines[1]) // 2]]), encoding="utf-8")
    made: list[int] = []
    parts = samples._parts

    def counted(*given: object) -> object:
        made.append(1)
        return parts(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(samples, "_parts", counted)
    assert told(Labour(store=KeptRuns(file, setting), sources=SOURCES, design="d"), setting, text) == alone
    assert len(made) == 2, "only what was not there is run"
    made.clear()
    assert told(Labour(store=KeptRuns(file, setting), sources=SOURCES, design="d"), setting, text) == alone
    assert not made


def test_a_file_of_another_setting_is_refused(tmp_path: Path) -> None:
    KeptRuns(tmp_path / "runs.jsonl", SETTING)
    KeptRuns(tmp_path / "runs.jsonl", replace(SETTING, until=5.0, seeds=(9,)))
    with pytest.raises(UsageError, match="holds another setting of runs"):
        KeptRuns(tmp_path / "runs.jsonl", replace(SETTING, live=7))


def test_the_command_says_the_same_from_its_file_and_names_the_same_unread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design = tmp_path / "design.yaml"
    design.write_text(STATION + "timers: {t: {from: s slow, every: 10 s, then: restart s}}\n", encoding="utf-8")
    given = ["simulate", str(design), "--for", "60 s", "--runs", "3"]
    code = run(given)
    alone = capsys.readouterr().out
    assert "t" in alone
    assert run([*given, "--into", str(tmp_path / "runs.jsonl")]) == code
    assert capsys.readouterr().out == alone
    assert run([*given, "--into", str(tmp_path / "runs.jsonl"), "--jobs", "2"]) == code
    assert capsys.readouterr().out == alone


def test_a_run_beyond_its_events_says_how_far_it_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = tmp_path / "design.yaml"
    design.write_text(STATION, encoding="utf-8")
    assert run(["simulate", str(design), "--events", "2000", "--runs", "2"]) == 2
    told = capsys.readouterr()
    assert "the limit of 2,000 events was reached" in told.err
    assert "--events" in told.err
    assert "mean" in told.out
