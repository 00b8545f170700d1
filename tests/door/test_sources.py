"""What the verbs take as a design: a Design, a path, a text, a mapping, manifests."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import coherence as co
from coherence.base.errors import UsageError
from coherence.door.sources import entry_of, name_of

TEXT = "coherence: 1\nworkload:\n  users: {rate: 4 req/s}\ncomponents:\n  web: {copies: 2}\n"
MAPPING = {"coherence": 1, "workload": {"users": {"rate": "4 req/s"}}, "components": {"web": {"copies": Fraction(2)}}}
HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 5
"""


def test_a_text_a_path_and_a_mapping_are_one_design(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(TEXT, encoding="utf-8")
    text = co.read(TEXT)
    assert text.components == co.read(file).components == co.read(str(file)).components == co.read(MAPPING).components
    assert co.read(text) is text
    assert [name_of(source) for source in (text, file, MAPPING)] == ["<design>", str(file), "<design>"]


def test_manifests_are_read_from_a_text_too() -> None:
    design = co.read(HPA)
    assert list(design.loops)
    entry = entry_of(design)
    assert entry.rebuild(entry.sources).loops == design.loops


def test_a_design_that_was_read_can_be_edited_again() -> None:
    entry = entry_of(co.read(TEXT))
    ((file, text),) = entry.sources.items()
    assert entry.rebuild({file: text.replace("copies: 2", "copies: 3")}) != entry.design


def test_problems_name_place_and_remedy() -> None:
    with pytest.raises(co.InputError, match=r"here:2:1: unknown key 'workloads'"):
        co.read("coherence: 1\nworkloads: {}\n", name="here")
    with pytest.raises(co.InputError, match="cannot be read"):
        co.read("nosuch.yaml")


def test_a_folder_of_two_designs_is_not_one(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(TEXT, encoding="utf-8")
    with pytest.raises(UsageError, match="holds 2 designs"):
        co.read(tmp_path)


def test_a_mapping_of_what_no_text_stands_for_is_refused() -> None:
    with pytest.raises(UsageError, match="holds object"):
        co.read({"coherence": 1, "components": object()})
