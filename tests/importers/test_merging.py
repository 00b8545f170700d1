"""Files that are laid over one another."""

from __future__ import annotations

from coherence.importers import design_from_sources
from coherence.importers._merging import laid_over
from coherence.language.document import Table, read_text

BASE = "services: {web: {image: w, stop_grace_period: 30s, deploy: {replicas: 2}}}\n"
ABOVE = "services: {web: {stop_grace_period: 60s}, db: {stop_grace_period: 9s}}\n"


def root_of(text: str, file: str) -> Table:
    root = read_text(text, file)[0].root
    assert isinstance(root, Table)
    return root


def test_mappings_are_joined_key_by_key_and_all_else_is_replaced() -> None:
    whole = laid_over(root_of("a: {b: 1, c: [1, 2]}\nd: 3\n", "below"), root_of("a: {c: [4]}\ne: 5\n", "above"))
    assert list(whole.entries) == ["a", "d", "e"]
    inner = whole.get("a")
    assert isinstance(inner, Table)
    assert list(inner.entries) == ["b", "c"]
    assert (inner.key_place("b").file, inner.key_place("c").file) == ("below", "above")


def test_compose_files_of_a_folder_become_one_and_the_override_comes_last_whatever_the_order() -> None:
    for names in (("compose.yaml", "compose.override.yaml"), ("compose.override.yaml", "compose.yaml")):
        texts = {name: ABOVE if "override" in name else BASE for name in names}
        design = design_from_sources(texts)
        assert sorted(design.components) == ["db", "web"]
        assert design.components["web"].copies is not None
        (grace,) = [timer for name, timer in design.timers.items() if name.startswith("web")]
        assert grace.after is not None
        assert grace.after.place.file == "compose.override.yaml"


def test_compose_files_of_two_folders_are_two_projects() -> None:
    design = design_from_sources({"a/compose.yaml": BASE, "b/compose.yaml": ABOVE})
    assert len(design.timers) == 3
