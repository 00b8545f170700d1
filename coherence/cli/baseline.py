"""Write, show or prune the baseline of known findings that `check --baseline` does not fail on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from coherence.base.outside_text import visible
from coherence.base.watchdog import STOPPED_CODE, interruptible
from coherence.cli._progress import Progress
from coherence.cli._width import print_text
from coherence.findings import baselines
from coherence.findings.finding import Report
from coherence.language.environments.overlay import chosen_name

FILE = click.option(
    "--file", "-f", "file", default=baselines.DEFAULT, show_default=True, metavar="FILE", help="The baseline."
)


@click.group("baseline")
def command() -> None:
    """Findings that are known, so that `check --baseline FILE` fails on new ones alone.

    A finding is known by its code, verdict and the names of its policies: lines, order, comments, file names and
    numbers may change.  A `reason` may be written beside each entry; it stays.
    """


@command.command("write")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@FILE
@click.option("--notes", is_flag=True, help="Also what is only a note (severity info).")
def write(paths: Sequence[str], file: str, *, notes: bool) -> int:
    """Take every problem under PATHS as known."""
    old = baselines.read(file) if Path(file).exists() else ()
    own = chosen_name()
    others = [entry for entry in old if own and baselines.within([entry], own) == ()]
    checked = _checked(paths)
    if checked is None:
        return STOPPED_CODE
    findings = (replace(finding, environments=own or finding.environments) for finding in checked.findings)
    entries = (*baselines.entries_of(findings, old, notes=notes), *others)
    _save(file, entries)
    print_text(f"{file}: {_number_known(entries)}")
    return 0


@command.command("show")
@FILE
def show(file: str) -> int:
    """List what is known, and why."""
    for entry in baselines.read(file):
        times = f" x{entry.count}" if entry.count > 1 else ""
        reason = f"  -- {entry.reason}" if entry.reason else ""
        where = f" in {' and '.join(entry.environments)}" if entry.environments else ""
        line = f"{entry.fingerprint}  {entry.code} {entry.verdict}{times} of {', '.join(entry.of)}{where}{reason}"
        print_text(visible(line))
    return 0


@command.command("prune")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@FILE
def prune(paths: Sequence[str], file: str) -> int:
    """Forget what is not found under PATHS any more."""
    entries = baselines.read(file)
    own = chosen_name()
    relevant = [entry for entry in entries if not own or entry.environments == own]
    checked = _checked(paths)
    if checked is None:
        return STOPPED_CODE
    findings = (replace(finding, environments=own or finding.environments) for finding in checked.findings)
    gone = baselines.compared(findings, relevant).gone
    _save(file, baselines.pruned(entries, gone))
    for entry in gone:
        print_text(visible(f"gone: {entry.code} {entry.verdict} of {', '.join(entry.of)}"))
    print_text(f"{file}: {_number_known(baselines.pruned(entries, gone))}, {sum(one.count for one in gone)} gone")
    return 0


def _checked(paths: Sequence[str]) -> Report | None:
    """Returns the report of what stands under the paths; None where Ctrl-C ended it, and the baseline stays."""
    from coherence.checking.reports import report
    from coherence.checking.workspace import open_workspace

    workspace = open_workspace(paths)
    with Progress("checking") as bar, interruptible(bar) as run:
        checked = report(workspace, today=time.strftime("%Y-%m-%d"), verify_repairs=False)
    if run.stopped:
        click.echo("stopped: the baseline is as it was", err=True)
    return None if run.stopped else checked


def _save(file: str, entries: Sequence[baselines.BaselineEntry]) -> None:
    from coherence.base.replace_files import replace_files

    replace_files({file: (None, baselines.text(entries).encode("ascii"))})


def _number_known(entries: Sequence[baselines.BaselineEntry]) -> str:
    number = sum(entry.count for entry in entries)
    return f"{number} known finding{'' if number == 1 else 's'}"
