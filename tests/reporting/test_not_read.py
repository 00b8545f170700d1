"""Every format names what was not read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coherence.base.places import Place
from coherence.checking.reports import check
from coherence.cli._run import run
from coherence.findings.finding import NotRead
from coherence.reporting import render
from tests.reporting.conftest import report_of

LINES = tuple(
    NotRead(Place("specs/pool.yaml", line, 9, line, 12), "limits", name, key, "no question answers about it", counts)
    for line, name, key, counts in (
        (4, "memory", "at_most", True), (5, "memory", "window", True), (6, "room", "at_most", True),
        (7, "disk", "at_most", False),
    )
)  # fmt: skip
REPORT = replace(report_of(), not_read=LINES)


def test_text_says_each_kind_of_entry_and_reason_once() -> None:
    text = render("text", REPORT)
    assert "not read: 3 values of limits memory, room: at_most, window (no question answers about it)\n" in text
    assert "not read: 1 value of limits disk: at_most (no question answers about it; listed only)\n" in text
    assert "Found nothing; 3 not read; nothing is decided.\n" in text


def test_verbose_text_has_a_line_for_each_value() -> None:
    text = render("text", REPORT, verbose=True)
    assert "specs/pool.yaml:5:9: not read: limits.memory.window (no question answers about it)\n" in text
    assert text.count(": not read: ") == 4


def test_json_has_every_value_with_its_place() -> None:
    rows = json.loads(render("json", REPORT))["not_read"]
    assert [(row["place"]["line"], row["entry"], row["key"], row["counts"]) for row in rows] == [
        (4, "memory", "at_most", True), (5, "memory", "window", True), (6, "room", "at_most", True),
        (7, "disk", "at_most", False),
    ]  # fmt: skip


def test_concise_has_a_line_for_what_counts_and_for_each_other_kind() -> None:
    lines = render("concise", REPORT).splitlines()
    assert len(lines) == 4
    assert lines[3] == "-: not read: 1 value of limits disk: at_most (no question answers about it; listed only)"


def test_every_format_says_that_nothing_was_asked(tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text("coherence: 1\ncomponents: {pool: {copies: 3}}\n", encoding="utf-8")
    report = check(file)
    for name in ("text", "concise", "github", "junit", "markdown"):
        assert "no question answers about the design" in render(name, report), name
        assert "pool: copies" in render(name, report), name


@pytest.mark.parametrize("name", ["concise", "github"])
def test_a_report_of_unread_values_alone_may_be_written_again(name: str, tmp_path: Path) -> None:
    file, into = tmp_path / "design.yaml", tmp_path / "report"
    file.write_text("coherence: 1\ncomponents: {pool: {copies: 3}}\n", encoding="utf-8")
    for _ in range(2):
        assert run(["check", str(file), "-o", f"{name}={into}"]) == 0


def test_github_shows_what_counts_as_notices() -> None:
    commands = [line for line in render("github", REPORT).splitlines() if "title=not read" in line]
    assert len(commands) == 4
    assert commands[3].endswith("limits disk: at_most (no question answers about it; listed only)")
    assert commands[0].startswith("::notice col=9,file=specs/pool.yaml,line=4,title=not read::not read: limits.memory")


def test_markdown_sarif_and_junit_name_them() -> None:
    assert "- Not read: 3 values of limits memory, room" in render("markdown", REPORT)
    notes = json.loads(render("sarif", REPORT))["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert len(notes) == 4
    assert "3 values of limits memory, room" in render("junit", REPORT)
