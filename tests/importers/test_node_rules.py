"""Nodes that take the pods of a workload: selectors, affinities and tolerations as rules; never silent."""

from __future__ import annotations

import itertools

import pytest
import yaml

from coherence import importers
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.design import Design
from coherence.language.sentences import Admittance
from coherence.verify.patterns.placement import placement_feasibility
from tests.paths import DATA

PLACES = {"n1": {"zone": "a", "cpu": 2}, "n2": {"zone": "b", "cpu": 2}, "n3": {"zone": "c", "cpu": 2, "taint": "gpu"}}
ZONE = "topology.kubernetes.io/zone"
SPREAD = {
    "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}  # fmt: skip


def required(*terms: dict[str, object]) -> dict[str, object]:
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                                          {"nodeSelectorTerms": list(terms)}}}}  # fmt: skip


def demand(key: str, operator: str, *values: str) -> dict[str, object]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def wish(weight: int, key: str, operator: str, *values: str) -> dict[str, object]:
    stated = {"weight": weight, "preference": demand(key, operator, *values)}
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [stated]}}}


def read(pod: dict[str, object], *, copies: int = 2, places: dict[str, object] | None = None) -> Design:
    container = {"name": "web", "resources": {"requests": {"cpu": 1}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], **pod}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                  "spec": {"replicas": copies, "template": template}}  # fmt: skip
    overlay = {"coherence": 1, "overlays": "manifests", "places": places or PLACES}
    return importers.design_from_sources(
        {"web.yaml": yaml.safe_dump(deployment), "nodes.yaml": yaml.safe_dump(overlay)}
    )


def rules(design: Design) -> list[tuple[str, tuple[str, ...], bool, bool, int | None]]:
    stated = (rule for rule in design.placement.get("web", ()) if isinstance(rule, Admittance))
    return [(rule.by, rule.values, rule.must, rule.wanted, rule.weight) for rule in stated]


@pytest.mark.parametrize(
    ("pod", "rule"),
    [
        ({"nodeSelector": {ZONE: "a"}}, ("zone", ("a",), True, True, None)),
        ({"nodeSelector": {"kubernetes.io/hostname": "n2"}}, ("node", ("n2",), True, True, None)),
        (required(demand(ZONE, "In", "a", "b")), ("zone", ("a", "b"), True, True, None)),
        (required(demand(ZONE, "NotIn", "c")), ("zone", ("c",), True, False, None)),
        (wish(3, ZONE, "In", "a"), ("zone", ("a",), False, True, 3)),
        (wish(5, ZONE, "NotIn", "a"), ("zone", ("a",), False, False, 5)),
        ({"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}, ("taint", ("gpu",), True, True, None)),
        ({"tolerations": [{"operator": "Exists"}]}, ("taint", ("gpu",), True, True, None)),
    ],
)
def test_a_demand_or_a_wish_is_a_rule(pod: dict[str, object], rule: tuple[object, ...]) -> None:
    design = read(pod)
    assert rules(design) == [rule]
    assert not any("spec.template.spec" in words and "image" not in words for _, words in design.not_modelled)


@pytest.mark.parametrize(
    ("pod", "why"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, "no label and values"),
        ({"nodeSelector": {ZONE: "A"}}, "no label and values"),
        (required(demand(ZONE, "In", "a"), demand(ZONE, "In", "b")), "one of several terms"),
        (required(demand(ZONE, "Exists")), "no label and values"),
        (required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}), "no label and"),
        ({"tolerations": [{"key": "gpu", "operator": "Equal", "value": "a100"}]}, "has no value"),
        ({"tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}]}, "no effect of its own"),
    ],
)
def test_a_demand_that_is_not_modelled_withholds_the_other_rules_and_all_are_listed(
    pod: dict[str, object], why: str
) -> None:
    design = read({**pod, "topologySpreadConstraints": [SPREAD]})
    assert "web" not in design.placement
    assert any(why in words for _, words in design.not_modelled)
    assert any("topologySpreadConstraints (another rule" in words for _, words in design.not_modelled)


def test_a_toleration_of_a_taint_that_no_place_has_and_a_wish_that_is_not_modelled_withhold_nothing() -> None:
    other = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
    design = read({"tolerations": [other], **wish(2, "disk", "In", "ssd"), "topologySpreadConstraints": [SPREAD]})
    assert len(design.placement["web"]) == 1
    listed = "\n".join(words for _, words in design.not_modelled)
    assert "no such taint" in listed
    assert "no label and values" in listed


def room(selected: tuple[str, ...], is_borne: bool) -> int:
    """Returns how many pods of one CPU the places of a choice take."""
    return sum(2 for name, place in PLACES.items() if place["zone"] in selected and (is_borne or "taint" not in place))


@pytest.mark.parametrize("copies", range(1, 8))
def test_as_many_pods_have_a_place_as_the_nodes_that_take_them_have_room(copies: int) -> None:
    """The fault that this mends: four pods of zone a were proved to have a place by the room of zone b."""
    zones = [zones for size in (1, 2, 3) for zones in itertools.combinations("abc", size)]
    for selected, is_borne in itertools.product(zones, (False, True)):
        borne = {"tolerations": [{"key": "gpu", "operator": "Exists"}]} if is_borne else {}
        design = read({**required(demand(ZONE, "In", *selected)), **borne}, copies=copies)
        (found,) = placement_feasibility.ask(Subject(design, {}))
        fits = copies <= room(selected, is_borne)
        assert found.verdict is (Verdict.PROVED if fits else Verdict.CONFLICT), (selected, is_borne)


FIELDS = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")
OTHERS = {"matchLabels": {"no": "such"}}
STATED = {
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "spot", "operator": "Exists"}],
    "affinity": {**required(demand("disk", "In", "ssd"))["affinity"]},  # type: ignore[dict-item]
    "topologySpreadConstraints": [{**SPREAD, "labelSelector": OTHERS}],
}
FILES = ("pods.yaml", "kueue.yaml", "serving_runtimes.yaml", "training_jobs.yaml", "volcano.yaml", "ray_cluster.yaml",
         "knative_service.yaml")  # fmt: skip


def pods_in(node: object) -> list[dict[str, object]]:
    """Returns every mapping that has containers, at any depth."""
    inner = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
    own = [node] if isinstance(node, dict) and isinstance(node.get("containers"), list) else []
    return own + [pod for child in inner for pod in pods_in(child)]


def objects() -> list[dict[str, object]]:
    texts = ((DATA / "every_kind" / name).read_text() for name in FILES)
    every = [one for text in texts for one in yaml.safe_load_all(text) if isinstance(one, dict)]
    return [one for one in every if pods_in(one) and "ownerReferences" not in one["metadata"]]


@pytest.mark.parametrize("places", [None, PLACES], ids=["alone", "overlay"])
@pytest.mark.parametrize("stated", objects(), ids=lambda one: f"{one['kind']} {one['metadata']['name']}")
def test_what_an_object_says_of_nodes_is_never_silent(stated: dict[str, object], places: object) -> None:
    copy = yaml.safe_load(yaml.safe_dump(stated))
    for number, pod in enumerate(pods_in(copy)):
        pod.update(yaml.safe_load(yaml.safe_dump({**STATED, "nodeSelector": {f"disk{number}": "ssd"}})))
    overlay = {"nodes.yaml": yaml.safe_dump({"coherence": 1, "overlays": "manifests", "places": places})}
    sources = {"object.yaml": yaml.safe_dump(copy), **(overlay if places else {})}
    listed = [words for _, words in importers.design_from_sources(sources).not_modelled]
    loud = [words for words in listed if "not about control" not in words]
    heads = sum("head is not scaled" in words for words in loud)
    for field in FIELDS:
        assert sum(field in words for words in loud) + heads >= len(pods_in(copy)), (field, loud)
