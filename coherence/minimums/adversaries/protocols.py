"""Models of replicas: copies that survive, reads beside writes, and rules that decide from what was heard."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, cast

from coherence.base import solver
from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs, several
from coherence.minimums.commitment import fewest
from coherence.minimums.consensus import Agreement, one_round
from coherence.minimums.floors import Number

PARTS = 4


def copies(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """The leader waits for any set of replicas of which one survives every minority."""
    assert bound
    assert not dropped
    trips = several(inputs, "round_trips")
    waited = [replica for replica in range(1, len(trips) + 1) if choose((False, True))]
    lost = itertools.combinations(range(len(trips) + 1), len(trips) // 2)
    if not all({0, *waited} - set(gone) for gone in lost):
        raise HopelessError
    return max((trips[replica - 1] for replica in waited), default=Fraction(0))


def read_and_written(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Two processes write their own register and read the other's: one must see the other's write."""
    assert bound
    delay = Fraction(inputs["delay"])
    if "several_users" in dropped:
        return Fraction(0)  # one process holds all
    write, read = (choose([delay * k / PARTS for k in range(PARTS + 1)]) for _ in range(2))
    heard = delay  # when what the other one sent as it began arrives
    if write + read < heard:
        raise HopelessError  # both read what was there before both writes: no order explains it
    return write + read


def decided(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Some rule maps what is heard in some rounds to decisions; all runs are played to see whether there is one."""
    processes, failures, delay = int(inputs["processes"]), int(inputs["failures"]), Fraction(inputs["delay"])
    count = choose(range(1, failures + 2))
    choose.passed(count * delay)
    if bound == "set_agreement_rounds":
        text = one_round(processes, failures, int(inputs["values"]))
        possible = solver.unsat(text, timeout_ms=30_000).outcome is solver.Outcome.SAT
    else:
        early = bound == "early_stopping_rounds"
        actual, silent = int(inputs["actual"]) if early else failures, early and "decided_stops" not in dropped
        possible = Agreement(processes, failures, actual, count, silent=silent).possible()
    if not possible:
        raise HopelessError
    return count * delay


def committed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Participants send what they know until all know all votes; with a bound on delays silence may be a vote."""
    participants = int(inputs["n"])
    if "any_vote" in dropped:
        return 0  # the outcome is known beforehand
    if bound == "commit_messages_timed" or "late_messages" in dropped:
        enough = fewest(participants, most=min(participants, math.ceil(choose.limit) - 1))
        if enough is None:
            raise HopelessError
        return enough
    known, count = [{member} for member in range(participants)], 0
    while any(len(votes) < participants for votes in known):
        source = choose(range(participants))
        receivers = [member for member in range(participants) if member != source]
        for member in receivers if "unicast" in dropped else [choose(receivers)]:
            known[member] |= known[source]
        count += 1
        choose.passed(count)
    return count


def met(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Replicas decide what so many of them answer: f of them may be silent, and two decisions must not pass by."""
    failures = int(inputs["failures"])
    lies = failures if bound == "byzantine_replicas" and "arbitrary_faults" not in dropped else 0
    replicas = choose(range(1, 4 * failures + 2))
    answers = choose(range(1, replicas + 1))
    silent = failures if "late_messages" not in dropped else 0  # a bound on delays tells who has stopped
    if replicas <= failures or answers > replicas - silent:
        raise HopelessError
    quorums = list(itertools.combinations(range(replicas), answers))
    if any(len({*one} & {*other}) <= lies for one in quorums for other in quorums):
        raise HopelessError
    return replicas


def fast(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Whoever recovers from f stops must tell from what it hears which value was decided fast, with e down."""
    assert bound
    assert not dropped
    n, f, e = (int(inputs[name]) for name in ("replicas", "failures", "crashed"))
    steps = choose((1, 2, 3))
    if steps < 2:  # nobody but the proposer has heard of it
        raise HopelessError
    if steps == 2:
        quick, slow = list(itertools.combinations(range(n), n - e)), list(itertools.combinations(range(n), n - f))
        if not all({*one} & {*other} & {*seen} for one in quick for other in quick for seen in slow):
            raise HopelessError
    return steps * Fraction(inputs["delay"])


TRIPS = ((10,), (10, 20), (10, 20, 80), (5, 5, 7, 9), (1, 2, 3, 4, 5))
PROPOSALS = tuple(
    {"replicas": Fraction(n), "failures": Fraction(f), "crashed": Fraction(e), "delay": Fraction(1)}
    for n, f, e in ((3, 1, 0), (3, 1, 1), (4, 1, 1), (5, 2, 1), (5, 2, 2))
)


def _rounds(processes: int, failures: int) -> Inputs:
    return {"failures": Fraction(failures), "delay": Fraction(1), "processes": Fraction(processes)}


ADVERSARIES = (
    Adversary("copies that survive", {"quorum_latency": tuple({"round_trips": cast("Any", t)} for t in TRIPS)}, copies),
    Adversary(
        "a read beside a write",
        {"sequential_consistency": ({"delay": Fraction(1)},)},
        read_and_written,
        ("several_users",),
    ),
    Adversary(
        "rules over what is heard",
        {
            "agreement_rounds": tuple(_rounds(n, f) for n, f in ((2, 1), (3, 1), (3, 2), (4, 1))),
            "early_stopping_rounds": tuple(
                {**_rounds(n, f), "actual": Fraction(a)} for n, f, a in ((3, 1, 0), (3, 1, 1), (3, 2, 0), (4, 1, 0))
            ),
            "set_agreement_rounds": tuple({**_rounds(n, 1), "values": Fraction(k)} for n, k in ((3, 1), (4, 2))),
        },
        decided,
        ("decided_stops",),
    ),
    Adversary(
        "messages of a commit",
        {
            "commit_messages": ({"n": Fraction(2)}, {"n": Fraction(3)}),
            "commit_messages_timed": tuple({"n": Fraction(n), "failures": Fraction(1)} for n in (2, 3)),
        },
        committed,
        ("late_messages", "unicast", "any_vote"),
    ),
    Adversary(
        "quorums that meet",
        dict.fromkeys(("crash_replicas", "byzantine_replicas"), ({"failures": Fraction(1)}, {"failures": Fraction(2)})),
        met,
        ("late_messages", "arbitrary_faults"),
    ),
    Adversary("quorums that recover", {"agreement_delay": PROPOSALS}, fast),
)
