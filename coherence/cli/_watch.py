"""`check --watch`: a line for every change, until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from coherence.errors import InputError, UsageError
from coherence.finding import Finding, Report, Severity, Verdict
from coherence.watching import changes, stamp

Check = Callable[[], Report]


def watched(paths: Sequence[str], check: Check, show: Callable[[Report], None]) -> int:
    """The whole report once, then one line and the new problems at each change.  Ctrl-C ends it with exit code 0."""
    try:
        first = stamp(paths)
        before = _once(check, "", show, None)
        click.echo(f"watching {len(first)} file{'' if len(first) == 1 else 's'}; Ctrl-C ends", err=True)
        for changed in changes(paths, first):
            before = _once(check, _names(changed), show, before)
    except KeyboardInterrupt:
        click.echo("", err=True)
    return 0


def _once(
    check: Check, changed: str, show: Callable[[Report], None], before: frozenset[tuple[str, ...]] | None
) -> frozenset[tuple[str, ...]] | None:
    begun = time.monotonic()
    try:
        made = check()
    except (InputError, UsageError) as error:
        said = str(error.problems[0]) if isinstance(error, InputError) else str(error)
        click.echo(f"{_clock()} {changed or 'start'}: not checked: {said.splitlines()[0]}")
        return before
    problems = {_key(f): f for f in made.findings if f.verdict is Verdict.CONFLICT or f.severity is not Severity.INFO}
    if before is None:
        show(made)
    for key in sorted(set(problems) - (before or frozenset())) if before is not None else ():
        click.echo(f"  new: {_line(problems[key])}")
    gone = len(before - set(problems)) if before is not None else 0
    new = len(set(problems) - before) if before is not None else len(problems)
    took = time.monotonic() - begun
    number = f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"
    click.echo(f"{_clock()} {changed or 'start'}: {number}, {new} new, {gone} gone, in {took:.2f} s")
    return frozenset(problems)


def _key(finding: Finding) -> tuple[str, ...]:
    return (finding.fingerprint, finding.code, finding.places[0].file if finding.places else "")


def _line(finding: Finding) -> str:
    place = finding.places[0] if finding.places else None
    at = f"{place.file}:{place.line}:{place.column}: " if place else ""
    return f"{at}{finding.severity}[{finding.code}]: {finding.message}"


def _names(changed: Sequence[str]) -> str:
    first = Path(changed[0]).name if changed else "files"
    return first if len(changed) < 2 else f"{first} and {len(changed) - 1} more"


def _clock() -> str:
    return time.strftime("%H:%M:%S")
