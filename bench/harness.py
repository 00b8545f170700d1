"""What the benchmarks share: rows with a target, interleaved medians, and the machine they ran on.

Wall-clock limits fail on slow machines and hide regressions on fast ones, so times are given as
ratios to a reference measured in the same run, turn by turn, so that both see the same machine.
"""

from __future__ import annotations

import importlib.metadata
import operator
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")
PARTS = 8  # of the designs of the tests
_RELATIONS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}
_LIBRARIES = (
    "coherence-engine", "ciw", "click", "control", "cvc5", "highspy", "numba", "numpy", "pyyaml", "scipy", "simpy",
    "slycot", "sympy", "z3-solver",
)  # fmt: skip


class BenchError(Exception):
    """A benchmark that could not be measured; the message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an engine's table: what was measured, and the target (`<= 3`, `>= 0.9`, `== 0`) it must meet.

    `peer` is what the value is compared with: another tool, or the reference of a ratio.
    """

    what: str
    value: float
    target: str
    unit: str
    peer: str = ""

    @property
    def holds(self) -> bool:
        """Whether the value meets the target.  A value that is not a number meets none."""
        relation, limit = self.target.split()
        return bool(_RELATIONS[relation](self.value, float(limit)))

    def to_dict(self) -> dict[str, Any]:
        """The row as `python -m bench --json` prints it."""
        return {
            "what": self.what,
            "value": round(self.value, 4),
            "target": self.target,
            "holds": self.holds,
            "peer": self.peer,
            "unit": self.unit,
        }


def interleaved(tasks: Mapping[str, Callable[[], object]], *, repeats: int = 15) -> dict[str, float]:
    """name -> median seconds of each task.  Tasks take turns; the first turn warms caches and is not counted."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            if turn:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def part_of(items: Sequence[Argument]) -> Sequence[Argument]:
    """Returns the part that a benchmark takes of what the tests take all of: each eighth, all with COHERENCE_DRAW=all.

    Another number takes another eighth, as in `tests/draws.py`.
    """
    stated = os.environ.get("COHERENCE_DRAW", "0")
    return items if stated == "all" else items[int(stated) % PARTS :: PARTS]


def on_all_cores(function: Callable[[Argument], Result], arguments: Iterable[Argument]) -> list[Result]:
    """The results in order; each core takes the next argument.  For answers, never for times."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, arguments))


def process(command: Sequence[str], *, accepted: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Run a command to its end.  Raises BenchError when its exit code is not accepted."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode not in accepted:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise BenchError(f"{' '.join(command)}: exit code {done.returncode}\n{said}")
    return done


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
    }


def versions() -> dict[str, str]:
    """Installed versions of the libraries that decide the numbers."""
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
