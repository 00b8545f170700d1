"""A policy check defines the classes of what it uses: each dataclass costs 0.9 ms, and modules that lie idle cost more.

Question modules are imported to be asked; what one needs to answer is imported where it answers.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DESIGN = ROOT / "bench" / "data" / "ten-loops.yaml"
# Prints the modules of the engines that the check imports, and of which it runs no function.
PROBE = """
import contextlib, io, sys

ran = set()


def note(frame, event, _):
    if event == "call":
        ran.add(frame.f_code)


sys.setprofile(note)
from coherence.cli._run import run

with contextlib.redirect_stdout(io.StringIO()):
    run(["check", "--no-cache", sys.argv[1]])
sys.setprofile(None)
functions = (code for code in ran if code.co_flags & 2 and not code.co_name.startswith(("<", "__init_subclass__")))
bodies = {code.co_filename for code in functions}
engines = ("coherence.verify.", "coherence.loops.", "coherence.simulate.", "coherence.checking.repair.")
loaded = {name: module.__file__ for name, module in sys.modules.items() if name.startswith(engines)}
print("\\n".join(name for name, file in loaded.items() if not file.endswith("__init__.py") and file not in bodies))
"""
MOST_IDLE = 20  # modules that are imported for a word or a type in many functions of a question; it only shrinks


@pytest.mark.slow
def test_a_policy_check_imports_little_that_it_does_not_use() -> None:
    command = [sys.executable, "-c", PROBE, str(DESIGN)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    idle = done.stdout.split()
    assert len(idle) <= MOST_IDLE, "import what is not needed here where it is used"


@pytest.mark.slow
def test_a_check_of_loops_that_feed_back_loads_no_scipy() -> None:
    """It takes as long to load as such a check, and few answers need it."""
    design = ROOT / "specs" / "hpa-metric-lag" / "design.yaml"
    script = "import sys; from coherence.cli._run import run; run(sys.argv[1:]); assert 'scipy' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", script, "check", "--no-cache", str(design)], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "never settles" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr
