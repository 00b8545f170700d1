"""Markdown: read back by a CommonMark parser, nothing from an input becomes markup."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from coherence.base.outside_text import visible
from coherence.findings.finding import Report
from coherence.reporting import render
from coherence.reporting._words import one_line
from coherence.reporting.markdown import code, escaped, fence
from tests.draws import few
from tests.reporting.conftest import HOSTILE, TEXTS, conflict, everything, proof, report_of, reports

if TYPE_CHECKING:
    from markdown_it.token import Token

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(text: str) -> list[Token]:
    top = READER.parse(text)
    return [*top, *(child for token in top for child in token.children or ())]


def kinds(text: str) -> set[str]:
    return {token.type for token in tokens(text)}


def plain(text: str) -> str:
    """The words of one paragraph as a reader sees them."""
    (inline,) = (token for token in READER.parse(text) if token.type == "inline")
    assert {child.type for child in inline.children or ()} <= {"text", "code_inline"}
    return "".join(child.content for child in inline.children or ())


def test_a_table_of_all_findings_and_a_section_for_each_problem() -> None:
    text = render("markdown", everything())
    assert text.startswith(
        "# Coherence report\n\nFound 3 errors, 2 warnings, 1 info (4 conflicts), 1 proved; 1 suppressed. Checked 5"
    )
    row = "| error | `COH203` | `specs/design.yaml:10:30` | client retries outlive the server's drain |\n"
    assert row in text
    assert "| proved | `COH203` | `specs/design.yaml:6:16` | proved: retries end before the drain does |\n" in text
    assert "\n## `COH203` client retries outlive the server's drain\n\n```text\nerror[COH203]: " in text
    assert text.count("\n## ") == 5
    assert render("markdown", everything(), verbose=True).count("\n## ") == 7


def test_repairs_are_diffs() -> None:
    text = render("markdown", report_of(conflict()))
    expected = "Repair at `specs/design.yaml:8:11` (re-checked: proved):\n\n```diff\n- node: 60 s\n+ node: 90 s\n```\n"
    assert expected in text


def test_a_clean_report_has_no_table() -> None:
    assert "table_open" not in kinds(render("markdown", report_of()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a <b> & *c*", "a &lt;b&gt; &amp; \\*c\\*"),
        ("[x](http://y)", "\\[x\\](http\\://y)"),
        ("@all #1 a|b", "\\@all \\#1 a\\|b"),
        ("client's 42 %: fine.", "client's 42 %: fine."),
        ("www.x.org :smile:", "www\\.x.org \\:smile:"),
    ],
)
def test_escaping(text: str, written: str) -> None:
    assert escaped(text) == written


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_escaped_text_reads_as_it_was(text: str) -> None:
    assert plain(f"x {escaped(text)} x") == f"x {one_line(text)} x"


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_a_code_span_reads_as_it_was(text: str) -> None:
    shown = plain(f"x {code(visible(text))} x")
    assert shown.removeprefix("x ").removesuffix(" x").strip() == visible(text).strip()


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS)
def test_nothing_closes_a_fence(one: str, other: str) -> None:
    (token,) = READER.parse(fence([visible(one), visible(other)], "text"))
    assert token.content == f"{visible(one)}\n{visible(other)}\n"


def test_hostile_messages_in_a_table() -> None:
    findings = [replace(proof(), message=f"{text} message", code=f"COH{n}") for n, text in enumerate(HOSTILE)]
    found = tokens(render("markdown", report_of(*findings)))
    assert sum(token.type == "tr_open" for token in found) == 1 + len(HOSTILE)
    assert sum(token.type == "td_open" for token in found) == 4 * len(HOSTILE)


MARKUP = {
    "html_block",
    "html_inline",
    "link_open",
    "image",
    "em_open",
    "strong_open",
    "s_open",
    "hr",
    "blockquote_open",
}


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(reports())
def test_any_report_is_only_headings_tables_lists_and_fences(report: Report) -> None:
    text = render("markdown", report, verbose=True)
    found = tokens(text)
    assert not MARKUP & {token.type for token in found}
    assert sum(token.type == "tr_open" for token in found) == (1 + len(report.findings) if report.findings else 0)
    assert sum(token.type == "heading_open" for token in found) == 1 + len(report.findings)
    fences = len(report.findings) + sum(len(finding.repairs) for finding in report.findings)
    assert sum(token.type == "fence" for token in found) == fences
    assert "code_block" not in {token.type for token in found}
