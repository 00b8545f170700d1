"""anytime capacity: how fast an unstable plant may grow whose readings come in few bits over a channel that loses them.

## What
In each step b bits are sent of which a share p is lost, and the coder hears of the losses.  What is not known of the
state grows by l a step and is cut by at most 2^-b when a message comes; its moment m is multiplied by at least
l^m (p + (1 - p) 2^(-m b)) and stays bounded only where that is below 1.  For one bit this says that log2 l lies below
the channel's anytime capacity at the reliability m log2 l, which is a / (a + log2((1 - p)/(1 - p 2^a))) at a.

## Why it matters
Shannon's capacity does not tell whether a loop holds: higher moments (rarer, larger swings) ask for more.  With many
bits and the mean square it is `lost_readings`, without losses `data_rate`.

## Example
1 bit, half of them lost, mean square: 1.265 a step.  Capacity alone, half a bit, would allow 1.414.

## Source
A. Sahai and S. Mitter, "The necessity and sufficiency of anytime capacity for stabilization of a linear system over a
noisy communication link, part I", IEEE Trans. Inf. Theory 52(8), 2006; P. Minero, M. Franceschetti, S. Dey and G.
Nair, IEEE TAC 54(2), 2009.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, ProofGrade, Recheck, Role, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def growth(inputs: Inputs) -> float:
    """Returns (p + (1 - p) 2^(-m b))^(-1/m), also where its moment is so small or large that powers of it round."""
    loss, bits, moment = (float(inputs[name]) for name in ("loss", "bits", "moment"))
    if loss == 0:
        return float(2**bits)
    known, cut = 1 - loss, moment * bits * math.log(2)
    mean = loss + known * math.exp(-cut)
    return math.exp(-(math.log(mean) if mean < 1 / 2 else math.log1p(known * math.expm1(-cut))) / moment)


def halves() -> Checked:
    """Two parts of an interval: weighed by their lengths, the squares of these are at least a quarter of its own."""
    claims = ("(> one 0.0)", "(> other 0.0)", "(= whole (+ one other))",
              "(< (* 4.0 (+ (* one (* one one)) (* other (* other other)))) (* whole (* whole whole)))")  # fmt: skip
    return refuted("one bit leaves at least a quarter of the mean square", "QF_NRA", ("one", "other", "whole"), claims)


def capacity(reliability: float, loss: float) -> float:
    """Returns the anytime capacity of one bit a step that is lost or comes, with feedback, in bits a step."""
    return reliability / (reliability + math.log2((1 - loss) / (1 - loss * 2**reliability)))


def meets_the_capacity() -> Checked:
    """The growth of one bit is where log2 of it is the anytime capacity at that moment."""
    for loss, moment in ((0.5, 2.0), (0.1, 1.0), (0.3, 4.0), (0.01, 2.0)):
        rate = -math.log2(loss + (1 - loss) * 2**-moment) / moment
        if abs(capacity(moment * rate, loss) - rate) > 1e-12:
            return Checked(False, f"loss {loss}, moment {moment}")
    return Checked(True, "four pairs of losses and moments")


BOUND = Bound(
    name="lossy_channel_growth",
    group="limited information",
    quantity="largest growth in a step with which a moment of the state stays bounded",
    unit="1",
    kind=Status.THEOREM,
    role=Role.CEILING,
    loss="B",
    symbols=(
        Symbol("loss", "1", "share of messages that are lost", Trend.FALLS, most=1, sign="p"),
        Symbol("bits", "1", "bits of a message", Trend.RISES, most=1000, sign="b"),
        Symbol("moment", "1", "moment that stays bounded (2: mean square)", Trend.FALLS, open_=True, sign="m"),
    ),
    compute=growth,
    assumptions=("linear_plant", "independent_losses", "uniform_samples", "delimited_messages"),
    source="Sahai and Mitter 2006; Minero et al. 2009",
    examples=(
        Example({"loss": Fraction(1, 2), "bits": 1, "moment": 2}, math.sqrt(1.6), "1/sqrt(1/2 + 1/8)"),
        Example({"loss": 0, "bits": 3, "moment": 2}, 8.0, "no losses: the data rate"),
        Example({"loss": Fraction(4, 9), "bits": 60, "moment": 2}, 1.5, "all of a reading: lost_readings"),
        Example({"loss": Fraction(1, 2), "bits": 1, "moment": 1e-300}, math.sqrt(2), "the mean of the logarithm"),
        Example({"loss": 0, "bits": 1000, "moment": 9}, 2.0**1000, "no losses: the data rate"),
    ),
    proofs=(
        Recheck("smt", "one bit and the mean square, for every law of two cells", halves, ProofGrade.PART),
        Recheck("identity", "the anytime capacity of one bit a step", meets_the_capacity, ProofGrade.RELATED),
    ),
    telemetry=("share of lost readings", "bits of a reading"),
    display=r"\left( p + (1 - p) \, 2^{-m b} \right)^{-1/m}",
    unread=(
        "no key states which share of readings is lost, and the bits of the others; lost_readings is told of "
        "a state that runs away"
    ),
)
