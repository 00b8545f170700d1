"""Models of dispatchers before servers with queues of their own: any order of servers, any rule of the lengths."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import pairwise

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.bounds._own_queues import State, mean_number, shortest
from coherence.minimums.bounds._stationary import stationary
from coherence.minimums.bounds._stations import waits
from coherence.minimums.floors import Number

DIGITS = 9  # to which a solved chain is right
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


def slotted(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Several come at a time, by some law of the stated variance, to one queue or two; each server serves one or none.

    What comes goes to the shorter or to the longer queue: one rule where they differ by less than two, and another one.
    """
    assert bound
    servers, each = int(inputs["most_served"]), SERVED[int(inputs["most_served"])]
    if "patient" in dropped:
        return Fraction(0)  # what is not served at once is gone
    law = choose(LAWS[servers])
    queues = choose(range(1, servers + 1))
    alike, unlike = choose(range(queues)), choose(range(queues))
    planned = "independent_slots" in dropped and set(law) == {0, 2}
    turns = [2 if (turn + 1) * law[2] // 1 > turn * law[2] // 1 else 0 for turn in range(8)] if planned else [0]

    def moves(state: tuple[int, State]) -> list[tuple[tuple[int, State], float]]:
        turn, held = state
        coming = {turns[turn]: Fraction(1)} if planned else law
        rows = []
        for (come, chance), done in itertools.product(coming.items(), itertools.product((0, 1), repeat=servers)):
            after = held
            for _ in range(come):
                after = _with(after, alike if after[-1] - after[0] < 2 else unlike, int(after[-1] < ROOM // queues))
            served = done if queues > 1 else (sum(done),)
            left = tuple(sorted(max(0, length - ends) for length, ends in zip(after, served, strict=True)))
            share = math.prod(each if one else 1 - each for one in done)
            rows.append((((turn + 1) % len(turns), left), float(chance * share)))
        return rows

    shares = stationary((0, (0,) * queues), moves)
    return round(math.fsum(sum(held) * share for (_, held), share in shares.items()), DIGITS)


def _given(servers: int, rate: str) -> Inputs:
    return {"servers": Fraction(servers), "rate": Fraction(rate), "mean": Fraction(1)}


Law = dict[int, Fraction]
SERVED = {1: Fraction(1), 2: Fraction(3, 4)}  # servers -> chance that each serves one in a slot
LAWS: dict[int, tuple[Law, ...]] = {  # of 3/4 and 5/4 in the mean, and a variance of 15/16
    1: ({0: Fraction(5, 8), 2: Fraction(3, 8)}, {0: Fraction(1, 2), 1: Fraction(3, 8), 3: Fraction(1, 8)}),
    2: ({0: Fraction(3, 8), 2: Fraction(5, 8)}, {0: Fraction(1, 6), 1: Fraction(5, 8), 3: Fraction(5, 24)}),
}
POINTS = (_given(2, "1"), _given(3, "1.2"))
SLOTS: tuple[Inputs, ...] = tuple(
    {
        "reserve": Fraction(1, 4),
        "arrival_variance": Fraction(15, 16),
        "service_variance": servers * each * (1 - each),
        "most_served": Fraction(servers),
    }
    for servers, each in SERVED.items()
)
ADVERSARIES = (
    Adversary("slots of queues", {"slotted_backlog": SLOTS}, slotted, ("independent_slots", "patient")),
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
