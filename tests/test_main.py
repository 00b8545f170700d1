"""How the console script ends: exit handlers are run, what was printed is written, the exit code is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CLEAN = "coherence: 1\nlimits: {l: {counts: a.b, at_most: 3}}\n"
SCRIPT = """
import atexit, sys
atexit.register(lambda: print("left in order"))
sys.argv = ["coherence", *sys.argv[1:]]
from coherence.__main__ import main
main()
"""


def ended(*words: str, script: str = SCRIPT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("text", "code"), [(CLEAN, 0), ("coherence: 2\n", 2)])
def test_exit_handlers_run_and_the_code_is_kept(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "design.yaml").write_text(text)
    done = ended("check", "--no-cache", str(tmp_path / "design.yaml"))
    assert done.returncode == code
    assert done.stdout.endswith("left in order\n")
    assert bool(done.stderr) == (code == 2)


@pytest.mark.slow
def test_all_output_is_written_before_the_end(tmp_path: Path) -> None:
    limits = "".join(f"  l{n}: {{counts: outside{n}.b, at_most: 3, when_full: wait}}\n" for n in range(300))
    (tmp_path / "design.yaml").write_text(f"coherence: 1\nlimits:\n{limits}")
    done = ended("check", "--no-cache", "-o", "json", str(tmp_path / "design.yaml"))
    assert done.stdout.rstrip().endswith("left in order")
    assert len(done.stdout) > 10_000


def test_threads_are_waited_for(tmp_path: Path) -> None:
    (tmp_path / "design.yaml").write_text(CLEAN)
    thread = "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.5), print('thread'))).start()\n"
    done = ended("check", "--no-cache", str(tmp_path / "design.yaml"), script=thread + SCRIPT)
    assert "thread\n" in done.stdout
    assert done.returncode == 0
