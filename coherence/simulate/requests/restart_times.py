"""Draws when members of a station begin anew, and for how long they are then away.  Seconds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coherence.simulate.requests.draws import Floats, Sampler, uniform, unit_service
from coherence.simulate.requests.program import MemberRestarts, Window

MOST_STARTS = 1000  # in a row that end too late: then no start ever ends


def soonest(seed: int, name: str, windows: Sequence[Window]) -> Sampler:
    """The soonest of times, one drawn from each window (infinite without any)."""
    draws = [uniform(seed, f"{name}, {number}") for number in range(len(windows))]

    def sample(count: int) -> Floats:
        times = np.full(count, np.inf)
        for (low, high), draw in zip(windows, draws, strict=True):
            units = draw(count)  # one each, so that other windows see the same ones
            times = np.minimum(times, low + (high - low) * units if high > low else low)
        return times

    return sample


def away(seed: int, name: str, restarts: MemberRestarts) -> Sampler:
    """Times until a start ends; one that takes too long is begun again, which adds what it has taken until then."""
    unit, limit = unit_service(seed, name, restarts.start), soonest(seed, f"limit of {name}", restarts.starting)

    def sample(count: int) -> Floats:
        total, waiting = np.zeros(count), np.arange(count)
        for _ in range(MOST_STARTS):
            takes, most = restarts.start.mean * unit(len(waiting)), limit(len(waiting))
            total[waiting] += np.minimum(takes, most)
            waiting = waiting[takes > most]
            if not len(waiting):
                return total
        total[waiting] = np.inf
        return total

    return sample
