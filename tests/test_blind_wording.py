"""Words of a design that nobody agreed on: under each the findings are the same, or one asks about the word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.language.reading import read_text
from tests.paths import DATA, read_yaml

ROLES = read_yaml(DATA / "blind_wording.yaml")
FILE = "design.yaml"
FEWEST = 20


def findings_with(role: str, word: str) -> tuple[Finding, ...]:
    """Returns the findings about the design of a role that uses this word."""
    text = ROLES[role]["design"].replace("WORD", word)
    design = read_text(text, FILE)
    return analyse(design, {FILE: text}, lambda texts: read_text(texts[FILE], FILE), verify_repairs=False).findings


def answers(findings: Iterable[Finding]) -> Counter[tuple[str, Verdict]]:
    """Returns the codes and verdicts, notes apart."""
    return Counter((f.code, f.verdict) for f in findings if f.verdict is not Verdict.NOTE)


def asks_about(word: str, finding: Finding, usual: Counter[tuple[str, Verdict]]) -> bool:
    """Decides whether a finding names the word as what it lacks, or stands open where the usual one was decided."""
    if finding.verdict is Verdict.CONFLICT:
        return any(f"'{word.split(maxsplit=1)[0]}'" in assumption for assumption in finding.assumptions)
    named = word.lower() in finding.message.lower() or word.lower().replace(" ", "_") in finding.message.lower()
    instead = usual[finding.code, Verdict.CONFLICT] and not usual[finding.code, Verdict.UNDECIDED]
    return finding.verdict is Verdict.UNDECIDED and (named or bool(instead))


def is_silent(role: str, word: str, usual: Counter[tuple[str, Verdict]]) -> bool:
    """Decides whether another word changes the answers and nothing asks about it."""
    try:
        findings = findings_with(role, word)
    except InputError as error:
        return "did you mean" not in str(error)
    return answers(findings) != usual and not any(asks_about(word, finding, usual) for finding in findings)


@pytest.mark.parametrize("role", ROLES)
def test_another_word_gives_the_same_findings_or_a_question(role: str) -> None:
    usual = answers(findings_with(role, ROLES[role]["known"]))
    silent = [word for word in ROLES[role]["words"] if is_silent(role, word, usual)]
    assert not silent


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_an_answer_that_a_word_can_change_and_twenty_words(role: str) -> None:
    words = ROLES[role]["words"]
    assert len(set(words)) >= FEWEST
    assert ROLES[role]["known"] not in words
    assert findings_with(role, ROLES[role]["known"])
