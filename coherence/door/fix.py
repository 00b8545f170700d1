"""Repairs a design from Python: the smallest change of its text that is proved to remove its conflicts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from coherence.base.watchdog import WHOLE
from coherence.door.check import codes
from coherence.door.result import VerbResult, counted, head, listed
from coherence.door.sources import Source, entry_of
from coherence.exploring.fixing import Fix
from coherence.findings.finding import Finding
from coherence.language.design import Design


@dataclass(frozen=True, repr=False)
class FixResult(VerbResult):
    """A repaired design; `diff` is the change as a unified diff, empty where there is none.

    `removed`: conflicts that are proved not to happen any more; `left`: those that no proved repair removes.
    `to_frame()` has a row for each edit.
    """

    design: Design = field(compare=False)
    diff: str
    fix: Fix = field(compare=False)
    columns: ClassVar[tuple[str, ...]] = ("round", "file", "line", "old", "new")

    @property
    def removed(self) -> tuple[Finding, ...]:
        """Returns the conflicts that are proved not to happen after the repair."""
        return self.fix.removed

    @property
    def left(self) -> tuple[Finding, ...]:
        """Returns the conflicts that are left."""
        return self.fix.left

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        yield from self.data["edits"]

    def _lines(self) -> Sequence[str]:
        return (
            f"FixResult: {counted(len(self.removed), 'conflict')} removed, {len(self.left)} left",
            f"  {counted(len(self.data['edits']), 'edit')}{', cut short by the time limit' * self.fix.cut_short}",
            f"  left: {listed([finding.code for finding in self.left], 'none')}",
        )


def fix(
    design: Source, *, select: str | Sequence[str] = (), ignore: str | Sequence[str] = (), time_limit: float = 60.0
) -> FixResult:
    """Returns a design without the conflicts that proved repairs remove; nothing is written to any file.

    select, ignore: beginnings of codes; conflicts of other codes are left as they are.
    time_limit: seconds of the processor.  Raises InputError, and UsageError for a code that there is not.
    """
    from coherence.exploring import fixing
    from coherence.findings.design_answers import passes

    entry, chosen, left = entry_of(design), codes(select), codes(ignore)

    def wanted(_: Mapping[str, str], findings: Sequence[Finding]) -> Sequence[Finding]:
        return [finding for finding in findings if passes(finding.code, chosen, left)]

    repair = fixing.fix(entry.sources, entry.rebuild, wanted, time_limit=time_limit / WHOLE)
    diff = "".join(unified_diff(file, old, repair.sources[file]) for file, old in sorted(entry.sources.items()))
    return FixResult(_document(repair), entry.rebuild(repair.sources), diff, repair)


def _document(repair: Fix) -> dict[str, Any]:
    edits = [
        {"round": number, "file": edit.place.file, "line": edit.place.line, "old": edit.old, "new": edit.new}
        for number, edits in enumerate(repair.rounds, 1)
        for edit in edits
    ]
    parts = {"removed": repair.removed, "left": repair.left, "not_proved": repair.silent}
    named = {part: [{"code": f.code, "of": list(f.of)} for f in findings] for part, findings in parts.items()}
    return {**head("fix"), "edits": edits, **named, "cut_short": repair.cut_short}


def unified_diff(file: str, before: str, after: str) -> str:
    """Returns the unified diff of one file, as `patch` reads it; nothing where both are the same."""
    name = file.lstrip("/")
    lines = difflib.unified_diff(_text_lines(before), _text_lines(after), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _text_lines(text: str) -> list[str]:
    """Returns lines that end in a newline alone, as diff and patch count them."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]
