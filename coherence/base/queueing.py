"""Closed forms of M/M/c queues: Erlang's probabilities of loss and of waiting, and the tail of two phases.

Symbols: a offered load in Erlang (arrivals per second times mean service), c servers, B loss, C waiting.
SOURCE: A. K. Erlang 1917; Kleinrock, Queueing Systems I (1975), sections 3.5, 3.6 and 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

_LAST_DIGIT = 1e-17


def erlang_b(servers: int, offered: float) -> float:
    """Returns the share blocked by `servers` without a queue; `offered` in Erlang.

    1 / B = 1 + c/a + c (c-1)/a^2 + ..., whose terms grow down to a of them and then fall: what is left out is less
    than the last digit, so that even millions of servers take a few thousand terms.
    """
    if offered <= 0:
        return 0.0 if servers > 0 else 1.0
    total = term = 1.0
    for left in range(servers, 0, -1):
        ratio = left / offered
        term *= ratio
        total += term
        if math.isinf(total) or (ratio < 1 and term < _LAST_DIGIT * (1 - ratio) * total):
            break
    return 1 / total


def erlang_c(servers: int, offered: float) -> float:
    """Returns the share that has to wait; 1 at and above saturation."""
    if offered >= servers:
        return 1.0
    blocked = erlang_b(servers, offered)
    return blocked / (1 - offered / servers * (1 - blocked))


def erlang_c_of_all(offered: float, most: int) -> Iterator[tuple[int, float]]:
    """Yields (c, C) for c = 1, 2, ... up to `most` where c servers are enough; by Erlang's recurrence in c."""
    blocked = 1.0
    for servers in range(1, most + 1):
        blocked = offered * blocked / (servers + offered * blocked)
        if servers > offered:
            yield servers, blocked / (1 - offered / servers * (1 - blocked))


def two_phases(decay: float, mean: float, time: float) -> float:
    """Returns P(X + Y > time) of exponentials with rate `decay` and mean `mean`, without cancellation."""
    if mean <= 0:
        return math.exp(-decay * time)
    slow, fast = sorted((decay, 1 / mean))
    gap = (fast - slow) * time
    if gap < 1e-8:
        return math.exp(-slow * time) * (1 + slow * time)
    return min(1.0, math.exp(-slow * time) * (1 - slow * time * math.expm1(-gap) / gap))
