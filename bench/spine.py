"""The spine: how long the command line takes to answer, and what it imports on the way.

The command is the installed console script (the source tree where none is installed).  The policy design
has ten loops, calls, timers and limits, none in feedback; in the other, throttle and backfill interact
and are proved safe for every phase.

SOURCE: the limits are the speed that a hook can bear: 3 times `python -c pass` for `--help`, 25 times for a
policy check of ten loops.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.harness import Row, interleaved, process

DATA = Path(__file__).parent / "data"
TEN_LOOPS = DATA / "ten-loops.yaml"
HEAVY = ("control", "pgmpy", "sympy", "pandas", "matplotlib")
FOUND = (0, 1)  # a check that finds something has done its work

_REFERENCE = "python -c pass"
_HELP = ("--help",)
_CHECK = ("check", "--no-cache", str(TEN_LOOPS))
_PROVE = ("check", "--no-cache", str(DATA / "ten-loops-stability.yaml"))
_SCRIPT = "from coherence.__main__ import main; main()"
# Runs `python -m coherence` in place and then says which of the heavy modules it loaded.
_PROBE = """
import atexit, json, runpy, sys
heavy, sys.argv = json.loads(sys.argv[1]), ["coherence", *sys.argv[2:]]
atexit.register(lambda: print("\\nLOADED " + json.dumps(sorted(set(heavy) & set(sys.modules))), file=sys.stderr))
runpy.run_module("coherence", run_name="__main__", alter_sys=True)
"""


def rows() -> Iterator[Row]:
    """Start-up and policy check as ratios to an empty interpreter, and heavy modules imported."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled
    python, coherence = [sys.executable], command()
    medians = interleaved(
        {
            "pass": partial(process, [*python, "-c", "pass"]),
            "help": partial(process, [*coherence, *_HELP]),
            "check": partial(process, [*coherence, *_CHECK], accepted=FOUND),
        }
    )
    yield Row("coherence --help", medians["help"] / medians["pass"], "<= 3", "times", _REFERENCE)
    yield Row("policy check of ten loops", medians["check"] / medians["pass"], "<= 25", "times", _REFERENCE)
    proving = interleaved({"prove": partial(process, [*coherence, *_PROVE], accepted=FOUND)}, repeats=5)
    yield Row("ten loops with an unbounded proof of two", proving["prove"], "<= 3", "s", "")
    loaded = {*heavy_modules(_HELP), *heavy_modules(_CHECK)}
    yield Row(
        f"heavy modules imported by either, of {', '.join(HEAVY)}",
        len(loaded),
        "== 0",
        "modules",
        ", ".join(sorted(loaded)),
    )


def command() -> list[str]:
    """The console script beside this interpreter, as pip installs it: compiled, and not found in this folder."""
    script = Path(sys.executable).with_name("coherence")
    return [str(script)] if script.exists() else [sys.executable, "-c", _SCRIPT]


def heavy_modules(arguments: tuple[str, ...]) -> list[str]:
    """Those of HEAVY that `coherence ARGUMENTS` imports."""
    done = process([sys.executable, "-c", _PROBE, json.dumps(HEAVY), *arguments], accepted=FOUND)
    line = done.stderr.rsplit("\nLOADED ", 1)[1]
    loaded: list[str] = json.loads(line)
    return loaded
