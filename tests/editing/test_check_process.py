"""A check in a process of its own: its answer, its end by cancelling, and an end that nobody foresaw."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from coherence.editing import check_process
from coherence.editing.check_process import checked


def test_faults_come_back_from_the_process() -> None:
    (fault,) = asyncio.run(checked("coherence: 1\nloop: {}\n", "größer.yaml"))
    assert (fault.place.file, fault.place.line) == ("größer.yaml", 2)


def test_a_process_that_breaks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_process, "__name__", "coherence.no_such_module")
    (line,) = asyncio.run(checked("coherence: 1\n", "d.yaml"))
    assert "ended with code 1" in line.message


def test_cancelling_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[asyncio.subprocess.Process] = []
    begin = asyncio.create_subprocess_exec

    async def cancelled() -> None:
        begun = asyncio.Event()

        async def noted(*command: str, **options: Any) -> asyncio.subprocess.Process:
            processes.append(await begin(*command, **options))
            begun.set()
            return processes[0]

        monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
        task = asyncio.ensure_future(checked("coherence: 1\n", "d.yaml"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert processes[0].returncode is not None
