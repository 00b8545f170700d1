"""The command: files without a server, what cannot be watched, and a server that is away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.known_systems.scraped import DESIGN
from coherence.cli._run import run


def design(folder: Path) -> str:
    file = folder / "design.yaml"
    file.write_text(DESIGN, encoding="utf-8")
    return str(file)


def test_rules_and_a_dashboard_are_written_without_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, board = tmp_path / "rules.yaml", tmp_path / "board.json"
    words = ["watch", design(tmp_path), "--rules", str(rules), "--dashboard", str(board)]
    assert run(words) == 0
    assert run(words) == 0  # over its own files
    assert "CoherenceDeadline" in rules.read_text(encoding="utf-8")
    assert json.loads(board.read_text(encoding="utf-8"))["title"] == "Coherence of simulated service"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name the server with --prometheus URL"),
        (["--listen", "127.0.0.1:1"], "nothing is watched without --prometheus"),
        (["--prometheus", "file:///x"], "is not the address of a Prometheus"),
        (["--prometheus", "http://127.0.0.1:9", "--every", "1 h"], "between 1 s and 5 min"),
        (["--prometheus", "http://127.0.0.1:9", "--webhook", "x", "--for", "1 s"], "is not the address of a webhook"),
        (["--prometheus", "http://127.0.0.1:9", "--state", "STATE", "--for", "1 s"], "is no state of a watch"),
    ],
)
def test_what_cannot_be_watched(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state.json").write_text("not ours", encoding="utf-8")
    places = [word.replace("STATE", str(tmp_path / "state.json")) for word in words]
    assert run(["watch", design(tmp_path), *places]) == 2
    assert message in capsys.readouterr().err


def test_a_state_of_another_step_is_refused_and_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "state.json"
    words = ["watch", design(tmp_path), "--prometheus", "http://127.0.0.1:9", "--for", "1 s", "--state", str(file)]
    assert run(words) == 0
    before = file.read_bytes()
    assert run([*words, "--every", "30 s"]) == 2
    assert "give --every '15 s'" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_a_server_that_is_not_there_is_said_once_and_is_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(["watch", design(tmp_path), "--prometheus", "http://127.0.0.1:9", "--back", "1 min", "--for", "1 s"]) == 0
    )
    assert capsys.readouterr().err.count("cannot be reached") == 1
