"""Reads moments and stretches of time from options: seconds, ISO 8601, or relative to now."""

from __future__ import annotations

import math
import re
import time
from datetime import UTC, datetime

from coherence.base.errors import UsageError

Window = tuple[float, float]
RELATIVE = re.compile(r"(?:now)?(?:-\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w))?")
SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
REMEDY = "write seconds, ISO 8601 such as 2024-05-01T12:00:00Z, or now-1h"


def moment(option: str, text: str) -> float:
    """Returns seconds since 1970 (or of the telemetry's clock, where it is a number).  Raises UsageError."""
    stated = text.strip()
    try:
        seconds = float(stated)
    except ValueError:
        seconds = _worded(stated)
    if not math.isfinite(seconds):
        raise UsageError(f"{option} {text!r} is no time: {REMEDY}")
    return seconds


def _worded(text: str) -> float:
    """Seconds of a relative time or an ISO one; not a number where it is neither."""
    relative = RELATIVE.fullmatch(text)
    if relative is not None and text:
        return time.time() - (float(relative[1]) * SECONDS[relative[2]] if relative[1] else 0.0)
    try:
        stated = datetime.fromisoformat(text)
        return (stated if stated.tzinfo else stated.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def window(option: str, text: str | None) -> Window | None:
    """Returns the stretch `A..B`; either end may be left out.  Raises UsageError."""
    if text is None:
        return None
    low, dots, high = text.partition("..")
    span = (
        moment(option, low) if low.strip() else -math.inf,
        moment(option, high) if high.strip() else math.inf,
    )  # fmt: skip
    if not dots or not span[0] < span[1]:
        raise UsageError(f"{option} {text!r}: write two times, the smaller first, such as 0..600; {REMEDY}")
    return span
