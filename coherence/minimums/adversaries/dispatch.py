"""Models of dispatchers before servers with queues of their own: any order of servers, any rule of the lengths."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.bounds._own_queues import State, mean_number, shortest
from coherence.minimums.bounds._stationary import stationary
from coherence.minimums.bounds._stations import waits
from coherence.minimums.floors import Number

ROOM = 60  # requests in a queue, or in all of them
WORD = {2: 4, 3: 3}  # servers -> length of the order that is repeated


def unseen(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Repeats some order of servers, whatever comes; the queues of a server are those of its own arrivals."""
    servers, rate, mean = int(inputs["servers"]), float(inputs["rate"]), float(inputs["mean"])
    load = rate * mean / servers
    if "no_reports" in dropped:
        return mean * shortest(servers, load)
    if "poisson" in dropped:  # arrivals at equal gaps
        return mean / (1 - _regular(load))
    if dropped & {"own_queues", "stays_there", "patient", "unknown_sizes"}:
        return _pooled(bound, inputs, dropped)
    word = [choose(range(servers)) for _ in range(WORD[servers])]
    counts = [word.count(server) / len(word) * rate * mean for server in range(servers)]
    if max(counts) >= 1:
        raise HopelessError
    return mean * math.fsum(_length(word, server, rate * mean) for server in set(word)) / (rate * mean)


def _regular(load: float) -> float:
    """Returns the chance that an arrival finds its server busy: s = exp(-(1 - s)/load), from below."""
    busy = 0.0
    for _ in range(1_000):
        busy = math.exp((busy - 1) / load)
    return busy


def _length(word: list[int], server: int, load: float) -> float:
    """Returns the mean length of the queue of one server."""

    def moves(state: tuple[int, int]) -> list[tuple[tuple[int, int], float]]:
        turn, length = state
        joined = ((turn + 1) % len(word), min(length + (word[turn] == server), ROOM))
        return [(joined, load), *([((turn, length - 1), 1.0)] if length else [])]

    return math.fsum(length * share for (_, length), share in stationary((0, 0), moves).items())


def _pooled(bound: str, inputs: Inputs, dropped: frozenset[str]) -> float:
    """Returns the mean time with one queue for all, or where requests move to who is idle, or give up.

    Who knows all sizes sends each request to the server that is through first, which is as one queue for all.
    """
    assert bound
    servers, rate, mean = int(inputs["servers"]), float(inputs["rate"]), float(inputs["mean"])
    if "patient" in dropped:
        return mean  # who finds the server busy is gone
    if "stays_there" in dropped:
        return mean * shortest(servers, rate * mean / servers, apart=1)
    waiting = float(waits(servers, Fraction(rate * mean))[1])
    return mean + waiting / (servers / mean - rate)


def seen(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Joins the k-th shortest queue: one k where lengths are nearly alike, another where they are not."""
    servers, rate, mean = int(inputs["servers"]), float(inputs["rate"]), float(inputs["mean"])
    if dropped & {"own_queues", "stays_there", "patient", "unknown_sizes"}:
        return _pooled(bound, inputs, dropped)
    alike, unlike = choose(range(servers)), choose(range(servers))

    def moves(state: State) -> list[tuple[State, float]]:
        place = alike if state[-1] - state[0] < 2 else unlike
        joined = [(_with(state, place, 1), rate * mean)] if sum(state) < ROOM // servers * 2 else []
        return [*joined, *((_with(state, k, -1), 1.0) for k, length in enumerate(state) if length)]

    return mean * mean_number(servers, moves) / (rate * mean)


def _with(state: State, place: int, change: int) -> State:
    after = tuple(sorted((*state[:place], state[place] + change, *state[place + 1 :])))
    assert all(low <= high for low, high in pairwise(after))
    return after


def _given(servers: int, rate: str) -> Inputs:
    return {"servers": Fraction(servers), "rate": Fraction(rate), "mean": Fraction(1)}


POINTS = (_given(2, "1"), _given(3, "1.2"))
ADVERSARIES = (
    Adversary(
        "a dispatcher that hears nothing",
        {"blind_dispatch_time": POINTS},
        unseen,
        ("no_reports", "own_queues", "stays_there", "unknown_sizes", "patient", "poisson"),
    ),
    Adversary(
        "a dispatcher that sees all queues",
        {"join_shortest_time": POINTS},
        seen,
        ("own_queues", "stays_there", "unknown_sizes", "patient"),
    ),
)
