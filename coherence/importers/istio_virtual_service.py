"""Istio VirtualService: one call for each HTTP route and destination, with its timeout and retries.

`attempts` counts retries, so tries = attempts + 1; without `retries` Istio retries twice; attempts 0 turns
retries off; without perTryTimeout one try may use the whole timeout.

SOURCE: Istio documentation, VirtualService: HTTPRoute.timeout, HTTPRetry; Envoy documentation, retry_on.
"""

from __future__ import annotations

from coherence.document import Node, Scalar, Table
from coherence.importers._kubernetes import Manifest, View, integer, respelled
from coherence.importers._sketch import Sketch, entry, listed

KIND = "VirtualService"
GROUPS = ("networking.istio.io",)
PART = "istio_retry"
SPELLING = {"per_try": "perTryTimeout", "deadline": "timeout", "tries": "attempts"}

# Envoy's words -> causes of the language; 5xx, gateway-error and reset cover a try that times out
CAUSES = {
    "5xx": ("timeout", "unavailable", "connect_failure", "reset", "refused_stream"),
    "gateway-error": ("timeout", "unavailable", "connect_failure", "reset", "refused_stream"),
    "reset": ("timeout", "reset", "connect_failure", "refused_stream"),
    "connect-failure": ("connect_failure",),
    "refused-stream": ("refused_stream",),
    "retriable-4xx": ("conflict",),
    "retriable-status-codes": ("retriable_status",),
    "cancelled": ("cancelled",),
    "deadline-exceeded": ("deadline_exceeded",),
    "internal": ("internal",),
    "resource-exhausted": ("resource_exhausted",),
    "unavailable": ("unavailable",),
    "503": ("unavailable",),
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Add one call for each destination of each HTTP route."""
    spec = manifest.spec
    spec.use("hosts")
    for route in spec.tables("http"):
        policy = _policy(route)
        for target in route.tables("route"):
            destination = target.table("destination")
            host = destination.required("host") if destination else None
            if destination is None or host is None:
                continue
            name = sketch.names.host(host.text, manifest.namespace)
            sketch.mention(name, host.place, f"host {host.text}")
            sketch.calls.append(_call(route, policy, Scalar(name, host.place), manifest))


def _policy(route: View) -> dict[str, Node | None]:
    """Deadline, tries, time of one try and causes of a route, as far as they are written."""
    values: dict[str, Node | None] = {"deadline": _timeout(route, "timeout")}
    retries = route.table("retries")
    if retries is None:
        return values
    attempts = retries.whole("attempts") or Scalar("0", retries.node.place)  # absent: 0, which turns retries off
    values["tries"] = respelled(attempts, str((integer(attempts) or 0) + 1))
    values["per_try"] = _timeout(retries, "perTryTimeout")
    causes = retries.scalar("retryOn")
    if causes is not None and causes.text.strip():  # empty: the default causes
        words = [word.strip() for word in causes.text.split(",") if word.strip()]
        found = dict.fromkeys(cause for word in words for cause in CAUSES.get(word, (word.replace("-", "_"),)))
        values["retry_when"] = listed([respelled(causes, cause) for cause in found], causes.place)
    return values


def _timeout(view: View, key: str) -> Scalar | None:
    """A duration; 0s is no limit, as in Istio."""
    found = view.duration(key)
    return None if found is None or found.text == "0 s" else found


def _call(route: View, policy: dict[str, Node | None], host: Scalar, manifest: Manifest) -> Table:
    # a call that writes neither a deadline nor retries still has Istio's default retries
    place = route.node.place
    ends = {"from": Scalar("clients", manifest.name.place), "to": host, "uses": Scalar(PART, manifest.name.place)}
    return entry(place, {**ends, **policy})
