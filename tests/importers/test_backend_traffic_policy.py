"""BackendTrafficPolicy: what it says completes the calls of the routes that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text

ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: prod}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: web, port: 80}]%s}]}
---
"""
SHOP = "targetRefs: [{kind: HTTPRoute, name: shop}]"
RETRY = "retry: {numRetries: 4, perRetry: {timeout: 2s, backOff: {baseInterval: 100ms, maxInterval: 1s}}}"


def policy(spec: str, *, target: str = SHOP) -> str:
    head = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n"
    return f"{head}metadata: {{name: p, namespace: prod}}\nspec: {{{target}, {spec}}}\n"


def read(text: str, rule: str = "") -> Design:
    return importers.design_from_sources({"a.yaml": ROUTE.replace("%s", rule) + text})


@pytest.mark.parametrize(
    ("target", "tries"),
    [
        (SHOP, "5"),
        ("targetRef: {kind: Gateway, name: edge}", "5"),
        ("targetRefs: [{kind: HTTPRoute, name: other}]", "1"),
        ("targetRefs: [{kind: Gateway, name: inner}]", "1"),
    ],
)
def test_calls_of_its_targets_have_its_retries(target: str, tries: str) -> None:
    (call,) = read(policy(RETRY, target=target)).calls
    assert text(call.tries[0]) == tries


def test_times_and_causes() -> None:
    on = "retryOn: {triggers: [connect-failure, retriable-status-codes], httpStatusCodes: [503, 504]}"
    (call,) = read(policy(f"timeout: {{http: {{requestTimeout: 9s}}}}, {RETRY[:-1]}, {on}}}")).calls
    assert (text(call.deadline), text(call.per_try)) == ("9 s", "2 s")
    assert [text(cause) for cause in call.retry_when or ()] == ["connect_failure", "unavailable", "timeout"]


def test_without_triggers_it_tries_twice_more_on_failed_connections_and_503() -> None:
    (call,) = read(policy("retry: {}")).calls
    assert text(call.tries[0]) == "3"
    assert [text(cause) for cause in call.retry_when or ()] == [
        "connect_failure", "refused_stream", "unavailable", "cancelled",
    ]  # fmt: skip


def test_what_a_route_states_stays() -> None:
    rule = ", timeouts: {request: 7s}, retry: {attempts: 1}"
    (call,) = read(policy(f"timeout: {{http: {{requestTimeout: 9s}}}}, {RETRY}"), rule).calls
    assert (text(call.deadline), text(call.tries[0])) == ("7 s", "2")


def test_breakers_are_limits_of_the_backend() -> None:
    limits = read(
        policy("circuitBreaker: {maxPendingRequests: 5}, healthCheck: {passive: {maxEjectionPercent: 50}}")
    ).limits
    assert {name: text(limit.at_most) for name, limit in limits.items()} == {
        "web_pending_requests": "5", "web_ejection": "50 % of web.copies",
    }  # fmt: skip


def test_breakers_of_two_routes_to_one_backend_count_by_themselves_and_are_listed(tmp_path: Path) -> None:
    other = ROUTE.replace("%s", "").replace("name: shop", "name: cart")
    more = policy("circuitBreaker: {maxConnections: 5}", target="targetRefs: [{kind: HTTPRoute, name: cart}]")
    text = f"{other}{policy('circuitBreaker: {maxConnections: 500}')}---\n{more.replace('name: p,', 'name: q,')}"
    design = read(text)
    assert not design.limits
    assert sum("each counts by itself" in words for _, words in design.not_modelled) == 2
    (tmp_path / "a.yaml").write_text(ROUTE.replace("%s", "") + text)
    assert not [f for f in check(tmp_path).findings if f.code == "COH209"]


def test_a_policy_of_no_route_is_listed() -> None:
    listed = read(policy(RETRY, target="targetRefs: [{kind: HTTPRoute, name: other}]")).not_modelled
    assert any("no route of these is among the files" in words for _, words in listed)


def test_tries_that_outlast_the_request_are_a_conflict_and_their_repaired_twin_is_none(tmp_path: Path) -> None:
    slow = f"{RETRY[:-1]}, retryOn: {{triggers: [5xx]}}}}"
    for seconds, expected in (("5", [Verdict.CONFLICT]), ("20", [Verdict.PROVED])):
        rule = f", timeouts: {{request: {seconds}s}}"
        (tmp_path / "a.yaml").write_text(ROUTE.replace("%s", rule) + policy(slow))
        assert [f.verdict for f in check(tmp_path).findings if f.code == "COH201"] == expected
