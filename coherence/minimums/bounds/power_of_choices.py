"""power of d choices: the mean time in a large system whose requests join the shortest of d queues.

## What
Sum over i >= 1 of rate^((d^i - d)/(d - 1)), in service times, in the limit of many servers; d = 1 is 1/(1 - rate).

## Why it matters
Two choices take most of what complete knowledge would give; the rest is what a global view can still win.

## Example
load 0.9, d = 2: 2.614.

## Source
M. Mitzenmacher, IEEE TPDS 12(10), 2001; N. Vvedenskaya, R. Dobrushin, F. Karpelevich 1996.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Quantifier, Recheck, Status, Symbol, Trend


def series(load: float, choices: int) -> float:
    """Returns the sum until its terms no longer count."""
    if choices == 1:
        return 1 / (1 - load)
    total, exponent = 0.0, 0
    while True:
        term = load**exponent
        total += term
        if term < 1e-17 * total:
            return total
        exponent = exponent * choices + choices


def mean_time(inputs: Inputs) -> float:
    """In units of the mean service time."""
    return series(float(inputs["load"]), int(inputs["choices"]))


def fixed_point() -> Checked:
    """s_i = load^((d^i - 1)/(d - 1)) is stationary: load (s_(i-1)^d - s_i^d) = s_i - s_(i+1), in exact fractions."""
    for d in (2, 3, 5):
        for load in (Fraction(1, 2), Fraction(9, 10)):
            s = [load ** ((d**i - 1) // (d - 1)) for i in range(5)]
            if any(load * (s[i - 1] ** d - s[i] ** d) != s[i] - s[i + 1] for i in range(1, 4)):
                return Checked(False, f"d = {d}, load {load}: not stationary")
    return Checked(True, "the tail is a stationary point of the mean-field equations, exactly")


BOUND = Bound(
    name="power_of_choices",
    group="queues",
    quantity="mean time in the system over the mean service time",
    unit="1",
    kind=Status.CLASS_COST,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("load", "1", "load of each server", Trend.RISES, most=0.999999),
        Symbol("choices", "1", "queues that a request looks at", Trend.FALLS, least=1, whole=True, sign="d"),
    ),
    compute=mean_time,
    assumptions=("poisson", "exponential"),
    source="Mitzenmacher 2001",
    examples=(
        Example({"load": Fraction(9, 10), "choices": 2}, 2.614057377323876, "published table: 2.6141", 1e-9),
        Example({"load": Fraction(9, 10), "choices": 1}, 10.0, "M/M/1"),
    ),
    proofs=(Recheck("identity", "stationary point of the mean field", fixed_point),),
    telemetry=("load", "choices of the dispatcher"),
    display=r"\sum_{i = 1}^\infty \mathrm{load}^{(d^i - d)/(d - 1)}",
    unread="members of a design share one queue; no key gives each its own",
)
