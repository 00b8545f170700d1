"""suppression comments: a finding is silenced only with a reason, until a date, and where it exists.

## What
`# coherence: ignore[COH203] until=2026-12-31 owner=sre -- reason` on a line of a finding, or alone on
the line above, silences that code there.  Without a reason it does nothing (COH103); after its date it
ends (COH104); where it silences nothing it is reported (COH102).

## Why it hurts
A suppression that nobody can explain, or that outlives what it was for, hides the next real conflict.

## Example
```yaml
coherence: 1
calls:
  - {from: app, to: api, deadline: 2 s, tries: 4}  # coherence: ignore[COH201]
```

## Instead
```yaml
coherence: 1
calls:
  # coherence: ignore[COH201] until=2026-12-31 owner=sre -- the provider answers within 100 ms or fails
  - {from: app, to: api, deadline: 2 s, tries: 4}
```

## Source
Users of linters: suppressions without reasons are never removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from coherence.design import Design
from coherence.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.places import Place
from coherence.subject import Question
from coherence.values import value

UNUSED, MALFORMED, EXPIRED = "COH102", "COH103", "COH104"
QUESTIONS = (
    Question(UNUSED, "suppression-unused"),
    Question(MALFORMED, "suppression-without-reason"),
    Question(EXPIRED, "suppression-expired"),
)
_COMMENT = re.compile(r"#\s*coherence:\s*ignore(.*)$")
_BODY = re.compile(r"\[([A-Z0-9, ]+)\]((?:\s+\w+=\S+)*)\s*(?:--\s*(.*))?$")


@value
class Suppression:
    """One comment: its codes, and the lines it speaks of."""

    place: Place
    codes: frozenset[str]
    lines: frozenset[int]
    until: str
    reason: str


def comments(sources: Mapping[str, str]) -> Iterator[tuple[Place, str, bool]]:
    """(place, text after `ignore`, stands alone) of every suppression comment."""
    for file, text in sources.items():
        for number, line in enumerate(text.split("\n"), 1):
            match = _COMMENT.search(line)
            if match:
                place = Place(file, number, match.start() + 1, number, len(line) + 1)
                yield place, match[1].strip(), not line[: match.start()].strip()


def read(place: Place, body: str, *, alone: bool) -> Suppression | None:
    """The suppression, or None where it is malformed or has no reason."""
    match = _BODY.fullmatch(body)
    if not match or not (match[3] or "").strip():
        return None
    fields = dict(pair.split("=", 1) for pair in match[2].split())
    lines = {place.line, place.line + 1} if alone else {place.line}
    return Suppression(
        place, frozenset(re.findall(r"COH\d{3}", match[1])), frozenset(lines), fields.get("until", ""), match[3].strip()
    )


def apply(
    design: Design, sources: Mapping[str, str], findings: Iterable[Finding], today: str
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(findings that remain with those about suppressions, findings that are silenced)."""
    del design
    live, extra = [], []
    for place, body, alone in comments(sources):
        one = read(place, body, alone=alone)
        if one is None:
            extra.append(
                _finding(
                    MALFORMED,
                    "suppression-without-reason",
                    place,
                    "write `# coherence: ignore[COH203] -- reason`: without a reason nothing is silenced",
                )
            )
        elif one.until and today and one.until < today:
            extra.append(_finding(EXPIRED, "suppression-expired", place, f"this suppression ended on {one.until}"))
        else:
            live.append(one)
    kept, silenced, used = [], [], set()
    for finding in findings:
        match = next((s for s in live if _covers(s, finding)), None)
        if match is None:
            kept.append(finding)
        else:
            used.add(match.place)
            silenced.append(finding)
    extra += [
        _finding(UNUSED, "suppression-unused", s.place, "this suppression silences nothing")
        for s in live
        if s.place not in used
    ]
    return (*kept, *extra), tuple(silenced)


def _covers(one: Suppression, finding: Finding) -> bool:
    if (
        finding.verdict not in (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.VACUOUS)
        and finding.severity is Severity.INFO
    ):
        return False
    return finding.code in one.codes and any(p.file == one.place.file and p.line in one.lines for p in finding.places)


def _finding(code: str, slug: str, place: Place, message: str) -> Finding:
    evidence = Evidence(Grade.PROVED, "read from the comment")
    return Finding(code, slug, Verdict.VACUOUS, Severity.WARNING, message, (place,), ("suppression",), evidence)
