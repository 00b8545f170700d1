"""batch forming: how long the first request of a batch waits, on average, for the last one to arrive.

## What
b - 1 more arrivals of a Poisson stream at `rate` take (b - 1)/rate on average; a request waits half of that on average.

## Why it matters
A batch that is waited for costs latency at low load whatever the scheduler does; a window bounds it by giving up size.

## Example
Batches of 8 at 100 requests/s: 70 ms for the first.

## Source
Sum of exponential gaps (Erlang stages).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend


def stages() -> Checked:
    """Checks that the mean of a sum of k exponential gaps is k/rate, from the density of Erlang's law, by sympy."""
    import sympy as sp

    t, rate = sp.symbols("t r", positive=True)
    for k in (1, 2, 5, 7):
        density = rate**k * t ** (k - 1) * sp.exp(-rate * t) / sp.factorial(k - 1)
        if sp.simplify(sp.integrate(t * density, (t, 0, sp.oo)) - k / rate) != 0:
            return Checked(False, f"{k} gaps")
    return Checked(True, "the mean of Erlang's law for 1, 2, 5 and 7 gaps")


BOUND = Bound(
    name="batch_forming_delay",
    group="queues",
    quantity="mean wait of the first request of a batch",
    unit="s",
    kind=Status.EXACT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("batch", "1", "requests of a batch", Trend.RISES, least=1, whole=True, sign="b"),
        Symbol("rate", "Hz", "arrivals per second", Trend.FALLS, open_=True, sign=r"\lambda"),
    ),
    formula="(batch - 1) / rate",
    assumptions=("poisson", "patient"),
    source="sum of exponential gaps",
    examples=(Example({"batch": Fraction(8), "rate": Fraction(100)}, 0.07, "Erlang stages"),),
    proofs=(Recheck("identity", "mean of Erlang's law", stages),),
    telemetry=("arrivals per second", "batch size"),
    unread="no key states that a member waits until so many requests have come",
)
