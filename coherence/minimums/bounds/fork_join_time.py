"""fork-join: the mean time of a request that waits for parts at n servers, each with its own queue.

## What
Requests come as a Poisson process, each leaves one part of exponential length at every server.  The mean time is at
least 1/(1 - load) (one part alone), and at least H(n)/(1 - s) with s = exp(-(1 - s)/load): the same servers under
regular arrivals, which are never worse, and where the parts are independent.  Times are in units of the mean part.

## Why it matters
Fan-out costs a factor that grows like log n even if every queue is managed perfectly in its own order.

## Example
32 servers at a load of 0.8: 10.93 mean parts (one part alone: 5).

## Source
F. Baccelli, A. Makowski and A. Shwartz, "The fork-join queue and related systems with synchronization constraints",
Adv. Appl. Prob. 21, 1989.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._fork_join import floor, two_by_chain


def least(inputs: Inputs) -> float:
    """Seconds."""
    return floor(int(inputs["n"]), float(inputs["load"])) * float(inputs["mean"])


def below_the_chain() -> Checked:
    """For two servers the exact value (12 - load)/(8 (1 - load)) and the chain of both queues are not below it."""
    for load in (0.1, 0.3, 0.5):
        exact = (12 - load) / 8 / (1 - load)
        chain = two_by_chain(load, 40)
        if abs(chain / exact - 1) > 1e-6 or chain < floor(2, load):
            return Checked(False, f"load {load}: chain {chain}, exact {exact}, floor {floor(2, load)}")
    return Checked(True, "the chain of two queues, solved, is the exact value and lies above")


BOUND = Bound(
    name="fork_join_time",
    group="queues",
    quantity="mean time of a request with n parts",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("n", "1", "servers that each do one part", Trend.RISES, least=1, most=1e9, whole=True),
        Symbol("load", "1", "load of each server", Trend.RISES, most=1.0, sign=r"\rho"),
        Symbol("mean", "s", "mean time of a part", Trend.RISES, sign="m"),
    ),
    compute=least,
    valid="load < 1",
    assumptions=("poisson", "exponential", "iid", "own_queues", "fcfs", "patient"),
    source="Baccelli, Makowski and Shwartz 1989",
    examples=(
        Example({"n": Fraction(1), "load": Fraction(1, 2), "mean": Fraction(1)}, 2.0, "M/M/1"),
        Example({"n": Fraction(4), "load": Fraction(0), "mean": Fraction(1)}, 25 / 12, "harmonic number of 4"),
        Example({"n": Fraction(32), "load": Fraction(4, 5), "mean": Fraction(1)}, 10.93, "regular arrivals", 1e-2),
    ),
    proofs=(Recheck("enumeration", "two queues, solved", below_the_chain),),
    telemetry=("arrivals per second", "times of the parts"),
    display=(
        r"m \max\left( \frac{1}{1 - \rho}, \; \frac{1}{1 - s} \sum_{k = 1}^n \frac{1}{k} \right), \quad s "
        r"= e^{-(1 - s)/\rho}"
    ),
    unread="members of a design share one queue; no key gives each its own",
)
