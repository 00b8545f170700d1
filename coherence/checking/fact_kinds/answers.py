"""How long a thing takes to answer a call, of the histograms that meshes, proxies, frameworks and servers keep.

The range goes from the bucket of the fastest to that of the slowest: a quantile alone would leave some out.  What a
time limit cut counts with the time until then.

SOURCE: Istio, Standard Metrics; OpenTelemetry semantic conventions, HTTP metrics; ingress-nginx, monitoring;
Traefik, metrics overview; Envoy, upstream cluster statistics; HAProxy, Prometheus exporter; vLLM, metrics.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget, OpenQuestion, escaped, text
from coherence.language.design import Design
from coherence.language.roles import time_of

CODES = {"COH201"}
OF_PODS = (
    ("vllm:e2e_request_latency_seconds", "vLLM"),
    ("http_server_request_duration_seconds", "OpenTelemetry"),
    ("http_request_duration_seconds", "a client library of Prometheus"),
    ("grpc_server_handling_seconds", "go-grpc-prometheus"),
)
CUT = "what a time limit cut counts with the time until then"


def facts(design: Design, question: OpenQuestion) -> Iterator[AskedFact]:
    """Yields the things without a time to answer that the calls of a question go to."""
    if not CODES & set(question.codes):
        return
    for call in design.calls:
        callee = call.callee.text if call.callee is not None else ""
        component = design.components.get(callee)
        if call.name in question.of and callee and time_of(component, "answer") is None:
            path = ("components", callee, "takes", "serve")
            remedy = "a histogram of the seconds of each answer"
            yield AskedFact("answers", path, callee, "s", f"how long {callee} takes to answer", remedy=remedy)


def queries(fact: AskedFact, target: FactTarget) -> Iterator[FactQuery]:
    """Yields the histograms that may have it."""
    del fact
    yield histogram(target, "istio_request_duration_milliseconds", istio(target), "Istio", "1/1000")
    if target.is_workload:
        yield from (histogram(target, name, target.pods(), source) for name, source in OF_PODS)
    service = escaped(target.raw)
    ingress = target.matchers(f"service={text(target.raw)}")
    yield histogram(target, "nginx_ingress_controller_response_duration_seconds", ingress, "ingress-nginx")
    traefik = f'service=~"(.*-)?{service}-.+|{service}@.+"'
    yield histogram(target, "traefik_service_request_duration_seconds", traefik, "Traefik")
    cluster = f'envoy_cluster_name=~"(.*[|/_])?{service}([|/_.:].*)?"'
    yield histogram(target, "envoy_cluster_upstream_rq_time", cluster, "Envoy", "1/1000")


def istio(target: FactTarget, *more: str) -> str:
    """Returns matchers of what the proxies of a thing itself report."""
    kind = "destination_workload" if target.is_workload else "destination_service_name"
    namespace = "destination_workload_namespace" if target.is_workload else "destination_service_namespace"
    return target.matchers('reporter="destination"', f"{kind}={text(target.raw)}", *more, namespace=namespace)


def histogram(target: FactTarget, metric: str, matchers: str, source: str, scale: str = "1") -> FactQuery:
    """Returns the query for the buckets of a histogram over the window."""
    promql = f"sum by (le) (increase({metric}_bucket{{{matchers}}}[{target.span}]))"
    return FactQuery(promql, source, "histogram", scale, CUT)
