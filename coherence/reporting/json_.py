"""Renders a report as JSON: sorted keys, ASCII, a line for each finding, the same bytes for the same report.

A quantity is `{"exact": "173/2", "value": 86.5, "unit": "s"}`: `exact` is the rational as text
(hexadecimal past 4,000 digits) or null where only a float is known; `value` is the nearest float
or null where there is none.  Times are such quantities in seconds, null where a step has no time.
`counts` has the policies that were checked, the promises by their answers, the pairs of policies by what is known of
them (`safe`: proved; `not_modelled`: they share something, and no question is about them; `unrelated`: they share
nothing), the default promises that no number decides (`open_default_promises`, by kind; `inventory` lists all), then
the findings by verdict and by severity; with a baseline also how many problems it knows, which `known`
lists; with `--since` what changed is `since`, and what stood before the change is `known`.
`format_version` grows by one whenever a field changes its meaning or goes away, not when one is added.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any

from coherence.base.number_text import nearest_float, render_exact
from coherence.base.outside_text import escape, masked
from coherence.base.places import Place
from coherence.findings.finding import Edit, Evidence, Finding, NotRead, Repair, Report, Severity, Verdict
from coherence.reporting._options import ReportOptions
from coherence.reporting._since import since_json
from coherence.reporting._versions import versions
from coherence.reporting._words import baseline, ordered

FORMAT_VERSION = 3
POLICIES = ("loops", "calls", "timers", "limits")
PAIRS = ("conflict", "safe", "undecided", "not_modelled", "unrelated")
PROMISES = ("conflict", "proved", "undecided", "vacuous")


def render(report: Report, *, options: ReportOptions) -> str:  # noqa: ARG001  (every format takes options)
    """Returns the whole report as text."""
    return dumps(as_data(report), depth=2)


def dumps(data: object, *, depth: int) -> str:
    """Returns JSON text with sorted keys, opened to `depth` levels; below, each value stands on one line.

    A lone surrogate (an undecodable file name) is written as the text of its escape.
    """
    data = _masked(data)
    text = _laid(data, depth, "\n")
    return (_laid(_paired(data), depth, "\n") if "\\ud" in text else text) + "\n"


def _masked(data: Any) -> Any:
    """Returns the same data without what looks like a credential."""
    if isinstance(data, str):
        return masked(data)
    if isinstance(data, dict):
        return {key: _masked(value) for key, value in data.items()}
    return [_masked(value) for value in data] if isinstance(data, list) else data


def _laid(data: object, depth: int, margin: str) -> str:
    inner = margin + "  "
    if depth and isinstance(data, dict) and data:
        items = (f"{json.dumps(key)}: {_laid(data[key], depth - 1, inner)}" for key in sorted(data))
        return f"{{{inner}{f',{inner}'.join(items)}{margin}}}"
    if depth and isinstance(data, list) and data:
        return f"[{inner}{f',{inner}'.join(_laid(item, depth - 1, inner) for item in data)}{margin}]"
    return json.dumps(data, sort_keys=True, allow_nan=False)


def as_data(report: Report) -> dict[str, Any]:
    """Returns the report as dicts, lists, strings and numbers."""
    data = {
        "format_version": FORMAT_VERSION,
        "tool": "coherence",
        "versions": dict(versions()),
        "seed": report.seed,
        "inputs": [{"path": input_.path, "sha256": input_.sha256} for input_ in report.inputs],
        "counts": _counts(report),
        "findings": [_finding(one) for one in ordered(report.findings)],
        "suppressed": [_finding(one) for one in ordered(report.suppressed)],
        "not_read": [not_read_json(line) for line in report.not_read],
        "assumptions": list(report.assumptions),
        "skipped": [{"path": one.path, "kind": one.kind, "reason": one.reason} for one in report.skipped],
    }
    data |= (
        {"known": [_finding(one) for one in ordered(report.known)]} if report.gone is not None or report.since else {}
    )
    return data | ({"since": since_json(report.since)} if report.since else {})


def _counts(report: Report) -> dict[str, Any]:
    sums = report.accounting
    verdicts = Counter(finding.verdict for finding in report.findings)
    severities = Counter(finding.severity for finding in report.findings)
    return {
        "designs": {"total": sums.designs, "unanswered": sums.unanswered, "cut_short": sums.cut_short},
        "policies": {"total": sums.policies} | {name: getattr(sums, name) for name in POLICIES},
        "promises": {"total": sums.promises} | {name: getattr(sums, f"promises_{name}") for name in PROMISES},
        "pairs": {"total": sums.pairs} | {name: getattr(sums, name) for name in PAIRS},
        "open_default_promises": _open_promises(report),
        "suppressed": len(report.suppressed),
        "verdicts": {verdict: verdicts[verdict] for verdict in Verdict},
        "severities": {severity: severities[severity] for severity in Severity},
    } | ({} if report.gone is None else {"baseline": baseline(report)})


def _open_promises(report: Report) -> list[dict[str, Any]]:
    """Returns for each kind how many default promises no number decides."""
    numbers: Counter[tuple[str, str]] = Counter()
    for promises in report.open_promises:
        numbers[promises.kind, promises.needs] += promises.number
    return [{"kind": kind, "needs": needs, "number": number} for (kind, needs), number in numbers.items()]


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "slug": finding.slug,
        "verdict": finding.verdict,
        "certainty": finding.certainty,
        "severity": finding.severity,
        "message": finding.message,
        "places": [place_json(place) for place in finding.places],
        "of": list(finding.of),
        "evidence": _evidence(finding.evidence),
        "assumptions": list(finding.assumptions),
        "repairs": [_repair(repair) for repair in finding.repairs],
        "fingerprint": finding.fingerprint,
    } | ({"environments": list(finding.environments)} if finding.environments else {})


def not_read_json(line: NotRead) -> dict[str, Any]:
    """Returns a line about what was not read; every command prints these under `not_read`."""
    return {
        "place": place_json(line.place),
        "section": line.section,
        "entry": line.entry,
        "key": line.key,
        "reason": line.reason,
        "counts": line.counts,
    }


def place_json(place: Place) -> dict[str, Any]:
    """Returns a place as every command prints it."""
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "label": place.label,
    }


def _repair(repair: Repair) -> dict[str, Any]:
    edits, concedes = [_edit(edit) for edit in repair.edits], list(repair.concedes)
    return {"edits": edits, "verified": repair.verified, "proved": repair.proved, "concedes": concedes}


def _edit(edit: Edit) -> dict[str, Any]:
    return {"place": place_json(edit.place), "old": edit.old, "new": edit.new}


def _evidence(evidence: Evidence) -> dict[str, Any]:
    witness = [
        {"time": None if step.time is None else quantity(step.time, "s"), "text": step.text}
        for step in evidence.witness
    ]
    return {
        "grade": evidence.grade,
        "method": evidence.method,
        "witness": witness,
        "certificate": evidence.certificate,
        "numbers": {name: quantity(value, unit) for name, (value, unit) in evidence.numbers.items()},
        "bound": evidence.bound,
        "replayed": evidence.replayed,
        "cut_short": evidence.cut_short,
    }


def quantity(value: Fraction | float, unit: str) -> dict[str, Any]:
    """Returns a number in the form that the module's docstring describes."""
    exact = None if isinstance(value, float) and math.isfinite(value) else str(value)
    if isinstance(value, (int, Fraction)):
        exact = render_exact(Fraction(value))
    return {"exact": exact, "value": nearest_float(value), "unit": unit}


def _paired(data: Any) -> Any:
    """Returns the same data without lone surrogates, which no UTF-8 text can hold."""
    if isinstance(data, str):
        return "".join(escape(c) if "\ud800" <= c <= "\udfff" else c for c in data) if not data.isascii() else str(data)
    if isinstance(data, dict):
        return {_paired(key): _paired(value) for key, value in data.items()}
    return [_paired(value) for value in data] if isinstance(data, list) else data
