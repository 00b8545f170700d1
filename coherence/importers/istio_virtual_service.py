"""VirtualService: one call for each HTTP route and host, with its timeout and retries.

`attempts` counts retries, so tries = attempts + 1; without `retries` Istio retries twice on its default
causes; `retries` without attempts, or with 0, turns retries off; without perTryTimeout one try may use the
whole timeout; `0s` is no limit.

SOURCE: Istio documentation, VirtualService: HTTPRoute.timeout, HTTPRetry; Istio source, ConvertPolicy of
networking/core/route/retry; Envoy documentation, Router filter, x-envoy-retry-on.
"""

from __future__ import annotations

from coherence.importers import _envoy_words as envoy
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled, with_first
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar

KIND = "VirtualService"
VARIANTS = True  # several of one name: each is looked at, for calls do not meddle with each other
GROUPS = ("networking.istio.io",)
PART = "istio_retry"
SPELLING = {"deadline": "timeout", "per_try": "perTryTimeout", "tries": "attempts"}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the calls."""
    spec = manifest.spec
    for route in spec.tables("http"):
        hosts = [host for host in map(_host, route.tables("route")) if host is not None]
        named = {sketch.names.host(host.text, manifest.namespace): host for host in reversed(hosts)}
        if not named:
            continue
        policy = _policy(route)
        for name, host in reversed(named.items()):
            sketch.mention(name, host.place, f"host {host.text}")
            ends = {"from": Scalar("clients", route.node.place), "to": respelled(host, name)}
            uses = {"uses": Scalar(PART, route.node.place)}
            sketch.calls.append(entry(route.node.place, {**ends, **uses, **policy}))


def _host(target: FieldView) -> Scalar | None:
    """Returns the host of a destination; its subset and weight say where among its members."""
    destination = target.table("destination")
    if destination is None:
        target.problem(target.node.place, f"{target.at('destination')} is missing", "add `destination: {host: ...}`")
        return None
    destination.pass_over("port")
    return destination.required("host")


def _policy(route: FieldView) -> dict[str, Node | None]:
    """Deadline, tries, time of one try, pause and causes of a route, as far as they are written."""
    values: dict[str, Node | None] = {"deadline": envoy.limit(route, "timeout")}
    retries = route.table("retries")
    if retries is None:
        return values
    attempts = retries.whole("attempts") or Scalar("0", retries.node.place)  # absent: 0, which turns retries off
    values["tries"] = with_first(attempts)
    values["per_try"] = envoy.limit(retries, "perTryTimeout")
    base = retries.duration("backoff")
    values["pause"] = envoy.pause(base) if base else None
    values["retry_when"] = envoy.retry_causes(retries, "retryOn")
    return values
