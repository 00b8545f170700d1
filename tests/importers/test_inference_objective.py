"""InferenceObjective and InferenceModel: what they say is listed."""

from __future__ import annotations

import pytest

from coherence import importers


@pytest.mark.parametrize(
    ("kind", "spec", "listed"),
    [
        ("InferenceObjective", "{priority: -1, poolRef: {name: pool}}", ["priority"]),
        (
            "InferenceModel",
            "{modelName: m, criticality: Sheddable, poolRef: {name: p}, targetModels: [{name: m, weight: 9}]}",
            ["criticality", "targetModels"],
        ),
    ],
)
def test_who_is_turned_away_first_is_listed(kind: str, spec: str, listed: list[str]) -> None:
    head = f"apiVersion: inference.networking.x-k8s.io/v1alpha2\nkind: {kind}\nmetadata: {{name: a}}\n"
    words = [line for _, line in importers.design_from_sources({"a.yaml": f"{head}spec: {spec}\n"}).not_modelled]
    assert [key for key in listed if any(f"spec.{key} (" in line for line in words)] == listed
