"""unstable pole and delay: how much any stabilising loop amplifies at some frequency.

## What
A plant with a pole p > 0 and a delay tau in its loop has a peak of the complementary sensitivity of at least
exp(p tau), whatever the controller: T(p) = 1 is forced, and T is exp(-s tau) times a stable function.

## Why it matters
p tau much above 1 leaves no usable loop: noise and model errors are amplified exp(p tau) times at some frequency.

## Example
p = 1 /s, tau = 0.3 s: 1.35.

## Source
K. J. Astrom, "Limitations on control system performance", European J. Control 6, 2000; M. Seron, J. Braslavsky and
G. Goodwin, Fundamental Limitations in Filtering and Control, 1997.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Recheck, Status, Symbol, Trend


def mean_of_the_boundary() -> Checked:
    """Checks that the value of a stable function at p is a mean of its values on the axis: the weights p/(pi (p^2 +
    w^2)) add to 1.

    And the loop forces T(p) = 1, because the plant's pole cancels in L/(1 + L).
    """
    import sympy as sp

    w, p, s, n = sp.symbols("w p s n", positive=True)
    weights = sp.integrate(p / (sp.pi * (p**2 + w**2)), (w, 0, sp.oo)) * 2
    loop = n / (s - p)
    forced = sp.limit(sp.simplify(loop / (1 + loop)), s, p)
    return Checked(
        sp.simplify(weights - 1) == 0 and forced == 1, "weights of Poisson's integral add to 1, and T(p) = 1"
    )


BOUND = Bound(
    name="unstable_pole_peak",
    group="limited information",
    quantity="largest amplification at some frequency",
    unit="1",
    kind=Status.THEOREM,
    loss="B",
    symbols=(
        Symbol("pole", "rad/s", "unstable pole of the plant", Trend.RISES, sign="p"),
        Symbol("delay", "s", "delay in the loop", Trend.RISES, sign=r"\tau"),
    ),
    formula="exp(pole * delay)",
    assumptions=("linear_plant", "linear_law"),
    source="Astrom 2000; Seron, Braslavsky and Goodwin 1997",
    examples=(
        Example({"pole": Fraction(1), "delay": Fraction(3, 10)}, 1.3498588075760032, "exp"),
        Example({"pole": Fraction(0), "delay": Fraction(1)}, 1.0, "no unstable pole"),
    ),
    proofs=(Recheck("identity", "Poisson's integral and the forced value", mean_of_the_boundary, ProofGrade.PART),),
    telemetry=("delay of the loop",),
    unread="loops of a design act at samples; lost_readings is told of a state that runs away",
)
