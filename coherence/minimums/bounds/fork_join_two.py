"""fork-join of two: the mean time of a request with one part at each of two servers, exactly.

## What
(12 - load)/8 times m/(1 - load), the time of one part alone.

## Why it matters
It is the one fan-out with a closed form: 1.5 times one part at low load, 1.375 times at saturation.

## Example
load 0.5, mean 1 s: 2.875 s.

## Source
L. Flatto and S. Hahn, SIAM J. Appl. Math. 44, 1984; R. Nelson and A. Tantawi, IEEE TC 37, 1988.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._fork_join import two_by_chain

STATES, CUT = 200, 1e-12  # largest chain; share of time that a cut may leave out


def chains() -> Checked:
    """The stationary law of both queue lengths, solved and summed by Little's law, at three loads."""
    worst = max(abs(two_by_chain(x, 40) / ((12 - x) / 8 / (1 - x)) - 1) for x in (0.1, 0.3, 0.5))
    return Checked(worst < 1e-6, f"the chain of both queue lengths agrees within {worst:.1e}")


def chain(inputs: Inputs) -> float:
    """Returns the mean number of requests that are not joined, over their rate.  Raises UsageError where the chain
    would have to be longer than STATES."""
    load = float(inputs["load"])
    states = math.ceil(math.log(CUT) / math.log(load)) if load else 2
    if states > STATES:
        raise UsageError(f"at this load the chain needs {states} lengths of each queue, more than {STATES}")
    return two_by_chain(load, max(states, 2)) * float(inputs["mean"])


BOUND = Bound(
    name="fork_join_two",
    group="queues",
    quantity="mean time of a request with two parts",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("load", "1", "load of each server", Trend.RISES, most=1.0, sign=r"\rho"),
        Symbol("mean", "s", "mean time of a part", Trend.RISES, sign="m"),
    ),
    formula="(12 - load) / 8 * mean / (1 - load)",
    valid="load < 1",
    assumptions=("poisson", "exponential", "iid", "own_queues", "fcfs", "patient"),
    source="Flatto and Hahn 1984; Nelson and Tantawi 1988",
    examples=(Example({"load": Fraction(1, 2), "mean": Fraction(1)}, 2.875, "arithmetic"),),
    proofs=(Recheck("enumeration", "the chain of both queues", chains),),
    witness=Witness("the chain of both queue lengths, solved", chain, 1 + 1e-6),
    telemetry=("arrivals per second", "times of the parts"),
    unread="members of a design share one queue; no key gives each its own",
)
