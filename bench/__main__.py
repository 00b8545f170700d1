"""`python -m bench ENGINE [--json]`.  Exit code 0: every target holds, 1: one is missed, 2: it cannot be measured."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence

import bench
from bench.harness import BenchError, Row, machine, versions

_SHARED = frozenset({"__main__", "harness"})


def engines() -> dict[str, str]:
    """Returns name -> module of every benchmark: the public modules of this folder; packages hold data and systems."""
    names = (info.name for info in pkgutil.iter_modules(bench.__path__) if not info.ispkg)
    return {name: f"bench.{name}" for name in sorted(names) if name not in _SHARED and not name.startswith("_")}


def render_table(rows: Iterable[Row]) -> str:
    """The rows for a reader."""
    lines = [("", "value", "target", "unit", "what", "peer")]
    lines += [
        ("ok" if row.holds else "MISS", f"{row.value:.4g}", row.target, row.unit, row.what, row.peer) for row in rows
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _measured(rows: Iterable[Row]) -> Iterator[Row]:
    """Yields the rows, and says of each on the error stream after how long it was there: a run takes minutes."""
    begun = time.monotonic()
    for row in rows:
        print(f"{time.monotonic() - begun:6.0f} s  {row.value:.4g} {row.unit}  {row.what}", file=sys.stderr, flush=True)
        yield row


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one engine's benchmark and print its rows."""
    known = engines()
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure one engine against its targets.")
    parser.add_argument("engine", choices=list(known))
    parser.add_argument("--json", action="store_true", help="print {rows, machine, versions}")
    chosen = parser.parse_args(arguments)
    try:
        rows = list(_measured(importlib.import_module(known[chosen.engine]).rows()))
    except BenchError as error:
        print(error, file=sys.stderr)
        return 2
    if chosen.json:
        print(
            json.dumps(
                {"rows": [row.to_dict() for row in rows], "machine": machine(), "versions": versions()}, indent=2
            )
        )
    else:
        print(render_table(rows))
    return 0 if rows and all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
