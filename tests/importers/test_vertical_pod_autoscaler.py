"""VerticalPodAutoscaler: which requests it writes, within which bounds, and what it does to an autoscaler beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design

WEB = "{name: web, resources: {requests: {cpu: 600m, memory: 256Mi}, limits: {memory: 512Mi}}}"
SIDE = "{name: side, resources: {requests: {cpu: 100m}}}"
SCALER = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: prod}
spec:
  scaleTargetRef: {kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
"""
RANGE = """\
---
apiVersion: v1
kind: LimitRange
metadata: {name: sizes, namespace: prod}
spec: {limits: [{type: Container, max: {memory: 768Mi}, min: {memory: 128Mi}}]}
"""


def workload(*containers: str) -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: prod}}
spec: {{template: {{spec: {{containers: [{", ".join(containers or (WEB,))}]}}}}}}
---
"""


def sizer(policies: str = "", *, mode: str = "") -> str:
    update = f", updatePolicy: {{updateMode: {mode}}}" if mode else ""
    resources = f", resourcePolicy: {{containerPolicies: [{policies}]}}" if policies else ""
    return f"""\
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {{name: web, namespace: prod}}
spec: {{targetRef: {{kind: Deployment, name: web}}{update}{resources}}}
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"web.yaml": text})


def bounds(design: Design, loop: str) -> list[str]:
    actuation = design.loops[loop].actuation
    return [str(getattr(end, "text", end)) for end in actuation.bounds] if actuation else []


def conflicts(text: str, folder: Path) -> list[str]:
    path = folder / "web.yaml"
    path.write_text(text)
    return [finding.code for finding in check(path).findings if finding.verdict is Verdict.CONFLICT]


def test_half_of_the_pods_may_go_at_once_to_be_resized() -> None:
    limits = read(workload() + sizer()).limits
    assert [str(limit.part) for limit in limits.values()] == ["vpa_eviction"]
    assert not read(workload() + sizer("{containerName: '*', mode: 'Off'}")).limits


def test_without_a_policy_both_resources_of_the_pod_are_written_without_an_upper_bound() -> None:
    design = read(workload() + sizer())
    assert set(design.loops) == {"web_vpa_cpu", "web_vpa_memory"}
    assert bounds(design, "web_vpa_cpu") == ["0.025", "unlimited"]


@pytest.mark.parametrize(
    ("policies", "loops"),
    [
        ("{containerName: '*', controlledResources: [memory]}", {"web_vpa_memory"}),
        ("{containerName: web, mode: 'Off'}", {"web_side_vpa_cpu", "web_side_vpa_memory"}),
        ("{containerName: '*', mode: 'Off'}, {containerName: web, controlledResources: [cpu]}", {"web_web_vpa_cpu"}),
        ("{containerName: '*', mode: 'Off'}", set()),
    ],
)
def test_only_what_is_controlled_has_a_loop(policies: str, loops: set[str]) -> None:
    assert set(read(workload(WEB, SIDE) + sizer(policies)).loops) == loops


def test_a_workload_that_is_not_among_the_files_is_sized_by_its_policies() -> None:
    assert set(read(sizer("{containerName: web}, {containerName: '*', mode: 'Off'}")).loops) == {
        "web_web_vpa_cpu", "web_web_vpa_memory",
    }  # fmt: skip


def test_bounds_of_several_containers_add_up() -> None:
    design = read(workload(WEB, SIDE) + sizer("{containerName: '*', minAllowed: {cpu: 100m}, maxAllowed: {cpu: 2}}"))
    assert bounds(design, "web_vpa_cpu") == ["0.2", "4"]


@pytest.mark.parametrize(
    ("replicas", "update", "loops"),
    [(1, "", 0), (1, "minReplicas: 1", 2), (2, "", 2), (4, "minReplicas: 5", 0), (1, "updateMode: InPlace", 0)],
)
def test_of_few_replicas_the_updater_takes_none(replicas: int, update: str, loops: int) -> None:
    text = workload().replace("spec: {template", f"spec: {{replicas: {replicas}, template")
    design = read(text + sizer().replace("name: web}}", f"name: web}}, updatePolicy: {{{update}}}}}"))
    assert len(design.loops) == loops
    assert loops or any("the updater takes none" in words for _, words in design.not_modelled)


def test_a_resize_in_place_evicts_nothing() -> None:
    assert not read(workload() + sizer(mode="InPlace")).limits
    assert read(workload() + sizer(mode="InPlaceOrRecreate")).limits


@pytest.mark.parametrize(("mode", "why"), [("'Off'", "writes nothing"), ("Initial", "no loop of its own")])
def test_a_mode_that_leaves_running_pods_alone_is_listed(mode: str, why: str) -> None:
    design = read(workload() + sizer(mode=mode))
    assert not design.loops
    assert any(why in words for _, words in design.not_modelled)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(InputError, match="updateMode is 'Sometimes'"):
        read(sizer(mode="Sometimes"))


def test_one_utilisation_held_at_two_targets_by_replicas_and_by_size_is_a_conflict(tmp_path: Path) -> None:
    assert conflicts(workload() + sizer() + SCALER, tmp_path) == ["COH308"]
    memory = "{containerName: '*', controlledResources: [memory]}"
    assert conflicts(workload() + sizer(memory) + SCALER, tmp_path) == []


def test_an_amount_instead_of_a_share_is_no_conflict(tmp_path: Path) -> None:
    amount = SCALER.replace("{type: Utilization, averageUtilization: 60}", "{type: AverageValue, averageValue: 300m}")
    assert conflicts(workload() + sizer() + amount, tmp_path) == []


@pytest.mark.slow
def test_a_recommendation_stays_within_a_limit_range_as_far_as_its_policy_allows(tmp_path: Path) -> None:
    assert bounds(read(workload() + sizer() + RANGE), "web_vpa_memory") == ["128 MiB", "768 MiB"]
    assert conflicts(workload() + sizer("{containerName: '*', maxAllowed: {memory: 1Gi}}") + RANGE, tmp_path) == []
    assert conflicts(workload() + sizer("{containerName: '*', minAllowed: {memory: 1Gi}}") + RANGE, tmp_path) == [
        "COH209"
    ]
    assert conflicts(workload() + sizer("{containerName: '*', maxAllowed: {memory: 64Mi}}") + RANGE, tmp_path) == [
        "COH209"
    ]


def test_requests_alone_may_not_pass_the_limit_of_the_container(tmp_path: Path) -> None:
    only = "{containerName: '*', controlledValues: RequestsOnly, maxAllowed: {memory: %s}}"
    assert conflicts(workload() + sizer(only.replace("%s", "728Mi")), tmp_path) == ["COH209"]
    assert conflicts(workload() + sizer(only.replace("%s", "512Mi")), tmp_path) == []
    both = only.replace("RequestsOnly", "RequestsAndLimits").replace("%s", "728Mi")
    assert conflicts(workload() + sizer(both), tmp_path) == []
