"""Servers that each have a queue of their own: chains of their lengths, under a dispatcher that sees all or nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

from coherence.minimums.bounds._stationary import stationary

APART = {1: 0, 2: 12, 3: 6, 4: 4}  # servers -> how much longer the longest queue may be than the shortest one
FEW = 3  # the same, of more servers
REST = 1e-11  # share of time that is left out beyond the longest chain
MOST = 8  # servers of which a chain is solved
State = tuple[int, ...]
Moves = list[tuple[State, float]]


def shortest(servers: int, load: float, *, apart: int | None = None) -> float:
    """Returns the mean number in the system over the arrivals of a mean service time, where each joins the shortest.

    Where the longest queue would be more than `apart` longer than the shortest one, its last request moves there: that
    only helps, so the number is a floor (Adan, van Houtum and van der Wal 1994).  So does what the chain leaves out.
    """
    far = APART.get(servers, FEW) if apart is None else apart
    room = math.ceil(math.log(REST) / math.log(load)) + servers

    def moves(state: State) -> Moves:
        """Lengths rise; one of several equal ones stands for all."""
        joined = [(_sorted((state[0] + 1, *state[1:])), servers * load)] if sum(state) < room else []
        return [*joined, *((_left(state, k, far), 1.0) for k, length in enumerate(state) if length)]

    return mean_number(servers, moves) / (servers * load)


def _left(state: State, server: int, far: int) -> State:
    """Returns the lengths after one has left a server, and after a move where they are then too far apart."""
    after = _sorted((*state[:server], state[server] - 1, *state[server + 1 :]))
    return _sorted((after[0] + 1, *after[1:-1], after[-1] - 1)) if after[-1] - after[0] > far else after


def _sorted(lengths: State) -> State:
    return tuple(sorted(lengths))


def mean_number(servers: int, moves: Callable[[State], Moves]) -> float:
    """Returns the mean of all lengths together, of a chain that begins empty."""
    return math.fsum(share * sum(state) for state, share in stationary((0,) * servers, moves).items())


def in_turn(servers: int, load: float) -> float:
    """Returns the mean time in the system, in services, where requests go to the servers in turn (E_n/M/1).

    An arrival finds its server busy with chance s = (n load/(n load + 1 - s))^n, and stays 1/(1 - s).
    """
    low, high = 0.0, 1.0
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        above = (servers * load / (servers * load + 1 - middle)) ** servers > middle
        low, high = (middle, high) if above else (low, middle)
    return 1 / (1 - low)
