"""The loops engine against its targets: every `_loops_*.py` beside this file measures some rows of one table."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import bench
from bench.harness import Row

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small matrices are slower on several threads


def parts() -> list[ModuleType]:
    """The modules that measure, those that take fewest `MINUTES` of processor first."""
    names = (info.name for info in pkgutil.iter_modules(bench.__path__) if info.name.startswith("_loops_"))
    modules = (importlib.import_module(f"bench.{name}") for name in sorted(names))
    return sorted(modules, key=lambda module: float(module.MINUTES))


def rows() -> Iterator[Row]:
    """All rows, part by part."""
    for part in parts():
        yield from part.rows()
