"""Builds two chains of a retrying call: the published one with a calibrated orbit, and that of the load map.

`published`: the single-server model of Metafor (mpi-sws-rse/metafor, README example 1): an arrival that finds a queue
too long for its time-out also leaves, with weight 1/4, a retry in the orbit; a waiting retry acts at rate
retries / ((retries + 1) timeout), is given up at 1 / ((retries + 1) timeout), and stays in the orbit if it will be
late again.  A queue of n is late with at most Chebyshev's probability n / (timeout rate - n)^2 (for one server).

`following`: ours.  An arrival that finds n tries is late with the exact probability of an Erlang wait plus a service
beyond `per_try`, and then comes back after `per_try` on average; a late retry comes back again with the share that
A tries leave.  The time to come back is exponential here, constant in truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError
from coherence.simulate.metastability.load_map import Retrying
from coherence.simulate.metastability.retry_chain import Modes, RetryChain, chain, hitting_time, modes

if TYPE_CHECKING:
    from coherence.simulate.metastability.retry_chain import Flags, Floats

MOST_STATES = 40_000
MOST_PHASES = 250


@dataclass(frozen=True)
class Published:
    """Rates per second, `timeout` in seconds; `retries` after the first try; sizes count the empty state too."""

    rate: float
    service: float
    timeout: float
    retries: int
    servers: int = 1
    queue: int = 100
    orbit: int = 20
    weight: float = 0.25


def published(model: Published) -> RetryChain:
    """Returns the chain of the published model."""
    again = model.retries / ((model.retries + 1) * model.timeout)
    given_up = 1 / ((model.retries + 1) * model.timeout)

    def moves(level: Floats, phase: Floats) -> dict[tuple[int, int], Any]:
        late = _chebyshev(model, level)
        full, empty = level == model.queue - 1, level == 0
        return {
            (1, 1): model.weight * model.rate * late * ~empty,
            (1, 0): model.rate + phase * again * late,
            (1, -1): phase * again * (1 - late),
            (0, -1): phase * (given_up + again * full),
            (-1, 0): _busy(level, model.servers) * model.service,
        }

    return chain(model.queue, model.orbit, moves)


def _chebyshev(model: Published, level: Floats) -> Floats:
    """At most this share of Erlang times of `level` services is beyond the time-out (1 within one deviation)."""
    import numpy as np

    rate = np.maximum(_busy(level, model.servers), 1) * model.service
    spare, deviation = model.timeout - level / rate, np.sqrt(level) / rate
    safe = np.where(spare > deviation, spare, 1.0)
    return np.where(spare > deviation, (deviation / safe) ** 2, 1.0)


def _busy(level: Floats, servers: int) -> Floats:
    import numpy as np

    return np.minimum(level, servers)


def published_modes(model: Published) -> Modes:
    """Low mode: a tenth of queue and orbit at most; high mode: queue filled to nine tenths, orbit to three quarters."""
    import numpy as np

    level, phase = np.indices((model.queue, model.orbit))
    low = (level <= model.queue // 10) & (phase <= model.orbit // 10)
    high = (level >= model.queue * 9 // 10) & (phase >= model.orbit * 3 // 4)
    return modes(published(model), low, high)


def following(call: Retrying, *, room: int, orbit: int) -> RetryChain:
    """Returns the chain of a call whose late tries are still served; `room` and `orbit` count the empty state too.

    What finds no place in the orbit is not tried again; what finds the room full is lost, and a retry with it.
    """
    server, come_back = call.server, 1 / call.server.per_try

    def moves(level: Floats, phase: Floats) -> dict[tuple[int, int], Any]:
        late = late_behind(call, level)
        once_more = late * _left(late, call.tries)
        first = late * (phase < orbit - 1) if call.tries > 1 else 0.0 * late
        return {
            (1, 1): call.rate * first,
            (0, -1): phase * come_back * (level == room - 1),
            (1, 0): call.rate * (1 - first) + phase * come_back * once_more,
            (1, -1): phase * come_back * (1 - once_more),
            (-1, 0): _busy(level, server.servers) / server.mean,
        }

    return chain(room, orbit, moves)


def late_behind(call: Retrying, level: Floats) -> Floats:
    """P(sojourn > per_try) of a try that finds `level` others: an Erlang wait and an exponential service."""
    import numpy as np
    from scipy.special import gammainc, gammaincc

    server = call.server
    before = np.maximum(level - server.servers + 1, 0.0)
    at, time = np.maximum(before, 1e-300), server.per_try
    alone = math.exp(-time / server.mean)
    if server.servers == 1:
        return np.asarray(gammaincc(before + 1, time / server.mean))
    ratio = server.servers / (server.servers - 1)  # (c mu) / (c mu - mu)
    served = np.exp(at * math.log(ratio) - time / server.mean) * gammainc(at, time * server.capacity / ratio)
    return np.where(before > 0, np.minimum(1.0, gammaincc(at, time * server.capacity) + served), alone)


def _left(late: Floats, tries: float) -> Floats:
    """Share of late retries that are not the last of `tries`: (1 - q^(A-2)) / (1 - q^(A-1)), (A-2)/(A-1) at q = 1."""
    import numpy as np

    if tries <= 2:
        return np.zeros_like(late)
    if math.isinf(tries):
        return np.ones_like(late)
    below = np.minimum(late, 1 - 1e-9)
    return (1 - below ** (tries - 2)) / (1 - below ** (tries - 1))


def sizes(call: Retrying) -> tuple[int, int]:
    """Returns (room, orbit) that hold health, edge and a committed overload."""
    patience = call.capacity * call.server.per_try  # tries served while one waits
    room = math.ceil(call.server.servers + 3 * patience + 6 * math.sqrt(patience)) + 2
    waiting = min(call.tries - 1, 3) * call.rate * call.server.per_try
    return room, math.ceil(waiting + 4 * math.sqrt(waiting)) + 4


def fits(call: Retrying) -> bool:
    """Is the chain small enough to be solved in a second or two?"""
    room, orbit = sizes(call)
    return room * orbit <= MOST_STATES and orbit <= MOST_PHASES


def overload_lasts(call: Retrying, *, waiting: float = math.inf, backlog: float = 0.0) -> float | None:
    """Returns mean seconds from a committed overload to health, as the chain has it; None where no chain stands for it.

    `waiting`: how many tries may wait; `backlog`: how many wait when it begins.  Every place of room and orbit is
    taken then.
    """
    import numpy as np

    server = call.server
    if server.cancel or server.cv != 1 or call.pause > 0 or not (math.isinf(call.share) and math.isinf(call.breaker)):
        return None
    room, orbit = sizes(call)
    room = math.ceil(min(max(room, server.servers + backlog + 1), server.servers + waiting + 1))
    orbit = int(min(orbit, call.most_retries + 1))
    if room * orbit > MOST_STATES or orbit > MOST_PHASES:
        return None
    level, phase = np.indices((room, orbit))
    low: Flags = (level <= server.servers) & (phase <= max(1, orbit // 10))
    return hitting_time(following(call, room=room, orbit=orbit), (room - 1, orbit - 1), low)


def noise(call: Retrying) -> Modes:
    """Mean times between health (every server may be busy, nothing waits) and overload (a wait of twice the limit).

    Raises UsageError where the chain does not fit, or where tries are cancelled or capped: it counts neither.
    """
    import numpy as np

    caps = (call.share, call.most_retries, call.breaker)
    if call.server.cancel or call.server.cv != 1 or not all(math.isinf(cap) for cap in caps):
        raise UsageError("the chain is of exponential service, and of retries without cancellation, budget or breaker")
    if not fits(call):
        raise UsageError(f"the retry chain has more than {MOST_STATES} states: simulate instead")
    room, orbit = sizes(call)
    level, phase = np.indices((room, orbit))
    committed = call.server.servers + 2 * call.capacity * call.server.per_try
    low: Flags = (level <= call.server.servers) & (phase <= max(1, orbit // 10))
    return modes(following(call, room=room, orbit=orbit), low, level >= min(committed, room - 1))
