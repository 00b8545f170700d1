"""Shows or writes the smallest repair of every design, for `check --fix` and `check --diff`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import click

from coherence.base.errors import InternalError
from coherence.base.outside_text import visible
from coherence.base.replace_files import encoded_like, replace_files
from coherence.checking.workspace import Entry, Workspace
from coherence.door.fix import unified_diff
from coherence.exploring.fixing import Fix, Wanted, fix, raw
from coherence.findings.finding import Edit, Finding
from coherence.findings.repairs import apply, lines_of
from coherence.language import document
from coherence.reporting._words import where


def fixes(workspace: Workspace, wanted: Wanted, *, time_limit: float) -> list[tuple[Entry, Fix]]:
    """Returns every design with its repair."""
    return [(entry, fix(entry.sources, entry.rebuild, wanted, time_limit=time_limit)) for entry in workspace.entries]


def changed_texts(workspace: Workspace, repairs: Iterable[tuple[Entry, Fix]]) -> dict[str, tuple[bytes, str, str]]:
    """Returns (bytes, text, text after the repairs) of each file that changes, by its name."""
    contents = {input_.path: input_.content for input_ in workspace.inputs if isinstance(input_.content, bytes)}
    changed: dict[str, tuple[bytes, str, str]] = {}
    for entry, repair in repairs:
        before = {file: document.decode(contents[file], file) for file in entry.sources}
        for file, text in raw(repair, before).items():
            if text != before[file]:
                _proved(text, repair.sources[file])
                changed[file] = (contents[file], before[file], text)
    return changed


def _proved(text: str, checked: str) -> None:
    """Raises InternalError unless what is written is what was asked about, but for the ends of lines."""
    if text.replace("\r\n", "\n").replace("\r", "\n") != checked:
        raise InternalError("the repaired text is not the one that was proved")


def show(changed: dict[str, tuple[bytes, str, str]]) -> None:
    """Prints the unified diff on standard output."""
    for file, (_, before, after) in sorted(changed.items()):
        click.echo(unified_diff(file, before, after), nl=False)


def write(changed: dict[str, tuple[bytes, str, str]]) -> None:
    """Replaces every changed file, or none."""
    replace_files({file: (old, encoded_like(old, text)) for file, (old, _, text) in changed.items()})


def tell(repairs: Sequence[tuple[Entry, Fix]], *, done: bool) -> None:
    """Prints what was changed and what was not on standard error."""
    files = {edit.place.file for _, one in repairs for edits in one.rounds for edit in edits}
    removed = [finding for _, one in repairs for finding in one.removed]
    left = [(finding, one) for _, one in repairs for finding in one.left]
    for entry, repair in repairs:
        sources: Mapping[str, str] = entry.sources
        for edits in repair.rounds:
            for edit in edits:
                click.echo(visible(f"{'changed' if done else 'would change'} {_edit_line(edit, sources)}"), err=True)
            sources = apply(edits, sources) or sources
    for finding, repair in left:
        click.echo(f"not repaired: {_named(finding)} ({_why_left(finding, repair)})", err=True)
    for finding in (finding for _, repair in repairs for finding in repair.silent):
        click.echo(f"not proved: {_named(finding)} (no longer found, and nothing proves that it cannot be)", err=True)
    word = "removed" if done else "would be removed"
    click.echo(
        f"{_plural(len(removed), 'conflict')} {word} in {_plural(len(files), 'file')}, {len(left)} left", err=True
    )


def _why_left(finding: Finding, repair: Fix) -> str:
    if repair.cut_short:
        return "the time limit was reached before every change was tried: allow more with --time-limit"
    if finding.repairs:
        return "the changes that remove it are candidates, which no proof supports and no program writes"
    return "no change that was tried removes it and adds nothing"


def _edit_line(edit: Edit, sources: Mapping[str, str]) -> str:
    place = f"{edit.place.file}:{edit.place.line}:{edit.place.column}"
    if not edit.old:
        return f"{place}: added {edit.new.strip(' ,').strip()}"
    before = lines_of(sources[edit.place.file])[edit.place.line - 1][: edit.place.column - 1]
    key = re.search(r"([\w.]+):\s*$", before)
    return f"{place}: {key[1] + ': ' if key else ''}{edit.old} -> {edit.new}"


def _named(finding: Finding) -> str:
    place = finding.places[0] if finding.places else None
    at = f"{where(place)}: " if place else ""
    return f"{at}{finding.code} {visible(finding.message)}"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
