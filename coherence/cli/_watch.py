"""Runs `check --watch`: a line for every change, and the files of `-o FORMAT=FILE` anew, until Ctrl-C."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from coherence.base.errors import InputError, UsageError
from coherence.base.outside_text import visible
from coherence.checking.watch import changes, stamp
from coherence.cli._width import print_text
from coherence.findings.finding import Finding, Report, Severity, Verdict
from coherence.reporting._words import where

Check = Callable[[], Report]
Show = Callable[[Report], None]
Key = tuple[str, ...]


def watched(paths: Sequence[str], check: Check, show: Show, keep: Show = lambda _: None) -> int:
    """Shows the whole report once; at each change prints a line and the new problems, and passes the report to `keep`.

    Ctrl-C ends it with exit code 0.
    """
    try:
        first = stamp(paths)
        before = _once(check, "", show, keep, None)
        click.echo(f"watching {len(first)} file{'' if len(first) == 1 else 's'}; Ctrl-C ends", err=True)
        for changed in changes(paths, first):
            before = _once(check, _names(changed), show, keep, before)
    except KeyboardInterrupt:
        click.echo("", err=True)
    return 0


def _once(check: Check, changed: str, show: Show, keep: Show, before: frozenset[Key] | None) -> frozenset[Key] | None:
    begun = time.monotonic()
    try:
        report = check()
    except (InputError, UsageError) as error:
        problem = str(error.problems[0]) if isinstance(error, InputError) else str(error)
        print_text(visible(f"{_clock()} {changed or 'start'}: not checked: {problem.splitlines()[0]}"))
        return before
    problems = _problems(report.findings)
    (show if before is None else keep)(report)
    for key in sorted(set(problems) - (before or frozenset())) if before is not None else ():
        print_text(f"  new: {_line(problems[key])}")
    gone = len(before - set(problems)) if before is not None else 0
    new = len(set(problems) - before) if before is not None else len(problems)
    took = time.monotonic() - begun
    number = f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"
    print_text(f"{_clock()} {visible(changed or 'start')}: {number}, {new} new, {gone} gone, in {took:.2f} s")
    return frozenset(problems)


def _problems(findings: Iterable[Finding]) -> dict[Key, Finding]:
    """Returns the findings to look at by fingerprint, file, and number among those that are alike."""
    seen: Counter[Key] = Counter()
    problems: dict[Key, Finding] = {}
    for finding in findings:
        if finding.verdict is Verdict.CONFLICT or finding.severity is not Severity.INFO:
            key = (finding.fingerprint, finding.code, finding.places[0].file if finding.places else "")
            seen[key] += 1
            problems[(*key, str(seen[key]))] = finding
    return problems


def _line(finding: Finding) -> str:
    place = finding.places[0] if finding.places else None
    at = f"{where(place)}: " if place else ""
    return f"{at}{finding.severity}[{finding.code}]: {visible(finding.message)}"


def _names(changed: Sequence[str]) -> str:
    first = Path(changed[0]).name if changed else "files"
    return first if len(changed) < 2 else f"{first} and {len(changed) - 1} more"


def _clock() -> str:
    return time.strftime("%H:%M:%S")
