"""Renders reports: one file per format, one list of findings behind all of them.

A format is a module of this package with `NAME`, `MARK` (bytes by which a file of it is known again) and
`render(report, *, options) -> str`; it is found by walking the package.  Output depends on the report, the options and
the installed versions alone: no clock, no machine, no order of a set.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol, cast

from coherence.base.errors import InternalError, UsageError, did_you_mean
from coherence.findings.finding import Report
from coherence.reporting._options import ReportOptions, options_from
from coherence.reporting._versions import versions
from coherence.reporting._words import anchored, is_proof

__all__ = ["Options", "formats", "mark", "render", "versions"]


class Format(Protocol):
    """What a module of this package must offer."""

    NAME: str
    MARK: bytes | tuple[bytes, ...]

    def render(self, report: Report, *, options: ReportOptions) -> str: ...


def formats() -> tuple[str, ...]:
    """Returns the names of all formats, sorted."""
    return tuple(_formats_by_name())


def render(name: str, report: Report, **options: object) -> str:
    """Returns the report in the format `name`; `options` are the fields of `Options`.

    Raises UsageError for an unknown format or option.
    """
    chosen = options_from(options)
    shown = _anchored(_problems(report) if chosen.problems_only else report)
    return _format(name).render(shown, options=chosen)


def mark(name: str) -> bytes | tuple[bytes, ...]:
    """Returns what stands in every report of the format that is not empty.  Raises UsageError."""
    return _format(name).MARK


def _format(name: str) -> Format:
    """Returns the format's module, importing only that one where the file has the format's name."""
    if name in _modules():
        own = cast("Format", importlib.import_module(f"{__name__}.{name}"))
        if name == own.NAME:
            return own
    by_name = _formats_by_name()
    if name not in by_name:
        raise UsageError(f"no report format '{name}'; {did_you_mean(name, by_name)}")
    return by_name[name]


def _anchored(report: Report) -> Report:
    """Returns the report with places in files first in each finding, so that every format can point at one."""
    parts = (report.findings, report.suppressed, report.known)
    findings, suppressed, known = (tuple(map(anchored, part)) for part in parts)
    return replace(report, findings=findings, suppressed=suppressed, known=known)


def _problems(report: Report) -> Report:
    problems = tuple(finding for finding in report.findings if not is_proof(finding))
    return replace(report, findings=problems, suppressed=(), known=())


def _modules() -> tuple[str, ...]:
    """Returns the names of the modules of this package that are formats."""
    names = (info.name for info in pkgutil.iter_modules(__path__) if not info.ispkg)
    return tuple(sorted(name for name in names if not name.startswith("_")))


@functools.cache
def _formats_by_name() -> Mapping[str, Format]:
    """Returns the modules by name of format.  Raises InternalError for a name that two modules claim."""
    by_name: dict[str, Format] = {}
    for module in (importlib.import_module(f"{__name__}.{name}") for name in _modules()):
        candidate = cast("Format", module)
        if candidate.NAME in by_name:
            raise InternalError(
                f"format '{candidate.NAME}' is claimed by {by_name[candidate.NAME]!r} and {candidate!r}"
            )
        by_name[candidate.NAME] = candidate
    return MappingProxyType(dict(sorted(by_name.items())))
