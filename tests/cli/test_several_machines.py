"""Work beyond one process says what one process says: on a cluster that loses a worker, and after Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coherence.cli._run import run
from coherence.simulate.study import samples

STATION = """coherence: 1
workload: {web: {rate: 5000 req/s, service: {mean: 4 ms, cv: 1}}}
components: {s: {copies: 25}}
calls: [{from: web, to: s}]
"""
SWEPT = [
    "sweep",
    "specs/hpa-metric-lag/design.yaml",
    "-p",
    "loops.hpa.target.setpoint=30%:80%:6",
    "--time-limit",
    "600",
]

MAPPED = ["region", "specs/retry-storm/design.yaml", "-p", "calls.0.per_try=100ms:1s", "-s", "COH201", "--asks", "20"]


@pytest.fixture
def design(tmp_path: Path) -> str:
    (tmp_path / "design.yaml").write_text(STATION, encoding="utf-8")
    return str(tmp_path / "design.yaml")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run(list(words))
    return code, capsys.readouterr().out


def kill_when(file: Path, lines: int, pid: int) -> None:
    """Kills a worker once so many results stand in a file."""
    for _ in range(1200):
        if file.exists() and len(file.read_text(encoding="utf-8").splitlines()) >= lines:
            break
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_says_what_one_process_says(
    design: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed")
    given = ["simulate", design, "--for", "200 s", "--runs", "8", "-o", "json"]
    alone, swept, mapped = said(capsys, *given), said(capsys, *SWEPT, "--jobs", "1"), said(capsys, *MAPPED)
    kept = tmp_path / "runs.jsonl"
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    ) as cluster:
        workers = [nanny.pid for nanny in cluster.workers.values()]
        killer = threading.Thread(target=kill_when, args=(kept, 3, workers[0]))
        killer.start()
        spread = said(capsys, *given, "--cluster", cluster.scheduler_address, "--into", str(kept))
        killer.join()
        assert workers[0] not in [nanny.pid for nanny in cluster.workers.values()], "the worker was killed"
        assert said(capsys, *SWEPT, "--cluster", cluster.scheduler_address) == swept
        assert said(capsys, *MAPPED, "--cluster", cluster.scheduler_address) == mapped
    assert spread == alone
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 9, "a head, and each run once"


def test_ctrl_c_keeps_the_runs_that_are_done_and_the_file_goes_on(
    design: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["simulate", design, "--for", "4 s", "--runs", "5"]
    alone, kept = said(capsys, *given), str(tmp_path / "runs.jsonl")
    parts: Callable[..., Any] = samples._parts
    left = iter(range(3))

    def interrupted(*words: object) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return parts(*words)

    monkeypatch.setattr(samples, "_parts", interrupted)
    code, text = said(capsys, *given, "--into", kept)
    assert code == 130
    assert "3 runs (seeds 1 to 3)" in text
    monkeypatch.setattr(samples, "_parts", parts)
    assert said(capsys, *given, "--into", kept) == alone


def test_both_ways_at_once_are_refused(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", design, "--jobs", "2", "--cluster", "tcp://127.0.0.1:9"]) == 2
    assert "--jobs would have no effect" in capsys.readouterr().err
