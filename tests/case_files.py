"""What the Markdown cases beside the tests say, and how it differs from what was found.

A mark stands at the end of the line that a finding leads with: `# COH201 proved, COH204 conflict x2`; one that stands
in no line of the case (in a part that it uses) is marked at the first line.  The findings of a case are exactly those
of its marks, by line, code, verdict and number; `silent` has none.  `# COH201 conflict certain` (or `possible`) states
the certainty too.  Notes alone need no mark, except those of a code that the case speaks of, by a mark or in the head
of its fence (`silent COH701`).  A case whose fence says `slow` runs with the slow tests.  One that says `manifests` is
read by the importers; a design with `overlays: manifests` may be one of its documents, and what stands below a line
`=== FILE` is a file of that name.  Repairs, of which no mark speaks, are proposed in all cases and, since
that takes most of the time of a check, searched for in some of every kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from coherence.checking.design_check import Options, analysis
from coherence.checking.reports import report
from coherence.door.sources import workspace_of
from coherence.findings.finding import Finding, Verdict
from coherence.importers import design_from_sources
from coherence.language.design import Design
from coherence.language.reading import read_text

FILE = "case.yaml"
CASES = Path(__file__).parent
FENCE = re.compile(r"^```yaml([^\n]*)\n(.*?)^```(?:\s*^```telemetry([^\n]*)\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
ANOTHER = re.compile(r"^=== (\S+)$", re.MULTILINE)
MARK = re.compile(r"(COH\d{3}) (\w+)(?: (certain|possible))?(?: x(\d+))?")
MARKS = re.compile(rf"#\s*{MARK.pattern}(?:, {MARK.pattern})*\s*")
BEGIN = re.compile(r"#\s*COH\d{3}")
PATIENCE = 60  # limits of a question that a run may take: a machine may be busy, and no mark speaks of that
WORDS = {"silent", "slow", "manifests"}


class Mark(NamedTuple):
    """A finding of a case: the line of its first place, its code, its verdict, and where stated its certainty."""

    line: int
    code: str
    verdict: str
    certainty: str = ""


class Case(NamedTuple):
    """A design in a fence of a Markdown file, with the findings that it must give."""

    name: str
    file: str
    text: str
    expected: Counter[Mark]
    silent: bool
    slow: bool
    spoken: frozenset[str]  # codes whose notes are marked too
    settings: str = ""
    signals: str = ""
    manifests: bool = False


def findings_of(
    text: str, *, repairs: bool = True, manifests: bool = False, select: tuple[str, ...] = ()
) -> tuple[Finding, ...]:
    """Returns the findings about the text of a design, in each of its environments, or of manifests."""
    if not manifests and "\nenvironments:" in text:
        return report(workspace_of(text), select=select, verify_repairs=repairs).findings

    def rebuild(sources: Mapping[str, str]) -> Design:
        return design_from_sources(sources) if manifests else read_text(sources[FILE], FILE)

    sources = files_of(text) if manifests else {FILE: text}
    options = Options(select, verify_repairs=repairs, whole=PATIENCE)
    return analysis(rebuild(sources), sources, rebuild, options=options).answers.findings


def files_of(text: str) -> dict[str, str]:
    """Returns the files of a case of manifests by their names; their lines have the numbers that they have in it."""
    parts = ANOTHER.split(text)
    named = {FILE: parts[0]} if parts[0].strip() else {}
    before = parts[0]
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        named[name] = "\n" * before.count("\n") + part
        before += part
    return named


@cache
def cases(folder: Path) -> tuple[Case, ...]:
    """Returns every fence under the folder.  Raises ValueError where one has no marks and is not silent, or both."""
    return tuple(_fences(folder))


def _fences(folder: Path) -> Iterator[Case]:
    for path in sorted(p for p in folder.rglob("*.md") if "data" not in p.relative_to(CASES).parts):
        content = path.read_text(encoding="utf-8")
        for match in FENCE.finditer(content):
            head, expected = match[1].split(), marks(match[2])
            line = content[: match.start()].count("\n") + 1
            if bool(expected) is ("silent" in head):
                raise ValueError(f"{path}:{line}: a case has marks or is `silent`")
            codes = {word for word in head if word not in WORDS}
            spoken = frozenset(codes | {mark.code for mark in expected})
            yield Case(
                f"{path.relative_to(CASES)}:{line}", path.name, match[2], expected, "silent" in head, "slow" in head,
                spoken, match[3] or "", match[4] or "", "manifests" in head,
            )  # fmt: skip


def marks(text: str) -> Counter[Mark]:
    """Returns the marks of a design with their numbers.  Raises ValueError where one is written in another way."""
    found: Counter[Mark] = Counter()
    for number, line in enumerate(text.split("\n"), 1):
        begin = BEGIN.search(line)
        if begin is None:
            continue
        written = line[begin.start() :]
        if not MARKS.fullmatch(written):
            raise ValueError(f"line {number}: write marks as `# COH201 proved, COH204 conflict x2`, not {written}")
        for code, verdict, certainty, times in MARK.findall(written):
            found[Mark(number, code, Verdict(verdict), certainty)] += int(times or 1)
    return found


def differences(case: Case, findings: Iterable[Finding]) -> list[str]:
    """Returns a line for each finding that is missing and for each that no mark states."""
    counted = [f for f in findings if f.verdict is not Verdict.NOTE or f.code in case.spoken]
    at = [_mark(f, case.expected) for f in counted]
    missing, surplus = case.expected - Counter(at), Counter(at) - case.expected
    told = [f"missing: {_shown(mark)} x{n}" for mark, n in sorted(missing.items())]
    for mark, n in sorted(surplus.items()):
        told.append(f"unexpected: {_shown(mark)} x{n}")
        told += [f"    {f.message}" for f, where in zip(counted, at, strict=True) if where == mark]
    return told


def _mark(finding: Finding, expected: Counter[Mark]) -> Mark:
    """Returns the mark of a finding, without its certainty where the case states the finding and not how certain."""
    full = Mark(_line(finding), finding.code, finding.verdict, finding.certainty)
    plain = full._replace(certainty="")
    return full if full in expected or plain not in expected else plain


def _shown(mark: Mark) -> str:
    return " ".join(filter(None, (f"line {mark.line}", mark.code, mark.verdict, mark.certainty)))


def _line(finding: Finding) -> int:
    """Returns the line of its first place in the case; 1 where it stands in none."""
    return next((place.line for place in finding.places if not place.file.startswith("models/")), 1)
