"""Renders reports: one file per format, one list of findings behind all of them.

A format is a module of this package with `render(report, *, options) -> str`; it is found by walking the package, and
has the name of its file (without `_` at the end).  Output depends on the report, the options and the installed versions
alone: no clock, no machine, no order of a set.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from typing import Protocol, cast

from coherence.base.errors import UsageError, did_you_mean
from coherence.findings.finding import Report
from coherence.reporting._options import ReportOptions, options_from
from coherence.reporting._versions import versions
from coherence.reporting._words import anchored, is_proof

__all__ = ["Options", "formats", "render", "versions"]


class Format(Protocol):
    """What a module of this package must offer."""

    def render(self, report: Report, *, options: ReportOptions) -> str: ...


def formats() -> tuple[str, ...]:
    """Returns the names of all formats, sorted; none is imported."""
    return tuple(module.rstrip("_") for module in _modules())


def render(name: str, report: Report, **options: object) -> str:
    """Returns the report in the format `name`; `options` are the fields of `Options`.

    Raises UsageError for an unknown format or option.
    """
    chosen = options_from(options)
    shown = _anchored(_problems(report) if chosen.problems_only else report)
    return _format(name).render(shown, options=chosen)


def _format(name: str) -> Format:
    """Returns the format's module, importing only that one.  Raises UsageError."""
    modules = dict(zip(formats(), _modules(), strict=True))
    if name not in modules:
        raise UsageError(f"no report format '{name}'; {did_you_mean(name, modules)}")
    return cast("Format", importlib.import_module(f"{__name__}.{modules[name]}"))


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
