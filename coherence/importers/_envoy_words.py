"""Envoy's words in the files of Istio and Envoy: causes of retries, pauses, durations of which 0 is no limit.

SOURCE: Envoy documentation, Router filter, x-envoy-retry-on; Envoy API v3, RetryPolicy.RetryBackOff.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from coherence.base import units
from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import duration_text, respelled, value_of
from coherence.importers._sketch import ClusterLimit, Sketch, entry, listed
from coherence.language.document import Items, Node, Scalar, Table

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
    "504": ("timeout",),  # a try that exceeds its time is answered so, where the code is listed
}

BREAKER, BUDGET, EJECTION = "circuit_breaker", "retry_budget", "ejection_cap"
BREAKERS = {  # name -> what it counts, and what happens when it is full
    "connections": ("connections", "wait"),
    "pending_requests": ("pending", "reject"),
    "requests": ("requests in flight", "reject"),
    "retries": ("retries in flight", "reject"),
}


def add_breaker(sketch: Sketch, thing: str, name: str, most: Scalar) -> None:
    """Adds the limit of a circuit breaker."""
    counted, full = BREAKERS[name]
    more = {"uses": Scalar(BREAKER, most.place)}
    sketch.cluster_limits.append(ClusterLimit(thing, name, f"{thing}.{counted}", most, full, most.place, more))


def add_retry_budget(sketch: Sketch, thing: str, place: Place, share: Scalar | None, least: Scalar | None) -> None:
    """Adds a retry budget; 20 % where no share is written.  SOURCE: Envoy API v3, Thresholds.RetryBudget."""
    stated = share or Scalar("20", place)
    most, counted = respelled(stated, f"{stated.text} % of {thing} in flight"), f"{thing}.retries in flight"
    more = {"uses": Scalar(BUDGET, place), "but_at_least": least}
    sketch.cluster_limits.append(ClusterLimit(thing, "retry_budget", counted, most, "", place, more))


def add_ejection_cap(sketch: Sketch, thing: str, place: Place, stated: Scalar | None) -> None:
    """Adds the cap on ejected hosts; 10 % where none is written."""
    share = stated or Scalar("10 %", place)
    most, counted = respelled(share, f"{share.text} of {thing}.copies"), Scalar(f"{thing}.ejected", place)
    more = {"uses": Scalar(EJECTION, place)}
    sketch.cluster_limits.append(ClusterLimit(thing, "ejection", counted, most, "", most.place, more))


def put_cluster_limits(sketch: Sketch) -> None:
    """Adds the limits of things to which one cluster goes; of several each counts by itself, and is listed."""
    for limit in sketch.cluster_limits:
        ways = len(sketch.ways.get(limit.thing, ()))
        if ways > 1:
            words = f"{limit.thing} {limit.name}: {ways} clusters go to it, and each counts by itself"
            sketch.not_modelled.append((limit.most.place, words))
            continue
        name = f"{limit.thing}_{limit.name}"
        sketch.put_limit(name, limit.counted, limit.most, limit.full, limit.place, **limit.more)


def snake_case(table: Table) -> Table:
    """Returns the same with its keys as the reference of Envoy writes them: `retryPolicy`, too, is `retry_policy`."""
    entries = {_snake(key): _with_snake_case(node) for key, node in table.entries.items()}
    return Table(entries, {_snake(key): place for key, place in table.keys.items()}, table.place)


def _with_snake_case(node: Node) -> Node:
    if isinstance(node, Items):
        return listed([_with_snake_case(item) for item in node], node.place)
    return snake_case(node) if isinstance(node, Table) else node


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda upper: f"_{upper[0].lower()}", key)


def limit(view: FieldView, key: str) -> Scalar | None:
    """Returns a duration; 0s is no limit."""
    stated = view.duration(key)
    return None if stated is None or value_of(stated) == 0 else stated


def pause(base: Scalar, cap: Scalar | None = None) -> Node:
    """Returns the stated base of the back-off, with its cap or the one that Envoy derives from it."""
    longest = cap or respelled(base, duration_text(Fraction(CAP) * value_of(base)))
    return entry(base.place, {"base": base, "cap": longest})


def retry_causes(view: FieldView, key: str) -> Items | None:
    """Returns the causes of the words of a key, each once; None where there is none."""
    words = view.scalar(key)
    if words is None:
        return None
    if not WORDS.fullmatch(words.text):
        view.problem(words.place, f"{view.at(key)} is '{units.shorten(words.text)}'", "write words such as 5xx,reset")
        return None
    causes = dict.fromkeys(_causes(words))
    return _once(causes, words.place) if causes else None


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


def of_code(code: Scalar) -> list[Scalar]:
    """Returns the causes of a status code that is retried."""
    return [respelled(code, cause) for cause in CAUSES.get(code.text, (_own(code.text),))]


def _own(word: str) -> str:
    """Returns a word that is a cause itself: a gRPC status, or an HTTP status code."""
    return f"status_{word}" if word.isdigit() else word.replace("-", "_")


def _once(places: dict[tuple[str, Place], None], place: Place) -> Items:
    """Returns each cause once, at its first word."""
    first: dict[str, Place] = {}
    for cause, at in places:
        first.setdefault(cause, at)
    return listed([Scalar(cause, at) for cause, at in first.items()], place)
