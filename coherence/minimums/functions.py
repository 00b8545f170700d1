"""Computes the functions of formulas: those of the expression language, and what bounds need beside them.

Each is a number, a symbol of sympy and a piece of LaTeX.  Exact arguments stay exact where the function allows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Number = Fraction | float
CONSTANTS: Mapping[str, float] = {"pi": math.pi}
SUMMED = 100_000  # terms of a harmonic number that are added one by one


def harmonic(n: Number) -> float:
    """Returns 1 + 1/2 + ... + 1/n for whole n >= 0; for large n by its series (error below 1/(252 n^6))."""
    count = int(n)
    if count != n or count < 0:
        raise ValueError(f"harmonic({float(n):g}) needs a whole number >= 0")
    if count <= SUMMED:
        from coherence.simulate.jobs.closed_forms import harmonic as summed

        return summed(count)
    return math.log(count) + 0.5772156649015329 + 1 / (2 * count) - 1 / (12 * count**2) + 1 / (120 * count**4)


def lambert_w(x: Number) -> float:
    """Returns w >= -1 with w exp(w) = x, for x >= -1/e (the principal branch)."""
    from scipy.special import lambertw

    if x < -math.exp(-1):
        raise ValueError(f"lambert_w({float(x):g}) has no real value below -1/e")
    return float(lambertw(float(x)).real) if x > -math.exp(-1) else -1.0  # where the branches meet it is no number


def erlang_b(servers: Number, offered: Number) -> float:
    """Returns the share of arrivals that find all servers busy, without a queue; `offered` in Erlang."""
    from coherence.base.queueing import erlang_b as blocked

    return blocked(_whole("erlang_b", servers), float(offered))


def erlang_c(servers: Number, offered: Number) -> float:
    """Returns the share of arrivals that wait; 1 at and above saturation."""
    from coherence.base.queueing import erlang_c as waiting

    return waiting(_whole("erlang_c", servers), float(offered))


def _whole(name: str, n: Number) -> int:
    if int(n) != n or n < 1:
        raise ValueError(f"{name} needs a whole number >= 1 of servers, not {float(n):g}")
    return int(n)


def normal_cdf(x: Number) -> float:
    """Returns P(Z <= x) of a standard normal Z."""
    return 0.5 * math.erfc(-float(x) / math.sqrt(2))


def normal_density(x: Number) -> float:
    """Returns exp(-x^2/2) / sqrt(2 pi)."""
    return math.exp(-(float(x) ** 2) / 2) / math.sqrt(2 * math.pi)


def power(x: Number, y: Number) -> Number:
    """Returns x^y; exact for a rational x and a small whole y."""
    whole = int(y)
    if isinstance(x, int | Fraction) and whole == y and abs(whole) <= 64:
        return Fraction(x) ** whole
    return math.pow(x, y)


def log(x: Number, base: Number = math.e) -> float:
    """Returns the logarithm, natural or to a base; of a fraction near 1 or beyond floating point just as exactly."""
    if isinstance(x, Fraction) and base == math.e and x > 0:
        near = abs(x - 1) < Fraction(1, 2)
        return math.log1p(x - 1) if near else math.log(x.numerator) - math.log(x.denominator)
    return math.log(x) if base == math.e else math.log2(x) if base == 2 else math.log(x) / math.log(base)


NUMERIC: Mapping[str, Callable[..., Any]] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": log,
    "log2": math.log2,
    "sin": math.sin,
    "power": power,
    "harmonic": harmonic,
    "lambert_w": lambert_w,
    "erlang_b": erlang_b,
    "erlang_c": erlang_c,
    "normal_cdf": normal_cdf,
    "normal_density": normal_density,
}
# spellings of published formulas and of computer algebra; read as the name behind them
ALIASES: Mapping[str, str] = {
    "Max": "max", "Min": "min", "Abs": "abs", "ceiling": "ceil", "ln": "log", "LambertW": "lambert_w",
    "Phi": "normal_cdf",
}  # fmt: skip
ARITY: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("min", "max"), (1, 99)),
    **dict.fromkeys(("abs", "floor", "ceil", "sqrt", "exp", "log2", "sin"), (1, 1)),
    "log": (1, 2),
    **dict.fromkeys(("harmonic", "lambert_w", "normal_cdf", "normal_density"), (1, 1)),
    **dict.fromkeys(("power", "erlang_b", "erlang_c"), (2, 2)),
}


def symbolic() -> Mapping[str, Any]:
    """Returns the same as functions of sympy; those without a form there stay applied functions of their name."""
    import sympy as sp

    return {
        "sqrt": sp.sqrt,
        "log": sp.log,
        "log2": lambda x: sp.log(x, 2),
        "sin": sp.sin,
        "power": sp.Pow,
        "harmonic": sp.harmonic,
        "lambert_w": sp.LambertW,
        "erlang_b": sp.Function("B"),
        "erlang_c": sp.Function("C"),
        "normal_cdf": lambda x: (1 + sp.erf(x / sp.sqrt(2))) / 2,
        "normal_density": lambda x: sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi),
    }


def spellings() -> Mapping[str, tuple[int, int]]:
    """Returns (fewest, most) arguments of each name or alias."""
    return {**ARITY, **{alias: ARITY[name] for alias, name in ALIASES.items()}}
