"""A command that is told to end takes its workers with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coherence.cli._run import Commands, run
from tests.paths import ROOT


def group_members(group: int) -> list[int]:
    """Returns the processes of a process group."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                members.append(int(entry.name))
    return members


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_workers_end_on_sigterm(tmp_path: Path) -> None:
    spec = ROOT / "specs" / "throttle-backfill" / "design.yaml"
    words = ["sweep", str(spec), "-p", "loops.throttle.timescale.period=1 s:60 s:400", "--jobs", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "coherence", *words], start_new_session=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        limit = time.monotonic() + 60
        while len(group_members(process.pid)) < 3 and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.1)
        assert len(group_members(process.pid)) >= 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
        limit = time.monotonic() + 15
        while group_members(process.pid) and time.monotonic() < limit:
            time.sleep(0.1)
        assert not group_members(process.pid)
    finally:
        for member in group_members(process.pid):
            os.kill(member, signal.SIGKILL)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_end_amid_a_call_that_drops_exceptions_is_not_lost(number: int, code: int) -> None:
    program = f"""
import gc, os, signal, time
from coherence.cli._run import Commands, run

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background ignores it

signals = [{int(number)}]

def collected(phase, about):
    while signals:
        os.kill(os.getpid(), signals.pop())
        time.sleep(0.2)

def works(*words, **options):
    gc.callbacks.append(collected)
    gc.collect()
    for _ in range(100):  # one sleep may begin just after the signal, and last
        time.sleep(0.1)

Commands.invoke = works
raise SystemExit(run(["rules"]))
"""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (code, "stopped" if number == signal.SIGINT else "")
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize(("end", "code"), [(SystemExit(143), 143), (KeyboardInterrupt(), 130), (ValueError(), 3)])
def test_an_error_in_the_clean_up_of_a_told_end_is_no_internal_error(
    end: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cleans_up_badly(*_words: object, **_options: object) -> None:
        try:
            raise end
        finally:
            raise RuntimeError("cannot join thread before it is started")

    monkeypatch.setattr(Commands, "main", cleans_up_badly)
    assert run(["rules"]) == code


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("rules | head -1", "0", "COH1"),  # of a pipe that is closed
        ("rules >&-", "0", ""),
        ("bound erlang_loss servers=10 offered=10", "0", ""),
        ("bound erlang_waiting servers=10 offered=8", "0", ""),
        ("bound retries_for_availability p=0.05 availability=0.99999", "0", ""),
        ("bound all_reduce_end_point n=1e400 size=1GB 'bandwidth=450 GB/s'", "2", "n = '1e400'"),
    ],
)
def test_what_once_was_an_internal_error(command: str, code: str, words: str) -> None:
    line = f"{sys.executable} -m coherence {command}"
    done = subprocess.run(
        ["/bin/bash", "-c", f"{line}; echo code ${{PIPESTATUS[0]}} >&2"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stderr.endswith(f"code {code}\n")
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert words in done.stdout + done.stderr


def test_the_shell_can_complete(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "_COHERENCE_COMPLETE": "bash_source"}
    done = subprocess.run(
        [sys.executable, "-m", "coherence"], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert "_COHERENCE_COMPLETE=bash_complete" in done.stdout
