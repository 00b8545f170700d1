"""Service: which pods it selects decides which monitor scrapes them."""

from __future__ import annotations

from coherence import importers

SERVICE = (
    "apiVersion: v1\nkind: Service\nmetadata: {name: web, labels: {a: b}}\nspec: {selector: {app: web}, ports: []}\n"
)


def test_it_is_no_thing_of_its_own_and_only_its_wiring_is_listed() -> None:
    design = importers.design_from_sources({"s.yaml": SERVICE})
    assert not design.components
    assert all("wiring" in words for _, words in design.not_modelled)


def test_one_of_another_group_is_another_kind() -> None:
    design = importers.design_from_sources({"s.yaml": SERVICE.replace("v1", "services.example.org/v1", 1)})
    assert any("this kind is not modelled" in words for _, words in design.not_modelled)
