"""How long a try of a call takes to fail by a cause that it is tried again for.

Only what the callee itself answered is one try: a proxy of the caller counts all tries of a request as one, which is
named as a query to try and not taken.

SOURCE: Istio, Standard Metrics (reporter, response_code, grpc_response_status); gRPC, status codes.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.checking.fact_kinds.answers import histogram, istio
from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget, OpenQuestion, text
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.language.words import CAUSES

CODES = {"COH201", "COH204"}
GRPC = {
    "cancelled": ("1", "Canceled"),
    "unknown": ("2", "Unknown"),
    "resource_exhausted": ("8", "ResourceExhausted"),
    "aborted": ("10", "Aborted"),
    "internal": ("13", "Internal"),
    "unavailable": ("14", "Unavailable"),
    "data_loss": ("15", "DataLoss"),
}
HTTP = {"5xx": "5..", "gateway_error": "502|503|504", "rate_limited": "429"}


def facts(design: Design, question: OpenQuestion) -> Iterator[AskedFact]:
    """Yields the causes without a time for which the calls of a question try again."""
    if not CODES & set(question.codes):
        return
    for call in design.calls:
        if call.name not in question.of or call.callee is None or call.caller is None:
            continue
        for cause in call.retry_when or ():
            if cause.text not in (call.fails or {}) and _is_fast(cause.text, bounded=_is_bounded(call.per_try)):
                path = ("calls", call.name, "fails", cause.text)
                words = f"how long a try of {call.name} takes to fail by {cause.text}"
                yield AskedFact("fast_failures", path, call.callee.text, "s", words, remedy=_remedy(cause.text))


def _is_bounded(limit: object) -> bool:
    return isinstance(limit, Quantity)


def _is_fast(cause: str, *, bounded: bool) -> bool:
    """Decides whether the time of a cause is asked for: that of a timeout is the limit itself."""
    return not (bounded and cause in CAUSES["timeout"])


def _remedy(cause: str) -> str:
    return (
        f"a metric of your own for the seconds of one try that failed by {cause} (the duration that the caller's proxy "
        'reports, such as istio_request_duration_milliseconds{reporter="source"}, is that of all tries together)'
    )


def queries(fact: AskedFact, target: FactTarget) -> Iterator[FactQuery]:
    """Yields histograms of answers with the status of the cause."""
    cause = fact.path[-1]
    metric = "istio_request_duration_milliseconds"
    if cause in GRPC:
        number, word = GRPC[cause]
        yield histogram(target, metric, istio(target, f'grpc_response_status="{number}"'), "Istio", "1/1000")
        if target.is_workload:
            own = target.pods(f'grpc_code="{word}"')
            yield histogram(target, "grpc_server_handling_seconds", own, "go-grpc-prometheus")
        service = f'grpc_service={text(target.raw)},grpc_code="{word}"'
        yield histogram(target, "grpc_server_handling_seconds", service, "go-grpc-prometheus")
    if cause in HTTP or cause.isdigit():
        codes = HTTP.get(cause, cause)
        yield histogram(target, metric, istio(target, f'response_code=~"{codes}"'), "Istio", "1/1000")
