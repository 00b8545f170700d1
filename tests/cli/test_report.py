"""The command `report`: one page, written where it may be, with what goes together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coherence.cli._run import run

if TYPE_CHECKING:
    import pytest

DESIGN = "coherence: 1\nsystem: small\ncalls: [{from: a, to: b, tries: 2, per_try: 1 s}]\n"


def test_a_page_is_written_and_never_over_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design, page = tmp_path / "d.yaml", tmp_path / "r.html"
    design.write_text(DESIGN, encoding="utf-8")
    assert run(["report", str(design), "-o", str(page), "--no-cache"]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    first = page.read_bytes()
    assert run(["report", str(design), "-o", str(page), "--no-cache"]) == 0
    assert page.read_bytes() == first
    page.write_text("mine", encoding="utf-8")
    assert run(["report", str(design), "-o", str(page), "--no-cache"]) == 2
    assert page.read_text(encoding="utf-8") == "mine"


def test_what_would_have_no_effect_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = tmp_path / "d.yaml"
    design.write_text(DESIGN, encoding="utf-8")
    assert run(["report", str(design), "-o", str(tmp_path / "r.pdf")]) == 2
    assert run(["report", str(design), "-o", str(tmp_path / "r.html"), "--requests", "x.csv"]) == 2
    assert "--telemetry" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()
