"""Replicas: their range where something scales them, and the manifest as a writer of their number."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.language.design import Design


def read(kind: str, spec: str, *scalers: str) -> Design:
    text = f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: web}}\nspec: {{{spec}}}\n"
    for name, bounds in zip("ab", scalers, strict=False):
        text += f"---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: {name}}}\n"
        text += f"spec: {{scaleTargetRef: {{kind: {kind}, name: web}}, {bounds}}}\n"
    return importers.design_from_sources({"web.yaml": text})


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize(
    ("scalers", "text"),
    [
        ((), "3"),
        (("minReplicas: 2, maxReplicas: 9",), "2 .. 9"),
        (("minReplicas: 2, maxReplicas: 9", "minReplicas: 4, maxReplicas: 12"), "2 .. 12"),
    ],
)
def test_copies_are_within_all_that_scale_them(kind: str, scalers: tuple[str, ...], text: str) -> None:
    copies = read(kind, "replicas: 3", *scalers).components["web"].copies
    assert copies is not None
    assert copies.text == text


@pytest.mark.parametrize(("spec", "writers"), [("replicas: 3", {"web_apply", "a_hpa"}), ("", {"a_hpa"})])
def test_a_written_number_beside_an_autoscaler_is_a_writer(spec: str, writers: set[str]) -> None:
    assert set(read("Deployment", spec, "maxReplicas: 9").loops) == writers
