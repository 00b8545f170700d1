"""Envoy: routes as calls, clusters as their ends, and the limits that both state."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Call, Design
from tests.importers.value_texts import text

MANAGER = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"


def config(route: str, *, host: str = "", cluster: str = "", node: str = "node: {cluster: edge}\n") -> str:
    """Returns a proxy with one route to one cluster `web`."""
    routes = f"routes: [{{match: {{prefix: /}}, route: {{cluster: web{route}}}}}]{host}"
    manager = f"typed_config: {{'@type': {MANAGER}, route_config: {{virtual_hosts: [{{name: all, {routes}}}]}}}}"
    return f"""\
{node}static_resources:
  listeners: [{{filter_chains: [{{filters: [{{name: manager, {manager}}}]}}]}}]
  clusters: [{{name: web{cluster}}}]
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"proxies/edge.yaml": text})


def call(route: str, *, host: str = "") -> Call:
    (only,) = read(config(route, host=host)).calls
    return only


def test_without_a_policy_a_route_is_tried_once_within_fifteen_seconds() -> None:
    route = call("")
    assert (route.name, text(route.deadline), text(route.tries[0])) == ("edge -> web", "15 s", "1")


@pytest.mark.parametrize(("timeout", "deadline"), [("0.250s", "250 ms"), ("3s", "3 s"), ("0s", "unlimited")])
def test_a_timeout_is_over_all_tries(timeout: str, deadline: str) -> None:
    assert text(call(f", timeout: {timeout}").deadline) == deadline


def test_retries_and_their_pauses() -> None:
    back_off = "retry_back_off: {base_interval: 0.1s, max_interval: 2s}"
    policy = (
        f"{{retry_on: '5xx,retriable-status-codes', retriable_status_codes: [429, 418], num_retries: 3, {back_off}}}"
    )
    route = call(f", timeout: 9s, retry_policy: {policy}")
    assert text(route.tries[0]) == "4"
    causes = [text(cause) for cause in route.retry_when or ()]
    assert causes == [
        "timeout",
        "unavailable",
        "connect_failure",
        "reset",
        "refused_stream",
        "rate_limited",
        "status_418",
    ]


def test_a_virtual_host_gives_its_policy_to_routes_that_have_none() -> None:
    host = ", retry_policy: {retry_on: reset, num_retries: 2}"
    assert text(call("", host=host).tries[0]) == "3"
    assert text(call(", retry_policy: {retry_on: reset, num_retries: 5}", host=host).tries[0]) == "6"


def test_tries_longer_than_the_route_are_a_conflict_and_their_repaired_twin_is_none(tmp_path: Path) -> None:
    path = tmp_path / "envoy.yaml"
    retries = ", timeout: 5s, retry_policy: {retry_on: 5xx, num_retries: 3, per_try_timeout: 2s}"
    path.write_text(config(retries))
    assert [f.verdict for f in check(path).findings if f.code == "COH201"] == [Verdict.CONFLICT]
    path.write_text(config(retries.replace("2s", "1s")))
    assert [f.verdict for f in check(path).findings if f.code == "COH201"] == [Verdict.PROVED]


def endpoints(*addresses: str) -> str:
    written = ", ".join(f"{{endpoint: {{address: {{socket_address: {{address: {one}}}}}}}}}" for one in addresses)
    return f", load_assignment: {{endpoints: [{{lb_endpoints: [{written}]}}]}}"


@pytest.mark.parametrize(
    ("addresses", "thing"),
    [(("shop",), "shop"), (("shop", "shop"), "shop"), (("shop.prod.svc.cluster.local",), "shop"),
     (("10.0.0.7",), "web"),
     (("a", "b"), "web"), (("'::1'",), "web"), ((), "web")],
)  # fmt: skip
def test_a_cluster_is_the_host_that_all_its_endpoints_name(addresses: tuple[str, ...], thing: str) -> None:
    assert read(config("", cluster=endpoints(*addresses))).calls[0].name == f"edge -> {thing}"


def test_two_proxies_in_a_row_are_one_chain() -> None:
    inner = config("", node="node: {id: web}\n").replace("cluster: web", "cluster: db").replace("name: web", "name: db")
    design = importers.design_from_sources({"a.yaml": config("", cluster=endpoints("web")), "b.yaml": inner})
    assert [route.name for route in design.calls] == ["edge -> web", "web -> db"]


def test_a_proxy_without_a_node_is_named_by_its_file() -> None:
    assert read(config("", node="")).calls[0].name == "edge -> web"


def test_breakers_budgets_and_ejection_are_limits() -> None:
    budget = "retry_budget: {budget_percent: {value: 25.0}, min_retry_concurrency: 5}"
    high = "{priority: HIGH, max_requests: 1}"
    breakers = f", circuit_breakers: {{thresholds: [{high}, {{max_requests: 64, {budget}}}]}}"
    design = read(config("", cluster=f"{breakers}, outlier_detection: {{max_ejection_percent: 50}}"))
    limits = {name: text(limit.at_most) for name, limit in design.limits.items()}
    assert limits == {
        "web_requests": "64", "web_retry_budget": "25 % of web in flight", "web_ejection": "50 % of web.copies",
    }  # fmt: skip
    assert any("thresholds[0]" in words for _, words in design.not_modelled)


def test_resources_of_a_control_plane_are_read() -> None:
    hosts = "virtual_hosts: [{routes: [{route: {cluster: web, timeout: 2s}}]}]"
    kind = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
    design = read(f"resources: [{{'@type': {kind}, {hosts}}}]\n")
    assert [(route.name, text(route.deadline)) for route in design.calls] == [("edge -> web", "2 s")]


def test_weighted_clusters_are_a_call_each() -> None:
    design = read(config("").replace("cluster: web", "weighted_clusters: {clusters: [{name: web}, {name: canary}]}"))
    assert [route.name for route in design.calls] == ["edge -> web", "edge -> canary"]


def test_a_request_takes_one_of_several_routes() -> None:
    several = config("").replace("cluster: web", "weighted_clusters: {clusters: [{name: web}, {name: canary}]}")
    assert [text(route.cases[0]) for route in read(several).calls if route.cases] == ["route_1", "route_2"]
    assert not read(config("")).calls[0].cases


@pytest.mark.parametrize("route", [", timeout: soon", ", retry_policy: {retry_on: 'a;b'}", ", timeout: [1s]"])
def test_what_envoy_would_refuse_is_told_with_its_line(route: str) -> None:
    with pytest.raises(InputError, match=r"proxies/edge.yaml:3:"):
        read(config(route))


@pytest.mark.parametrize("other", ["static_resources: {}", "resources: [{a: 1}]", "resources: x", "a: {listeners: []}"])
def test_other_files_are_not_taken_for_envoys(other: str) -> None:
    assert not importers.recognises(document.read_text(other, "a.yaml")[0])


def test_keys_may_be_written_in_camel_case() -> None:
    policy = "{retryOn: reset, numRetries: 3, perTryTimeout: 2s}"
    written = config(f", timeout: 9s, retryPolicy: {policy}").replace("static_resources", "staticResources")
    (route,) = read(written.replace("filter_chains", "filterChains").replace("virtual_hosts", "virtualHosts")).calls
    assert (text(route.tries[0]), text(route.per_try), text(route.deadline)) == ("4", "2 s", "9 s")


def test_a_name_shows_no_credential() -> None:
    design = read(config("").replace("web", "'https://u:hunter2@web/x'"))
    assert "hunter2" not in f"{design.components} {design.calls[0].name}".replace("calls", "")


def test_clusters_of_one_host_count_by_themselves(tmp_path: Path) -> None:
    """Two clusters of a proxy, or of two proxies, have breakers of their own: neither hides the other."""
    host = "{endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: web}}}}]}]}"
    cluster = f"{{name: NAME, load_assignment: {host}, circuit_breakers: {{thresholds: [{{max_connections: MOST}}]}}}}"
    for file, limits in (("a", (10, 100)), ("b", (20,))):
        items = [cluster.replace("NAME", f"{file}{most}").replace("MOST", str(most)) for most in limits]
        (tmp_path / f"{file}.yaml").write_text(f"static_resources: {{clusters: [{', '.join(items)}]}}\n")
    result = check(tmp_path)
    assert not [f for f in result.findings if f.code == "COH209"]
    listed = importers.design_from_sources({"a.yaml": (tmp_path / "a.yaml").read_text()}).not_modelled
    assert sum("2 clusters go to it" in words for _, words in listed) == 2
