"""Models of one server: how old its last update is, how long its requests stay, how long a batch and its parts wait."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from coherence.base.bisection import halved
from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError, given
from coherence.minimums.bound import Inputs
from coherence.minimums.bounds._stationary import stationary
from coherence.minimums.floors import Number
from coherence.minimums.functions import harmonic

ROUNDED = 1 + 3e-5  # of sums on grids, upwards
POINTS = 1_200  # of a grid of times
LONGEST = 40  # mean service times that a grid of them goes to
ROOM = 14  # parts at most in each queue of a chain: what comes beyond is a share of 1e-5
LOADS = (0.2, 0.4, 0.5, 0.53, 0.56, 0.7)


def aged(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """The last update that has left is older than x where none that came since then has left: the chance, summed."""
    load = choose(LOADS) if bound == "age_least" else float(inputs["load"])
    mean = float(inputs["mean"]) * choose((1.0, 1.5))  # a server may also take longer
    if "one_at_a_time" in dropped:  # any number of servers
        return mean * _summed(lambda x: math.exp(-load * (x + math.expm1(-x))))
    if "patient" in dropped:  # what finds the server busy is lost (Costa, Codreanu and Ephremides 2016)
        return mean * (1 / load + 2 - 1 / (load + 1))
    if "fcfs" in dropped:  # the last one first, at once
        return mean * (1 / load + 1)
    if "poisson" in dropped:  # one as the one before it leaves
        return mean * 2
    return mean * _in_turn(load) * ROUNDED


def _summed(chance: Callable[[float], float]) -> float:
    step = LONGEST / POINTS
    return math.fsum(chance((k + 0.5) * step) for k in range(POINTS)) * step


def _in_turn(load: float) -> float:
    """Returns the mean age in service times: of what comes since x ago the first one is not done.

    It comes after e; the work V that stood x ago is a stationary one, (V - e)+ of it is left, and it takes 1 itself.
    """
    import numpy as np

    rate = 1 - load
    ends = LONGEST / min(rate, load) / 2
    grid = (np.arange(POINTS) + 0.5) * (ends / POINTS)
    parts = (np.arange(POINTS // 4) + 0.5) / (POINTS // 4)
    came = grid[:, None] * parts[None, :]
    left = grid[:, None] - came
    busy = load * np.exp(-rate * came)  # chance that work is left as it comes
    both = (np.exp(-rate * left) - rate * np.exp(-left)) / load  # what is left, and its own service, last so long
    unseen = busy * both + (1 - busy) * np.exp(-left)
    inside = (load * np.exp(-load * came) * unseen).mean(axis=1) * grid
    return float((np.exp(-load * grid) + inside).sum() * (ends / POINTS))


def stayed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """What comes stays for as many services as stand before it, and its own: the time by which a share has left."""
    assert bound
    service, rate, q = (float(inputs[name]) for name in ("service_rate", "rate", "q"))
    service /= choose((1.0, 1.25))
    load = rate / service
    room = 2 if "patient" in dropped else 300
    before = [(load**k if load < 1 else 0.0) for k in range(room)]
    if load >= 1:
        raise HopelessError
    before = [share / math.fsum(before) for share in before]
    if "one_at_a_time" in dropped:
        before = [1.0]

    def gone(time: float) -> bool:
        if "fcfs" in dropped:  # the last one first, at once: it stays for a busy period
            return _emptied(service, rate, time) >= q
        few = term = math.exp(-service * time)  # chance of so few services in the time
        stays = before[0] * few
        for done, share in enumerate(before[1:], 1):
            term *= service * time / done
            few += term
            stays += share * few
        return 1 - stays >= q

    return halved(gone, 50 / (service - rate), 0.0, steps=60)[0]


def _emptied(service: float, rate: float, time: float) -> float:
    """Returns how often a server that begins with one request has none left by then, event by event."""
    import numpy as np

    up, speed = rate / (rate + service), (rate + service) * time
    lengths = np.zeros(200)
    lengths[1] = 1.0
    weight, total = math.exp(-speed), 0.0
    for events in range(1, int(speed + 12 * math.sqrt(speed) + 20)):
        moved = np.zeros_like(lengths)
        moved[0] = lengths[0] + (1 - up) * lengths[1]
        moved[1:-1] = (1 - up) * lengths[2:]
        moved[2:] += up * lengths[1:-1]
        lengths = moved
        weight *= speed / events
        total += weight * float(lengths[0])
    return total


def batched(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Gaps of requests are long or short by chance; a rule may leave some of them behind and begin a batch with others.

    A gap is one of two lengths of the right mean here; what is asked is the mean wait of whoever began a batch.
    """
    assert bound
    size, gap = int(inputs["batch"]), 1 / Fraction(inputs["rate"])
    if "poisson" in dropped:
        return Fraction(0)  # they come together
    gaps = (gap / 2, 3 * gap / 2)
    if "patient" in dropped and size > 1:  # who began gives up where the next one comes late
        return sum((gaps[0] for _ in range(size - 1)), Fraction(0))
    extra = choose((0, 1, 2))  # requests that wait beside the batch
    return sum((sum(gaps, Fraction(0)) / 2 for _ in range(size - 1 + extra)), Fraction(0))


def joined(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each request leaves a part at every server; a policy lets servers stand in some states."""
    n = 2 if bound == "fork_join_two" else int(inputs["n"])
    load, mean = float(inputs["load"]), float(inputs["mean"])
    if "iid" in dropped:
        return mean / (1 - load)  # the parts of a request are alike
    if "poisson" in dropped:
        return mean * float(harmonic(n)) * 0.999  # the next one as all parts are done
    if "own_queues" in dropped and n == 2:
        return mean * _shared(load)
    stands = choose(range(3))  # the first server stands while it has just one part, sometimes or always
    if stands == 2:
        raise HopelessError
    room = 2 if "patient" in dropped else ROOM if n < 3 else 8
    return mean * _parts(n, load, room, 0.5 if stands else 1.0) * (1 if "patient" in dropped else ROUNDED)


def _parts(n: int, load: float, room: int, effort: float) -> float:
    """Returns the mean time of a request by the chain of all queue lengths: the longest queue over what goes in."""

    def moves(state: tuple[int, ...]) -> list[tuple[tuple[int, ...], float]]:
        ends = [
            ((*state[:k], length - 1, *state[k + 1 :]), effort if k == 0 and length == 1 else 1.0)
            for k, length in enumerate(state)
            if length
        ]
        return [*ends, *([(tuple(length + 1 for length in state), load)] if max(state) < room else [])]

    shares = stationary((0,) * n, moves)
    enters = load * math.fsum(share for state, share in shares.items() if max(state) < room)
    return math.fsum(share * max(state) for state, share in shares.items()) / enters


def _shared(load: float) -> float:
    """Returns the mean time of a request of two parts where both servers take any part, in turn."""

    def moves(state: int) -> list[tuple[int, float]]:
        return [*([(state - 1, float(min(state, 2)))] if state else []), *([(state + 2, load)] if state < 60 else [])]

    shares = stationary(0, moves)
    return math.fsum(share * (state // 2 + state % 2) for state, share in shares.items()) / load


ADVERSARIES = (
    Adversary(
        "the last update that has left",
        {
            "age_of_information": tuple(given(load=load, mean=2) for load in (0.3, 0.5, 0.8)),
            "age_least": (given(mean=1),),
        },
        aged,
        ("one_at_a_time", "patient", "fcfs", "poisson"),
    ),
    Adversary(
        "a stay at one server",
        {"sojourn_quantile": tuple(given(service_rate=1, rate=r, q=q) for r, q in ((0.5, 0.5), (0.8, 0.9)))},
        stayed,
        ("patient", "fcfs", "one_at_a_time"),
    ),
    Adversary(
        "a batch that forms",
        {"batch_forming_delay": tuple(given(batch=b, rate=5) for b in (1, 2, 8))},
        batched,
        ("poisson", "patient"),
    ),
    Adversary(
        "parts of a request",
        {
            "fork_join_two": tuple(given(load=load, mean=1) for load in (0.2, 0.3)),
            "fork_join_time": tuple(
                given(n=n, load=load, mean=mean) for n, load, mean in ((1, 0.3, 2), (2, 0.3, 1), (3, 0.2, 1))
            ),
        },
        joined,
        ("patient", "own_queues", "iid", "poisson"),
    ),
)
