"""BackendTrafficPolicy of Envoy Gateway: retries, time limits and breakers of the routes that it names.

It completes the calls of an HTTPRoute, or of all routes of a Gateway; what a route itself states stays.  Without
`retryOn` a failed connection, a refused stream and 503 are tried again, twice.

SOURCE: Envoy Gateway API, gateway.envoyproxy.io/v1alpha1 BackendTrafficPolicySpec: retry.numRetries 2; Envoy Gateway
source, xds/translator/route.go: retryDefaultRetryOn.  Other defaults are those of Envoy, in the parts.
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.importers import _envoy_words as envoy
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import agree
from coherence.importers._quantities import respelled, with_first
from coherence.importers._sketch import Routed, Sketch, listed
from coherence.language.document import Node, Scalar

KIND = "BackendTrafficPolicy"
GROUPS = ("gateway.envoyproxy.io",)
SPELLING: Mapping[str, str] = {
    "deadline": "requestTimeout", "per_try": "perRetry.timeout", "tries": "numRetries",
}  # fmt: skip
RETRY = "envoy_retry"
DEFAULT_CAUSES = ("connect_failure", "refused_stream", "unavailable", "cancelled")
BREAKERS = (
    ("maxConnections", "connections"), ("maxPendingRequests", "pending_requests"), ("maxParallelRequests", "requests"),
    ("maxParallelRetries", "retries"),
)  # fmt: skip


def add(manifest: Manifest, _: Sketch) -> None:
    """Reads the targets; what they route must be known first."""
    for target in _targets(manifest):
        target.required("name")
        target.pass_over("group", "kind", "sectionName")


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Completes the calls of the targets, and adds breakers to what they go to."""
    targets, policy = _targets(manifest), _policy(manifest.spec)
    meant = [routed for routed in sketch.routed if any(_is_of(routed, target, sketch) for target in targets)]
    for routed in meant:
        for key, node in policy.items():
            if node is not None and (key not in routed.call.entries or (key == "tries" and not routed.states_retry)):
                routed.call.entries[key], routed.call.keys[key] = node, node.place
    for routed in sketch.routed:
        sketch.ways.setdefault(routed.backend, set()).add(f"{routed.call.place} {routed.route}")
    for backend in dict.fromkeys(routed.backend for routed in meant):
        _breakers(manifest.spec, backend, sketch)
    if not meant:
        manifest.spec.remark("targetRefs", "no route of these is among the files")


def _targets(manifest: Manifest) -> list[FieldView]:
    target = manifest.spec.table("targetRef")
    return [*([target] if target is not None else ()), *manifest.spec.tables("targetRefs")]


def _is_of(routed: Routed, target: FieldView, sketch: Sketch) -> bool:
    """Returns whether a call is made by the route, or the gateway, of a target."""
    name, kind = target.scalar("name"), target.scalar("kind")
    namespace = target.manifest.namespace
    if name is None or kind is None:
        return False
    if kind.text == "Gateway":
        return routed.gateway == sketch.names.thing(name.text, namespace, "Gateway")
    return kind.text == "HTTPRoute" and routed.route == name.text and agree(routed.namespace, namespace)


def _policy(spec: FieldView) -> dict[str, Node | None]:
    """Returns the time limit and, where they are written, the retries."""
    times, retry = spec.inner("timeout", "http"), spec.table("retry")
    policy: dict[str, Node | None] = {"deadline": envoy.limit(times, "requestTimeout") if times else None}
    if retry is None:
        return policy
    each, on = retry.table("perRetry"), retry.table("retryOn")
    number, back_off = retry.whole("numRetries"), each.table("backOff") if each else None
    base = back_off.duration("baseInterval") if back_off else None
    place = retry.node.place
    retry.remark("numAttemptsPerPriority", "which of the backends a retry goes to is not modelled")
    return {
        **policy,
        "uses": Scalar(RETRY, place),
        "tries": with_first(number) if number else Scalar("3", place),
        "per_try": envoy.limit(each, "timeout") if each else None,
        "pause": envoy.pause(base, back_off.duration("maxInterval")) if back_off and base else None,
        "retry_when": _causes(on, retry),
    }


def _causes(on: FieldView | None, retry: FieldView) -> Node:
    """Returns what is tried again; status codes count only where the triggers name them."""
    if on is None:
        return listed([Scalar(cause, retry.node.place) for cause in DEFAULT_CAUSES], retry.node.place)
    triggers, codes = on.scalars("triggers"), on.scalars("httpStatusCodes")
    named = any(trigger.text == "retriable-status-codes" for trigger in triggers)
    words = [trigger for trigger in triggers if trigger.text != "retriable-status-codes"]
    texts = {cause: word for word in words for cause in envoy.CAUSES.get(word.text, (word.text.replace("-", "_"),))}
    stated = [respelled(word, cause) for cause, word in texts.items()]
    known = {cause.text for cause in stated}
    extra = [cause for code in (codes if named or not triggers else ()) for cause in envoy.of_code(code)]
    return listed([*stated, *(cause for cause in extra if cause.text not in known)], on.node.place)


def _breakers(spec: FieldView, thing: str, sketch: Sketch) -> None:
    breaker, passive = spec.table("circuitBreaker"), spec.inner("healthCheck", "passive")
    for key, name in BREAKERS if breaker is not None else ():
        most = breaker.whole(key) if breaker is not None else None
        if most is not None:
            envoy.add_breaker(sketch, thing, name, most)
    if passive is not None:
        envoy.add_ejection_cap(sketch, thing, passive.node.place, passive.percent("maxEjectionPercent"))
