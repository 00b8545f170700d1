"""Models by chance, exactly: stations as chains of states, tries as trees of outcomes, members that become ready."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError, given
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number

STATES = 400  # requests at most at a station whose queue is not cut
ROUNDED = 1 + 1e-9  # of chains in floating point, upwards
HELD = 3  # states in which a policy may let a server stand


def station(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Requests come by chance; a policy lets servers stand in some states, and may turn requests away where it is free.

    The states' shares follow from what goes up and down between neighbours.
    """
    servers, mean = int(inputs.get("servers", 0)), float(inputs.get("mean", 1))
    rate = float(inputs["rate"]) if "rate" in inputs else float(inputs["offered"]) / mean
    if bound == "servers_for_wait":
        servers = choose(range(1, 2 * math.ceil(rate) + 2))
        if rate >= servers:
            raise HopelessError
    room = servers + (3 if "no_waiting" in dropped else 0) if bound == "erlang_loss" else STATES
    room = servers if "patient" in dropped else room
    idle = [choose((0, 1)) if state <= room else 0 for state in range(1, HELD + 1)]
    shares = [1.0]
    for state in range(1, room + 1):
        working = min(state, servers) - (idle[state - 1] if state <= HELD else 0)
        if working <= 0:
            raise HopelessError  # nothing leaves this state
        shares.append(shares[-1] * rate * mean / working)
    total = math.fsum(shares)
    shares = [share / total for share in shares]
    if bound == "erlang_loss":
        return shares[room]
    held = math.fsum(shares[servers:]) if "patient" not in dropped else 0.0
    held += math.fsum(shares[k - 1] for k in range(1, HELD + 1) if idle[k - 1] and k <= servers)
    if bound == "erlang_waiting":
        return held
    if bound == "wait_beyond":
        steps = float(inputs["wait"]) * servers / mean  # mean number of departures in the wait
        few = list(itertools.accumulate(math.exp(-steps) * steps**k / math.factorial(k) for k in range(90)))
        return math.fsum(share * few[min(k, 89)] for k, share in enumerate(shares[servers:]))
    if bound == "servers_for_wait":
        if held > float(inputs["share"]):
            raise HopelessError
        return servers
    goes = rate * (1 - (shares[room] if "patient" in dropped else 0))
    return math.fsum(k * share for k, share in enumerate(shares)) / goes - mean


def served(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """One server works in turn; what a departure leaves behind is a chain in how many come while one is served."""
    load, mean = float(inputs["load"]), float(inputs["mean"])
    stages = choose((0, 4, 2, 1)) if bound == "wait_without_variability" else round(float(inputs["cv"]) ** -2)
    if dropped & {"poisson"}:
        return 0.0  # one comes as the one before it goes
    came = [_arrivals(load, stages, k) for k in range(STATES // 2)]
    left = [1.0]  # how often a departure leaves so many, up to a factor
    for many in range(1, STATES // 2):
        gone = math.fsum(left[k] * came[many - k] for k in range(1, many)) + left[0] * came[many - 1]
        left.append((left[many - 1] - gone) / came[0])
    return (math.fsum(k * share for k, share in enumerate(left)) / math.fsum(left) / (load / mean) - mean) * ROUNDED


def _arrivals(load: float, stages: int, count: int) -> float:
    """Returns how often so many come while one is served in so many equal stages by chance (0: in a fixed time)."""
    if not stages:
        return math.exp(-load + count * math.log(load) - math.lgamma(count + 1))
    each = load / stages
    return math.comb(count + stages - 1, count) * (each / (1 + each)) ** count / (1 + each) ** stages


def outcomes(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Every sequence of failures and successes, with its chance; whoever has succeeded tries no more."""
    if bound == "retries_for_availability":
        p, wanted, retries = Fraction(inputs["p"]), Fraction(inputs["availability"]), choose(range(9))
        failed = Fraction(1)
        for _ in range(0 if "independent_failures" in dropped else retries + 1):
            failed *= p
        if 1 - failed < wanted and "independent_failures" not in dropped:
            raise HopelessError
        return retries
    if bound == "tail_at_scale":
        p, n = Fraction(inputs["p"]), int(inputs["n"])
        if "iid" in dropped:
            return 1 - p  # all are slow at once
        late = (slow for slow in itertools.product((False, True), repeat=n) if any(slow))
        return sum((math.prod((1 - p) if one else p for one in slow) for slow in late), Fraction(0))
    if "q" in inputs:
        q, spent = Fraction(inputs["q"]), Fraction(inputs["attempt"]) * Fraction(inputs.get("price", 1))
        often = sum(q**k for k in range(60)) + q**60 / (1 - q) if "independent_failures" not in dropped else Fraction(1)
        return spent * (often - (0 if bound == "tokens_until_accepted" else 1))
    p, tries = Fraction(inputs["p"]), int(inputs["tries"])
    if "independent_failures" in dropped:
        return 1 + p * (tries - 1) * choose((Fraction(0), Fraction(1)))  # failures pass at once, or stay
    return sum((p**k * (1 - p) * (k + 1) for k in range(tries - 1)), p ** (tries - 1) * tries)


def ready(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Members become ready one by one, each of those that are left with the same chance at any time."""
    n, mean = int(inputs["n"]), Fraction(inputs["mean"])
    wanted = int(inputs["k"]) if bound == "fastest_of" else n
    free = not dropped.isdisjoint({"iid", "exponential"})
    if free and choose((False, True)):
        return mean  # all take the same time: by chance, or always
    spent = Fraction(0)
    for done in range(wanted):
        spent += mean / (n - done)
    return spent


def repeated(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A failure stops all work for the restart; what is lost of a long time, failure by failure."""
    assert bound
    mean, restart = Fraction(inputs["mtbf"]), Fraction(inputs["restart"])
    if "whole_job_stops" in dropped:
        restart /= 2  # the other half goes on
    if "long_work" in dropped and choose((False, True)):
        return 0  # it is done before the first failure
    slower = choose((Fraction(1), Fraction(3, 2)))
    cycles = 20
    return cycles * restart * slower / (cycles * mean + cycles * restart * slower)


LOADED = (given(servers=2, offered=1.5), given(servers=1, offered=0.5), given(servers=4, offered=2))
ADVERSARIES = (
    Adversary(
        "a station as a chain",
        {
            "erlang_loss": LOADED,
            "erlang_waiting": LOADED,
            "erlang_wait": tuple(
                given(servers=c, rate=r, mean=m) for c, r, m in ((2, 1.5, 1), (1, 1, 0.5), (3, 4, 0.5))
            ),
            "wait_beyond": tuple(given(servers=c, offered=a, mean=1, wait=1) for c, a in ((1, 0.5), (3, 2))),
            "servers_for_wait": (given(offered=1.5, share=0.2), given(offered=4, share=0.1)),
        },
        station,
        ("patient", "no_waiting"),
    ),
    Adversary(
        "one server as a chain",
        {
            "wait_without_variability": (given(load=0.5, mean=2), given(load=0.8, mean=1)),
            "single_server_wait": (given(load=0.5, mean=2, cv=1), given(load=0.6, mean=1, cv=0.5)),
        },
        served,
        ("poisson",),
    ),
    Adversary(
        "outcomes of tries",
        {
            "retry_attempts": tuple(given(p=p, tries=k) for p, k in ((0.5, 4), (0.25, 2), (0.9, 6))),
            "retries_for_availability": (given(p=0.05, availability=0.99999), given(p=0.5, availability=0.9)),
            "tokens_until_accepted": (given(attempt=100, q=0.25),),
            "ghost_tokens": (given(attempt=100, q=0.25, price=2),),
            "tail_at_scale": (given(p=0.9, n=5), given(p=0.5, n=3)),
        },
        outcomes,
        ("independent_failures", "iid"),
    ),
    Adversary(
        "members that become ready",
        {
            "barrier_exponential": (given(n=5, mean=2),),
            "fastest_of": (given(n=10, k=8, mean=1), given(n=3, k=3, mean=2)),
        },
        ready,
        ("iid", "exponential"),
    ),
    Adversary(
        "failures of a whole job",
        {"restart_share": (given(mtbf=100, restart=7), given(mtbf=1, restart=1))},
        repeated,
        ("whole_job_stops", "long_work"),
    ),
)
