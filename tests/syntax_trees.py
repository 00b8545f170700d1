"""Parses the files of the package and of the tests, each once in a process, and lists their nodes.

Trees hold millions of objects: they are read without looks for garbage, and stay out of later ones.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Makes what lasts to the end, and has no later look for garbage walk through it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


@cache
def trees_below(folder: Path) -> Mapping[Path, ast.Module]:
    """Returns the tree of each file of Python below a folder."""
    with without_garbage_collection():
        return {path: ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in sorted(folder.rglob("*.py"))}


@cache
def nodes_below(folder: Path) -> Mapping[Path, Sequence[ast.AST]]:
    """Returns all nodes of each file of Python below a folder."""
    with without_garbage_collection():
        return {path: list(ast.walk(tree)) for path, tree in trees_below(folder).items()}
