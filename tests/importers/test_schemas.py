"""Schemas of custom resources are not parsed: their lines stay, their names are listed, what stands beside is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.importers import design_of, documents_of
from coherence.importers._schemas import read_without_schemas
from coherence.language import document

SCHEMA = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  # its name
  name: things.example.org
spec:
  versions:
  - name: v1
    schema: {openAPIV3Schema: {type: object}}
"""
WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n"


def test_of_a_schema_its_kind_and_name_are_read_and_all_lines_stay() -> None:
    text = f"{SCHEMA}---\n{WEB}"
    schema, web = read_without_schemas(text, "a.yaml")
    assert schema.text == web.text == text
    assert isinstance(schema.root, document.Table)
    assert set(schema.root.entries) == {"apiVersion", "kind", "metadata"}
    assert web.root.place == document.read_text(text, "a.yaml")[1].root.place
    design = design_of(documents_of(text, "a.yaml"))
    assert set(design.components) == {"web"}
    assert [words for _, words in design.not_modelled if "things" in words] == [
        "CustomResourceDefinition things.example.org (this kind is not modelled)"
    ]


def test_line_breaks_of_other_systems_are_the_same() -> None:
    schema, _ = read_without_schemas(f"{SCHEMA}---\n{WEB}".replace("\n", "\r\n"), "a.yaml")
    assert "\r" not in schema.text


@pytest.mark.slow
@given(st.lists(st.sampled_from([SCHEMA, WEB, "# nothing\n", "a: |\n  kind: CustomResourceDefinition\n"]), min_size=1))
def test_all_other_documents_are_read_as_without_it(texts: list[str]) -> None:
    text = "---\n".join(texts)
    read, whole = read_without_schemas(text, "a.yaml"), document.read_text(text, "a.yaml")
    assert len(read) == len(whole)
    for one, other in zip(read, whole, strict=True):
        assert one.root.place.line == other.root.place.line
        if isinstance(other.root, document.Table) and "spec" not in other.root:
            assert one.root.place == other.root.place
