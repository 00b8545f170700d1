"""Indices of coordination: every module of this folder declares INDEX and `measure`; its docstring is its page.

No list is edited: a new file is found by the package walk, and a name claimed twice is an error naming both modules.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from coherence.base.errors import InternalError, UsageError, did_you_mean
from coherence.causal.indices._index import (
    Action,
    Burst,
    Facts,
    Index,
    Measured,
    Part,
    Refusal,
    Tube,
)
from coherence.causal.indices._lines import as_dict, lines

__all__ = [
    "Action",
    "Burst",
    "Entry",
    "Facts",
    "Index",
    "Measured",
    "Part",
    "Refusal",
    "Tube",
    "as_dict",
    "entries",
    "lines",
    "measured",
]


@dataclass(frozen=True)
class Entry:
    """An index with its page, its function and the module that declares it."""

    index: Index
    measure: Callable[[Facts], Measured | Refusal]
    page: str
    module: str


@cache
def entries() -> Mapping[str, Entry]:
    """Every index by name.  Raises InternalError where two modules claim one name."""
    found: dict[str, Entry] = {}
    for info in pkgutil.iter_modules(__path__, __name__ + "."):
        if info.name.rpartition(".")[2].startswith("_"):
            continue
        module = importlib.import_module(info.name)
        name = module.INDEX.name
        if name in found:
            raise InternalError(f"{name} is claimed by {found[name].module} and {module.__name__}")
        found[name] = Entry(module.INDEX, module.measure, inspect.cleandoc(module.__doc__ or ""), module.__name__)
    return MappingProxyType(dict(sorted(found.items())))


def measured(facts: Facts, names: Iterable[str] | None = None) -> tuple[Measured | Refusal, ...]:
    """These indices (all where none are named) of the facts; each a number or what to measure.  Raises UsageError."""
    known = entries()
    chosen = tuple(known) if names is None else tuple(names)
    for name in chosen:
        if name not in known:
            raise UsageError(f"there is no index '{name}': {did_you_mean(name, known)}")
    return tuple(known[name].measure(facts) for name in chosen)
