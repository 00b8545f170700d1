"""The page in headless Chromium: nothing in its console, nothing fetched, legible in light, dark, narrow and print."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.assessment.page import page
from coherence.assessment.parts.answers import assess
from tests.assessment.browser import axe_faults, chromium, measured, printed
from tests.assessment.test_page import HOSTILE
from tests.paths import SPECS

LINES = 20_000  # bytes of a printed page that has more than a frame


@pytest.mark.slow
def test_a_page_is_legible_in_a_browser_whatever_it_holds(tmp_path: Path) -> None:
    chromium()
    (tmp_path / "hostile.yaml").write_text(HOSTILE, encoding="utf-8")
    designs = (str(tmp_path / "hostile.yaml"), None), (_spec("retry-storm-repaired"), _spec("retry-storm"))
    for number, (path, before) in enumerate(designs):
        shown = tmp_path / f"{number}.html"
        assessed = assess(path, seconds=60, today="2026-01-01", before=before)
        shown.write_text(page(assessed), encoding="utf-8")
        for dark, width in ((False, 1200), (True, 1200), (False, 420)):
            seen = measured(shown, dark=dark, width=width)
            assert seen == {"faults": [], "requests": 0, "console": []}, (path, dark, width)
        assert axe_faults(shown) == axe_faults(shown, dark=True) == [], path
        assert printed(shown).startswith(b"%PDF")
        assert len(printed(shown)) > LINES


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
    for fault in (
        "contrast",
        "caption",
        "outside",
        "overlap",
        "without a title",
        "without a name",
        "wider",
        "language",
    ):
        assert fault in words, words
    assert seen["console"] == ["loud"]
    assert {fault.split()[0] for fault in axe_faults(shown)} >= {"color-contrast", "html-has-lang", "document-title"}
