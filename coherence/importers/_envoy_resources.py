"""Clusters and routes of Envoy, as its own files and patches of them write them: limits, time limits and retries.

SOURCE: Envoy API v3, route.RouteAction, route.RetryPolicy, cluster.CircuitBreakers, cluster.OutlierDetection.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.importers import _envoy_words as envoy
from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import respelled, with_first
from coherence.importers._sketch import Sketch, default_scalar, listed
from coherence.language.document import Node, Scalar

RETRY = "envoy_retry"
THRESHOLDS = (
    ("max_connections", "connections"), ("max_pending_requests", "pending_requests"), ("max_requests", "requests"),
    ("max_retries", "retries"),
)  # fmt: skip


def add_cluster_limits(cluster: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the breakers, the retry budget and the cap on ejected hosts of a cluster."""
    for threshold in _default_thresholds(cluster):
        _limits(threshold, thing, sketch)
    outlier = cluster.table("outlier_detection")
    if outlier is not None:
        envoy.add_ejection_cap(sketch, thing, outlier.node.place, outlier.percent("max_ejection_percent"))


def _default_thresholds(cluster: FieldView) -> Iterator[FieldView]:
    """Yields the thresholds of the default priority; others are listed."""
    breakers = cluster.table("circuit_breakers")
    for threshold in breakers.tables("thresholds") if breakers else ():
        priority = threshold.scalar("priority")
        if priority is None or priority.text == "DEFAULT":
            yield threshold


def _limits(threshold: FieldView, thing: str, sketch: Sketch) -> None:
    for key, name in THRESHOLDS:
        stated = threshold.whole(key)
        if stated is not None:
            envoy.add_breaker(sketch, thing, name, stated)
    budget = threshold.table("retry_budget")
    if budget is not None:
        percent = budget.table("budget_percent")
        share, least = percent.quantity("value") if percent else None, budget.whole("min_retry_concurrency")
        envoy.add_retry_budget(sketch, thing, budget.node.place, share, least)


def route_policy(action: FieldView, retries: FieldView | None) -> dict[str, Node | None]:
    """Returns the time limit of a route, and its tries; by Envoy's defaults where they are not written."""
    deadline, stated = stated_deadline(action), stated_retries(retries) if retries is not None else {}
    if stated.get("retry_when") is None:
        place = action.node.place
        return {"deadline": deadline or default_scalar(RETRY, "deadline"), "tries": Scalar("1", place)}
    uses = Scalar(RETRY, retries.node.place) if retries is not None else None
    return {"deadline": deadline, "uses": uses, **stated}


def stated_deadline(action: FieldView) -> Scalar | None:
    """Returns the time limit that a route states; 0 is none."""
    stated = action.duration("timeout")
    if stated is None:
        return None
    return stated if envoy.limit(action, "timeout") is not None else respelled(stated, "unlimited")


def stated_retries(retries: FieldView) -> dict[str, Node | None]:
    """Returns what a policy of retries states."""
    causes = envoy.retry_causes(retries, "retry_on")
    number, back_off = retries.whole("num_retries"), retries.table("retry_back_off")
    base = back_off.duration("base_interval") if back_off else None
    return {
        "tries": with_first(number) if number else None,
        "per_try": envoy.limit(retries, "per_try_timeout"),
        "pause": envoy.pause(base, back_off.duration("max_interval")) if back_off and base else None,
        "retry_when": listed([*causes, *_codes(retries)], causes.place) if causes is not None else None,
    }


def _codes(retries: FieldView) -> Iterator[Scalar]:
    """Yields the status codes that are retried where the words say so."""
    codes, words = retries.scalars("retriable_status_codes"), retries.scalar("retry_on")
    if words is not None and "retriable-status-codes" in words.text:
        for code in codes:
            yield from envoy.of_code(code)
