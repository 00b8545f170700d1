"""Computes how the wait for the first token grows when the same requests come faster, and where it breaks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coherence.base.errors import UsageError
from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.server import InferenceServer, StepTime, TokenLoad


@dataclass(frozen=True)
class CurvePoint:
    """At `multiplier` times the load: time to first token, seconds, and the most requests that ran at once."""

    multiplier: float
    ttft_p50: float
    ttft_p99: float
    most_running: int


def faster(load: TokenLoad, multiplier: float) -> TokenLoad:
    """Returns the load with all times between arrivals divided by the multiplier."""
    if not (math.isfinite(multiplier) and multiplier > 0):
        raise UsageError(f"multiplier(={multiplier!r}) must be > 0")
    return TokenLoad(load.arrival / multiplier, load.prompt, load.output)


def burst_curve(
    server: InferenceServer, step: StepTime, load: TokenLoad, multipliers: Iterable[float]
) -> tuple[CurvePoint, ...]:
    """Points of the curve, in order of load."""
    return tuple(_point(server, step, load, multiplier) for multiplier in sorted(multipliers))


def knee(multipliers: Sequence[float], p99: Sequence[float]) -> tuple[float, float]:
    """Returns the two neighbouring multipliers between which the P99 grows fastest, log against log."""
    slopes = [
        math.log(p99[i + 1] / p99[i]) / math.log(multipliers[i + 1] / multipliers[i]) for i in range(len(p99) - 1)
    ]
    steepest = slopes.index(max(slopes))
    return multipliers[steepest], multipliers[steepest + 1]


def _point(server: InferenceServer, step: StepTime, load: TokenLoad, multiplier: float) -> CurvePoint:
    served = serve(server, step, faster(load, multiplier), sample_every=1e-9)
    median, tail = served.percentiles("ttft", (50, 99))
    return CurvePoint(multiplier, median, tail, int(served.series["running"].max(initial=0)))
