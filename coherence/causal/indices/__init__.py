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
from coherence.causal.answers.intervals import Estimate
from coherence.causal.data.index_inputs import IndexInputs


@dataclass(frozen=True)
class Index:
    """An index: its short name, its meaning in one sentence, its unit and range, what leaves it unchanged."""

    name: str
    words: str
    unit: str
    range: str
    invariances: str
    source: str


@dataclass(frozen=True)
class IndexPart:
    """A number told beside an index: a share of it, or the same question of another statistic."""

    name: str
    estimate: Estimate
    unit: str = "1"


@dataclass(frozen=True)
class MeasuredIndex:
    """An index of one log.  `bound` is ">=" or "<=" where the data only bound it; `says` is its value in words."""

    index: Index
    estimate: Estimate
    says: str
    bound: str = ""
    parts: tuple[IndexPart, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexRefusal:
    """An index that these data cannot give: why, and what to measure."""

    index: Index
    why: str
    measure: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexEntry:
    """An index with its page, its function and the module that declares it."""

    index: Index
    measure: Callable[[IndexInputs], MeasuredIndex | IndexRefusal]
    page: str
    module: str


@cache
def index_entries() -> Mapping[str, IndexEntry]:
    """Every index by name.  Raises InternalError where two modules claim one name."""
    entries: dict[str, IndexEntry] = {}
    for info in pkgutil.iter_modules(__path__, __name__ + "."):
        module = importlib.import_module(info.name)
        name = module.INDEX.name
        if name in entries:
            raise InternalError(f"{name} is claimed by {entries[name].module} and {module.__name__}")
        entries[name] = IndexEntry(
            module.INDEX, module.measure, inspect.cleandoc(module.__doc__ or ""), module.__name__
        )
    return MappingProxyType(dict(sorted(entries.items())))


def measured_indices(
    facts: IndexInputs, names: Iterable[str] | None = None
) -> tuple[MeasuredIndex | IndexRefusal, ...]:
    """These indices (all where none are named) of the facts; each a number or what to measure.  Raises UsageError."""
    known = index_entries()
    chosen = tuple(known) if names is None else tuple(names)
    for name in chosen:
        if name not in known:
            raise UsageError(f"there is no index '{name}': {did_you_mean(name, known)}")
    return tuple(known[name].measure(facts) for name in chosen)
