"""Converts times of activities into services."""

from __future__ import annotations

import math

from coherence.language.schema_kinds import Quantity
from coherence.simulate.requests.program import Service


def uniform_service(takes: Quantity) -> Service:
    """Returns the service of an activity: every time of its range is as likely."""
    low, high = float(takes.low), float(takes.high)
    mean = (low + high) / 2
    return Service(mean, "uniform", (high - low) / math.sqrt(12) / mean if mean else 0.0)
