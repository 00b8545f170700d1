"""The solver of linear programs solves, and writes nothing to standard output, whatever its version prints."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import numpy as np
from coherence.base.clock import now
from coherence.verify.invariants.linear_program import _solve, _solver
print(_solve(_solver(np.array([-1.0]), np.array([0.0]), np.array([2.0])), now() + 5).tolist())
"""


def test_nothing_but_the_answer_is_written() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("[2.0]\n", "")
