"""Baselines: what keeps a finding known, what makes it new, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.findings import baselines

DESIGN = """coherence: 1
calls:
  - {from: app, to: api, deadline: 10 s, per_try: 5 s, tries: 4, retry_when: [timeout]}
  - {from: web, to: db, deadline: 60 s, per_try: 5 s, tries: 2, retry_when: [timeout]}
"""


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "design.yaml"
    path.write_text(DESIGN)
    run(["baseline", "write", str(path), "-f", str(tmp_path / "b.json")])
    return path


def checked(path: Path, *words: str) -> int:
    return run(["check", str(path), "--baseline", str(path.parent / "b.json"), *words])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("calls:\n", "# a comment\n\n\ncalls:\n"),
        ("10 s", "11 s"),
        ("{from: app, to: api, deadline: 10 s,", "{to: api, deadline: 10 s, from: app,"),
    ],
)
def test_lines_order_comments_and_numbers_keep_a_finding_known(design: Path, old: str, new: str) -> None:
    design.write_text(DESIGN.replace(old, new))
    assert checked(design) == 0


def test_another_file_keeps_it_known(design: Path) -> None:
    design = design.rename(design.parent / "other.yaml")
    assert checked(design) == 0


def test_what_is_new_fails_and_is_counted(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design.write_text(DESIGN.replace("60 s", "6 s"))
    assert checked(design) == 1
    said = capsys.readouterr().out
    assert "Baseline: 1 known, 1 new, 0 gone" in said
    assert "web -> db" in said


def test_a_second_finding_of_the_same_kind_is_new(design: Path) -> None:
    again = design.parent / "again.yaml"
    again.write_text(DESIGN)
    assert run(["check", str(design), str(again), "--baseline", str(design.parent / "b.json")]) == 1


POSSIBLE = """coherence: 1
components: {worker: {takes: {task: 1 min .. 5 min}}}
timers: {lease: {from: worker.task starts, after: 2 min, unless: worker.task ends, then: redeliver}}
"""


def test_what_was_possible_and_became_certain_is_new(tmp_path: Path) -> None:
    design, file = tmp_path / "d.yaml", tmp_path / "b.json"
    design.write_text(POSSIBLE)
    run(["baseline", "write", str(design), "-f", str(file)])
    assert [one["errors"] for one in json.loads(file.read_text())["findings"]] == [0]
    certain = POSSIBLE.replace("1 min ..", "4 min ..")
    design.write_text(certain)
    assert checked(design) == 1
    run(["baseline", "write", str(design), "-f", str(file)])
    assert checked(design) == 0
    design.write_text(POSSIBLE)
    assert checked(design) == 0


def test_a_baseline_that_counts_no_errors_knows_any(tmp_path: Path) -> None:
    design, file = tmp_path / "d.yaml", tmp_path / "b.json"
    design.write_text(POSSIBLE)
    run(["baseline", "write", str(design), "-f", str(file)])
    data = json.loads(file.read_text())
    del data["findings"][0]["errors"]
    file.write_text(json.dumps(data))
    design.write_text(POSSIBLE.replace("1 min ..", "4 min .."))
    assert checked(design) == 0


def test_what_is_gone_is_pruned_and_reasons_stay(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = design.parent / "b.json"
    data = json.loads(file.read_text())
    data["findings"][0]["reason"] = "agreed until spring"
    file.write_text(json.dumps(data))
    run(["baseline", "write", str(design), "-f", str(file)])
    assert json.loads(file.read_text())["findings"][0]["reason"] == "agreed until spring"
    run(["baseline", "show", "-f", str(file)])
    assert "agreed until spring" in capsys.readouterr().out
    design.write_text(DESIGN.replace("tries: 4", "tries: 2"))
    assert checked(design) == 0
    assert "0 known, 0 new, 1 gone" in capsys.readouterr().out
    run(["baseline", "prune", str(design), "-f", str(file)])
    assert json.loads(file.read_text())["findings"] == []


def test_the_file_is_stable_and_every_format_tells_the_known_ones(design: Path) -> None:
    file = design.parent / "b.json"
    once = file.read_bytes()
    run(["baseline", "write", str(design), "-f", str(file)])
    assert file.read_bytes() == once
    outputs = {name: design.parent / f"o.{name}" for name in ("json", "sarif")}
    checked(design, *(word for name, out in outputs.items() for word in ("-o", f"{name}={out}")))
    data = json.loads(outputs["json"].read_text())
    assert data["counts"]["baseline"] == {"known": 1, "new": 0, "gone": 0}
    assert [one["code"] for one in data["known"]] == ["COH201"]
    results = json.loads(outputs["sarif"].read_text())["runs"][0]["results"]
    assert [one["suppressions"][0]["kind"] for one in results if "suppressions" in one] == ["external"]


GOOD = {"fingerprint": "0" * 16, "code": "COH201", "verdict": "conflict", "of": ["a"], "count": 1}


@pytest.mark.parametrize(
    "data",
    [
        None, [], {}, {"findings": {}, "format_version": 1}, {"findings": [], "format_version": 2},
        {"findings": [], "format_version": True}, {"findings": [1], "format_version": 1},
        *({"findings": [GOOD | wrong], "format_version": 1} for wrong in (
            {"count": 0}, {"count": True}, {"count": 10**30}, {"of": "a"}, {"of": [1]}, {"code": 7},
            {"verdict": "maybe"}, {"fingerprint": ""}, {"errors": 2}, {"errors": -1}, {"errors": True}, {"reason": 3},
            {"extra": 1},
        )),
        {"findings": [GOOD, GOOD], "format_version": 1},
    ],
)  # fmt: skip
def test_what_is_no_baseline_is_said(data: object) -> None:
    with pytest.raises(UsageError, match=r"f\.json"):
        baselines.parsed(data, "f.json")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"a": NaN'])
def test_a_file_that_is_no_json_is_an_error_of_use(design: Path, content: bytes) -> None:
    (design.parent / "b.json").write_bytes(content)
    assert checked(design) == 2
    assert run(["baseline", "show", "-f", str(design.parent / "absent.json")]) == 2


NAMES = st.text("abcdefgh_", min_size=1, max_size=6)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=3), st.integers(1, 9), st.text(max_size=9)), max_size=6))
def test_a_file_is_read_as_it_was_written(rows: list[tuple[str, list[str], int, str]]) -> None:
    entries = {
        key: baselines.BaselineEntry(key, "COH201", "conflict", tuple(sorted(of)), count, reason)
        for key, of, count, reason in rows
    }
    text = baselines.text(entries.values())
    again = baselines.parsed(json.loads(text), "f")
    assert set(again) == set(entries.values())
    assert baselines.text(again) == text


def test_a_baseline_writes_nothing_unsafe_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = {
        "fingerprint": "a\ud800",
        "code": "\x1b[31mCOH201",
        "verdict": "conflict",
        "of": ["\ud800"],
        "reason": "\n",
    }
    path = tmp_path / "b.json"
    path.write_text(json.dumps({"findings": [entry], "format_version": 1}))
    assert run(["baseline", "show", "-f", str(path)]) == 0
    assert capsys.readouterr().out == "a\\ud800  \\x1b[31mCOH201 conflict of \\ud800  -- \\n\n"
