"""The causal engine against its targets: every `_causal_*.py` beside this file measures some rows of one table."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time
from collections.abc import Iterator

import bench
from bench.harness import Row


def parts() -> list[str]:
    """The modules that measure, by name."""
    return sorted(found.name for found in pkgutil.iter_modules(bench.__path__) if found.name.startswith("_causal_"))


def rows() -> Iterator[Row]:
    """All rows, part by part; what is done so far goes to standard error."""
    for place, part in enumerate(parts(), start=1):
        start, count = time.perf_counter(), 0
        measured = getattr(importlib.import_module(f"bench.{part}"), "rows", None)
        for row in measured() if measured is not None else ():
            count += 1
            print(f"    {row.what}: {row.value:.4g} {row.unit} ({row.target})", file=sys.stderr, flush=True)
            yield row
        took = time.perf_counter() - start
        print(f"[{place}/{len(parts())}] {part[8:]}: {count} rows in {took:.0f} s", file=sys.stderr)
