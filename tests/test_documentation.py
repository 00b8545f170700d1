"""The pages of docs/: what they show is what the program answers, and every page is listed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LONG = {  # pages whose sessions take seconds
    "boundaries.md", "causal.md", "python.md", "recipes.md", "reproduce.md", "simulate.md", "tutorial-operator.md",
    "tutorial-researcher.md",
}  # fmt: skip
COMPARED = {  # pages without sessions that a test lays beside the program
    "commands.md": "cli/test_command_features.py", "language.md": "cli/test_small_commands.py",
    "licences.md": "test_licences.py", "parts.md": "models/test_parts.py",
    "words.md": "language/test_words.py",
}  # fmt: skip


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in LONG)) for page in PAGES]
)
def test_sessions_give_what_the_page_says(page: Path) -> None:
    if ">>> import control" in page.read_text():
        pytest.importorskip("control")
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_a_page_without_a_session_is_compared_or_says_that_it_is_not_executed() -> None:
    silent = [page for page in PAGES if ">>> " not in page.read_text() and page.name != "index.md"]
    for page in silent:
        test = COMPARED.get(page.name)
        if test is not None:
            assert page.name in (ROOT / "tests" / test).read_text(), page.name
        else:
            assert "Nothing on this page is executed by the tests" in page.read_text(), page.name
    assert COMPARED.keys() <= {page.name for page in silent}


def test_every_page_is_reached_from_the_index() -> None:
    linked = set(re.findall(r"\]\(([^)#]+)\)", (DOCS / "index.md").read_text()))
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} - {"index.md"}
    assert pages <= linked


def test_links_lead_somewhere() -> None:
    for page in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


FOLDERS = "|".join(sorted(path.name for path in (ROOT / "coherence").iterdir() if (path / "__init__.py").exists()))
NAMED = re.compile(rf"`((?:(?:coherence|tests|bench|docs|specs|models)/|(?:{FOLDERS})/)[\w/.-]*\w)`")


def test_files_that_pages_name_are_there() -> None:
    for page in (*DOCS.rglob("*.md"), ROOT / "README.md"):
        for name in NAMED.findall(page.read_text()):
            assert (ROOT / name).exists() or (ROOT / "coherence" / name).exists(), f"{page.name} names {name}"
