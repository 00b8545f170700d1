"""Policies of the descheduler: members that are put back, nodes that are filled and emptied, jobs that live long."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Finding, Verdict
from coherence.language.design import Design
from tests.paths import DATA

REAL = DATA / "manifests/descheduler/policy.yaml"
PROFILE = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: all
  pluginConfig: [{config}]
  plugins: {{balance: {{enabled: [{enabled}]}}}}
---
"""
OLD = """\
apiVersion: descheduler/v1alpha1
kind: DeschedulerPolicy
strategies: {{{strategies}}}
---
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 4, template: {spec: {containers: []}}}
---
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec: {template: {spec: {containers: []}}}
---
"""
LOW = "{name: LowNodeUtilization, args: {thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}}"
HIGH = "{name: HighNodeUtilization, args: {thresholds: {cpu: 30}}}"


def read(text: str) -> Design:
    return importers.design_from_sources({"policy.yaml": text})


def answers(folder: Path, text: str, code: str, overlay: str = "") -> list[Finding]:
    (folder / "policy.yaml").write_text(text)
    if overlay:
        (folder / "overlay.yaml").write_text(f"coherence: 1\noverlays: manifests\n{overlay}\n")
    return [finding for finding in check(folder).findings if finding.code == code]


@pytest.mark.parametrize(
    ("placement", "verdict"),
    [("prefer spread by node <= 1", Verdict.PROVED), ("prefer together by node", Verdict.CONFLICT)],
)
def test_duplicates_are_evicted_until_the_placer_spreads_them(placement: str, verdict: Verdict, tmp_path: Path) -> None:
    """An untouched policy, with 4 members on 3 nodes."""
    overlay = f"places: {{node: {{count: 3}}}}\nplacement: {{web: [{placement}]}}"
    found = answers(tmp_path, WEB + REAL.read_text(), "COH226", overlay)
    assert [finding.verdict for finding in found] == [verdict]


def test_without_nodes_nothing_is_asked_of_each_workload() -> None:
    design = read(WEB + REAL.read_text())
    assert not design.loops
    assert any("an overlay states `places`" in words for _, words in design.not_modelled)


@pytest.mark.parametrize(
    ("tolerates", "trigger"), [("", ""), ("tolerations: [{key: gpu, operator: Exists}]", "/ 3)"), ("pool", "/ 2)")]
)
def test_nodes_that_take_no_member_are_no_share(tolerates: str, trigger: str, tmp_path: Path) -> None:
    """Of three nodes two have a taint: one takes a pod that bears none, and then none is evicted."""
    pod = tolerates.replace("pool", "nodeSelector: {pool: a}, tolerations: [{key: gpu, operator: Exists}]")
    (tmp_path / "policy.yaml").write_text(WEB.replace("containers: []", f"containers: [], {pod}") + REAL.read_text())
    places = "{n1: {pool: a, taint: gpu}, n2: {pool: b, taint: gpu}, n3: {pool: a}}"
    (tmp_path / "overlay.yaml").write_text(f"coherence: 1\noverlays: manifests\nplaces: {places}\n")
    design = importers.design_from_sources({path.name: path.read_text() for path in tmp_path.iterdir()})
    assert [str(loop.trigger).endswith(trigger) for loop in design.loops.values()] == [True] * bool(trigger)
    assert trigger or any("fewer than two nodes take its pods" in words for _, words in design.not_modelled)


def test_one_strategy_that_fills_nodes_and_one_that_empties_them_undo_each_other(tmp_path: Path) -> None:
    both = PROFILE.format(config=f"{LOW}, {HIGH}", enabled="LowNodeUtilization, HighNodeUtilization")
    (conflict,) = answers(tmp_path, both, "COH230")
    assert conflict.verdict is Verdict.CONFLICT


def test_the_first_version_nests_its_thresholds(tmp_path: Path) -> None:
    given = "params: {nodeResourceUtilizationThresholds: {thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}}"
    other = "params: {nodeResourceUtilizationThresholds: {thresholds: {cpu: 30}}}"
    both = f"LowNodeUtilization: {{enabled: true, {given}}}, HighNodeUtilization: {{enabled: true, {other}}}"
    assert [finding.verdict for finding in answers(tmp_path, OLD.format(strategies=both), "COH230")] == [
        Verdict.CONFLICT
    ]


@pytest.mark.parametrize("name", ["LowNodeUtilization", "HighNodeUtilization"])
def test_one_of_them_alone_is_listed(name: str) -> None:
    design = read(PROFILE.format(config=f"{LOW}, {HIGH}", enabled=name))
    assert not design.loops
    assert any("how full nodes are stands in no manifest" in words for _, words in design.not_modelled)


def test_nodes_are_compared_by_every_resource_and_about_the_mean_where_the_policy_says_so() -> None:
    """A node at its threshold is below it; thresholds need not be whole."""
    gpu = "nodes.fullest_nvidia_com_gpu > min(nodes.mean_nvidia_com_gpu + 60 %, 100 %)"
    low = "thresholds: {cpu: 12.5, nvidia.com/gpu: 20}, targetThresholds: {cpu: 50, nvidia.com/gpu: 60}"
    config = f"{{name: LowNodeUtilization, args: {{useDeviationThresholds: true, {low}}}}}"
    loops = read(PROFILE.format(config=f"{config}, {HIGH}", enabled="LowNodeUtilization, HighNodeUtilization")).loops
    below, empty = (str(loop.trigger).split(" and ") for loop in loops.values())
    assert below == [
        "nodes.emptiest_cpu <= max(nodes.mean_cpu - 12.5 %, 0 %)",
        "nodes.emptiest_nvidia_com_gpu <= max(nodes.mean_nvidia_com_gpu - 20 %, 0 %)",
        f"(nodes.fullest_cpu > min(nodes.mean_cpu + 50 %, 100 %) or {gpu})",
    ]
    assert empty == ["nodes.emptiest_cpu <= 30 %", "nodes.fullest_cpu > 30 %"]


EMPTY_DIR = "containers: [], volumes: [{name: v, emptyDir: {}}]"
PLACES = "places: {node: {count: 3}}"
LOCAL = "args: {evictLocalStoragePods: true}"


@pytest.mark.parametrize(
    ("pod", "config", "reason"),
    [
        (EMPTY_DIR, "", "web: its pods have local storage, which protects them"),
        (EMPTY_DIR, f"{{name: DefaultEvictor, {LOCAL}}}", ""),
        ("containers: []", "{name: RemoveDuplicates, args: {excludeOwnerKinds: [ReplicaSet]}}", "of a ReplicaSet"),
        ("containers: []", "{name: DefaultEvictor, args: {minReplicas: 5}}", "fewer than 5 members"),
        ("containers: [], priorityClassName: system-node-critical", "", "critical to the system"),
    ],
)
def test_pods_that_the_evictor_protects_are_not_evicted(pod: str, config: str, reason: str) -> None:
    web = WEB.replace("containers: []", pod)
    text = {"policy.yaml": web + PROFILE.format(config=config, enabled="RemoveDuplicates")}
    design = importers.design_from_sources(text | {"overlay.yaml": f"coherence: 1\noverlays: manifests\n{PLACES}\n"})
    assert bool(design.loops) == (not reason)
    assert any(reason in words for _, words in design.not_modelled) or not reason


def test_other_plugins_are_listed_with_their_reason() -> None:
    listed = " ".join(words for _, words in read(WEB + REAL.read_text()).not_modelled)
    assert "RemovePodsViolatingTopologySpreadConstraint evicts members by how far their numbers" in listed
    assert "RemovePodsHavingTooManyRestarts evicts pods that were restarted often" in listed


def test_each_profile_has_its_own_arguments() -> None:
    """Two profiles that enable one plugin: one of pods that wait, one of all."""
    life = PROFILE.format(config="{name: PodLifeTime, args: {maxPodLifeTimeSeconds: %s}}", enabled="PodLifeTime")
    second = "".join(life.partition("profiles:\n")[2].replace("---\n", ""))
    timers = read(JOB + (life.replace("---\n", "") + second) % (3600, 60)).timers
    assert [str(timer.after.text) for timer in timers.values() if timer.after is not None] == ["3600 s", "60 s"]


@pytest.mark.parametrize("states", ["states: [Pending]", "states: [Running, Pending]"])
def test_a_life_of_pods_that_wait_is_no_limit_of_those_that_run(states: str) -> None:
    config = f"{{name: PodLifeTime, args: {{maxPodLifeTimeSeconds: 60, {states}}}}}"
    design = read(JOB + PROFILE.format(config=config, enabled="PodLifeTime"))
    assert bool(design.timers) == ("Running" in states)


def test_a_round_may_come_after_the_end_of_a_run_that_is_a_little_too_long(tmp_path: Path) -> None:
    """An age of 61 min where 60 are allowed is seen in the next round, 5 min later at most."""
    policy = PROFILE.format(config="{name: PodLifeTime, args: {maxPodLifeTimeSeconds: 3600}}", enabled="PodLifeTime")
    found = answers(tmp_path, JOB + policy, "COH207", "components: {train: {takes: {run: 61 min}}}")
    assert [(finding.verdict, finding.certainty) for finding in found] == [(Verdict.CONFLICT, "possible")]
    assert any("the time from the creation of a pod to its run" in words for words in found[0].assumptions)


@pytest.mark.parametrize(
    "policy",
    [
        PROFILE.format(config="{name: PodLifeTime, args: {maxPodLifeTimeSeconds: 3600}}", enabled="PodLifeTime"),
        OLD.format(strategies="PodLifeTime: {enabled: true, params: {podLifeTime: {maxPodLifeTimeSeconds: 3600}}}"),
    ],
)
@pytest.mark.parametrize(("run", "verdict"), [("2 h .. 4 h", Verdict.CONFLICT), ("1 min .. 30 min", Verdict.PROVED)])
def test_a_job_that_runs_longer_than_a_pod_may_live_is_evicted(
    policy: str, run: str, verdict: Verdict, tmp_path: Path
) -> None:
    found = answers(tmp_path, JOB + policy, "COH207", f"components: {{train: {{takes: {{run: {run}}}}}}}")
    assert {finding.verdict for finding in found} == {verdict}


def test_a_strategy_that_is_off_does_nothing() -> None:
    off = OLD.format(strategies="PodLifeTime: {enabled: false, params: {podLifeTime: {maxPodLifeTimeSeconds: 1}}}")
    assert not read(JOB + off).timers


def test_a_policy_in_a_config_map_is_read() -> None:
    inner = "".join(
        f"    {line}\n" for line in OLD.format(strategies="RemoveDuplicates: {enabled: true}").splitlines()[:3]
    )
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: policy}}\ndata:\n  policy.yaml: |\n{inner}"
    assert any("an overlay states `places`" in words for _, words in read(text).not_modelled)


@pytest.mark.parametrize(
    "config", ["{name: PodLifeTime, args: {maxPodLifeTimeSeconds: long}}", "{name: PodLifeTime, args: [1]}"]
)
def test_wrong_values_are_refused_with_their_line(config: str) -> None:
    with pytest.raises(InputError, match=r"policy\.yaml:5"):
        read(PROFILE.format(config=config, enabled="PodLifeTime"))
