"""Compiles functions by numba where it is installed (`entry`, `in_place`, `compiled`, `inlined`), else returns them.

The loop of the request-level engine holds no random generator and calls no `pow`, `exp` or the like,
so that both ways give the same bits; without numba it is slow.  numba comes with the extra `[simulate]`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

try:
    import numba
except ImportError:  # pragma: no cover  (the optional dependency is absent)
    numba = None

COMPILES = numba is not None
OPTIONS = {"nogil": True, "error_model": "numpy"}
IN_PLACE = {**OPTIONS, "_nrt": False}  # makes no array, else it does not compile: no references are counted
HELPER = {**IN_PLACE, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: F) -> F:
    """Returns a helper of compiled functions.

    A call from Python would end the process: compiling the wrappers for it takes a third of the time.
    """
    return _compiled(function, **HELPER)


def inlined(function: F) -> F:
    """Returns a helper that becomes part of the compiled functions that call it."""
    return _compiled(function, **HELPER, forceinline=True)


def entry(function: F) -> F:
    """Returns a function that Python calls, kept on disk between processes.

    numba's cache looks at the file of this function alone.  Where helpers stand in other files, close
    over `digest` of those files: closed-over values are part of the cache's key.
    """
    return _compiled(function, **OPTIONS, cache=True)


def in_place(function: F) -> F:
    """Returns an entry that makes no array: it compiles in three quarters of the time and runs a third faster."""
    return _compiled(function, **IN_PLACE, cache=True)


def _compiled(function: F, **options: Any) -> F:
    return numba.njit(**options)(function) if COMPILES else function


def digest(*files: str) -> str:
    """Of the text of files, in order."""
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()
