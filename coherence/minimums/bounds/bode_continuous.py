"""Bode's integral: what is damped at some frequencies is amplified at others.

## What
The integral of log |S| over all frequencies is pi times the sum of the unstable poles, if the loop's gain falls faster
than 1/frequency or has a dead time (k/s alone never amplifies).  With |S| <= level up to `band`
and no action beyond the available bandwidth, the peak in between is at least
exp((pi poles + band log(1/level)) / (available - band)).

## Why it matters
A loop that is retuned to reject one disturbance better pays at another frequency; the bill cannot be avoided.

## Example
No unstable pole, |S| <= 0.1 up to 1 rad/s, 5 rad/s available: a peak of 1.78.

## Source
H. W. Bode 1945; J. Freudenberg and D. Looze, IEEE TAC 30, 1985; G. Stein, "Respect the unstable", 1989 (2003).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Status, Symbol, Trend


def constant_pieces() -> Checked:
    """The least peak: log |S| is -a up to the band and one constant beyond it; that constant solves the integral."""
    import sympy as sp

    poles, band, depth, available, height = sp.symbols("P w a W m", positive=True)
    (solution,) = sp.solve(sp.Eq(-band * depth + (available - band) * height, sp.pi * poles), height)
    claim = (sp.pi * poles + band * depth) / (available - band)
    x, p = sp.symbols("x p", positive=True)
    single = sp.integrate(sp.log(1 + p**2 / x**2) / 2, (x, 0, sp.oo))  # |S| of 1/(s - p) under a gain of 2 p
    return Checked(
        sp.simplify(solution - claim) == 0 and sp.simplify(single - sp.pi * p / 2) == 0,
        "a constant beyond the band is the least peak; the integral of the elementary factor",
    )


BOUND = Bound(
    name="bode_continuous",
    group="limited information",
    quantity="least peak of the sensitivity",
    unit="1",
    kind=Status.THEOREM,
    loss="B",
    symbols=(
        Symbol("poles", "rad/s", "sum of the unstable poles", Trend.RISES, sign="p"),
        Symbol("band", "rad/s", "angular frequency up to which disturbances are damped", Trend.RISES, sign=r"\omega_1"),
        Symbol("level", "1", "what is left of a disturbance in that band", Trend.FALLS, most=1.0, open_=True),
        Symbol(
            "available", "rad/s", "angular frequency up to which the loop acts", Trend.FALLS, open_=True, sign=r"\Omega"
        ),
    ),
    formula="exp((pi * poles + band * log(1 / level)) / (available - band))",
    valid="band < available",
    assumptions=("linear_plant", "linear_law", "available_bandwidth", "roll_off"),
    source="Bode 1945; Freudenberg and Looze 1985; Stein 2003",
    examples=(
        Example(
            {"poles": Fraction(0), "band": Fraction(1), "level": Fraction(1, 10), "available": Fraction(5)},
            10**0.25,
            "arithmetic",
        ),
        Example(
            {"poles": Fraction(1), "band": Fraction(1), "level": Fraction(1, 2), "available": Fraction(11)},
            1.4673733759079373,
            "exp(pi/10) times the tenth root of 2",
        ),
    ),
    proofs=(Recheck("identity", "the least peak under the integral", constant_pieces),),
    telemetry=("frequency response",),
    unread="no key states up to which frequency a loop acts, and what is to be damped",
)
