"""RayService: its Serve config, which is a text, and the worker groups of its cluster."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.paths import DATA

TEXT = """\
apiVersion: ray.io/v1
kind: RayService
metadata: {name: llm}
spec:
  serveConfigV2: |
    applications:
    - import_path: ray.serve.llm:build_openai_app
      args:
        llm_configs:
        - model_loading_config: {model_id: qwen-7b}
          deployment_config:
            autoscaling_config: {max_replicas: 4, target_ongoing_requests: 64}
            max_ongoing_requests: 128
  rayClusterConfig: {rayVersion: "2.52.0", workerGroupSpecs: [{groupName: gpu, replicas: 1}]}
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"llm.yaml": text})


def test_models_of_an_llm_application_are_deployments_and_groups_are_things() -> None:
    design = read(TEXT)
    assert set(design.components) == {"qwen_7b", "llm_gpu"}
    assert set(design.loops) == {"qwen_7b_serve"}


def test_a_value_of_the_text_stands_on_its_line() -> None:
    most = read(TEXT).limits["qwen_7b_ongoing"].at_most
    assert most is not None
    assert most.place.line == 13


@pytest.mark.parametrize(
    ("version", "part", "sees"),
    [
        ("2.52.0", "ray_serve", True),
        ("2.31.0", "ray_serve_before_2_32", True),
        ("2.9.3", "ray_serve_before_2_32", False),
    ],
)
def test_the_version_says_the_target_and_what_is_counted(version: str, part: str, sees: bool) -> None:
    loop = read(TEXT.replace("2.52.0", version)).loops["qwen_7b_serve"]
    assert loop.target is not None
    assert str(loop.part) == part
    assert any(link.kind == "sees" for link in loop.target.sensor) is sees


def test_a_text_that_is_no_config_is_listed() -> None:
    design = read("apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: x}\nspec: {serveConfigV2: 'a: ['}\n")
    assert any("cannot be read as a config" in words for _, words in design.not_modelled)


def test_the_public_sample_is_consistent() -> None:
    findings = check(DATA / "manifests/ray-serve/rayservice.autoscaling.yaml").findings
    assert not [finding for finding in findings if finding.verdict is Verdict.CONFLICT]
    assert [finding.verdict for finding in findings if finding.code == "COH223"] == [Verdict.PROVED]
