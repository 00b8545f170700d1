"""Pods: what one holds, what they are found by, and how long they may take to stop."""

from __future__ import annotations

import pytest

from coherence import importers
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
