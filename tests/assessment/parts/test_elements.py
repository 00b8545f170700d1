"""Elements of a page: tables that can be scrolled with keys, verdicts that are more than colours."""

from __future__ import annotations

from coherence.assessment.parts.elements import badge, joined, reference, reproduced, rounded, table
from coherence.findings.finding import Verdict


def test_a_table_has_a_caption_heads_and_a_name() -> None:
    text = table("Times", ("what", "s"), [("a", "1")], numbers="1").render()
    assert '<div class="scroll" tabindex="0" role="group" aria-label="Times"><table><caption>Times</caption>' in text
    assert '<th scope="col" class="n">s</th>' in text
    assert '<td class="n">1</td>' in text


def test_a_verdict_has_a_sign_and_a_word() -> None:
    assert badge(Verdict.CONFLICT).render() == '<span class="badge conflict">✕ conflict</span>'


def test_a_command_is_quoted_for_a_shell() -> None:
    assert "coherence check 'a b.yaml'" in reproduced("check", "a b.yaml").render()


def test_references_stand_in_one_line() -> None:
    line = joined([reference("F1"), reference("F2")]).render()
    assert line == '<span><a href="#F1">F1</a>, <a href="#F2">F2</a></span>'


def test_numbers_are_rounded_without_an_exponent() -> None:
    values = (16341.0, 90000.0, 0.012345, -4.53, 0.0, 1.5e12)
    assert [rounded(value) for value in values] == ["16340", "90000", "0.01235", "-4.53", "0", "1.5e+12"]
    assert rounded(4.53, 2, sign=True) == "+4.5"
