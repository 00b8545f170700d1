"""checkpoint interval, exact: the interval at which the time lost to checkpoints and failures is least.

## What
Failures come as a Poisson process with mean time M between them, a checkpoint takes d and lost work is done again.
An interval of T seconds of work costs M (exp((T + d)/M) - 1) on average; that per second of work is least where
exp(-(T + d)/M) = 1 - T/M, so T = M (1 + W(-exp(-d/M - 1))) with Lambert's W.

## Why it matters
No tuning of the interval loses less than the overhead at this point.  Young's sqrt(2 d M) is its first order.

## Example
d = 30 s, M = 11,134.8 s: 797.49 s (Young: 817.4 s).

## Source
J. Daly, "A higher order estimate of the optimum checkpoint interval", FGCS 22, 2006, the complete model; the stationary
point in closed form by Lambert's W.
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Role, Status, Symbol, Trend
from coherence.minimums.bounds._integrals import least_overhead
from coherence.minimums.bounds._training import OfCheckpoints


def stationary() -> Checked:
    """Checks that the derivative of M (exp((T + d)/M) - 1)/T vanishes at T = M (1 + w), where w exp(w) = -exp(-d/M -
    1).

    With w = -v that equation gives d = M (v - 1 - log v), which eliminates d; the rest is an identity in v and M.
    """
    import sympy as sp

    work, delay, mean, v = sp.symbols("T d M v", positive=True)
    slope = sp.diff(mean * (sp.exp((work + delay) / mean) - 1) / work, work)
    at = slope.subs(work, mean * (1 - v)).subs(delay, mean * (v - 1 - sp.log(v)))
    return Checked(sp.simplify(at) == 0, "d/dT of the overhead is 0 at T = M (1 + W(-exp(-d/M - 1)))")


BOUND = Bound(
    name="checkpoint_interval_exact",
    group="checkpoints",
    quantity="work between two checkpoints that loses least",
    unit="s",
    kind=Status.EXACT,
    role=Role.POINT,
    loss="R",
    symbols=(
        Symbol("write", "s", "time to write one checkpoint", Trend.RISES, open_=True, sign="d"),
        Symbol("mtbf", "s", "mean time between failures of the whole job", Trend.RISES, open_=True, sign="M"),
    ),
    valid="write * 10000000000 >= mtbf",  # below, Lambert's W has too few digits left near its branch point
    formula="mtbf * (1 + lambert_w(-exp(-write / mtbf - 1)))",
    assumptions=("exponential", "full_recompute", "blocking_checkpoint"),
    source="Daly 2006, FGCS 22:303, complete model; Lambert W form",
    examples=(
        Example({"write": 30, "mtbf": 11134.8}, 797.4900498343128, "numeric minimum of the complete model", 1e-5),
    ),
    proofs=(
        Recheck("identity", "the derivative vanishes there", stationary, ProofGrade.UNIVERSAL),
        Recheck("smt", "no other interval does as well", least_overhead, ProofGrade.UNIVERSAL),
    ),
    telemetry=("time of a checkpoint", "times of failures"),
    applies=OfCheckpoints(("write",)),
)
