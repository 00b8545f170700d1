"""barrier, lognormal members: the mean of the slowest of n independent lognormal members over the mean of one.

## What
Times exp(sigma Z) with Z standard normal.  The mean of the largest of n, by its tail, over exp(sigma^2 / 2).

## Why it matters
Kernel and link times have a right tail; a small sigma already costs a third at a thousand members.

## Example
1,024 members, sigma 0.1: 1.3777 times the mean of one.

## Source
Order statistics of the lognormal law: E[max] = integral of 1 - F(t)^n; the integral is the claim, evaluated to 1e-8.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Quantifier, Recheck, Status, Symbol, Trend


def stretch(n: int, sigma: float) -> float:
    """E[exp(sigma max Z_i)] / E[exp(sigma Z)] = integral of n phi(z) Phi(z)^(n-1) exp(sigma z - sigma^2/2)."""
    from scipy.integrate import quad
    from scipy.special import log_ndtr

    if n == 1 or sigma == 0:
        return 1.0
    log_n = math.log(n)

    def density(z: float) -> float:  # exp(sigma z - sigma^2/2) phi(z) = phi(z - sigma): shifted by sigma
        shifted = z + sigma
        return math.exp(log_n - z * z / 2 - math.log(2 * math.pi) / 2 + (n - 1) * float(log_ndtr(shifted)))

    peak = math.sqrt(2 * log_n)
    integral = quad(density, -40, 40, points=[-sigma, 0.0, min(peak, 30.0)], limit=400, epsabs=1e-12, epsrel=1e-11)
    return float(integral[0])


def slowest(inputs: Inputs) -> float:
    """Returns the stretch."""
    return stretch(int(inputs["n"]), float(inputs["sigma"]))


def two_members() -> Checked:
    """Of two, E[max]/mean = 2 Phi(sigma / sqrt(2)): a closed form, to 1e-10."""
    worst = max(abs(stretch(2, s) - math.erfc(-s / 2)) for s in (0.05, 0.1, 0.5, 1.0, 2.0))
    return Checked(worst < 1e-10, f"two members: the integral is 2 Phi(sigma / sqrt(2)) within {worst:.1e}")


BOUND = Bound(
    name="barrier_lognormal",
    group="barriers",
    quantity="mean time of the slowest member over the mean of one",
    unit="1",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="A",
    symbols=(
        Symbol("n", "1", "members", Trend.RISES, least=1, whole=True),
        Symbol("sigma", "1", "standard deviation of the logarithm of a time", Trend.RISES, most=10.0),
    ),
    compute=slowest,
    assumptions=("iid", "lognormal"),
    source="order statistics of the lognormal law",
    examples=(Example({"n": 1024, "sigma": Fraction(1, 10)}, 1.3777405268973688, "numeric integral", 1e-7),),
    proofs=(Recheck("identity", "closed form of two members", two_members),),
    telemetry=("times of the members in each step",),
    display=(
        r"e^{-\sigma^2 / 2} \int_0^\infty \left( 1 - \Phi\left( \frac{\ln x}{\sigma} \right)^n \right) "
        r"dx, \quad \sigma = \mathrm{sigma}"
    ),
    unread="no key states the law of a member's time; only its range",
)
