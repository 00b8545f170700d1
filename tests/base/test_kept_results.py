"""What is kept of work that was stopped is whole lines of one piece of work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.base.kept_results import KeptResults, digest_of

HEAD = {"kind": 1, "of": "x"}


def test_rows_come_back(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    kept = KeptResults(file, HEAD, "sweep")
    kept.add({"a": 0.1})
    kept.add({"a": 1e-300})
    assert KeptResults(file, HEAD, "sweep").rows == [{"a": 0.1}, {"a": 1e-300}]


def test_a_line_that_was_cut_off_is_taken_out_and_the_next_stands_alone(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text(json.dumps(HEAD) + '\n{"a": 1}\n[3]\n{"a": ', encoding="utf-8")
    kept = KeptResults(file, HEAD, "sweep")
    kept.add({"a": 2})
    assert KeptResults(file, HEAD, "sweep").rows == [{"a": 1}, {"a": 2}]


def test_the_file_of_other_work_is_refused_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text("my notes\n", encoding="utf-8")
    with pytest.raises(UsageError, match="holds another sweep"):
        KeptResults(file, HEAD, "sweep")
    assert file.read_text(encoding="utf-8") == "my notes\n"


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        KeptResults(tmp_path / "no" / "kept.jsonl", HEAD, "sweep")


def test_nothing_is_kept_without_a_file() -> None:
    kept = KeptResults(None, HEAD, "sweep")
    kept.add({"a": 1})
    assert kept.rows == []


def test_names_and_texts_do_not_run_together() -> None:
    assert digest_of({"a": "b"}) != digest_of({"ab": ""})
