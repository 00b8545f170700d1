"""Infrastructure against its targets: every `_infrastructure_*.py` beside this file measures some rows of one table."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import bench
from bench.harness import Row


def parts() -> list[str]:
    """The modules that measure, by name."""
    names = (info.name for info in pkgutil.iter_modules(bench.__path__))
    return sorted(name for name in names if name.startswith("_infrastructure_"))


def rows() -> Iterator[Row]:
    """All rows, part by part."""
    for part in parts():
        yield from importlib.import_module(f"bench.{part}").rows()
