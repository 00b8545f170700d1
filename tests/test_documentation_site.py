"""The documentation site: it holds every page of docs/ and of the program, and Sphinx builds it without a warning."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from coherence.findings.registry import question_pages
from coherence.language.pages.part_pages import part_names
from coherence.minimums.registry import entries
from tests.paths import ROOT

MAKE = ROOT / "docs" / "site" / "make.py"


def _make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_make", MAKE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_sources_hold_every_page_and_everything_the_program_explains(tmp_path: Path) -> None:
    source = tmp_path / "source"
    _make().write_sources(source)
    for page in (ROOT / "docs").rglob("*.md"):
        assert (source / page.relative_to(ROOT / "docs")).exists(), page
    headings = {
        line.removeprefix("## ").split(" ")[0]
        for path in source.rglob("*.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    }
    assert {page.code for page in question_pages()} <= headings
    assert {*part_names(), *entries()} <= headings
    assert "## coherence report" in (source / "commands" / "commands.md").read_text(encoding="utf-8")


def test_links_to_files_that_are_no_page_are_named(tmp_path: Path) -> None:
    page, target = ROOT / "docs" / "x.md", tmp_path / "x.md"
    text = _make()._relinked("[parts](../models/README.md) [terms](terms.md#numbers) [top](../README.md)", page, target,
                             tmp_path)  # fmt: skip
    assert text == "parts (`models/README.md`) [terms](terms.md#numbers) [top](README.md)"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("furo", reason="pip install 'coherence-engine[docs]'")
    pytest.importorskip("myst_parser", reason="pip install 'coherence-engine[docs]'")
    pytest.importorskip("nbclient", reason="pip install 'coherence-engine[docs]'")
    notebooks = tmp_path / "notebooks"
    for words in (["notebooks/make.py", str(notebooks), "minimums"], ["site/make.py", str(tmp_path), str(notebooks)]):
        command = [sys.executable, str(ROOT / "docs" / words[0]), *words[1:]]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
        assert run.returncode == 0, run.stdout + run.stderr[-3000:]
    built = tmp_path / "html"
    assert (built / "tutorial-operator.html").exists()
    notebook = (built / "notebooks" / "minimums.html").read_text(encoding="utf-8")
    assert "minimums-1.png" in notebook
    assert ".ipynb" in notebook
    assert 'id="coh203-' in (built / "codes" / "COH2.html").read_text(encoding="utf-8").lower()
