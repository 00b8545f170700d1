"""Ctrl-C in the middle of a long command: what is known is printed, the rest is named, and the exit code is 130."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coherence.causal.sections import findings, influences
from coherence.checking import answers, placements
from coherence.cli import rank
from coherence.cli._progress import Progress
from coherence.cli._run import run
from coherence.exploring import regions, sweeps
from coherence.loops.analysis import design_analysis
from coherence.loops.designs import predicted_cycles
from tests.cli.command_rows import DESIGN
from tests.paths import DATA

LOOPS = """coherence: 1
loops:
  a:
    timescale: {period: 15 s}
    target: {signal: p.x / 2, setpoint: 0.7}
    actuation: {signal: p.x, law: proportional, bounds: [1, 10], from: 2}
  b:
    timescale: {period: 15 s}
    target: {signal: q.x / 2, setpoint: 0.7}
    actuation: {signal: q.x, law: proportional, bounds: [1, 10], from: 2}
"""
CALL = """coherence: 1
calls:
  - {from: app, to: api, deadline: 10 s, per_try: 5 s, tries: 2, retry_when: [timeout], pause: 1 s}
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "d.yaml").write_text(LOOPS)
    return str(tmp_path / "d.yaml")


def stopping(function: Callable[..., Any], after: int) -> Callable[..., Any]:
    """Returns a function that Ctrl-C interrupts after so many calls."""
    calls = iter(range(after))

    def call(*words: object, **options: object) -> Any:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return function(*words, **options)

    return call


def test_analyze_keeps_the_groups_that_are_done(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(design_analysis, "of_group", stopping(design_analysis.of_group, 1))
    assert run(["analyze", path, "-o", "json"]) == 130
    document = json.loads(capsys.readouterr().out)
    assert len(document["groups"]) == 2
    assert "stopped by Ctrl-C" in json.dumps(document["groups"][1])
    assert "stopped by Ctrl-C" not in json.dumps(document["groups"][0])
    assert "limit cycles were not asked: stopped by Ctrl-C" in document["assumptions"]


def test_analyze_keeps_its_groups_where_limit_cycles_are_stopped(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(predicted_cycles, "predicted_within", stopping(predicted_cycles.predicted_within, 0))
    assert run(["analyze", path]) == 130
    printed = capsys.readouterr().out
    assert "limit cycles were not asked: stopped by Ctrl-C" in printed
    assert "settles" in printed


@pytest.mark.slow
def test_sweep_keeps_the_points_that_are_done_and_goes_on_from_them(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    into = str(tmp_path / "kept")
    words = ["sweep", path, "-p", "loops.a.target.setpoint=0.6:0.9:4", "--jobs", "1", "--into", into, "-o", "json"]
    with monkeypatch.context() as patched:
        patched.setattr(sweeps, "judged", stopping(sweeps.judged, 2))
        assert run(words) == 130
    whys = [point["why"] for point in json.loads(capsys.readouterr().out)["points"]]
    assert [why == "stopped by Ctrl-C" for why in whys] == [False, False, True, True]
    assert run(words) == 0
    assert "Ctrl-C" not in capsys.readouterr().out


def test_region_keeps_the_boxes_that_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    design = tmp_path / "c.yaml"
    design.write_text(CALL)
    monkeypatch.setattr(regions, "_judged", stopping(regions._judged, 3))
    assert run(["region", str(design), "-p", "calls.0.per_try=1 s:9 s", "-s", "COH201", "-o", "json"]) == 130
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert ["stopped by Ctrl-C"] in [cell["why"] for cell in cells]
    assert {cell["status"] for cell in cells} > {"undecided"}


@pytest.mark.parametrize("words", ["check PATH", "inventory PATH", "graph PATH -o svg=g.svg", "diff PATH PATH"])
def test_what_is_asked_before_is_kept(
    words: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(answers, "on_every_side", stopping(placements.on_every_side, 3))
    assert run([path if word == "PATH" else word for word in words.split()]) == 130
    printed = capsys.readouterr()
    assert printed.err != "stopped\n"
    assert printed.out or (tmp_path / "g.svg").stat().st_size


def test_a_baseline_of_a_stopped_check_is_not_written(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(answers, "on_every_side", stopping(placements.on_every_side, 3))
    assert run(["baseline", "write", path, "-f", str(tmp_path / "b.json")]) == 130
    assert "the baseline is as it was" in capsys.readouterr().err
    assert not (tmp_path / "b.json").exists()


def stopped_at_half(_bar: Progress, share: float, _label: str = "") -> None:
    """Is interrupted where half is done."""
    if share >= 0.5:
        raise KeyboardInterrupt


def test_simulate_keeps_the_runs_that_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.yaml").write_text(DESIGN)
    monkeypatch.setattr(Progress, "__call__", stopped_at_half)
    words = ["simulate", str(tmp_path / "c.yaml"), "--for", "5 s", "--warm-up", "0 s", "--runs", "5", "-o", "json"]
    assert run(words) == 130
    assert 0 < len(json.loads(capsys.readouterr().out)["seeds"]) < 5


@pytest.mark.slow
def test_rank_keeps_the_incidents_that_are_ranked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rank, "_issue", stopping(rank._issue, 1))
    assert (
        run(["rank", *(str(DATA / "petshop" / name) for name in ("low_traffic", "high_traffic")), "-o", "json"]) == 130
    )
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["incidents"]) == 1
    assert "1 of the incidents are ranked" in printed.err


def test_a_command_that_has_nothing_yet_says_that_it_was_stopped(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(design_analysis, "structure", stopping(list, 0))
    assert run(["analyze", path]) == 130
    assert capsys.readouterr().err.strip() == "stopped"


CHAIN = """coherence: 1
components:
  loader: {wait: disk.reads * cost, cost: 0 .. 10}
"""


@pytest.fixture
def fitting(tmp_path: Path) -> list[str]:
    """Returns the words of a fit of two signals."""
    (tmp_path / "chain.yaml").write_text(CHAIN)
    rows = [f"{10 * row},{row % 7},{2 * (row % 7) + row % 3}" for row in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["time,disk.reads,loader.wait", *rows]) + "\n")
    return ["fit", str(tmp_path / "chain.yaml"), "--telemetry", str(tmp_path / "t.csv"), "-o", "json"]


def slow(context: object) -> None:
    """Takes longer than any limit of these tests."""
    del context
    time.sleep(30)


def test_fit_keeps_the_sections_that_are_done(
    fitting: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(influences, "answer", stopping(influences.answer, 0))
    assert run(fitting) == 130
    titled = {section["title"]: section for section in json.loads(capsys.readouterr().out)["sections"]}
    assert list(titled) == ["Telemetry", "Not answered"]
    assert titled["Not answered"]["why"] == "stopped by Ctrl-C"
    assert titled["Not answered"]["missing"][0] == "influences"


@pytest.mark.slow
@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_fit_ends_at_its_time_limit_and_names_what_is_not_answered(
    fitting: list[str], stream: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*fitting, *stream, "--time-limit", "10"]
    monkeypatch.setattr(findings, "answer", slow)
    begun = time.monotonic()
    assert run([*words, "--strict"]) == 4
    assert time.monotonic() - begun < 25  # it hangs for 30 s; machines that are shared pause
    last = json.loads(capsys.readouterr().out)["sections"][-1]
    assert last["why"] == "the time limit is over"
    assert last["missing"][0] == "findings"
    assert stream or run(words) == 0


@pytest.mark.slow
def test_fit_says_that_telemetry_is_not_read_within_its_time_limit(
    fitting: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("coherence.cli.fit._whole", lambda *_: slow(None))
    assert run([*fitting, "--time-limit", "1"]) == 2
    assert "the telemetry is not read within the time limit" in capsys.readouterr().err
