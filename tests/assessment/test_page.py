"""The page of an assessment: it stands alone, says the same each time, and shows hostile words as words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coherence.assessment.page import MARK, page
from coherence.assessment.parts.answers import Assessment, assess
from coherence.assessment.sections import sections
from tests.assessment.html_pages import Page
from tests.paths import SPECS

MOST_BYTES = 2_000_000
PLAIN = """\
coherence: 1
system: liveness equal to readiness
timers:
  readiness: {from: server slow, every: 10 s, misses: 3, then: unlist server}
  liveness:  {from: server slow, every: 10 s, misses: 3, then: restart server}
promises: {gentle_first: readiness before liveness}
"""
HOSTILE = """\
coherence: 1
system: "<script>alert(1)</script>"
summary: "\\e[31m</style><img src=x onerror=alert(2)> http://user:hunter2@host \\u202e"
workload: {users: {rate: 10 req/s}}
components: {server: {takes: {answer: 1 s .. 3 s}}}
loops:
  shop:
    objective: "\\"><svg onload=alert(3)>"
    contact: "'><a href='javascript:alert(4)'>"
    trigger: true
    timescale: {period: 10 s}
    actuation: {signal: server.copies, law: step, by: 1, bounds: [1, 9], from: 1}
calls: [{from: users, to: server, per_try: 2 s, tries: 3, retry_when: ["<b>timeout</b>"]}]
timers:
  watch: {from: "server <i>slow</i>", every: 10 s, misses: 3, then: restart server}
promises: {calm: "never server.copies > 5"}
"""


def _assessed(folder: Path, text: str, *, anonymous: bool = False) -> Assessment:
    path = folder / "design.yaml"
    path.write_text(text, encoding="utf-8")
    return assess(str(path), seconds=20, today="2026-01-01", anonymous=anonymous)


def _page(text: str) -> Page:
    read = Page(text)
    assert not read.faults
    assert len(text.encode()) < MOST_BYTES
    return read


def test_the_page_stands_alone_and_has_every_section(tmp_path: Path) -> None:
    text = page(_assessed(tmp_path, PLAIN))
    read = _page(text)
    assert MARK in text.encode()
    for module in sections():
        if module.TITLE != "Before and after":
            assert module.TITLE in read.text
    assert "One certain conflict: " in read.text or "One possible conflict: " in read.text
    assert read.count["svg"] >= 3
    assert not re.search(r"@import|src=|url\((?!#)", text)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    assert page(_assessed(tmp_path, PLAIN)) == page(_assessed(tmp_path, PLAIN))


def test_hostile_words_are_shown_as_words(tmp_path: Path) -> None:
    text = page(_assessed(tmp_path, HOSTILE))
    read = _page(text)
    assert "<script>alert(1)</script>" in read.text
    assert "\\x1b[31m</style><img src=x onerror=alert(2)>" in read.text
    assert '"><svg onload=alert(3)>' in read.text
    assert "hunter2" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


@pytest.mark.slow
def test_a_page_without_names_has_none_of_them(tmp_path: Path) -> None:
    text = (SPECS / "retry-storm" / "design.yaml").read_text(encoding="utf-8")
    folder = tmp_path / "acme-storefront"
    folder.mkdir()
    assessed = _assessed(folder, text, anonymous=True)
    shown = page(assessed)
    names = {*assessed.design.workload, *assessed.design.components, *assessed.design.loops, *assessed.design.timers}
    read = _page(shown).text
    assert names
    for name in (*names, assessed.system, "acme-storefront"):
        assert not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", read), name
    assert assessed.report.inputs[0].sha256 not in shown
    assert "100" in read


def test_what_changed_since_an_earlier_design_is_listed(tmp_path: Path) -> None:
    earlier, later = tmp_path / "earlier.yaml", tmp_path / "later.yaml"
    earlier.write_text(PLAIN, encoding="utf-8")
    later.write_text(PLAIN.replace("misses: 3, then: restart", "misses: 30, then: restart"), encoding="utf-8")
    read = _page(page(assess(str(later), seconds=20, today="2026-01-01", before=str(earlier))))
    assert "Gone since" in read.text
    assert "Gone since: nothing." not in read.text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["retry-storm", "shed-barrier", "half-gangs-repaired"])
def test_designs_of_the_catalogue_have_a_page(name: str) -> None:
    _page(page(assess(str(SPECS / name / "design.yaml"), seconds=20, today="2026-01-01")))


@pytest.mark.slow
def test_a_design_of_sixty_policies_has_a_page(sixty: Assessment) -> None:
    read = _page(page(sixty))
    assert sixty.report.accounting.policies == 60
    assert read.count["svg"] > 10
