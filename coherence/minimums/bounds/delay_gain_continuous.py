"""gain under delay, continuous: the largest gain of an integrating loop whose reading is tau seconds old.

## What
x' = -k x(t - tau) decays exactly for 0 < k tau < pi / 2.

## Why it matters
A loop on a reading tau old cannot correct faster than about tau; a gain in 1/s beyond this turns it into an oscillator
of period 4 tau.

## Example
tau = 2 s: 0.785 /s.

## Source
N. D. Hayes, "Roots of the transcendental equation associated with a certain difference-differential equation", 1950.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Role, Status, Symbol, Trend, Witness
from coherence.minimums.bounds._limited import bisected


def crossing() -> Checked:
    """j w + k exp(-j w tau) = 0 has |jw| = k, so w = k and cos(k tau) = 0: first at k tau = pi/2, moving outward."""
    import sympy as sp

    s, k, tau = sp.symbols("s k tau")
    f = s + k * sp.exp(-s * tau)
    at = {s: sp.I * sp.pi / (2 * tau), k: sp.pi / (2 * tau)}
    root = sp.simplify(f.subs(at)) == 0
    speed = sp.simplify((-sp.diff(f, k) / sp.diff(f, s)).subs(at).subs(tau, 1))
    first = all(sp.cos(x) > 0 for x in (sp.Rational(1, 10), 1, sp.Rational(3, 2)))  # no crossing before pi/2
    outward = bool(sp.re(speed).evalf() > 0)
    return Checked(bool(root and outward and first), "a root on the axis at k tau = pi/2, moving to the right")


def _grows(tau: float, gain: float) -> bool:
    from scipy.special import lambertw

    return bool((lambertw(-gain * tau) / tau).real >= 0)


def edge_of_roots(inputs: Inputs) -> float:
    """Returns the gain at which the rightmost root, W(-k tau)/tau with Lambert's W, reaches the axis."""
    tau = float(inputs["delay"])
    return bisected(partial(_grows, tau), 0.5 / tau, 3.0 / tau)


BOUND = Bound(
    name="delay_gain_continuous",
    group="limited information",
    quantity="largest stable gain",
    unit="rad/s",
    kind=Status.TIGHT,
    role=Role.CEILING,
    loss="B",
    symbols=(Symbol("delay", "s", "age of the reading", Trend.FALLS, open_=True, sign=r"\tau"),),
    formula="pi / (2 * delay)",
    assumptions=("gain_law", "linear_plant", "integrator"),
    source="Hayes 1950",
    examples=(Example({"delay": Fraction(2)}, 0.7853981633974483, "phase crossover"),),
    proofs=(Recheck("identity", "the first root on the axis", crossing),),
    witness=Witness("bisection on the rightmost root by Lambert's W", edge_of_roots),
    telemetry=("age of readings",),
    unread="loops of a design act at samples: sampled_gain",
)
