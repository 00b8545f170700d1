"""A command that is told to end takes its workers with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
