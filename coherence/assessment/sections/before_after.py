"""Compares findings, figures of runs and indices with those of an earlier design."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, pictured, reproduced, rounded, table
from coherence.checking.repair.added_infrastructure import NONE_ADDED
from coherence.findings.finding import Accounting, Finding, Verdict
from coherence.reporting.pictures.markup import Child
from coherence.reporting.pictures.ratios import ChangeRatio, ratios_drawing
from coherence.simulate.study.repeated_runs import StudyReading

ORDER, TITLE = 15, "Before and after"
INDICES = "Indices of coordination"
MOST = 16  # figures in the picture
OF_CHANGES = ("A change is the mean of the changes of the runs, seed by seed. Percentiles before and after are of the "
              "requests of all runs together: their difference need not be that mean.")  # fmt: skip
COUNTED = ("promises", "promises_conflict", "promises_proved", "conflict", "safe", "undecided", "not_modelled")
WORDS = ("promises", "promises broken", "promises proved", "pairs in conflict", "pairs safe", "pairs undecided",
         "pairs not modelled")  # fmt: skip


@dataclass(frozen=True)
class RunChange:
    """A figure of runs before and after, and the mean of its changes over the runs."""

    before: StudyReading
    after: StudyReading
    change: StudyReading

    @property
    def name(self) -> str:
        return f"{self.change.of}: {self.change.what}"

    @property
    def is_pooled(self) -> bool:
        """Decides whether the figures are of all requests together: their difference is not the mean of the runs'."""
        return not math.isclose(self.after.value - self.before.value, self.change.value, rel_tol=1e-6, abs_tol=1e-9)


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns counts of both, and the findings that went, came and stayed; nothing where no earlier one is given."""
    if assessment.before is None:
        return ()
    path, earlier = assessment.before
    gone = _without(earlier.findings, assessment.findings)
    come = _without(assessment.findings, earlier.findings)
    rows = [(words, str(before), str(after), rounded(after - before, sign=True)) for words, before, after in
            _counts(earlier.accounting, assessment.report.accounting)]  # fmt: skip
    for verdict in (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.PROVED):
        before = sum(f.verdict is verdict for f in earlier.findings)
        after = len(assessment.of_verdict(verdict))
        rows.append((f"findings: {verdict.value}", str(before), str(after), rounded(after - before, sign=True)))
    return (
        table("What is counted", ("count", "before", "after", "change"), rows, numbers="1 2 3"),
        _listed("Gone since", gone), _listed("New", come), _infrastructure(assessment.added),
        *_figures(assessment), *_indices(assessment),
        *_commands(assessment, path),
    )  # fmt: skip


def _commands(assessment: Assessment, path: str) -> Iterator[Child]:
    """Yields what gives the numbers again; the design of a commit has to be written to a file for a run."""
    if assessment.since:
        yield reproduced("diff", "--since", assessment.since, assessment.path)
        return
    yield from (reproduced("check", path), reproduced("check", assessment.path))
    if assessment.runs.before:
        yield reproduced("simulate", path, "--against", assessment.path, *assessment.runs.command)


def _figures(assessment: Assessment) -> Iterator[Child]:
    """Yields what became of the figures of runs on the same chances: a picture and its numbers."""
    runs = assessment.runs
    if runs.before is None:
        yield note(f"No run is compared: {runs.refused or 'the earlier design was not run'}.")
        return
    earlier = {reading.key: reading for reading in runs.before.readings}
    later = {reading.key: reading for reading in runs.study.readings} if runs.study else {}
    changes = [RunChange(earlier[r.key], later[r.key], r) for r in runs.changed if r.key in earlier and r.key in later]
    drawn = ratios_drawing(f"Before and after: {assessment.system}", list(_ratios(changes))[:MOST])
    if drawn is not None:
        words = ("Figures of runs on the same chances, as multiples of what they were; whiskers are 95 % intervals, "
                 "and an arrow leads beyond the axis.")  # fmt: skip
        yield pictured(drawn, words, wide=True)
    rows = [(c.name, _value(c.before), _value(c.after), _interval(c.change), c.change.unit) for c in changes]
    header = ("figure", "before", "after", "change (95 %)", "unit")
    if not rows:
        yield note("Runs of both have no figure in common.")
        return
    yield table("Figures of runs on the same chances", header, rows, numbers="1 2 3")
    if any(c.is_pooled for c in changes):
        yield note(OF_CHANGES)


def _ratios(changes: Iterable[RunChange]) -> Iterator[ChangeRatio]:
    """Yields the figures that are above 0 in both, those first that changed most."""
    ratios = []
    for change in changes:
        before, after, own = change.before.value, change.after.value, change.change
        if before > 0 and after > 0 and not (change.before.more_than or change.after.more_than):
            ends = (after - before, *(end for end in (own.low, own.high) if end is not None))
            words = f"{rounded(before, 3)} → {rounded(after, 3)} {own.unit}".rstrip()
            low, high = max(0.0, 1 + min(ends) / before), 1 + max(ends) / before
            ratios.append(ChangeRatio(change.name, after / before, low, high, words))
    yield from sorted(ratios, key=lambda ratio: -abs(math.log(ratio.value)))


def _value(reading: StudyReading) -> str:
    return f"more than {rounded(reading.value)}" if reading.more_than else rounded(reading.value)


def _interval(reading: StudyReading) -> str:
    ends = (
        ""
        if reading.low is None or reading.high is None
        else f" [{rounded(reading.low, 3)}, {rounded(reading.high, 3)}]"
    )
    return f"{rounded(reading.value, sign=True)}{ends}"


def _indices(assessment: Assessment) -> Iterator[Child]:
    """Yields CI, DI, WPI and HCL of both telemetries with their intervals; what to give where they are not measured."""
    after = assessment.section(INDICES)
    before = next((part for part in assessment.measured_before if part.title == INDICES), None)
    if after is None or before is None:
        yield note("CI, DI, WPI and HCL are compared where both have telemetry: --telemetry, --requests, "
                   "--before-telemetry and --before-requests.")  # fmt: skip
        return
    sides = [{index["name"]: index for index in part.data.get("indices", ())} for part in (before, after)]
    rows = [(name, *(_index(side.get(name)) for side in sides)) for name in dict.fromkeys((*sides[0], *sides[1]))]
    yield table("Indices of coordination, before and after", ("index", "before", "after"), rows)


def _index(index: Mapping[str, Any] | None) -> str:
    """Returns `0.43 [0.37, 0.46]`, or why it is not known."""
    if index is None or not index["known"]:
        return "not known" if index is None else f"not known: {index['why']}"
    sign = "" if index["bound"] == "=" else f"{index['bound']} "
    ends = [index["low"], index["high"]]
    return f"{sign}{index['value']:.3g}" + ("" if None in ends else f" [{ends[0]:.3g}, {ends[1]:.3g}]")


def _infrastructure(added: Sequence[str]) -> Child:
    """Returns what the later design has more of than the earlier one."""
    if not added:
        return note(f"Infrastructure: {NONE_ADDED}.")
    return table("Infrastructure that was added", ("what",), [(words,) for words in added])


def _counts(before: Accounting, after: Accounting) -> Iterable[tuple[str, int, int]]:
    return ((words, getattr(before, key), getattr(after, key)) for key, words in zip(COUNTED, WORDS, strict=True))


def _without(findings: Iterable[Finding], others: Iterable[Finding]) -> list[Finding]:
    """Returns the findings whose code, names and verdict no other one has; proofs and notes aside."""
    left = Counter(other.fingerprint for other in others)
    own = [f for f in findings if f.verdict in (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.VACUOUS)]
    return [finding for finding in own if not left[finding.fingerprint]]


def _listed(title: str, findings: list[Finding]) -> Child:
    if not findings:
        return note(f"{title}: nothing.")
    return table(title, ("question", "verdict", "finding"), [(f.code, str(f.verdict), f.message) for f in findings])
