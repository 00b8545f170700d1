"""A process that needs more memory than it may have gets an error that can be answered, and no kill."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from coherence.base.jobs import WorkerPool, finished
from coherence.base.memory import LIMITED, free_memory, memory_limit, room

SHARED = """
from coherence.base.jobs import WorkerPool, finished
from coherence.base.memory import memory_limit
from tests.base.test_memory import took_too_much
with memory_limit(1_000_000_000):
    print(sorted(finished(took_too_much, [50_000_000, 700_000_000], WorkerPool(2))))
"""
DESIGN = "coherence: 1\ncomponents: {web: {takes: {serve: 200 ms}}}\ncalls:\n"
CALL = "  - {from: users%d, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3}\n"
MOST_SECONDS = 20  # of the processor; a command takes 4
pytestmark = pytest.mark.skipif(not LIMITED, reason="this system limits no memory")


def take(size: int) -> int:
    return len(bytearray(size))


def took_too_much(size: int) -> bool:
    try:
        take(size)
    except MemoryError:
        return True
    return False


def test_a_block_has_its_limit_and_the_process_its_own_after_it() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with memory_limit(200_000_000):
        assert 150_000_000 < room() <= 200_000_000
        assert not took_too_much(50_000_000)
        assert took_too_much(300_000_000)
        with memory_limit(10**15):  # a limit inside it is no wider
            assert took_too_much(300_000_000)
    assert not took_too_much(300_000_000)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_without_a_number_a_block_may_have_nearly_what_is_free() -> None:
    free = free_memory()
    assert free is not None
    with memory_limit():
        assert took_too_much(2 * free)


@pytest.mark.slow
def test_workers_share_what_the_run_may_have() -> None:
    command = [sys.executable, "-c", SHARED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_environment())
    assert done.stdout == "[(0, False), (1, True)]\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "words", "code", "answer"),
    [
        ("many", ["inventory"], 2, "error: this needs more memory than there is"),
        ("few", ["check", "-s", "COH201"], 1, "COH201"),
    ],
)
def test_a_command_that_needs_too_much_says_so(
    design: str, words: list[str], code: int, answer: str, tmp_path: Path
) -> None:
    calls = "".join(CALL % number for number in range(40_000 if design == "many" else 1))
    (tmp_path / "d.yaml").write_text(DESIGN + calls, encoding="utf-8")
    command = [sys.executable, "-m", "coherence", *words, "d.yaml", "--memory", "64 MB"]
    done = _answered(command, tmp_path)
    assert (done.returncode, answer in done.stdout + done.stderr) == (code, True), done.stderr


def _answered(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Returns what a command answered; it is run again where it goes round without an end.

    CPython (3.11, `exception_unwind` of its evaluation loop) allocates a number as it enters a `finally`, and tries
    that for ever where not even one is left: seen in one of some hundred runs.
    """
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    for _ in range(2):
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, env=_environment(), preexec_fn=limit
        )
        if done.returncode >= 0:  # no signal ended it
            return done
    raise AssertionError("two runs in a row went round without an end")


def test_one_process_takes_no_share() -> None:
    assert list(finished(take, [10, 20], WorkerPool())) == [(0, 10), (1, 20)]


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2]), "OPENBLAS_NUM_THREADS": "1"}
