"""Holds what all formats share: safe text, the order of findings, and what a finding is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from coherence.base.outside_text import visible
from coherence.base.places import NOWHERE, Place
from coherence.findings.finding import Finding, Grade, Report, Severity, Verdict


def one_line(text: str) -> str:
    """Returns prose on one line: each run of white space becomes a space, the rest as `visible`."""
    return visible(" ".join(text.split()))


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Returns the findings by file, line and column of the primary place, then code; those in no file come last."""
    return sorted(findings, key=lambda f: (not in_file(primary(f)), f.places[:1], f.code, f.message))


def primary(finding: Finding) -> Place | None:
    """Returns the first place of a finding, if there is any."""
    return finding.places[0] if finding.places else None


def in_file(place: Place | None) -> bool:
    """Returns whether the place names a real file."""
    return place is not None and place.file != NOWHERE.file and bool(place.file)


def anchored(finding: Finding) -> Finding:
    """Returns the finding with its places in files before those in none."""
    if in_file(primary(finding)) or not any(map(in_file, finding.places)):
        return finding
    return replace(finding, places=tuple(sorted(finding.places, key=lambda place: not in_file(place))))


def line_of(place: Place) -> int:
    """Returns the line of a place, at least 1."""
    return max(1, place.line)


def column_of(place: Place) -> int:
    """Returns the column of a place, at least 1."""
    return max(1, place.column)


def where(place: Place) -> str:
    """Returns `file:line:column` as text that can be printed; only the name of what is not a file."""
    name = visible(place.file)
    return f"{name}:{line_of(place)}:{column_of(place)}" if in_file(place) else name


def word(finding: Finding) -> str:
    """Returns the verdict; a `proved` whose evidence is weaker than a proof is called by its grade instead."""
    unproved = finding.verdict is Verdict.PROVED and finding.evidence.grade is not Grade.PROVED
    return str(finding.evidence.grade if unproved else finding.verdict)


def is_proof(finding: Finding) -> bool:
    """Returns whether the finding is a `proved` that rests on a proof."""
    return word(finding) == Verdict.PROVED


def is_note(finding: Finding) -> bool:
    """Returns whether the finding is a fact that no promise is about, and no warning."""
    return finding.verdict is Verdict.NOTE and finding.severity is Severity.INFO


def headword(finding: Finding) -> str:
    """Returns what leads a finding in lists: `proved`, the severity of a problem, else `undecided` or `note`."""
    if is_proof(finding):
        return "proved"
    open_ = finding.severity is Severity.INFO and not finding.verdict.decides
    return str(finding.verdict if open_ else finding.severity)


def weight(finding: Finding) -> Severity:
    """Returns the severity as other programs rank it: what is undecided is no error yet."""
    undecided = finding.verdict is Verdict.UNDECIDED and finding.severity is Severity.ERROR
    return Severity.WARNING if undecided else finding.severity


def sentence(finding: Finding) -> str:
    """Returns the message, led by its verdict unless that is a conflict; a proof with what it assumes."""
    message = one_line(finding.message)
    if is_proof(finding) and finding.assumptions:
        message += f" (assumes: {'; '.join(map(one_line, finding.assumptions))})"
    return message if finding.verdict is Verdict.CONFLICT else f"{word(finding)}: {message}"


def plural(count: int, noun: str) -> str:
    """Returns a count with its noun: `1 pair`, `2 pairs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def accounting(report: Report) -> str:
    """`Checked 5 loops; 2 promises: 1 in conflict, 1 proved; 10 pairs of policies: 1 in conflict, 3 safe, 6 unrelated`.

    What there is none of is left out, and no pairs are spoken of where there is one policy: what is wrong with it
    alone is counted by `summary`.  A design about which no question answers was not checked.
    """
    sums = report.accounting
    checked = {"loop": sums.loops, "call": sums.calls, "timer": sums.timers, "limit": sums.limits}
    policies = ", ".join(plural(count, noun) for noun, count in checked.items() if count)
    promises = {"in conflict": sums.promises_conflict, "proved": sums.promises_proved}
    promises |= {"undecided": sums.promises_undecided, "vacuous": sums.promises_vacuous}
    pairs = {"in conflict": sums.conflict, "safe": sums.safe, "undecided": sums.undecided}
    pairs |= {"not modelled": sums.not_modelled, "unrelated": sums.unrelated}
    vacuous = sum(finding.verdict is Verdict.VACUOUS for finding in report.findings)
    open_ = unanswered(report)
    alone = sums.unanswered and sums.unanswered == sums.designs
    parts = [f"Checked nothing, {open_}"] if alone else []
    parts += [f"Checked {policies or 'no policies'}"] if not alone else [policies] * bool(policies)
    parts += [_counted(plural(sums.promises, "promise"), promises)] if sums.promises else []
    parts += [_counted(f"{plural(sums.pairs, 'pair')} of policies", pairs)] if sums.pairs else []
    parts += [f"{vacuous} vacuous"] * bool(vacuous)
    return "; ".join(parts + [text for text in (open_ if not alone else "", cut_short(report)) if text])


def unanswered(report: Report) -> str:
    """Returns `no question answers about the design`, or `... about 1 of 3 designs`; nothing where all are answered."""
    sums = report.accounting
    return f"no question answers about {_of_all(sums.unanswered, sums.designs)}" if sums.unanswered else ""


def cut_short(report: Report) -> str:
    """Returns `a limit ended the search in 2 of 3 designs`; nothing where none did."""
    sums = report.accounting
    return f"a limit ended the search in {_of_all(sums.cut_short, sums.designs)}" if sums.cut_short else ""


def _of_all(unanswered: int, designs: int) -> str:
    """Returns `the design`, or `1 of 3 designs`."""
    return "the design" if designs == 1 else f"{unanswered} of {designs} designs"


def skipped(report: Report) -> str:
    """`3 files: 2 neither a design nor a manifest, 1 template`."""
    kinds = Counter(file.kind for file in report.skipped)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"{plural(len(report.skipped), 'file')}: {counts}"


def _counted(subject: str, states: Mapping[str, int]) -> str:
    """Returns the subject with the states that some of it are in."""
    counts = ", ".join(f"{count} {state}" for state, count in states.items() if count)
    return f"{subject}: {counts}" if counts else subject


def baseline(report: Report) -> dict[str, int]:
    """Returns how many problems a baseline knows, how many it does not, and how many that it knew are gone."""
    new = sum(not is_proof(finding) and finding.severity is not Severity.INFO for finding in report.findings)
    return {"known": len(report.known), "new": new, "gone": report.gone or 0}


def summary(report: Report) -> str:
    """`Found 1 error, 2 warnings (2 conflicts), 1 note, 3 undecided, 33 proved; 1 suppressed; 4 not read.`

    Where something is open and nothing at all is decided it says so: silence is no answer.
    """
    counts = Counter(map(headword, report.findings))
    conflicts = sum(finding.verdict is Verdict.CONFLICT for finding in report.findings)
    severities = ", ".join(plural(counts[name], name) for name in Severity if counts[name])
    parts = [severities + f" ({plural(conflicts, 'conflict')})" * bool(conflicts)] if severities else []
    parts += [plural(counts["note"], "note")] if counts["note"] else []
    parts += [f"{counts[name]} {name}" for name in ("undecided", "proved") if counts[name]]
    hidden = f"; {len(report.suppressed)} suppressed" if report.suppressed else ""
    counted = sum(line.counts for line in report.not_read)
    unread = f"; {counted} not read" if counted else ""
    decided = any(f.verdict.decides for f in (*report.findings, *report.known, *report.suppressed))
    bare = "; nothing is decided" if not decided and (counts["undecided"] or counted) else ""
    return f"Found {', '.join(parts) or 'nothing'}{hidden}{unread}{bare}.{_open_promises(report)}"


def _open_promises(report: Report) -> str:
    """Returns ` 12 default promises need a load, 1 the time of a start.`; empty where none is open.

    Of manifests it is said what lists the lines to add.
    """
    counts: Counter[str] = Counter()
    for promises in report.open_promises:
        counts[promises.needs] += promises.number
    first, *others = [(number, needs) for needs, number in counts.items()] or [(0, "")]
    verb = "needs" if first[0] == 1 else "need"
    parts = [f" {plural(first[0], 'default promise')} {verb} {first[1]}", *(f"{n} {needs}" for n, needs in others)]
    hint = " (`coherence overlay` lists what to state)" if _has_manifests(report) else ""
    return f"{', '.join(parts)}{hint}." if first[0] else ""


def _has_manifests(report: Report) -> bool:
    """Decides whether some file is no design, whose values stand in an overlay."""
    own = (text for name, text in report.sources.items() if not name.startswith("models/"))
    return any("coherence:" not in text for text in own)
