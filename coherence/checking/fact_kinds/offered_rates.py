"""How many requests a thing is asked in a second, and what one of its members can do.

SOURCE: Istio, Standard Metrics (istio_requests_total); OpenTelemetry semantic conventions; ingress-nginx, monitoring;
Envoy, upstream cluster statistics; HAProxy, Prometheus exporter.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.checking.fact_kinds.answers import istio
from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget, OpenQuestion, escaped, text
from coherence.language.design import Design

CODES = {"COH240"}
EACH = "rate_per_replica"


def facts(design: Design, question: OpenQuestion) -> Iterator[AskedFact]:
    """Yields the load of the things of a question, and what one member carries."""
    for thing in question.of if CODES & set(question.codes) else ():
        component = design.components.get(thing)
        if component is None:
            continue
        for key, words, remedy in (
            ("load", f"how many requests {thing} is asked", "a counter of its requests"),
            (EACH, f"what one {thing} can do", "the largest rate of one replica that a load test sustained"),
        ):
            if key not in component.constants:
                path = ("components", thing, key)
                yield AskedFact("offered_rates", path, thing, "req/s", words, remedy=remedy)


def queries(fact: AskedFact, target: FactTarget) -> Iterator[FactQuery]:
    """Yields counters of requests.  What a member can do is in none: they count what it was asked."""
    if fact.path[-1] == EACH:
        return
    yield _rate("istio_requests_total", istio(target), "Istio")
    if target.is_workload:
        yield _rate("http_server_request_duration_seconds_count", target.pods(), "OpenTelemetry")
        yield _rate("http_requests_total", target.pods(), "a client library of Prometheus")
    service = target.matchers(f"service={text(target.raw)}")
    yield _rate("nginx_ingress_controller_requests", service, "ingress-nginx")
    cluster = f'envoy_cluster_name=~"(.*[|/_])?{escaped(target.raw)}([|/_.:].*)?"'
    yield _rate("envoy_cluster_upstream_rq_total", cluster, "Envoy")
    yield _rate("haproxy_backend_http_requests_total", f"proxy={text(target.raw)}", "HAProxy")


def _rate(metric: str, matchers: str, source: str) -> FactQuery:
    return FactQuery(f"sum(rate({metric}{{{matchers}}}[5m]))", source, "over time", note="means of 5 min")
