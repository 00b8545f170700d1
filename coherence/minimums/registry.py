"""Discovers the bounds: every module of `bounds/` declares BOUND; its docstring is the bound's page.

No list is edited: a new file is found by the package walk, and a name claimed twice is an error naming both modules.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from coherence.base.errors import InternalError, UsageError, did_you_mean
from coherence.minimums.bound import Bound

FOLDER = "coherence.minimums.bounds"


@dataclass(frozen=True)
class RegisteredBound:
    """A bound with its page and the module that declares it."""

    bound: Bound
    page: str
    module: str


@cache
def entries() -> Mapping[str, RegisteredBound]:
    """Returns every bound by name.  Raises InternalError where two modules claim one name."""
    package = importlib.import_module(FOLDER)
    by_name: dict[str, RegisteredBound] = {}
    for info in pkgutil.iter_modules(package.__path__, FOLDER + "."):
        if info.name.rsplit(".", 1)[1].startswith("_"):
            continue
        module = importlib.import_module(info.name)
        bound = module.BOUND
        if bound.name in by_name:
            raise InternalError(f"{bound.name} is claimed by {by_name[bound.name].module} and {module.__name__}")
        by_name[bound.name] = RegisteredBound(bound, inspect.cleandoc(module.__doc__ or ""), module.__name__)
    return MappingProxyType(dict(sorted(by_name.items())))


def bounds() -> tuple[Bound, ...]:
    """Returns every bound, by name."""
    return tuple(entry.bound for entry in entries().values())


def entry(name: str) -> RegisteredBound:
    """Returns one bound.  Raises UsageError."""
    known = entries().get(name)
    if known is None:
        near = did_you_mean(name, entries()) or "coherence bound --list shows all"
        raise UsageError(f"there is no bound '{name}': {near}")
    return known
