"""Topology spread constraints: rules of placement where an overlay says what places there are."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.language.design import Design
from coherence.language.sentences import Spread

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{topologySpreadConstraints: [{{{constraint}}}], containers: []}}
"""
OVERLAY = "---\ncoherence: 1\noverlays: manifests\nplaces: {places}\n"
ZONES = "{n1: {zone: a}, n2: {zone: b}}"
OWN = "labelSelector: {matchLabels: {app: web}}"


def read(constraint: str, places: str = ZONES) -> Design:
    overlay = OVERLAY.format(places=places) if places else ""
    return importers.design_from_sources({"web.yaml": DEPLOYMENT.format(constraint=constraint) + overlay})


@pytest.mark.parametrize(
    ("key", "how", "rule"),
    [
        ("topology.kubernetes.io/zone", "DoNotSchedule", ("zone", 2, True)),
        ("kubernetes.io/hostname", "DoNotSchedule", ("node", 2, True)),
        ("kubernetes.io/hostname", "ScheduleAnyway", ("node", 2, False)),
    ],
)
def test_a_constraint_is_a_rule_of_placement(key: str, how: str, rule: tuple[str, int, bool]) -> None:
    design = read(f"maxSkew: 2, topologyKey: {key}, whenUnsatisfiable: {how}, {OWN}")
    (stated,) = design.placement["web"]
    assert isinstance(stated, Spread)
    assert (stated.by, stated.at_most, stated.must) == rule
    assert stated.place.line == 7


@pytest.mark.parametrize(
    ("constraint", "places", "why"),
    [
        (f"maxSkew: 1, topologyKey: kubernetes.io/hostname, {OWN}", "", "an overlay states `places`"),
        (f"maxSkew: 1, topologyKey: topology.kubernetes.io/region, {OWN}", ZONES, "have no region"),
        (
            "maxSkew: 1, topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}",
            ZONES,
            "other pods",
        ),
        (f"maxSkew: 1, topologyKey: kubernetes.io/hostname, minDomains: 2, {OWN}", ZONES, "how many domains"),
    ],
)
def test_what_is_not_said_or_not_modelled_is_listed(constraint: str, places: str, why: str) -> None:
    design = read(constraint, places)
    assert any(why in words for _, words in design.not_modelled)
    assert ("web" in design.placement) is ("minDomains" in constraint)
