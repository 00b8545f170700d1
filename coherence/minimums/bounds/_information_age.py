"""Mean age of information behind a queue first come first served with Poisson updates and exponential service."""

from __future__ import annotations

from functools import cache

from coherence.base.bisection import halved

FORMULA = "(1 + 1 / load + load * load / (1 - load)) * mean"


@cache
def best_load() -> float:
    """Returns the load of the least age: the root in (0, 1) of r^4 - 2 r^3 + r^2 - 2 r + 1, where its slope is 0."""
    return halved(lambda r: r**4 - 2 * r**3 + r**2 - 2 * r + 1 > 0, 0.0, 1.0)[0]


def age(load: float) -> float:
    """In mean service times."""
    return 1 + 1 / load + load * load / (1 - load)
