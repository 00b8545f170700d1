"""VirtualService: one call for each HTTP route and host, with its timeout and retries.

`attempts` counts retries, so tries = attempts + 1; without `retries` Istio retries twice on its default
causes; `retries` without attempts, or with 0, turns retries off; without perTryTimeout one try may use the
whole timeout; `0s` is no limit.

SOURCE: Istio documentation, VirtualService: HTTPRoute.timeout, HTTPRetry; Istio source, ConvertPolicy of
networking/core/route/retry; Envoy documentation, Router filter, x-envoy-retry-on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from coherence.base import units
from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import duration_text, integer, respelled
from coherence.importers._sketch import Sketch, entry, listed
from coherence.language.document import Items, Node, Scalar

KIND = "VirtualService"
VARIANTS = True  # several of one name: each is looked at, for calls do not meddle with each other
GROUPS = ("networking.istio.io",)
PART = "istio_retry"
SPELLING = {"deadline": "timeout", "per_try": "perTryTimeout", "tries": "attempts"}
WORDS = re.compile(r"[A-Za-z0-9, -]*")
CAP = 10  # Envoy API v3, RetryBackOff.max_interval: 10 times the base interval

# Envoy's words -> causes of the language.  A try that exceeds perTryTimeout counts under the first three alone:
# "does not respond at all (disconnect/reset/read timeout)"; a connect failure is of the connection, not a slow answer.
RESETS = ("connect_failure", "reset", "refused_stream")
CAUSES = {
    "5xx": ("timeout", "unavailable", *RESETS),
    "gateway-error": ("timeout", "unavailable", *RESETS),
    "reset": ("timeout", "reset", "connect_failure", "refused_stream"),
    "reset-before-request": ("reset_before_request",),
    "connect-failure": ("connect_failure",),
    "refused-stream": ("refused_stream",),
    "retriable-4xx": ("conflict",),
    "envoy-ratelimited": ("rate_limited",),
    "429": ("rate_limited",),
    "503": ("unavailable",),
}


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
    destination.use("port")
    return destination.required("host")


def _policy(route: FieldView) -> dict[str, Node | None]:
    """Deadline, tries, time of one try, pause and causes of a route, as far as they are written."""
    values: dict[str, Node | None] = {"deadline": _limit(route, "timeout")}
    retries = route.table("retries")
    if retries is None:
        return values
    attempts = retries.whole("attempts") or Scalar("0", retries.node.place)  # absent: 0, which turns retries off
    values["tries"] = respelled(attempts, str((integer(attempts) or 0) + 1))
    values["per_try"] = _limit(retries, "perTryTimeout")
    values["pause"] = _pause(retries)
    words = retries.scalar("retryOn")
    if words is not None and not WORDS.fullmatch(words.text):
        retries.problem(
            words.place, f"{retries.at('retryOn')} is '{units.shorten(words.text)}'", "write words such as 5xx,reset"
        )
    elif words is not None and (causes := dict.fromkeys(_causes(words))):
        values["retry_when"] = _once(causes, words.place)
    return values


def _limit(view: FieldView, key: str) -> Scalar | None:
    """Returns a duration; 0s is no limit."""
    found = view.duration(key)
    return None if found is None or units.quantity(found.text)[0] == 0 else found


def _pause(retries: FieldView) -> Node | None:
    """Returns the stated base of the back-off, with the cap that Envoy derives from it."""
    base = retries.duration("backoff")
    if base is None:
        return None
    cap = Fraction(CAP) * units.quantity(base.text)[0]
    return entry(base.place, {"base": base, "cap": respelled(base, duration_text(cap))})


def _causes(words: Scalar) -> Iterator[tuple[str, Place]]:
    """(cause, place of its word) of every word of retryOn."""
    place, start = words.place, 0
    shift = (place.end_column - place.column - len(words.text)) // 2 if place.line == place.end_line else -1
    for word in words.text.split(","):
        plain = word.strip()
        at = start + word.find(plain)
        start += len(word) + 1
        column = place.column + shift + at
        exact = Place(place.file, place.line, column, place.line, column + len(plain)) if shift in (0, 1) else place
        if plain not in ("", "retriable-status-codes"):  # the codes themselves follow as numbers
            yield from ((cause, exact) for cause in CAUSES.get(plain, (_own(plain),)))


def _own(word: str) -> str:
    """Returns a word that is a cause itself: a gRPC status, or an HTTP status code."""
    return f"status_{word}" if word.isdigit() else word.replace("-", "_")


def _once(places: dict[tuple[str, Place], None], place: Place) -> Items:
    """Returns each cause once, at its first word."""
    first: dict[str, Place] = {}
    for cause, at in places:
        first.setdefault(cause, at)
    return listed([Scalar(cause, at) for cause, at in first.items()], place)
