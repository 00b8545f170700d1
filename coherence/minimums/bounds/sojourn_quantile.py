"""sojourn quantile: the time that a share q of requests at one exponential server stays below.

## What
The time in an M/M/1 system is exponential with rate mu - lambda; its quantile is -log(1 - q) / (mu - lambda).

## Why it matters
At high load the tail is the mean times a constant: a percentile promise is a promise about the load.

## Example
mu = 1/s, lambda = 0.9/s, q = 0.99: 46.05 s.

## Source
L. Kleinrock, Queueing Systems I, section 3.2.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def mixture() -> Checked:
    """Checks that a geometric number of exponential stages of rate mu is exponential with rate mu - lambda (Laplace
    transforms).
    """
    import sympy as sp

    s, mu, rho = sp.symbols("s mu rho", positive=True)
    stage = mu / (mu + s)
    mixed = (1 - rho) * stage / (1 - rho * stage)
    return Checked(sp.simplify(mixed - mu * (1 - rho) / (mu * (1 - rho) + s)) == 0, "the transforms are the same")


BOUND = Bound(
    name="sojourn_quantile",
    group="queues",
    quantity="quantile of the time in the system",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol(
            "service_rate", "Hz", "requests that the server can serve per second", Trend.FALLS, open_=True, sign=r"\mu"
        ),
        Symbol("rate", "Hz", "arrivals per second", Trend.RISES, sign=r"\lambda"),
        Symbol("q", "1", "share of requests", Trend.RISES, most=1.0),
    ),
    formula="-log(1 - q) / (service_rate - rate)",
    valid="rate < service_rate and q < 1",
    assumptions=("poisson", "exponential", "fcfs", "patient", "iid", "one_at_a_time"),
    source="Kleinrock, Queueing Systems I",
    examples=(
        Example(
            {"service_rate": Fraction(1), "rate": Fraction(9, 10), "q": Fraction(99, 100)},
            46.0517018598809,
            "arithmetic",
        ),
    ),
    proofs=(Recheck("identity", "Laplace transforms", mixture),),
    telemetry=("arrivals per second", "service rate"),
    unread="no key promises a share of the time in a system by itself; wait_beyond is told of time-outs",
)
