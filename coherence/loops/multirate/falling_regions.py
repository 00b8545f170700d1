"""Proves that a run stays where bounds hold nothing: the region {x' P x <= level} of a form that falls.

In the region |a x| <= sqrt(level v' P v) + |F' (a - P v)| |y| for any v, where x = F y and |y|^2 <= 2 level: with v
near P^-1 a the second part is next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.findings.question_input import rational
from coherence.loops.multirate.balls import Ball
from coherence.loops.multirate.falling_forms import LONG, FallingForm, rounded

Array = Any
Guard = tuple[Sequence[Ball], Fraction]  # a and d
ROOT = 10**9  # digits of a root that is rounded up
ROOM = Fraction(999, 1000)  # of the largest level, in floats
TINY = 1e-12  # of a guard that reads next to nothing


def region_level(form: FallingForm, guards: Sequence[Guard]) -> Fraction | None:
    """Returns a level of the form under which every guard holds, shown over rationals; None where none is shown."""
    inverse = np.linalg.inv(form.form.astype(float))
    level = Fraction(min((_level(inverse, guard) for guard in guards), default=0.0)) * ROOM
    shown = level > 0 and all(_holds(form, k, guard, level) for k, guard in enumerate(guards))
    return level if shown else None


def _level(inverse: Array, guard: Guard) -> float:
    a = np.array([float(x.middle) for x in guard[0]])
    return float(guard[1]) ** 2 / max(float(a @ inverse @ a), TINY)


def _holds(form: FallingForm, k: int, guard: Guard, level: Fraction) -> bool:
    """Decides whether a guard holds under a level, and claims what decides it."""
    balls, distance = guard
    plain = np.array([[float(x.middle)] for x in balls])
    solved = rounded(np.linalg.solve(form.form.astype(float), plain), LONG)
    reached = form.claims.product(f"r{k}", form.form, solved, ("p", f"v{k}"))[:, 0]
    left = np.array([abs(x.middle - near) + x.reach for x, near in zip(balls, reached, strict=True)], dtype=object)
    rest = (left @ np.abs(form.frame)).sum() * Fraction(math.ceil(ROOT * math.sqrt(2 * level)), ROOT)
    terms = (f"(* v{k}_{i}_0 r{k}_{i}_0)" for i in range(len(reached)))
    form.claims.claims.append(
        f"(<= (* {rational(level)} (+ 0.0 {' '.join(terms)})) {rational((distance - rest) ** 2)})"
    )
    return bool(rest < distance and level * (solved[:, 0] @ reached) <= (distance - rest) ** 2)


def is_inside(form: FallingForm, x: Sequence[Ball], level: Fraction) -> bool:
    """Decides whether everything in some balls lies under a level of the form, and claims it."""
    largest = [max(abs(ball.low), abs(ball.high)) for ball in x]
    middle = np.array([ball.middle.limit_denominator(10**12) for ball in x], dtype=object)
    rest = np.array([abs(ball.middle - m) + ball.reach for ball, m in zip(x, middle, strict=True)], dtype=object)
    size = np.abs(form.form)
    slack = 2 * rest @ size @ np.array(largest, dtype=object) + rest @ size @ rest
    if middle @ form.form @ middle + slack > level:
        return False
    moved = form.claims.product("px", form.form, middle[:, None], ("p", "x"))
    terms = (f"(* x_{i}_0 px_{i}_0)" for i in range(len(moved)))
    form.claims.claims.append(f"(<= (+ {rational(slack)} {' '.join(terms)}) {rational(level)})")
    return True
