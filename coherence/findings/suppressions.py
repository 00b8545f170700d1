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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.findings.question_input import Question

UNUSED, MALFORMED, EXPIRED = "COH102", "COH103", "COH104"
QUESTIONS = (
    Question(UNUSED, "suppression-unused"),
    Question(MALFORMED, "suppression-without-reason"),
    Question(EXPIRED, "suppression-expired"),
)
HOW = "write `# coherence: ignore[COH203] until=2026-12-31 -- reason`: without a reason nothing is silenced"
_COMMENT = re.compile(r"#\s*coherence:\s*ignore(.*)$")
_BODY = re.compile(r"\[([A-Z0-9, ]+)\]((?:\s+\w+=\S+)*)\s*(?:--\s*(.*))?$")


@dataclass(frozen=True)
class Suppression:
    """One comment: its codes, and the lines it speaks of."""

    place: Place
    codes: frozenset[str]
    lines: frozenset[int]
    until: str
    reason: str


def comments(sources: Mapping[str, str]) -> Iterator[tuple[Place, str, int]]:
    """Yields (place, text after `ignore`, last line it speaks of) of every suppression comment."""
    for file, text in sources.items():
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            match = _COMMENT.search(line)
            if match:
                place = Place(file, number, match.start() + 1, number, len(line) + 1)
                alone = not line[: match.start()].strip()
                yield place, match[1].strip(), _next_line(lines, number) if alone else number


def _next_line(lines: list[str], number: int) -> int:
    """Returns the number of the first line below that is not a comment."""
    below = number + 1
    while below <= len(lines) and lines[below - 1].lstrip().startswith("#"):
        below += 1
    return below


def read(place: Place, body: str, *, until_line: int) -> Suppression | None:
    """Returns the suppression, or None where it is malformed or has no reason."""
    match = _BODY.fullmatch(body)
    if not match or not (match[3] or "").strip():
        return None
    fields = dict(pair.split("=", 1) for pair in match[2].split())
    until = fields.get("until", "")
    codes = frozenset(re.findall(r"COH\d{3}", match[1]))
    if not codes or (until and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", until)):
        return None
    return Suppression(place, codes, frozenset({place.line, until_line}), until, match[3].strip())


def apply(
    sources: Mapping[str, str], findings: Iterable[Finding], today: str, wanted: Callable[[str], bool]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Returns (findings that remain, with those about suppressions; findings that are silenced).

    `today` is YYYY-MM-DD, or nothing where dates do not count; `wanted` tells the codes that were asked for: a
    suppression of another code is not called unused.
    """
    live, extra = [], []
    for place, body, until_line in comments(sources):
        suppression = read(place, body, until_line=until_line)
        if suppression is None:
            extra.append(_finding(MALFORMED, "suppression-without-reason", place, HOW))
        elif suppression.until and today and suppression.until < today:
            extra.append(
                _finding(EXPIRED, "suppression-expired", place, f"this suppression ended on {suppression.until}")
            )
        else:
            live.append(suppression)
    remaining: list[Finding] = []
    silenced: list[Finding] = []
    used: set[Place] = set()
    for finding in findings:
        matching = [s for s in live if _covers(s, finding)]
        (silenced if matching else remaining).append(finding)
        used |= {s.place for s in matching}
    extra += [
        _finding(UNUSED, "suppression-unused", s.place, "this suppression silences nothing")
        for s in live
        if s.place not in used and all(wanted(code) for code in s.codes)
    ]
    return (*remaining, *(f for f in extra if wanted(f.code))), tuple(silenced)


def _covers(suppression: Suppression, finding: Finding) -> bool:
    if finding.verdict is Verdict.PROVED and finding.severity is Severity.INFO:
        return False
    return finding.code in suppression.codes and any(
        p.file == suppression.place.file and p.line in suppression.lines for p in finding.places
    )


def _finding(code: str, slug: str, place: Place, message: str) -> Finding:
    evidence = Evidence(Grade.PROVED, "read from the comment")
    return Finding(code, slug, Verdict.NOTE, Severity.WARNING, message, (place,), ("suppression",), evidence)
