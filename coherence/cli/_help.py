"""Writes the page of `coherence --help` from the first docstring line of each command's file."""

from __future__ import annotations

import os

HEAD = """\
Usage: coherence COMMAND [OPTIONS] ...

  Check a combination of control loops before it is deployed.

Commands:
"""
TAIL = """
  coherence COMMAND --help   options of a command; also coherence help COMMAND
  coherence --version, -V    version of the tool
  --color auto|always|never  of any command; NO_COLOR and FORCE_COLOR are heard too
  --in NAME                  of any command: the design as it is in this one of its environments
  --memory SIZE              of any command: what needs more is not answered (default: nearly all that is free)
  --quiet                    of any command: print nothing but errors (files are written, exit codes stay)
  [tool.coherence.COMMAND]   of the nearest pyproject.toml: options that stand unless the command line has them

Exit codes: 0 clean, 1 conflicts (see --fail-on), 2 usage or input, 3 internal error, 4 undecided (--strict).
"""


def commands() -> dict[str, str]:
    """Returns the one-line summary of each command, by its name.  The file of `import` is `import_.py`."""
    summaries = {}
    for entry in sorted(os.listdir(os.path.dirname(__file__))):  # noqa: PTH208, PTH120  (pathlib costs 10 ms here)
        if entry.endswith(".py") and not entry.startswith("_"):
            with open(os.path.join(os.path.dirname(__file__), entry), encoding="utf-8") as file:  # noqa: PTH118, PTH120, PTH123
                summaries[entry[:-3].rstrip("_")] = file.readline().strip().strip('"').rstrip(".")
    return summaries


def root_help() -> str:
    """Returns the whole page of `coherence --help`."""
    rows = "".join(f"  {name:<11}{summary}\n" for name, summary in commands().items())
    return HEAD + rows + TAIL
