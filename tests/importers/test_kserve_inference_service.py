"""InferenceService: pods of predictor and transformer, the time of a request, and concurrency."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.language.design import Design
from tests.importers.value_texts import text


def read(predictor: str, more: str = "") -> Design:
    head = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: iris}\n"
    return importers.design_from_sources({"iris.yaml": f"{head}spec: {{predictor: {{{predictor}}}{more}}}\n"})


@pytest.mark.parametrize(
    ("numbers", "copies"),
    [
        ("", "1"),
        ("minReplicas: 2", "2"),
        ("minReplicas: 0, maxReplicas: 5", "0 .. 5"),
        ("minReplicas: 3, maxReplicas: 3", "3"),
        ("maxReplicas: 0", "1"),
    ],
)
def test_replicas(numbers: str, copies: str) -> None:
    assert text(read(numbers).components["iris_predictor"].copies) == copies


def test_a_model_server_is_a_container_as_others_are() -> None:
    model = (
        "model: {modelFormat: {name: x}, resources: {limits: {nvidia.com/gpu: 1}}, readinessProbe: {periodSeconds: 5}}"
    )
    design = read(model, ", transformer: {containers: [{name: a, livenessProbe: {periodSeconds: 5}}]}")
    assert set(design.components) == {"iris_predictor", "iris_transformer"}
    assert set(design.timers) == {"iris_predictor_readiness", "iris_transformer_liveness"}
    needs = design.components["iris_predictor"].needs
    assert isinstance(needs, dict)
    assert needs["gpu"].low == 1


def test_the_time_of_a_request_is_a_call_and_concurrency_a_limit() -> None:
    design = read("timeout: 60, containerConcurrency: 4, scaleTarget: 2")
    (call,) = design.calls
    assert (call.name, text(call.deadline), text(call.tries[0])) == ("clients -> iris_predictor", "60 s", "1")
    limit = design.limits["iris_predictor_concurrency"]
    assert (text(limit.at_most), text(limit.per)) == ("4", "replica")
    assert any("what scales the replicas" in words for _, words in design.not_modelled)


def test_zero_is_no_limit() -> None:
    design = read("timeout: 0, containerConcurrency: 0")
    assert (len(design.calls), len(design.limits)) == (0, 0)
