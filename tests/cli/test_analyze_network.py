"""`analyze --network` on the command line: exit codes, questions, and what would have no effect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.cli._run import run

LOOP = """network: 1
blocks:
  queue: {numerator: [%s], denominator: [1, 0], delay: 10 s}
couplings:
  - {from: queue, to: queue, gain: -1}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.yaml"
    path.write_text(LOOP % "0.05", encoding="utf-8")
    return path


@pytest.mark.slow
def test_an_unstable_network_exits_1_and_a_stable_one_0(file: Path) -> None:
    assert run(["analyze", "--network", str(file)]) == 0
    file.write_text(LOOP % "0.5", encoding="utf-8")
    assert run(["analyze", "--network", str(file)]) == 1


@pytest.mark.slow
def test_an_open_answer_exits_4_with_strict(file: Path) -> None:
    words = ["analyze", "--network", str(file), "--interaction"]
    assert run([*words, "--of", "queue"]) == 0
    assert run(["analyze", "--network", str(file), "--strict"]) == 0
    beside = "  gain: {numerator: [1], denominator: [1]}\ncouplings:"
    file.write_text((LOOP % "0.05").replace("couplings:", beside), encoding="utf-8")
    assert run([*words, "--of", "gain", "--strict"]) == 4


@pytest.mark.slow
def test_every_question_is_answered_in_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--critical", "gain", "--critical", "delay", "--windows", "delay", "--map", "--peak", "all:queue"]
    assert run(["analyze", "--network", str(file), "--of", "queue", *asked, "-o", "json"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [a["question"] for a in answers] == ["critical gain", "critical delay", "delay windows", "map", "peak"]
    assert answers[0]["at"] == pytest.approx(3.14159265, rel=1e-8)
    assert answers[1]["at"] == pytest.approx(21.4159265, rel=1e-8)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--of", "queue"], "name one of them"),
        (["--peak", "queue"], "write FROM:TO"),
        (["--critical", "gain", "--of", "queu"], "did you mean 'queue'"),
        (["--no-retune"], "would have no effect"),
    ],
)
def test_what_would_have_no_effect_is_refused(
    words: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["analyze", "--network", str(file), *words]) == 2
    assert message in capsys.readouterr().err


def test_a_design_is_not_asked_what_is_asked_of_a_network(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(file), "--critical", "gain"]) == 2
    assert "--critical would have no effect" in capsys.readouterr().err


@pytest.mark.slow
def test_a_question_that_time_cuts_is_open_and_the_others_stand(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from coherence.base.watchdog import TimeOverError
    from coherence.loops.analysis import network_questions

    def late(*_: object) -> None:
        raise TimeOverError

    monkeypatch.setitem(network_questions.ASKED, "map", late)
    words = ["--map", "--critical", "gain", "--of", "queue"]
    assert run(["analyze", "--network", str(file), *words, "--strict"]) == 4
    out = capsys.readouterr().out
    assert "map of queue: undecided: the time limit was reached" in out
    assert "critical gain of queue: times 3.14" in out
