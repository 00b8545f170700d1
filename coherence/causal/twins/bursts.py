"""Detects bursts of first attempts, found in the arrivals of each service: exogenous, for retries are never counted.

What a service is called for comes faster in the bursts of its callers: that is part of their waves and no burst of its
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs
from coherence.causal.data.request_log import Bools, RequestLog
from coherence.causal.data.series import Floats
from coherence.causal.twins.hops import called_from

PER_BIN = 20  # first attempts of the usual rate in a bin
TIMES, RARE = 1.5, 1e-4  # a bin belongs to a burst at so many times the usual count, rarer than this by chance


def bursts(facts: IndexInputs, log: RequestLog) -> tuple[ArrivalBurst, ...]:
    """Returns the bursts that are stated, or else those detected in the log."""
    if facts.bursts is not None:
        return facts.bursts
    return tuple(burst for name in log.services for burst in detected_bursts(log, name))


def detected_bursts(log: RequestLog, name: str) -> Iterator[ArrivalBurst]:
    """Yields the runs of bins with far more arrivals than the median bin; one quiet bin does not end a run."""
    from scipy.special import pdtrc

    times = log.arrival[log.service == log.services.index(name)]
    span = log.until - log.since
    count = len(times) // PER_BIN
    if count < 3 or not span > 0:
        return
    edges = log.since + span / count * np.arange(count + 1)
    bins = np.histogram(times, edges)[0]
    usual = float(np.median(bins))
    high = (bins > TIMES * usual) & (pdtrc(bins - 1, max(usual, 1.0)) < RARE)
    high[1:-1] |= high[:-2] & high[2:]
    changes = np.flatnonzero(np.diff(np.concatenate([[0], high.astype(np.int8), [0]])))
    for low, top in zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True):
        yield ArrivalBurst(name, float(edges[low]), float(edges[top]))


def without_those_of_callers(
    seen: Sequence[ArrivalBurst], services: Sequence[str], calls: Sequence[tuple[str, str]], drain: float | None
) -> tuple[ArrivalBurst, ...]:
    """Returns the bursts of services none of whose callers has one in the same time (its drain counted)."""
    leads, spans = called_from(services, calls), windows(tuple(seen), drain)
    own = [services.index(one.service) for one in seen]
    return tuple(
        one for place, one in enumerate(seen)
        if not any(leads[own[k], own[place]] and spans[k, 0] < one.end and one.start < spans[k, 1]
                   for k in range(len(seen)))
    )  # fmt: skip


def windows(stated: tuple[ArrivalBurst, ...], drain: float | None) -> Floats:
    """Returns (start, end) of each burst with the time after it in which it is still felt; one row for each."""
    rows = [(one.start, one.end + (one.end - one.start if drain is None else drain)) for one in stated]
    return np.array(rows, np.float64).reshape(len(rows), 2)


def inside(times: Floats, window: Floats) -> Bools:
    """Returns which times lie in [start, end)."""
    chosen: Bools = (times >= window[0]) & (times < window[1])
    return chosen
