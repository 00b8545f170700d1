"""The page in headless Chromium: nothing in its console, nothing fetched, legible in light, dark, narrow and print."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from coherence.assessment.page import page
from coherence.assessment.parts.answers import Assessment, assess
from tests.assessment.browser import chromium, measured, printed
from tests.assessment.conftest import TODAY
from tests.assessment.test_page import HOSTILE, MOST_BYTES
from tests.draws import drawn
from tests.paths import SPECS

SHORTEST = 20_000  # bytes of a printed page that has more than a frame
MOST_SECONDS = 10.0  # of a page beyond the analyses
CATALOGUE = sorted(path.parent.name for path in SPECS.glob("*/design.yaml"))
WINDOWS = ((False, 1200, True), (True, 1200, True), (False, 420, False))  # dark, width, checked by axe-core


def _written(assessed: Assessment, file: Path) -> Path:
    """Writes the page of an assessment within its time and size."""
    begun = time.process_time()
    text = page(assessed)
    assert time.process_time() - begun < MOST_SECONDS
    assert len(text.encode()) < MOST_BYTES
    file.write_text(text, encoding="utf-8")
    return file


def _check(shown: Path) -> None:
    """Raises AssertionError where the page is not legible: light, dark, narrow, printed without scripts."""
    for dark, width, checked in WINDOWS:
        seen = measured(shown, dark=dark, width=width, checked=checked)
        assert seen == {"faults": [], "requests": 0, "console": []}, (shown.name, dark, width)
    paper = printed(shown)
    assert paper.startswith(b"%PDF")
    assert len(paper) > SHORTEST


@pytest.mark.slow
def test_a_page_is_legible_in_a_browser_whatever_it_holds(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    chromium()
    sixty = request.getfixturevalue("sixty")  # half a minute, which nobody waits for where there is no browser
    hostile = tmp_path / "hostile.yaml"
    hostile.write_text(HOSTILE, encoding="utf-8")
    _check(_written(sixty, tmp_path / "sixty.html"))
    for path, before in ((str(hostile), None), (_spec("retry-storm-repaired"), _spec("retry-storm"))):
        assessed = assess(path, seconds=60, today=TODAY, before=before)
        _check(_written(assessed, tmp_path / f"{Path(path).parent.name}.html"))


@pytest.mark.slow
@pytest.mark.parametrize("number", drawn(range(len(CATALOGUE)), parts=len(CATALOGUE) // 3))
def test_pages_of_the_catalogue_are_legible_and_the_same_each_time(number: int, tmp_path: Path) -> None:
    """A few designs of specs/; all of them with COHERENCE_DRAW=all."""
    chromium()
    shown = _written(assess(_spec(CATALOGUE[number]), seconds=300, today=TODAY), tmp_path / "page.html")
    _check(shown)
    again = _written(assess(_spec(CATALOGUE[number]), seconds=300, today=TODAY), tmp_path / "again.html")
    assert shown.read_bytes() == again.read_bytes()


def _spec(name: str) -> str:
    return str(SPECS / name / "design.yaml")


@pytest.mark.slow
def test_a_fault_of_each_kind_is_seen(tmp_path: Path) -> None:
    shown = tmp_path / "bad.html"
    shown.write_text(
        "<!DOCTYPE html><html><body><p style='color:#999'>pale</p><table><tr><td>x</td></tr></table>"
        "<svg class='drawing' width='50' height='20'><text y='12'>reaches beyond its drawing</text>"
        "<text y='12'>and over another one</text></svg><a href='#' tabindex='0'><i style='padding:5px'></i></a>"
        "<div style='width:3000px'>wide</div><script>console.error('loud')</script></body></html>",
        encoding="utf-8",
    )
    seen = measured(shown)
    words = " ".join(seen["faults"])
    for fault in ("contrast", "caption", "outside", "overlap", "without a title", "without a name", "wider", "language",
                  "page without"):  # fmt: skip
        assert fault in words, words
    assert seen["console"] == ["loud"]
    assert {fault.split()[0] for fault in seen["faults"]} >= {"color-contrast", "html-has-lang"}
