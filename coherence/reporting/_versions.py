"""Collects the versions that an answer may depend on."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from types import MappingProxyType

from coherence.base.version import VERSION

# Every package that computes a part of an answer; a report names those that are installed.
ENGINES = ("control", "cvc5", "highspy", "networkx", "numpy", "pgmpy", "pyyaml", "scipy", "sympy", "z3-solver")


@functools.cache
def versions() -> Mapping[str, str]:
    """Returns the versions of `coherence`, Python and each installed engine, by name."""
    installed = {name: version for name in ENGINES if (version := _version(name))}
    installed |= {"coherence": VERSION, "python": sys.version.split()[0]}
    return MappingProxyType(dict(sorted(installed.items())))


def _version(distribution: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
