"""Tests whether instruments are strong: weak ones give an estimate near the biased one, and no warning.

The smallest eigenvalue of the first stage, as an F value: how much the instruments move the causes beyond what else
is held fixed.  Below 10 the equation is refused.
SOURCE: Cragg and Donald 1993; Stock and Yogo 2005 (an F of 10 bounds the bias at about a tenth of least squares').
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from coherence.base.number_text import render_number
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.gram import Column, Grams, unexplained
from coherence.causal.fitting.memory import OUTSIDE, filtered

ENOUGH = 10.0


def weak(products: Grams, equations: Iterable[Equation]) -> Iterator[Equation]:
    """What replaces the equations that rest on weak instruments: the filter of `memory` where that is right, else
    refusals of every coefficient, for weak instruments spoil those beside them too.
    """
    for equation in equations:
        if equation.instruments and not equation.lost:
            strength = first_stage(products, equation)
            if strength < ENOUGH:
                lost = _moved(equation)
                if equation.method == OUTSIDE:
                    yield filtered(replace(equation, instruments=()))
                    continue
                names = " and ".join(dict.fromkeys(name for name, _ in _beside(equation)))
                causes = " and ".join(dict.fromkeys(name for name, _ in lost))
                figure = f"first-stage F {render_number(strength, 2)}, at least {ENOUGH:g} is needed"
                why = f"{names} hardly moves {causes} ({figure})"
                more = (f"a longer record, or something that moves {causes} more",)
                yield replace(equation, lost=equation.columns, refused=why, measure=more)


def refused(equation: Equation) -> Equation:
    """Where the data cannot be read again: no other estimate can be made, so none is given."""
    why = f"what comes from outside hardly moves the causes of {equation.effect} (first-stage F below {ENOUGH:g})"
    more = ("a longer record, or fit it without --stream",)
    return Equation(equation.effect, equation.columns, lost=equation.columns, refused=why, measure=more)


def first_stage(products: Grams, equation: Equation) -> float:
    """The smallest first-stage F of an equation with instruments; infinite where nothing needs one."""
    moved, beside = _moved(equation), _beside(equation)
    if not moved:
        return float("inf")
    fixed = [0, *products.index([column for column in equation.columns if column not in moved]),
             *products.index(equation.controls), *products.index(equation.clocks)]  # fmt: skip
    wanted = [*products.index(moved), *products.index(beside)]
    left = unexplained(products.whole, fixed, wanted)
    count = len(moved)
    xx, xz, zz = left[:count, :count], left[:count, count:], left[count:, count:]
    explained = xz @ np.linalg.pinv(zz, rcond=1e-10, hermitian=True) @ xz.T
    free = max(float(products.whole[0, 0]) - len(fixed) - len(beside), 1.0)
    noise = np.linalg.pinv((xx - explained) / free, rcond=1e-12, hermitian=True)
    return max(float(np.linalg.eigvals(noise @ explained).real.min()), 0.0) / max(len(beside), 1)


def _moved(equation: Equation) -> tuple[Column, ...]:
    """The causes that need an instrument."""
    return tuple(column for column in equation.columns if column not in equation.instruments)


def _beside(equation: Equation) -> tuple[Column, ...]:
    """The instruments that are no causes themselves."""
    return tuple(column for column in equation.instruments if column not in equation.columns)
