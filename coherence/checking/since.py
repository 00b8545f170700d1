"""Compares the findings of today with those of an earlier commit: what a change touches, and what it newly breaks.

Both states are checked whole, so that a conflict between a policy that changed and one that did not is new.  What the
commit has already is known, by the fingerprint that a baseline uses: lines, files and numbers may move.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from coherence.base.errors import InputError
from coherence.base.places import NOWHERE
from coherence.base.reads import unnoted
from coherence.checking.earlier_tree import EarlierTree, earlier_tree
from coherence.checking.workspace import Workspace, open_workspace
from coherence.findings import baselines
from coherence.findings.finding import ChangedPolicy, Finding, GoneFinding, Report, Since, environments_within
from coherence.language.design import Design
from coherence.model.independent_parts import SECTIONS, entries_of

MOST_LINES = 2_000  # of a changed region that is compared line by line; all lines of a larger one count as changed


class Reporting(Protocol):
    """What checks a workspace within the time of a run, of which so many others need a part."""

    def __call__(self, workspace: Workspace, *, later: int = 0) -> Report:
        """Returns the report."""


def report_since(ref: str, paths: Sequence[str], reported: Reporting) -> Report:
    """Returns the report about the paths of today, with what stood at `ref` already as known.

    reported: checks a workspace, and is told how many wait for the time of the run.  Raises InputError for the files of
    today, UsageError for `ref`.
    """
    with earlier_tree(ref, paths) as tree:
        today = open_workspace(tree.today, root=Path.cwd())
        earlier, unread = _opened(tree)
        report = reported(today, later=int(earlier is not None))
        before = reported(earlier) if earlier else None
    since = Since(ref, tree.commit, tree.left, changed_lines(earlier, today), unread=unread)
    if before is None or earlier is None:
        return replace(report, since=since)
    then = tuple(_seen_today(before.findings, today))
    stood = {finding.fingerprint for finding in then if not baselines.counts(finding, notes=True)}
    proofs = tuple(finding for finding in report.findings if finding.fingerprint in stood)
    others = [finding for finding in report.findings if finding.fingerprint not in stood]
    split = baselines.compared(others, baselines.entries_of(then, notes=True))
    gone = tuple(GoneFinding(one.code, one.verdict, one.of, one.count) for one in split.gone)
    since = replace(since, policies=tuple(changed_policies(earlier, today)), known=len(split.known), gone=gone)
    return replace(report, findings=split.new, known=(*split.known, *proofs), since=since)


def _seen_today(findings: Iterable[Finding], today: Workspace) -> Iterator[Finding]:
    """Yields the findings that were in an environment of today, in those alone."""
    names: dict[str, set[str]] = {}
    for entry in today.entries:
        names.setdefault(entry.design.file, set()).add(entry.design.environment)
    for finding in findings:
        files = {place.file for place in finding.places}
        chosen = frozenset[str]().union(*(own for file, own in names.items() if file in files)) or frozenset({""})
        own = environments_within(finding.environments, chosen) if "" not in chosen else ()
        if own is not None:
            yield replace(finding, environments=own)


def _opened(tree: EarlierTree) -> tuple[Workspace | None, str]:
    """Returns what stood at the commit, or why that cannot be checked."""
    if not tree.paths:
        return None, "none of these paths stood there"
    try:
        return open_workspace(tree.paths, root=tree.root), ""
    except InputError as error:
        return None, str(error.problems[0]).partition("\n")[0].replace(str(tree.root), "")


def changed_lines(earlier: Workspace | None, today: Workspace) -> dict[str, frozenset[int]]:
    """Returns the lines that differ in each file that does; of a file that is gone, none."""
    old, new = earlier.sources if earlier else {}, today.sources
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return {name: _lines(old.get(name, ""), new.get(name, "")) for name in names}


def _lines(old: str, new: str) -> frozenset[int]:
    """Returns the numbers of the lines of a text that an earlier one has not; beside lines that went, the next one."""
    before, after = old.splitlines(), new.splitlines()
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    if max(len(before), len(after)) > MOST_LINES:
        return frozenset(range(start + 1, start + 1 + len(after)))
    changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    numbers = [range(low, max(high, low + 1)) for tag, _, _, low, high in changes if tag != "equal"]
    return frozenset(start + 1 + number for lines in numbers for number in lines if after)


@unnoted()
def changed_policies(earlier: Workspace, today: Workspace) -> Iterator[ChangedPolicy]:
    """Yields the entries of designs that were added, changed or removed, in the order of today's."""
    old, new = _entries(earlier), _entries(today)
    for key, entry in new.items():
        if key not in old or _differs(old[key], entry):
            yield _policy("added" if key not in old else "changed", key, entry)
    yield from (_policy("removed", key, entry) for key, entry in old.items() if key not in new)


def _differs(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Decides whether an entry is another one in some environment of both; without any, whether it is one in none."""
    both = old.keys() & new.keys()
    if both:
        return any(old[name] != new[name] for name in both)
    return not any(entry == other for entry in old.values() for other in new.values())


Key = tuple[str, str, str, int]  # design, section, name, and the how manieth of that name


def _policy(how: str, key: Key, entries: Mapping[str, Any]) -> ChangedPolicy:
    entry = next(iter(entries.values()))
    return ChangedPolicy(how, key[1], key[2], getattr(entry, "place", None) or NOWHERE)


def _entries(workspace: Workspace) -> Mapping[Key, Mapping[str, Any]]:
    """Returns every entry of the designs, as it is in each environment."""
    entries: dict[Key, dict[str, Any]] = {}
    numbers: Counter[tuple[str, str, str, str]] = Counter()
    for checked in workspace.entries:
        file, own = "" if checked.design.imported else checked.design.file, checked.design.environment
        for section, name, entry in _of_design(checked.design):
            number = numbers[file, section, name, own]
            entries.setdefault((file, section, name, number), {})[own] = entry
            numbers[file, section, name, own] += 1
    return entries


def _of_design(design: Design) -> Iterator[tuple[str, str, Any]]:
    """Yields every entry of a design: its section, its name, and what it says."""
    for section in (*SECTIONS, "places", "tiers", "boundaries", "prices", "telemetry"):
        for name, entry in entries_of(design, section).items():
            yield section, str(getattr(entry, "name", name)), entry
    infrastructure = design.infrastructure
    yield from (
        ("links", " - ".join(end.text for end in link.ends), link)
        for link in (infrastructure.links if infrastructure else ())
    )
    if design.order is not None:
        yield "order", "", design.order
