"""XBackendTrafficPolicy: the budget of retries to a Service, with its interval."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.language.design import Limit
from tests.importers.value_texts import text


def limits(spec: str, *, kind: str = "Service") -> list[Limit]:
    head = "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackendTrafficPolicy\nmetadata: {name: p}\n"
    text = f"{head}spec: {{targetRefs: [{{group: '', kind: {kind}, name: web}}], {spec}}}\n"
    return list(importers.design_from_sources({"p.yaml": text}).limits.values())


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ("{}", ("20 % of web.requests", "100", "10 s")),
        ("{budget: {percent: 5, interval: 1m}}", ("5 % of web.requests", "600", "60 s")),
        ("{minRetryRate: {count: 3, interval: 2s}}", ("20 % of web.requests", "15", "10 s")),
        ("{minRetryRate: {count: 0}}", ("20 % of web.requests", "0", "10 s")),
    ],
)
def test_a_budget_is_a_limit_over_its_interval(constraint: str, expected: tuple[str, str, str]) -> None:
    (limit,) = limits(f"retryConstraint: {constraint}")
    assert (text(limit.at_most), text(limit.but_at_least), text(limit.window)) == expected
    assert text(limit.counts) == "web.retries"


def test_without_a_constraint_or_a_service_there_is_none() -> None:
    assert limits("sessionPersistence: {}") == []
    assert limits("retryConstraint: {}", kind="InferencePool") == []
