"""XBackendTrafficPolicy of the Gateway API: a budget of retries to a Service, over an interval.

Of the requests of 10 s at most 20 % may be retries, where nothing else is written, but always `minRetryRate` of them.

SOURCE: Gateway API, gateway.networking.x-k8s.io/v1alpha1 RetryConstraint: budget.percent 20, budget.interval 10s,
minRetryRate 10 in 1s.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import exact, integer, respelled, value_of
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "XBackendTrafficPolicy"
GROUPS = ("gateway.networking.x-k8s.io",)
SPELLING: Mapping[str, str] = {"window": "interval"}
SHARE, INTERVAL, LEAST = "20", "10 s", (10, Fraction(1))


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the budget of each Service that is named."""
    constraint = manifest.spec.table("retryConstraint")
    for target in manifest.spec.tables("targetRefs"):
        name, kind = target.required("name"), target.scalar("kind")
        target.pass_over("group")
        if name is None or constraint is None or (kind is not None and kind.text != "Service"):
            continue
        thing = sketch.names.host(name.text, manifest.namespace)
        sketch.mention(thing, name.place, f"backend {name.text}")
        _budget(constraint, thing, sketch)


def _budget(constraint: FieldView, thing: str, sketch: Sketch) -> None:
    budget, place = constraint.table("budget"), constraint.node.place
    share = budget.percent("percent") if budget else None
    window = (budget.duration("interval") if budget else None) or Scalar(INTERVAL, place)
    sketch.put_limit(
        f"{thing}_retry_budget",
        f"{thing}.retries",
        f"{(share.text if share else SHARE).removesuffix(' %')} % of {thing}.requests",
        "reject",
        place,
        objective="bound amplification",
        but_at_least=_least(constraint.table("minRetryRate"), window),
        window=window,
    )


def _least(rate: FieldView | None, window: Scalar) -> Scalar:
    """Returns how many retries are always allowed in the interval of the budget."""
    count, interval = (rate.whole("count"), rate.duration("interval")) if rate else (None, None)
    number = integer(count) if count else None
    seconds = value_of(interval) if interval else LEAST[1]
    many = Fraction(LEAST[0] if number is None else number) * value_of(window) / (seconds or LEAST[1])
    return respelled(count or window, exact(Fraction(int(many))))
