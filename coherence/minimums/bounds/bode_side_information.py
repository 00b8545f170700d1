"""sensitivity with side information: the least peak of a sampled loop that is told C bits of its disturbance ahead.

## What
The mean logarithm of the sensitivity is no less than the logarithms of the unstable eigenvalues minus C log(2): a share
f of the frequencies that is damped to a level e leaves exp((log(growth) + f log(1/e) - C log(2))/(1 - f)) elsewhere.

## Why it matters
It says what a preview buys (a schedule of what comes, a forecast, a signal from upstream), in bits per sample.

## Example
Half of the frequencies damped to a tenth, 1 bit a sample: 2.5 instead of 10.

## Source
Cited from memory: N. Martins, M. Dahleh and J. Doyle, "Fundamental limitations of disturbance attenuation in the
presence of side information", IEEE Trans. Automatic Control 52(1), 2007.  N. Martins and M. Dahleh, "Feedback control
in the presence of noisy channels", the same journal 53(7), 2008, 1604-1615: causal feedback does not lessen the entropy
that enters a loop, from which the mean logarithm without side information follows; told bits lessen it by as many.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Status, Symbol, Trend


def quantised() -> Checked:
    """A preview of b bits leaves 2^-b of a uniform disturbance: the logarithm of what is left is -b log(2), exactly."""
    import sympy as sp

    bits = sp.symbols("b", positive=True)
    left = sp.log(1 / 2**bits)
    return Checked(sp.simplify(left + bits * sp.log(2)) == 0, "cells of a uniform disturbance at a first sample")


BOUND = Bound(
    name="bode_side_information",
    group="limited information",
    quantity="least peak of the sensitivity with a preview",
    unit="1",
    kind=Status.THEOREM,
    loss="B",
    symbols=(
        Symbol("growth", "1", "product of the unstable eigenvalues (1: none)", Trend.RISES, least=1.0),
        Symbol("share", "1", "share of the frequencies that are damped", Trend.RISES, most=1.0, sign="f"),
        Symbol("level", "1", "what is left of a disturbance there", Trend.FALLS, most=1.0, open_=True),
        Symbol("preview", "1", "bits of the disturbance that are told ahead, of each sample", Trend.FALLS, sign="C"),
    ),
    formula="exp((log(growth) + share * log(1 / level) - preview * log(2)) / (1 - share))",
    valid="share < 1 and log(growth) + share * log(1 / level) >= preview * log(2)",
    assumptions=("linear_plant", "strictly_proper", "uniform_samples", "gaussian_disturbance"),
    source="Martins and Dahleh 2008; from memory Martins, Dahleh and Doyle 2007",
    examples=(
        Example({"growth": 1, "share": Fraction(1, 2), "level": Fraction(1, 10), "preview": 1}, 2.5, "a quarter of 10"),
        Example({"growth": 2, "share": 0, "level": 1, "preview": 1}, 1.0, "one bit undoes one doubling"),
    ),
    proofs=(Recheck("identity", "what a preview leaves", quantised, ProofGrade.RELATED),),
    telemetry=("frequency response of the loop", "preview of disturbances"),
    unread="no key states what is told of a disturbance ahead",
)
