"""Mean age of information behind a queue first come first served with Poisson updates and exponential service."""

from __future__ import annotations

from functools import cache

FORMULA = "(1 + 1 / load + load * load / (1 - load)) * mean"


@cache
def best_load() -> float:
    """The load at which the age is least: the root in (0, 1) of r^4 - 2 r^3 + r^2 - 2 r + 1, where its slope is 0."""
    low, high = 0.0, 1.0
    for _ in range(80):
        r = (low + high) / 2
        low, high = (r, high) if r**4 - 2 * r**3 + r**2 - 2 * r + 1 > 0 else (low, r)
    return low


def age(load: float) -> float:
    """In mean service times."""
    return 1 + 1 / load + load * load / (1 - load)
