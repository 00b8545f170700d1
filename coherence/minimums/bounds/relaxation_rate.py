"""relaxation rate: how fast an exponential server forgets the length of its queue.

## What
The least non-zero rate of the M/M/1 generator (its spectral gap) is (sqrt(mu) - sqrt(lambda))^2: what is left of a
disturbance falls no faster than exp(-rate t) in the long run.

## Why it matters
Near saturation the fluid model mu (1 - rho)^2 relaxes up to four times as fast: a loop designed on it meets a queue
that answers more slowly. No controller that leaves arrivals and service alone has a backlog forgotten sooner.

## Example
mu = 1/s, lambda = 0.81/s: 0.01/s, a time constant of 100 s, where the fluid model says 27.7 s.

## Source
P. M. Morse, Stochastic properties of waiting lines, Operations Research 3 (1955); J. W. Cohen, The Single Server Queue,
II.2.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Recheck, Role, Status, Symbol, Trend


def spectrum() -> Checked:
    """Checks that waves of number theta are modes of the generator, at length 0 too, and decay at
    mu + lambda - 2 sqrt(mu lambda) cos(theta), which is the bound at theta = 0 and nowhere less.
    """
    import sympy as sp

    mu, lam, theta, n = sp.symbols("mu lambda theta n", positive=True)
    decay = mu + lam - 2 * sp.sqrt(mu * lam) * sp.cos(theta)

    def mode(k: sp.Expr) -> sp.Expr:
        """Returns the part of a wave at length k; its end at 0 is a multiple of the one that stands there."""
        return sp.sqrt(mu / lam) ** k * (sp.sin((k + 1) * theta) - sp.sqrt(mu / lam) * sp.sin(k * theta))

    inside = lam * mode(n + 1) + mu * mode(n - 1) + (decay - lam - mu) * mode(n)
    empty = lam * mode(sp.Integer(1)) + (decay - lam) * mode(sp.Integer(0))
    rests = [sp.simplify(sp.expand(sp.expand_trig(rest))) for rest in (inside / sp.sqrt(mu / lam) ** n, empty)]
    least = sp.simplify(decay - (sp.sqrt(mu) - sp.sqrt(lam)) ** 2 - 2 * sp.sqrt(mu * lam) * (1 - sp.cos(theta)))
    return Checked(rests == [0, 0] and least == 0, "modes inside and at the empty queue, the slowest at theta = 0")


BOUND = Bound(
    name="relaxation_rate",
    group="queues",
    quantity="rate at which the length of a queue is forgotten",
    unit="Hz",
    kind=Status.EXACT,
    role=Role.CEILING,
    loss="B",
    symbols=(
        Symbol(
            "service_rate", "Hz", "requests that the server can serve per second", Trend.RISES, open_=True, sign=r"\mu"
        ),
        Symbol("rate", "Hz", "arrivals per second", Trend.FALLS, sign=r"\lambda"),
    ),
    formula="service_rate * power(1 - sqrt(rate / service_rate), 2)",
    valid="rate < service_rate",
    assumptions=("poisson", "exponential", "fcfs", "patient", "iid", "one_at_a_time"),
    source="Morse 1955; Cohen, The Single Server Queue",
    examples=(Example({"service_rate": Fraction(1), "rate": Fraction(81, 100)}, 0.01, "arithmetic"),),
    proofs=(Recheck("identity", "modes of the birth-death generator", spectrum),),
    telemetry=("arrivals per second", "service rate"),
    unread="no key states that a queue is to be forgotten by some time; erlang_wait is told of a design's queues",
)
