"""EnvoyFilter: patches of the routes and clusters of one host are read, every other one is listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Call, Design
from tests.importers.value_texts import text

HOST = "web.prod.svc.cluster.local"
ROUTE = f"applyTo: HTTP_ROUTE, match: {{context: ANY, routeConfiguration: {{vhost: {{name: '{HOST}:80'}}}}}}"
CLUSTER = f"applyTo: CLUSTER, match: {{cluster: {{service: {HOST}}}}}"
SERVICE = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: prod}
spec:
  hosts: [web]
  http: [{timeout: 5s, retries: {attempts: 1, perTryTimeout: 2s}, route: [{destination: {host: web}}]}]
"""


def patched(patch: str, *, spec: str = "") -> str:
    head = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: f, namespace: prod}\n"
    return f"{head}spec: {{{spec}configPatches: [{{{patch}}}]}}\n"


def merged(match: str, value: str) -> str:
    return patched(f"{match}, patch: {{operation: MERGE, value: {value}}}")


def read(*texts: str) -> Design:
    return importers.design_from_sources({"a.yaml": "---\n".join(texts)})


def only(design: Design) -> Call:
    (call,) = design.calls
    return call


def test_a_patch_of_a_route_changes_what_a_virtual_service_says() -> None:
    value = "{route: {timeout: 30s, retry_policy: {num_retries: 4}}}"
    call = only(read(merged(ROUTE, value), SERVICE))
    assert (text(call.deadline), text(call.per_try), text(call.tries[0])) == ("30 s", "2 s", "5")


def test_without_a_virtual_service_it_changes_what_istio_does_by_itself() -> None:
    value = "{retry_policy: {num_retries: 4, per_try_timeout: 3s, retry_on: 5xx}}"
    call = only(read(merged(ROUTE.replace("HTTP_ROUTE", "VIRTUAL_HOST"), value)))
    assert (text(call.callee), text(call.part), text(call.tries[0]), text(call.per_try)) == (
        "web",
        "istio_retry",
        "5",
        "3 s",
    )


def test_a_patch_of_a_cluster_limits_its_host() -> None:
    thresholds = "{circuit_breakers: {thresholds: [{max_connections: 7, retry_budget: {min_retry_concurrency: 2}}]}}"
    assert {name: text(limit.at_most) for name, limit in read(merged(CLUSTER, thresholds)).limits.items()} == {
        "web_connections": "7", "web_retry_budget": "20 % of web in flight",
    }  # fmt: skip
    named = CLUSTER.replace(f"service: {HOST}", f"name: 'outbound|80||{HOST}'")
    assert set(read(merged(named, "{outlier_detection: {max_ejection_percent: 50}}")).limits) == {"web_ejection"}


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        (merged("applyTo: HTTP_ROUTE", "{route: {timeout: 30s}}"), "patch.value.route.timeout (a patch of HTTP_ROUTE"),
        (
            merged("applyTo: NETWORK_FILTER", "{typed_config: {stream_idle_timeout: 9s}}"),
            "patch.value.typed_config.stream_idle_timeout (a patch of NETWORK_FILTER",
        ),
        (patched(f"{CLUSTER}, patch: {{operation: ADD, value: {{connect_timeout: 1s}}}}"), "connect_timeout"),
        (
            patched(f"{ROUTE}, patch: {{operation: MERGE, value: {{route: {{timeout: 1s}}}}}}",
                    spec="workloadSelector: {labels: {app: a}}, "),
            "route.timeout",
        ),
        (merged(ROUTE.replace("'}}", "', route: {name: a}}}"), "{route: {timeout: 30s}}"), "route.timeout"),
        (patched("applyTo: HTTP_FILTER, patch: {operation: INSERT_BEFORE, value: {name: lua}}"), "EnvoyFilter f: spec"),
    ],
)  # fmt: skip
def test_every_other_patch_is_listed(text: str, listed: str) -> None:
    design = read(text)
    assert not design.calls
    assert any(listed in words for _, words in design.not_modelled)


@pytest.mark.parametrize(("each", "conflict"), [("4s", True), ("1s", False)])
def test_tries_that_a_patch_makes_longer_than_the_route_are_a_conflict(
    each: str, conflict: bool, tmp_path: Path
) -> None:
    patch = merged(ROUTE, f"{{route: {{retry_policy: {{num_retries: 1, retry_on: 5xx, per_try_timeout: {each}}}}}}}")
    (tmp_path / "a.yaml").write_text(f"{patch}---\n{SERVICE}")
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH201"} if conflict else set())
