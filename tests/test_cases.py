"""Runs every Markdown case: each marked line must fire with its verdict, everything else must stay silent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Severity, Verdict
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text

CASES = Path(__file__).parent
FENCE = re.compile(r"^```yaml([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"# (COH\d{3}) (conflict|proved|undecided|vacuous)")


@dataclass(frozen=True)
class Case:
    """One fenced design and what it expects."""

    name: str
    text: str
    silent: bool
    expected: tuple[tuple[int, str, str], ...]  # (line, code, verdict)
    slow: bool = False


def cases() -> Iterator[Case]:
    """Every fence of every file under tests/cases that expects something."""
    for path in sorted(
        path for path in CASES.rglob("*.md") if not {"causal", "data"} & {*path.relative_to(CASES).parts}
    ):
        content = path.read_text()
        for match in FENCE.finditer(content):
            line = content[: match.start()].count("\n") + 1
            marks = [(n, m[1], m[2]) for n, row in enumerate(match[2].split("\n"), 1) for m in MARK.finditer(row)]
            silent = "silent" in match[1]
            if marks or silent:
                yield Case(f"{path.relative_to(CASES)}:{line}", match[2], silent, tuple(marks), "slow" in match[1])


ALL = list(cases())


def findings_of(text: str) -> tuple[Finding, ...]:
    """All answers about a design text."""
    design = read_text(text, "case.yaml")
    return analyse(design, {"case.yaml": text}, lambda s: read_text(s["case.yaml"], "case.yaml")).findings


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=[pytest.mark.slow] * case.slow) for case in ALL]
)
def test_case(case: Case) -> None:
    found = findings_of(case.text)
    seen = {(f.places[0].line, f.code, str(f.verdict)) for f in found}
    for wanted in case.expected:
        assert wanted in seen, f"expected {wanted}, found {sorted(seen)}"
    loud = [f for f in found if f.verdict is Verdict.CONFLICT or f.severity is not Severity.INFO]
    unexpected = [f for f in loud if not case.expected or not _named(f, case)]
    assert not unexpected, [f"{f.code} {f.verdict} line {f.places[0].line}: {f.message}" for f in unexpected]


def _named(finding: Finding, case: Case) -> bool:
    return any(code == finding.code and verdict == finding.verdict for _, code, verdict in case.expected)


def test_every_rule_has_a_case() -> None:
    marked = {code for case in ALL for _, code, _ in case.expected}
    assert {question.code for module in question_modules() for question in module.questions} <= marked
