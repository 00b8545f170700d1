"""Objects that another one makes are listed and add nothing."""

from __future__ import annotations

import pytest

from coherence import importers

OWNED = """\
apiVersion: VERSION
kind: KIND
metadata: {name: web-1, ownerReferences: [{kind: ReplicaSet, name: web, controller: true}]}
spec: {containers: [{name: web, livenessProbe: {periodSeconds: 5}}], template: {}}
"""


@pytest.mark.parametrize(
    ("version", "kind"), [("v1", "Pod"), ("apps/v1", "ReplicaSet"), ("v1", "ReplicationController")]
)
@pytest.mark.parametrize("owners", [True, False])
def test_what_another_object_makes_is_listed(version: str, kind: str, owners: bool) -> None:
    text = OWNED.replace("VERSION", version).replace("KIND", kind)
    design = importers.design_from_sources({"a.yaml": text if owners else text.replace("ownerReferences", "others")})
    assert bool(design.components) is not owners
    assert any("made by ReplicaSet web" in words for _, words in design.not_modelled) is owners
