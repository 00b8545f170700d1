"""Counts on how many coincidences of bursts a mean delay rests: where they are few, it has no interval.

The window alone cannot tell: one that holds none of the rare coincidences looks the calmest of all.  Services burst by
themselves, so their arrivals may be shifted against each other in a circle; each shift is another window of the same
law.  The twin's delays in all of them tell how many heavy stretches a window holds on the average:

    N = 6 * (sum v^2)^2 / sum v^4 / windows,   v: delays of the twin in a stretch less their mean

(6 = E x^4 / (E x^2)^2 of exponential sizes, so N counts events of such sizes).  A Student interval over twelve batches
of a compound Poisson sum covers .94 at 10 to 20 events of exponential size in a window, .89 at 5, .85 at 3.
A delay that follows its twin, as a pure overhead does, rests on none of them.
SOURCE: circular shifts as a null of independence: Edgington 1980; moment ratio: Kish 1965.
"""

from __future__ import annotations

import math

import numpy as np

from coherence.causal.data.request_log import Ints, RequestLog
from coherence.causal.data.series import Floats
from coherence.causal.twins.coordinated_twin import Twin

SHIFTS = 19
PIECES = 96  # stretches of a window
OF_EXPONENTIAL = 6.0
LEAST = 12.0
FOLLOWS = 0.05  # of the spread of the twin's delays: what is left of the measured ones when the twin's are taken away


def coincidences(log: RequestLog, servers: int, gamma: float) -> float:
    """Returns how many heavy stretches a window of this length holds; inf where the delays follow those of the twin."""
    span = log.until - log.since
    if not span > 0 or not 0 < gamma < math.inf:
        return math.inf
    own = _delays(log, servers, gamma, np.zeros(len(log.services)), span)
    measured = np.bincount(log.parts(PIECES), log.delay, PIECES)
    if _spread(measured - own) <= FOLLOWS * _spread(own):
        return math.inf
    rng = np.random.default_rng(len(log))
    several = len(np.unique(log.service)) > 1
    shifts = [rng.uniform(0, span, len(log.services)) for _ in range(SHIFTS)] if several else []
    windows = np.array([own, *(_delays(log, servers, gamma, shift, span) for shift in shifts)])
    heavy = windows - windows.mean()
    fourth = float((heavy**4).sum())
    return OF_EXPONENTIAL * float((heavy**2).sum()) ** 2 / fourth / len(windows) if fourth else math.inf


def _spread(sums: Floats) -> float:
    return float(np.sqrt(((sums - sums.mean()) ** 2).sum()))


def _delays(log: RequestLog, servers: int, gamma: float, shift: Floats, span: float) -> Floats:
    """Returns the twin's seconds of delay in each stretch, with each service's arrivals shifted in a circle."""
    times = (log.arrival - log.since + shift[log.service]) % span if shift.any() else log.arrival - log.since
    order = np.argsort(times, kind="stable")
    machine = Twin(times[order], log.need[order], log.deadline[order], servers)
    piece: Ints = np.minimum((times[order] / span * PIECES).astype(np.int64), PIECES - 1)
    return np.bincount(piece, machine.delays(gamma), PIECES).astype(np.float64)


def no_interval_reason(count: float) -> str:
    """Renders why there is no interval, and how long a window would give one."""
    return (
        f"no interval: the mean rests on about {count:.1f} stretches in which bursts coincide, at least {LEAST:g} are "
        f"needed: a window {LEAST / count:.1f} times as long would give one"
    )
