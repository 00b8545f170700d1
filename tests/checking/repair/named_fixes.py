"""Lays the repairs of every conflict beside what they must keep, and beside the fix that their source names.

`python -m tests.checking.repair.named_fixes [WORD...]` prints the table over all conflicts of specs/ and of the
Markdown cases (those whose name or heading has a WORD), with what fails.  It takes minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from fractions import Fraction
from typing import Any, NamedTuple

from coherence.base import units
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Repair, Verdict
from coherence.language.design import Design
from coherence.language.entries.leaves import leaves
from coherence.language.reading import read_text
from tests.case_files import CASES, FILE, cases
from tests.checking.repair.kept_objectives import lost, unmarked, written
from tests.paths import read_yaml

FIRST = 2  # of the repairs of a conflict, one of so many names the fix of the source
SPECS = CASES.parent / "specs"


class Fix(NamedTuple):
    """What a source says first, and the changes that are it."""

    case: str
    fix: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """A design with conflicts: how many, how many have a repair, what fails, and where the source's fix stands.

    `place` is that of the first repair of any of its conflicts that names the fix; None where none does.
    """

    name: str
    conflicts: int
    repaired: int
    failing: tuple[str, ...]
    fix: Fix | None
    place: int | None


def fixes() -> tuple[Fix, ...]:
    """Returns the fixes of tests/data/source_fixes.yaml."""
    rows = read_yaml(CASES / "data" / "source_fixes.yaml")["fixes"]
    return tuple(Fix(row["case"], row["fix"], tuple(row["names"])) for row in rows)


def designs() -> Iterator[tuple[str, str, str]]:
    """Yields (name, heading, text) of every design of specs/ and of the cases that states a conflict."""
    for path in sorted(SPECS.glob("*/design.yaml")):
        if not path.parent.name.endswith("-repaired"):
            yield path.parent.name, "", path.read_text(encoding="utf-8")
    for case in cases(CASES):
        if not (case.signals or case.manifests) and any(mark.verdict == "conflict" for mark in case.expected):
            yield case.name, _heading(case.name), case.text


def _heading(name: str) -> str:
    file, _, line = name.rpartition(":")
    before = (CASES / file).read_text(encoding="utf-8").split("\n")[: int(line)]
    return next((text.lstrip("# ") for text in reversed(before) if text.startswith("## ")), "")


def measured(name: str, heading: str, text: str) -> Measured:
    """Returns what the repairs of the conflicts of a design keep and name."""
    findings = _conflicts(text)
    fix = next((fix for fix in fixes() if heading.startswith(fix.case)), None)
    failing = [f"{f.code}: {what}" for f in findings for what in _failing(text, f)]
    repaired = sum(any(repair.proved for repair in finding.repairs) for finding in findings)
    places = [place for f in findings if fix is not None and (place := _place(text, f, fix)) is not None]
    return Measured(name, len(findings), repaired, tuple(failing), fix, min(places, default=None))


def _conflicts(text: str) -> list[Finding]:
    answers = analyse(read_text(text, FILE), {FILE: text}, lambda sources: read_text(sources[FILE], FILE))
    return [finding for finding in answers.findings if finding.verdict is Verdict.CONFLICT]


def _failing(text: str, finding: Finding) -> Iterator[str]:
    before = read_text(text, FILE)
    for repair in finding.repairs:
        if repair.proved:
            yield from lost(before, read_text(written(text, repair.edits), FILE), repair, finding.of)
    if unmarked(finding.repairs):
        yield "what gives something up stands before what does not"


def _place(text: str, finding: Finding, fix: Fix) -> int | None:
    """Returns the place, from 1, of the first repair or candidate that names the fix."""
    numbered = enumerate(finding.repairs, 1)
    return next((number for number, repair in numbered if names_fix(text, repair, fix)), None)


def names_fix(text: str, repair: Repair, fix: Fix) -> bool:
    """Decides whether one of the changes of a repair is one of those that are the fix."""
    changed = changes(read_text(text, FILE), read_text(written(text, repair.edits), FILE))
    return any(fnmatch(change, f"*{name}") for change in changed for name in fix.names)


def changes(before: Design, after: Design) -> tuple[str, ...]:
    """Returns `entry.key way` of every value that differs: up or down, set to another word, added or removed."""
    old, new = _values(before), _values(after)
    return tuple(f"{key} {way}" for key in {**old, **new} if (way := _way(old.get(key), new.get(key))))


def _values(design: Design) -> Mapping[str, str]:
    values: dict[str, str] = {}
    for leaf in leaves(design):
        key = f"{leaf.section}.{leaf.entry}.{leaf.key}"
        values[key if key not in values else f"{leaf.section}.{len(values)}.{leaf.entry}.{leaf.key}"] = leaf.text
    return values


def _way(old: str | None, new: str | None) -> str:
    if old == new:
        return ""
    if old is None or new is None:
        return "added" if old is None else "removed"
    low, high = _number(old), _number(new)
    return "set" if low is None or high is None or low == high else "up" if low < high else "down"


def _number(text: str) -> Fraction | None:
    try:
        return units.quantity(text)[0]
    except units.UnitError:
        return None


def table(rows: list[Measured]) -> dict[str, Any]:
    """Returns the sums over some designs."""
    fixed = [row for row in rows if row.fix is not None]
    named = [row for row in fixed if row.place is not None and row.place <= FIRST]
    conflicts = sum(row.conflicts for row in rows)
    return {
        "designs": len(rows), "conflicts": conflicts, "with a proved repair": sum(row.repaired for row in rows),
        "repairs that lose something": sum(len(row.failing) for row in rows), "designs with a fix": len(fixed),
        "named first or second": f"{len(named)} ({100 * len(named) // max(1, len(fixed))} %)",
    }  # fmt: skip


def _main(words: list[str]) -> None:
    rows = []
    for name, heading, text in designs():
        if not words or any(word in name or word in heading for word in words):
            row = measured(name, heading, text)
            rows.append(row)
            missed = row.fix is not None and (row.place is None or row.place > FIRST)
            lines = [*row.failing, *([f"not named: {row.fix.fix}"] if missed and row.fix else [])]
            sys.stdout.write("".join(f"{name} ({heading[:50]}): {line}\n" for line in lines))
            sys.stdout.flush()
    sys.stdout.write("".join(f"{key}: {value}\n" for key, value in table(rows).items()))


if __name__ == "__main__":
    _main(sys.argv[1:])
