"""Spread constraints and affinities of pods: rules of placement where an overlay says what places there are."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.findings.question_input import Subject
from coherence.language.design import Design
from coherence.language.sentences import Spread
from coherence.verify.patterns.limits import rollout_feasibility

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
        (f"maxSkew: 1, topologyKey: kubernetes.io/hostname, matchLabelKeys: [rev], {OWN}", ZONES, "more labels"),
    ],
)
def test_what_is_not_said_or_not_modelled_is_listed(constraint: str, places: str, why: str) -> None:
    design = read(constraint, places)
    assert any(why in words for _, words in design.not_modelled)
    assert "web" not in design.placement


@pytest.mark.parametrize("stated", ["minDomains: 1", "nodeAffinityPolicy: Honor", "nodeTaintsPolicy: Ignore"])
def test_what_holds_anyway_may_be_stated(stated: str) -> None:
    design = read(f"maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, {stated}, {OWN}")
    assert [rule.text for rule in design.placement["web"] if isinstance(rule, Spread)] == ["spread by node <= 1"]
    assert not any("topologySpread" in words for _, words in design.not_modelled)


AFFINITY = DEPLOYMENT.replace("topologySpreadConstraints: [{{{constraint}}}]", "affinity: {{{constraint}}}")
ZONE_TERM = f"{{topologyKey: topology.kubernetes.io/zone, {OWN}}}"
WISH = f"{{weight: 7, podAffinityTerm: {ZONE_TERM}}}"


def placed_by(affinity: str, places: str = ZONES) -> Design:
    overlay = OVERLAY.format(places=places) if places else ""
    return importers.design_from_sources({"web.yaml": AFFINITY.format(constraint=affinity) + overlay})


@pytest.mark.parametrize(
    ("affinity", "text", "must", "weight"),
    [
        (
            f"podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{ZONE_TERM}]}}",
            "at most 1 by zone",
            True,
            None,
        ),
        (
            f"podAntiAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{WISH}]}}",
            "at most 1 by zone",
            False,
            7,
        ),
        (
            f"podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{ZONE_TERM}]}}",
            "together by zone",
            True,
            None,
        ),
    ],
)
def test_pods_that_keep_away_from_their_like_are_at_most_one_in_each_domain(
    affinity: str, text: str, must: bool, weight: int | None
) -> None:
    (rule,) = placed_by(affinity).placement["web"]
    assert isinstance(rule, Spread)
    assert (rule.text, rule.must, rule.weight) == (text, must, weight)
    assert rule.place.line == 7


@pytest.mark.parametrize(
    ("term", "places", "why"),
    [
        (ZONE_TERM, "", "an overlay states `places`"),
        (ZONE_TERM.replace("zone", "region"), ZONES, "have no region"),
        (ZONE_TERM.replace("web", "db"), ZONES, "other pods"),
        (ZONE_TERM.replace("{t", "{namespaces: [db], t"), ZONES, "which namespaces"),
    ],
)
def test_what_an_affinity_says_of_others_is_listed(term: str, places: str, why: str) -> None:
    design = placed_by(f"podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}", places)
    assert any(why in words for _, words in design.not_modelled)
    assert "web" not in design.placement


def test_an_update_that_may_only_add_hangs_where_each_zone_has_its_pod() -> None:
    manifest = AFFINITY.format(
        constraint=f"podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{ZONE_TERM}]}}"
    ).replace(
        "spec:\n  template",
        "spec:\n  replicas: 2\n  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n  template",
    )
    verdicts = {}
    for places in (ZONES, "{n1: {zone: a}, n2: {zone: b}, n3: {zone: c}}"):
        sources = {"web.yaml": manifest + OVERLAY.format(places=places)}
        subject = Subject(importers.design_from_sources(sources), sources)
        verdicts[places] = [str(finding.verdict) for finding in rollout_feasibility.ask(subject)]
    assert [*verdicts.values()] == [["conflict"], ["proved"]]


OTHER = """---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: cache{space}}}
spec:
  template:
    metadata: {{labels: {{app: {app}, part: of_web}}}}
    spec: {{containers: []}}
"""


@pytest.mark.parametrize(
    ("app", "space", "shared"),
    [("web", "", True), ("db", "", False), ("web", ", namespace: elsewhere", True)],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_rule_that_counts_the_pods_of_another_workload_too_is_listed(
    app: str, space: str, *, shared: bool, first: bool
) -> None:
    affinity = f"podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{ZONE_TERM}]}}"
    web, other = AFFINITY.format(constraint=affinity), OTHER.format(app=app, space=space)
    text = f"{other}---\n{web}" if first else f"{web}{other}"
    design = importers.design_from_sources({"web.yaml": text + OVERLAY.format(places=ZONES)})
    assert ("web" in design.placement) is not shared
    assert any("counts the pods of cache too" in words for _, words in design.not_modelled) is shared
