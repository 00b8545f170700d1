"""InferencePool: a route to a pool is a call to the pods that it selects."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.language.design import Design
from tests.importers.value_texts import text

PODS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: prod}
spec: {template: {metadata: {labels: {app: LABEL}}, spec: {containers: [{name: a}]}}}
"""
ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: llm, namespace: prod}
spec:
  parentRefs: [{name: front}]
  rules:
  - timeouts: {request: 9s}
    backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: pool}]
"""
POOL = """\
apiVersion: inference.networking.GROUP
kind: InferencePool
metadata: {name: pool, namespace: NAMESPACE}
spec: {selector: SELECTOR, targetPorts: [{number: 8000}], endpointPickerRef: {name: picker, failureMode: FailOpen}}
"""
FIRST, SECOND = "{matchLabels: {app: vllm}}", "{app: vllm}"


def read(selector: str = FIRST, *, namespace: str = "prod", group: str = "k8s.io/v1", more: str = "") -> Design:
    pool = POOL.replace("SELECTOR", selector).replace("NAMESPACE", namespace).replace("GROUP", group)
    first = PODS.replace("NAME", "llama").replace("LABEL", "vllm")
    return importers.design_from_sources({"a.yaml": f"{first}---\n{ROUTE}---\n{pool}{more}"})


def callee(design: Design) -> str:
    (call,) = design.calls
    assert text(call.deadline) == "9 s"
    return text(call.callee)


@pytest.mark.parametrize(("selector", "group"), [(FIRST, "k8s.io/v1"), (SECOND, "x-k8s.io/v1alpha2")])
def test_a_route_to_the_pool_is_a_call_to_its_pods(selector: str, group: str) -> None:
    assert callee(read(selector, group=group)) == "llama"


def test_what_it_does_not_say_is_listed() -> None:
    listed = [words for _, words in read().not_modelled]
    assert any("failureMode" in words for words in listed)


@pytest.mark.parametrize(
    ("selector", "namespace", "more"),
    [
        ("{matchLabels: {app: other}}", "prod", ""),
        (FIRST, "prod", "---\n" + PODS.replace("NAME", "qwen").replace("LABEL", "vllm")),
    ],
)
def test_a_pool_of_no_workload_or_of_several_stays_one_of_its_own(selector: str, namespace: str, more: str) -> None:
    design = read(selector, namespace=namespace, more=more)
    assert callee(design) == "pool"
    assert any("spec.selector" in words for _, words in design.not_modelled)
