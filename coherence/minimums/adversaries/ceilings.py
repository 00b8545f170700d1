"""Models of what can be had at most: times without a failure, tries in a deadline, rates between halves, memories."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError, given
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number, at
from coherence.minimums.registry import entry

SLICES = 4_000  # of an integral
LENGTHS, NEAR = 120, 3e-2  # of a queue; how far its rate is from that of the longest run
PARTS = (0.5, 0.9, 0.999, 1.001, 1.1, 2.0, 10.0)  # of a ceiling


def failing(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Parts live until the first of them fails; the mean of that time is added up slice by slice."""
    assert bound
    mean, parts = float(inputs["part_mtbf"]), int(inputs["n"])
    shape = choose((1, 2)) if "exponential" in dropped else 1  # 2: parts that age
    together = "iid" in dropped and choose((False, True))  # one cause ends all of them
    scale, power = mean / math.gamma(1 + 1 / shape), 1 if together else parts
    width = 40 * mean / SLICES
    alive = [math.exp(-power * (((k + 0.5) * width) / scale) ** shape) for k in range(SLICES)]
    return sum(alive) * width * (1 - 1e-3)


def tried_within(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Tries of one time-out are laid out in time, each with the pause after the one before."""
    assert bound
    deadline, tries, pause = Fraction(inputs["deadline"]), int(inputs["tries"]), Fraction(inputs["pause"])
    timeout, start = choose([deadline * k / 240 for k in range(1, 241)]), Fraction(0)
    for _ in range(tries - 1):
        start += pause + (0 if "one_try_at_a_time" in dropped else timeout)
    if start + timeout > deadline:
        raise HopelessError
    return timeout


def read_apart(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Readings of a swing at one period, or at two, are compared with those of every slower swing."""
    assert bound
    swing = Fraction(inputs["oscillation"])
    periods = [choose([swing * k / 12 for k in range(1, 12)]) for _ in range(2 if "uniform_samples" in dropped else 1)]
    alike = [{f for f in _looks(period, swing) if f < 1 / swing} for period in periods]
    if set.intersection(*alike):
        raise HopelessError
    return sum(periods, Fraction(0)) / len(periods)


def _looks(period: Fraction, swing: Fraction) -> set[Fraction]:
    """Returns the frequencies whose readings are those of the swing: the same part of a turn, either way round."""
    turn = period / swing
    return {abs(turn + k) / period for k in range(-3, 4)} | {abs(k - turn) / period for k in range(-3, 4)}


def slow_parts(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A request meets each part, slow or not; every outcome is listed with its share."""
    parts, allowed = int(inputs["n"]), float(inputs["q"])
    share = choose(PARTS) * float(at(entry(bound).bound, inputs))
    together = "iid" in dropped and choose((False, True))
    met = 0.0
    for slow in itertools.product((False, True), repeat=1 if together else parts):
        met += math.prod(share if each else 1 - share for each in slow) if any(slow) else 0
    if not 0 <= share <= 1 or met > allowed:
        raise HopelessError
    return share


def forgotten(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A queue starts at some length; how fast its mean comes back, in the long run, is read off three moments."""
    import numpy as np
    from scipy.linalg import expm

    arrive, serve = float(inputs["rate"]), float(inputs["service_rate"])
    own = "one_at_a_time" in dropped and choose((False, True))  # a server for each request
    lengths = np.arange(LENGTHS)
    leave = serve * (lengths if own else np.minimum(lengths, 1))
    moves = np.diag(np.full(LENGTHS - 1, arrive), 1) + np.diag(leave[1:], -1)
    moves -= np.diag(moves.sum(axis=1))
    rest = arrive / serve if own else arrive / (serve - arrive)
    moment, apart = 1 / serve if own else 5 / float(at(entry(bound).bound, inputs)), list[float]()
    later, start = expm(moves * moment), np.eye(LENGTHS)[choose((0, 5))]
    for _ in range(3):
        apart.append(abs(float(start @ later @ lengths) - rest))
        later = later @ later
    first, last = (math.log(apart[k] / apart[k + 1]) / (moment * 2**k) for k in (0, 1))
    return (2 * last - first) * (1 - NEAR)  # without the part that falls like one over the time


def halves_of_leaves(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Any half of the leaves sends all it can to the other half."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    assert bound
    assert not dropped
    leaves, hosts, spines = (int(inputs[name]) for name in ("leaves", "hosts", "spines"))
    left = choose(tuple(itertools.combinations(range(leaves), leaves // 2)))
    edges = []
    for leaf in range(leaves):
        at_host = (0, 2 + leaf) if leaf in left else (2 + leaf, 1)
        edges.append((*at_host, hosts * int(inputs["host_rate"])))
        for spine in range(spines):
            ends = (2 + leaf, 2 + leaves + spine)
            up = int(inputs["up_rate"])
            edges += [(*ends, up), (ends[1], ends[0], up)]
    rows, columns, rates = zip(*edges, strict=True)
    size = 2 + leaves + spines
    graph = coo_array((np.array(rates, dtype=np.int32), (rows, columns)), shape=(size, size)).tocsr()
    return int(maximum_flow(graph, 0, 1).flow_value)


def halves_of_torus(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Every way to halve the members is tried; the narrowest one bounds what passes between halves."""
    assert bound
    assert not dropped
    side, axes = int(inputs["side"]), int(inputs["axes"])
    members = list(itertools.product(range(side), repeat=axes))
    links = [(at, (*at[:axis], (at[axis] + 1) % side, *at[axis + 1 :])) for at in members for axis in range(axes)]
    first = choose(members[:1])
    others = [each for each in members if each != first]
    narrow = len(links)
    for rest in itertools.combinations(others, len(members) // 2 - 1):
        half = {first, *rest}
        narrow = min(narrow, sum((a in half) is not (b in half) for a, b in links))
    return narrow


ADVERSARIES = (
    Adversary(
        "parts that fail",
        {"job_failure_time": (given(part_mtbf=100, n=4), given(part_mtbf=5, n=1), given(part_mtbf=7, n=9))},
        failing,
        ("exponential", "iid"),
    ),
    Adversary(
        "tries before a deadline",
        {"try_timeout_in_deadline": (given(deadline=1, tries=3, pause=0.1), given(deadline=2, tries=4, pause=0.1))},
        tried_within,
        ("one_try_at_a_time",),
    ),
    Adversary(
        "readings of a swing",
        {"sampling_period": (given(oscillation=60), given(oscillation=0.5))},
        read_apart,
        ("uniform_samples",),
    ),
    Adversary(
        "slow parts of a request", {"tail_budget": (given(q=0.01, n=4), given(q=0.5, n=3))}, slow_parts, ("iid",)
    ),
    Adversary(
        "a queue that comes to rest",
        {"relaxation_rate": (given(service_rate=1, rate=0.25), given(service_rate=2, rate=1))},
        forgotten,
        ("one_at_a_time",),
    ),
    Adversary(
        "halves of leaves",
        {
            "leaf_spine_bisection": (
                given(leaves=4, hosts=2, spines=2, host_rate=50, up_rate=30),
                given(leaves=2, hosts=4, spines=2, host_rate=5, up_rate=30),
            )
        },
        halves_of_leaves,
    ),
    Adversary(
        "halves of a torus",
        {"torus_bisection": (given(side=4, axes=1), given(side=6, axes=1), given(side=4, axes=2))},
        halves_of_torus,
    ),
)
