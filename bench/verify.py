"""The verify engine against its targets: every `_verify_*.py` beside this file measures some rows of one table."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator

import bench
from bench.harness import Row

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small matrices are slower on several threads


def parts() -> list[str]:
    """The modules that measure, by name."""
    return sorted(found.name for found in pkgutil.iter_modules(bench.__path__) if found.name.startswith("_verify_"))


def rows() -> Iterator[Row]:
    """All rows, part by part."""
    for part in parts():
        yield from importlib.import_module(f"bench.{part}").rows()
