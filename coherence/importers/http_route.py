"""HTTPRoute of the Gateway API: a call of its gateway to each backend, with the time limits of the rule.

`timeouts.request` is over all tries, `timeouts.backendRequest` for one; `0s` is no limit.  `retry` is experimental:
`attempts` counts retries.  Without it the gateway decides, and one try is taken.

SOURCE: Gateway API, gateway.networking.k8s.io/v1 HTTPRouteRule, HTTPRouteTimeouts, HTTPRouteRetry.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.importers import _envoy_words as envoy
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled, with_first
from coherence.importers._sketch import Routed, Sketch, entry, listed
from coherence.language.document import Node, Scalar

KIND = "HTTPRoute"
VARIANTS = True
GROUPS = ("gateway.networking.k8s.io",)
SPELLING = {"deadline": "timeouts.request", "per_try": "timeouts.backendRequest", "tries": "attempts"}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the calls."""
    spec = manifest.spec
    gateways = list(dict.fromkeys(_gateways(spec, sketch))) or ["clients"]
    for rule in spec.tables("rules"):
        backends = rule.tables("backendRefs")
        policy = _policy(rule) if backends else {}
        for backend in backends:
            name, namespace = backend.required("name"), backend.scalar("namespace")
            weight = backend.whole("weight")
            backend.pass_over("port", "group")
            if name is None or (weight is not None and weight.text == "0"):
                continue  # nothing is sent where the weight is 0
            backend.remark("weight", "how many of the requests go there is not modelled")
            thing = backend_thing(backend, name, namespace.text if namespace else manifest.namespace, sketch)
            sketch.mention(thing, name.place, f"backend {name.text}")
            for gateway in gateways:
                ends = {"from": Scalar(gateway, rule.node.place), "to": respelled(name, thing)}
                call = entry(rule.node.place, {**ends, **policy})
                sketch.calls.append(call)
                route = manifest.name.text
                sketch.routed.append(Routed(route, manifest.namespace, gateway, thing, call, "retry" in rule))


def backend_thing(reference: FieldView, name: Scalar, namespace: str, sketch: Sketch) -> str:
    """Returns the thing that a reference to a backend means: the workload behind a Service, else what has its name."""
    kind = reference.scalar("kind")
    is_service = kind is None or kind.text == "Service"
    return sketch.names.host(name.text, namespace) if is_service else sketch.names.thing(name.text, namespace)


def _gateways(spec: FieldView, sketch: Sketch) -> Iterator[str]:
    """Yields the things that the gateways of the route are."""
    for parent in spec.tables("parentRefs"):
        name, namespace, kind = parent.required("name"), parent.scalar("namespace"), parent.scalar("kind")
        parent.pass_over("sectionName", "port", "group")
        if name is not None and (kind is None or kind.text == "Gateway"):  # a Service: whoever calls it
            place = namespace.text if namespace else spec.manifest.namespace
            thing = sketch.names.thing(name.text, place, "Gateway")
            sketch.mention(thing, name.place, f"Gateway {name.text}")
            sketch.routers.add(thing)
            yield thing


def _policy(rule: FieldView) -> dict[str, Node | None]:
    """Returns the time limits and the tries of a rule."""
    times, retry = rule.table("timeouts"), rule.table("retry")
    attempts = retry.whole("attempts") if retry else None
    values: dict[str, Node | None] = {
        "deadline": envoy.limit(times, "request") if times else None,
        "per_try": envoy.limit(times, "backendRequest") if times else None,
        "tries": with_first(attempts) if attempts else None,
    }
    if retry is None:
        return {**values, "tries": Scalar("1", rule.node.place)}
    base, codes = retry.duration("backoff"), retry.scalars("codes")
    if codes:
        words = [cause for code in codes for cause in envoy.of_code(code)]
        place = retry.node.entries["codes"].place
        values["retry_when"] = listed([*words, Scalar("connect_failure", place)], place)
    return {**values, "pause": base}
