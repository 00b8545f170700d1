"""checkpoint overhead: the share of time that checkpoints, lost work and restarts take at the best interval.

## What
With exponential failures of mean M, a checkpoint of d and a restart of R seconds, T seconds of work take
M exp(R/M) (exp((T + d)/M) - 1) on average.  At the exact optimum T* of the interval the rest of that time is lost; at
any other interval more.

## Why it matters
It is the floor of what failures cost a job that checkpoints and computes again; only faster checkpoints, rarer failures
or partial recovery lower it.

## Example
d = 30 s, R = 300 s, M = 11,134.8 s: 9.63 %.

## Source
J. Daly, FGCS 22, 2006, equation 13, at its stationary point.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._integrals import least_overhead
from coherence.minimums.bounds._training import OfCheckpoints

GRID = 4_000


def overhead(inputs: Inputs) -> float:
    """1 - T* / (M exp(R/M) (exp((T* + d)/M) - 1)); without checkpoints' cost, 1 - exp(-R/M)."""
    from coherence.simulate.jobs.closed_forms import best_interval

    write, mean, restart = (float(inputs[name]) for name in ("write", "mtbf", "restart"))
    if write == 0:
        return -math.expm1(-restart / mean)
    return lost(best_interval(write, mean), write, mean, restart)


def lost(interval: float, write: float, mean: float, restart: float) -> float:
    """Returns the share of time that is lost at an interval; written so that nothing overflows."""
    stretch = (interval + write) / mean
    return 1 - interval / mean * math.exp(-restart / mean - stretch) / -math.expm1(-stretch)


def searched(inputs: Inputs) -> float:
    """Returns the best of a fine grid of intervals: never below the floor."""
    write, mean, restart = (float(inputs[name]) for name in ("write", "mtbf", "restart"))
    centre = math.sqrt(2 * write * mean)
    tried = (centre * 2 ** ((k - GRID / 2) * 4 / GRID) for k in range(GRID + 1))
    return min(lost(interval, write, mean, restart) for interval in tried)


def convex() -> Checked:
    """(exp((T + d)/M) - 1)/T has one stationary point: the sign of its slope is that of an increasing function.

    The slope's numerator is exp(t + d)(t - 1) + 1 in units of M; its derivative t exp(t + d) is positive.
    """
    import sympy as sp

    t, d = sp.symbols("t d", positive=True)
    numerator = sp.numer(sp.together(sp.diff((sp.exp(t + d) - 1) / t, t)))
    same = sp.simplify(numerator - (sp.exp(t + d) * (t - 1) + 1)) == 0
    rising = sp.simplify(sp.diff(numerator, t) - t * sp.exp(t + d)) == 0
    return Checked(bool(same and rising), "the slope changes sign once: the stationary point is the minimum")


BOUND = Bound(
    name="checkpoint_overhead",
    group="checkpoints",
    quantity="share of time lost at the best interval",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="R",
    symbols=(
        Symbol("write", "s", "time to write one checkpoint", Trend.RISES, sign="d"),
        Symbol("mtbf", "s", "mean time between failures of the whole job", Trend.FALLS, open_=True, sign="M"),
        Symbol("restart", "s", "time from a failure until work goes on", Trend.RISES, sign="R"),
    ),
    formula="1 + lambert_w(-exp(-1 - write / mtbf)) * exp(-restart / mtbf)",
    compute=overhead,
    assumptions=(
        "exponential",
        "full_recompute",
        "blocking_checkpoint",
        "whole_job_stops",
        "long_work",
        "unannounced",
        "failures_in_restarts",
    ),
    without=dict.fromkeys(("exponential", "full_recompute", "blocking_checkpoint", "unannounced"), "restart_share"),
    source="Daly 2006 at its stationary point",
    examples=(
        Example({"write": 30, "mtbf": 11134.8, "restart": 300}, 0.09630035233597689, "numeric minimum"),
        Example({"write": Fraction(0), "mtbf": Fraction(1000), "restart": Fraction(10)}, 1 - math.exp(-0.01), "limit"),
    ),
    proofs=(
        Recheck("identity", "the overhead has one minimum", convex, ProofGrade.UNIVERSAL),
        Recheck("smt", "no other interval does as well", least_overhead, ProofGrade.UNIVERSAL),
    ),
    witness=Witness(
        "the best of 4,000 intervals",
        lambda inputs: searched(inputs) if inputs["write"] else overhead(inputs),
        1 + 1e-6,
    ),
    telemetry=("time of a checkpoint", "times of failures", "time of a restart"),
    applies=OfCheckpoints(("write", "restart")),
)
