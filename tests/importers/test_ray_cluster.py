"""RayCluster: worker groups with their autoscaler, or with a stated number of workers."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text

HEAD = "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: ray}\n"
GROUP = "workerGroupSpecs: [{groupName: gpu, replicas: 2, minReplicas: 1, maxReplicas: 10}]"


def sources(spec: str) -> dict[str, str]:
    return {"ray.yaml": f"{HEAD}spec: {{{spec}, {GROUP}}}\n"}


def read(spec: str) -> Design:
    return importers.design_from_sources(sources(spec))


@pytest.mark.parametrize(
    ("options", "idle"),
    [("", "60 s"), (", autoscalerOptions: {idleTimeoutSeconds: 300, upscalingMode: X}", "300 s")],
)
def test_a_group_that_scales_has_one_loop(options: str, idle: str) -> None:
    design = read(f"enableInTreeAutoscaling: true{options}")
    loop = design.loops["ray_gpu_autoscaler"]
    assert loop.actuation is not None
    assert [text(rule.when) for rule in loop.rules] == ["ray_gpu.pending > 0", f"ray_gpu.idle for {idle}"]
    assert [text(end) for end in loop.actuation.bounds] == ["1", "10"]
    assert text(design.components["ray_gpu"].copies) == "1 .. 10"


def test_a_group_that_does_not_scale_has_the_stated_number() -> None:
    design = read("enableInTreeAutoscaling: false")
    assert (len(design.loops), text(design.components["ray_gpu"].copies)) == (0, "2")


def test_one_program_that_adds_and_removes_does_not_contradict_itself() -> None:
    files = sources("enableInTreeAutoscaling: true")
    findings = analyse(
        importers.design_from_sources(files), files, importers.design_from_sources, verify_repairs=False
    ).findings
    assert not [finding for finding in findings if finding.verdict is Verdict.CONFLICT]
