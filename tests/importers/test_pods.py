"""Pods: what one holds, what they are found by, and how long they may take to stop."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.language.design import Design


def read(pod: str, *, kind: str = "Deployment") -> Design:
    text = f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: web}}\nspec: {{template: {{spec: {pod}}}}}\n"
    return importers.design_from_sources({"web.yaml": text})


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
def test_requests_of_all_containers_are_one_need(kind: str) -> None:
    containers = "{resources: {requests: {cpu: 500m}}}, {resources: {limits: {cpu: 1, nvidia.com/gpu: 2}}}"
    needs = read(f"{{containers: [{containers}]}}", kind=kind).components["web"].needs
    assert isinstance(needs, dict)
    assert {key: value.low for key, value in needs.items()} == {"cpu": 1.5, "gpu": 2}


def test_a_sleep_before_the_end_lies_inside_the_grace() -> None:
    hook = "lifecycle: {preStop: {exec: {command: [sh, -c, sleep 20]}}}"
    design = read(f"{{terminationGracePeriodSeconds: 30, containers: [{{{hook}}}]}}")
    grace = design.timers["web_grace"]
    assert grace.start is not None
    assert grace.after is not None
    assert (grace.start.text, grace.after.text) == ("web.pre_stop starts", "30 s")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
def test_probes_and_the_grace_of_every_kind_are_timers(kind: str) -> None:
    pod = "{terminationGracePeriodSeconds: 30, containers: [{livenessProbe: {periodSeconds: 5}}]}"
    assert set(read(pod, kind=kind).timers) == {"web_liveness", "web_grace"}


@pytest.mark.parametrize(
    ("readiness", "liveness", "alike"),
    [
        ("httpGet: {path: /ok, port: 80}", "httpGet: {path: /ok, port: 80}", True),
        ("httpGet: {path: /ok, port: 80}", "httpGet: {path: /live, port: 80}", False),
        ("httpGet: {path: /ok, port: 80}", "tcpSocket: {port: 80}", False),
        ("periodSeconds: 5", "periodSeconds: 5", False),
    ],
)
def test_readiness_and_liveness_that_ask_the_same_run_from_one_overload(
    readiness: str, liveness: str, alike: bool
) -> None:
    design = read(f"{{containers: [{{readinessProbe: {{{readiness}}}, livenessProbe: {{{liveness}}}}}]}}")
    starts = {name: timer.start.text for name, timer in design.timers.items() if timer.start is not None}
    both = {"web_readiness_overloaded": "web overloaded", "web_liveness_overloaded": "web overloaded"}
    assert {name: text for name, text in starts.items() if name.endswith("_overloaded")} == (both if alike else {})


def test_identical_probes_restart_what_is_only_overloaded() -> None:
    probe = "httpGet: {path: /ok, port: 80}"

    def verdicts(liveness: str) -> list[Verdict]:
        pod = f"{{containers: [{{readinessProbe: {{{probe}}}, livenessProbe: {{{probe}, {liveness}}}}}]}}"
        text = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{template: {{spec: {pod}}}}}\n"
        sources = {"web.yaml": text}
        design = importers.design_from_sources(sources)
        findings = analyse(design, sources, importers.design_from_sources, verify_repairs=False).findings
        return [finding.verdict for finding in findings if finding.code == "COH208"]

    assert verdicts("periodSeconds: 10") == [Verdict.CONFLICT]
    assert verdicts("initialDelaySeconds: 60") == [Verdict.CONFLICT]
    assert verdicts("failureThreshold: 9") == [Verdict.PROVED]


@pytest.mark.parametrize("handler", ["", "tcpSocket: {port: 80}, "])
def test_a_restart_does_not_end_the_update_that_a_deadline_watches(handler: str) -> None:
    pod = f"{{containers: [{{livenessProbe: {{{handler}periodSeconds: 10}}}}]}}"
    text = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        f"spec: {{progressDeadlineSeconds: 600, template: {{spec: {pod}}}}}\n"
    )
    sources = {"web.yaml": text}
    design = importers.design_from_sources(sources)
    findings = analyse(design, sources, importers.design_from_sources, verify_repairs=False).findings
    assert not [finding.message for finding in findings if finding.code == "COH213"]


def test_a_sidecar_is_a_container_beside_the_others_and_what_runs_before_is_none() -> None:
    probe = "httpGet: {path: /health, port: 8000}, periodSeconds: 10"
    probes = f"livenessProbe: {{{probe}, failureThreshold: 3}}, readinessProbe: {{{probe}, failureThreshold: 10}}"
    requests = "resources: {requests: {cpu: 1}}"
    before = f"{{name: seed, {requests}}}, {{name: proxy, restartPolicy: Always, {requests}, {probes}}}"
    design = read(f"{{containers: [{{name: web, {requests}}}], initContainers: [{before}]}}")
    assert "web_liveness_overloaded" in design.timers
    needs = design.components["web"].needs
    assert isinstance(needs, dict)
    assert needs["cpu"].low == 2
