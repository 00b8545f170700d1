"""The page of a part: everything that its file says, in text."""

from __future__ import annotations

import pytest

from coherence.language import catalogue
from coherence.language.document import Table
from coherence.language.pages.part_pages import folders_of, part_names, part_page

PARTS = [(folder, name) for folder in catalogue.FOLDERS for name in catalogue.parts(folder)]


def test_a_part_is_found_by_its_name() -> None:
    assert folders_of("kubernetes_hpa") == ("loops",)
    assert folders_of("nothing") == ()
    assert set(part_names()) == {name for _, name in PARTS}


@pytest.mark.parametrize(("folder", "name"), PARTS, ids=[name for _, name in PARTS])
def test_a_page_names_every_parameter_with_its_source(folder: str, name: str) -> None:
    page = " ".join(part_page(folder, name).split())
    parameters = catalogue.part(folder, name).get("parameters")
    for path, entry in parameters.entries.items() if isinstance(parameters, Table) else ():
        assert f" {path}: " in page
        source = entry.get("source") if isinstance(entry, Table) else None
        assert source is not None
        assert " ".join(source.text.split()) in page  # type: ignore[union-attr]


def test_a_page_says_what_it_leaves_out() -> None:
    page = part_page("loops", "kubernetes_hpa")
    assert "leaves out: several metrics, that it stays off" in page
    assert "  timescale.hold_down: 5 min; range 0 s .. 1 h\n    from: Kubernetes documentation" in page
    assert "stands for Kubernetes 1.23 to 1.35" in page
