"""Designs are written as YAML that can be read again, whatever stands in names."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from coherence import importers
from coherence.importers import documents_of
from coherence.language.reading import read_text


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cn", "Cs"]), max_size=8))
def test_a_design_that_is_written_is_read_again_whatever_the_name(name: str) -> None:
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"a{name}"},
        "spec": {"replicas": 2},
    }
    text = json.dumps(manifest, ensure_ascii=False)
    whole = importers.design_from_sources({"m.json": text}) if "{{" not in name else None
    again = read_text(importers.design_yaml(documents_of(text, "m.json"))) if whole is not None else None
    assert again is None or (whole is not None and again.components == whole.components)


def test_control_characters_do_not_stand_in_its_comments() -> None:
    text = '{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "\\b"}, "spec": {"x": 1}}'
    assert "\b" not in importers.design_yaml(documents_of(text, "m.json"))
