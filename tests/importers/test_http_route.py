"""HTTPRoute: time limits and retries of a rule, from each of its gateways to each backend."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text

HEAD = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop, namespace: prod}\n"


def sources(rule: str, more: str = "parentRefs: [{name: edge}]") -> dict[str, str]:
    return {"route.yaml": f"{HEAD}spec: {{{more}, rules: [{{backendRefs: [{{name: web, port: 80}}]{rule}}}]}}\n"}


def read(rule: str, more: str = "parentRefs: [{name: edge}]") -> Design:
    return importers.design_from_sources(sources(rule, more))


def answers(rule: str) -> list[Verdict]:
    findings = analyse(read(rule), sources(rule), importers.design_from_sources, verify_repairs=False).findings
    return [f.verdict for f in findings if f.code == "COH201"]


def test_times_of_a_rule_are_those_of_its_call() -> None:
    (call,) = read(", timeouts: {request: 10s, backendRequest: 2s}, retry: {attempts: 2, backoff: 100ms}").calls
    values = call.deadline, call.per_try, call.tries[0], call.pause
    assert (call.name, *map(text, values)) == ("edge -> web", "10 s", "2 s", "3", "100 ms")


def test_zero_is_no_limit() -> None:
    (call,) = read(", timeouts: {request: 0s}").calls
    assert call.deadline is None


def test_without_retry_there_is_one_try() -> None:
    (call,) = read("").calls
    assert text(call.tries[0]) == "1"


@pytest.mark.parametrize(
    ("parents", "names"),
    [
        ("hostnames: [a]", ["clients -> web"]),
        ("parentRefs: [{name: edge}, {name: inner, namespace: infra}]", ["edge -> web", "inner -> web"]),
    ],
)
def test_each_gateway_calls(parents: str, names: list[str]) -> None:
    assert [call.name for call in read("", parents).calls] == names


def test_three_tries_that_outlast_the_request_are_a_conflict_and_their_repaired_twin_is_none() -> None:
    retry = ", retry: {attempts: 2, backoff: 100ms, codes: [504]}"
    assert answers(f", timeouts: {{request: 5s, backendRequest: 2s}}{retry}") == [Verdict.CONFLICT]
    assert answers(f", timeouts: {{request: 7s, backendRequest: 2s}}{retry}") == [Verdict.PROVED]


def test_codes_are_causes() -> None:
    (call,) = read(", retry: {codes: [503, 504, 418]}").calls
    assert [text(cause) for cause in call.retry_when or ()] == [
        "unavailable", "timeout", "status_418", "connect_failure",
    ]  # fmt: skip


def test_a_backend_must_have_a_name() -> None:
    with pytest.raises(InputError, match=r"rules\[0\].backendRefs\[0\].name is missing"):
        importers.design_from_sources({"a.yaml": f"{HEAD}spec: {{rules: [{{backendRefs: [{{port: 80}}]}}]}}\n"})


def test_a_backend_without_weight_is_sent_nothing() -> None:
    spec = "parentRefs: [{name: edge}], rules: [{backendRefs: [{name: old, weight: 0}, {name: web, weight: 9}]}]"
    design = importers.design_from_sources({"a.yaml": f"{HEAD}spec: {{{spec}}}\n"})
    assert [call.name for call in design.calls] == ["edge -> web"]


def test_a_route_of_a_service_is_called_by_whoever_calls_it() -> None:
    (call,) = read("", "parentRefs: [{kind: Service, name: web}]").calls
    assert call.name == "clients -> web"
