"""load for fresh readings: the load of an update queue at which its readings are youngest.

## What
The load where 1 + 1/rho + rho^2/(1 - rho) is least: the root in (0, 1) of r^4 - 2 r^3 + r^2 - 2 r + 1.

## Why it matters
Pushing telemetry as fast as its channel carries makes it older: about half of the capacity is best.

## Example
0.531.

## Source
S. Kaul, R. Yates and M. Gruteser, INFOCOM 2012 (about 0.53).
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Role, Status
from coherence.minimums.bounds._information_age import best_load


def load_of_least_age(inputs: Inputs) -> float:
    """It depends on nothing."""
    del inputs
    return best_load()


def slope() -> Checked:
    """Checks that the slope of the age is that polynomial over a square, changes sign there once, and is convex, by
    sympy.
    """
    import sympy as sp

    r = sp.symbols("r", positive=True)
    age = 1 + 1 / r + r**2 / (1 - r)
    polynomial = r**4 - 2 * r**3 + r**2 - 2 * r + 1
    same = sp.simplify(sp.diff(age, r) * r**2 * (1 - r) ** 2 + polynomial) == 0
    inside = sp.Poly(polynomial, r).count_roots(0, 1)
    return Checked(bool(same) and inside == 1, "one zero of the slope in (0, 1)")


BOUND = Bound(
    name="age_best_load",
    group="limited information",
    quantity="load at which readings are youngest",
    unit="1",
    kind=Status.EXACT,
    role=Role.POINT,
    loss="B",
    symbols=(),
    compute=load_of_least_age,
    assumptions=("poisson", "exponential", "fcfs", "patient", "iid", "one_at_a_time"),
    source="Kaul, Yates and Gruteser 2012",
    examples=(Example({}, 0.5310100565, "numeric minimum", 1e-5),),
    proofs=(Recheck("identity", "the slope of the age", slope),),
    telemetry=(),
    display=r"\arg\min_{0 < \rho < 1} \; 1 + \frac{1}{\rho} + \frac{\rho^2}{1 - \rho}",
    unread="no key states the time that one update of a reading takes",
)
