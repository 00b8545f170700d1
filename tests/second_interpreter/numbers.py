# ruff: noqa: E501
"""Draws promises, claims and triggers over ranges of numbers, with their truth: every point of a grid, one by one.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from random import Random
from typing import NamedTuple

from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.loads import Span, span, stated

Point = Mapping[str, Fraction]
PARTS = 8  # of a range are told apart


class Expression(NamedTuple):
    """A text of the design language, and its value at a point."""

    text: str
    at: Callable[[Point], Fraction]


def expression(random: Random, names: list[str], depth: int = 2) -> Expression:
    """Draws an expression; its denominators are at least 1."""
    if depth == 0 or random.random() < 0.2:
        if random.random() < 0.3:
            number = Fraction(random.randint(1, 6))
            return Expression(f"{number}", lambda _: number)
        name = random.choice(names)
        return Expression(name, lambda point: point[name])
    a, b = (expression(random, names, depth - 1) for _ in "ab")
    shape = random.choice(["+", "-", "*", "/", "min", "max", "abs", "ceil", "floor", "if"])
    match shape:
        case "+":
            return Expression(f"({a.text} + {b.text})", lambda p: a.at(p) + b.at(p))
        case "-":
            return Expression(f"({a.text} - {b.text})", lambda p: a.at(p) - b.at(p))
        case "*":
            return Expression(f"{a.text} * {b.text}", lambda p: a.at(p) * b.at(p))
        case "/":
            return Expression(f"{a.text} / max(1, {b.text})", lambda p: a.at(p) / max(Fraction(1), b.at(p)))
        case "min" | "max":
            choose = min if shape == "min" else max
            return Expression(f"{shape}({a.text}, {b.text})", lambda p: choose(a.at(p), b.at(p)))
        case "abs":
            return Expression(f"abs({a.text} - {b.text})", lambda p: abs(a.at(p) - b.at(p)))
        case "ceil" | "floor":
            rounded = math.ceil if shape == "ceil" else math.floor
            return Expression(f"{shape}({a.text} / 3)", lambda p: Fraction(rounded(a.at(p) / 3)))
    edge = Fraction(random.randint(0, 6))
    return Expression(
        f"({a.text} if {b.text} > {edge} else {b.text})", lambda p: a.at(p) if b.at(p) > edge else b.at(p)
    )


def grid(ranges: Mapping[str, Span]) -> list[dict[str, Fraction]]:
    """Returns every point whose values are ends of the ranges or lie between them in equal parts."""
    values = [
        [low] if low == high else [low + (high - low) * Fraction(k, PARTS) for k in range(PARTS + 1)]
        for low, high in ranges.values()
    ]
    return [dict(zip(ranges, point, strict=True)) for point in itertools.product(*values)]


def promise_of_numbers(random: Random) -> Drawn:
    """A promise over constants and ranges, and what is computed from them."""
    ranges = {f"box.{name}": span(random, -2, 6, (0, 1, 2, 5)) for name in "abc"[: random.randint(1, 3)]}
    inner, outer = expression(random, list(ranges)), None
    names = [*ranges, "box.made"]
    outer = expression(random, names)
    points = [{**point, "box.made": inner.at(point)} for point in grid(ranges)]
    values = [outer.at(point) for point in points]
    side = random.choice(["<=", "<", ">=", ">"])
    limit = random.choice([max(values), min(values), random.choice(values)]) + Fraction(
        random.choice([0, 0, 1, -1, 3]), 4
    )
    limit = Fraction(round(limit * 64), 64)
    holds = {"<=": Fraction.__le__, "<": Fraction.__lt__, ">=": Fraction.__ge__, ">": Fraction.__gt__}[side]
    cases = [not holds(value, limit) for value in values]
    more = "".join(f", {name[4:]}: {stated(ends)}" for name, ends in ranges.items())
    text = f"""coherence: 1
components: {{box: {{made: "{inner.text}"{more}}}}}
promises: {{p: "always {outer.text} {side} {float(limit)}"}}
"""
    return Drawn(text, ("COH244",), True if any(cases) else None, None if all(cases) else False, "p")


def claims_of_members(random: Random) -> Drawn:
    """What loops may ask for and members hold, added up, against a count: the most of each."""
    factors = [random.randint(1, 3) for _ in "ab"]
    bounds = [(random.randint(0, 3), random.randint(3, 9)) for _ in "ab"]
    more = span(random, 0, 3)
    most = sum(k * high for k, (_, high) in zip(factors, bounds, strict=True)) + more[1]
    least = sum(k * low for k, (low, _) in zip(factors, bounds, strict=True)) + more[0]
    count = max(1, int(random.choice([most, most, least])) + random.choice([-2, -1, 0, 0, 1]))
    loops = "".join(
        f"\n  {name}: {{timescale: {{period: 10 s}}, trigger: q.{name} > 1, actuation: {{signal: {name}.run, law: step, by: 1, bounds: [{low}, {high}]}}}}"
        for name, (low, high) in zip("ab", bounds, strict=True)
    )
    text = f"""coherence: 1
components: {{pool: {{count: {count}}}, base: {{held: {stated(more)}}}}}
claims: {{pool: {factors[0]} * a.run + {factors[1]} * b.run + base.held}}
loops:{loops}
"""
    return Drawn(text, ("COH211",), most > count, least > count)


def targets_together(random: Random) -> Drawn:
    """Promises and limits over commands and constants: is there a state that keeps them all?  Conflicts alone are judged."""
    ranges: dict[str, Span] = {
        "a.run": (Fraction(0), Fraction(random.randint(3, 8))),
        "b.run": (Fraction(0), Fraction(random.randint(3, 8))),
    }
    constants = {"box.k": span(random, 1, 4, (0, 0, 2))}
    demands = [
        expression(random, ["a.run", "b.run", "box.k"], random.choice([1, 2])) for _ in range(random.choice([2, 2, 3]))
    ]
    points = grid({**ranges, **constants})
    promises, kept = [], points
    for number, demand in enumerate(demands):
        value, side = demand.at(random.choice(points)), random.choice(["<=", ">="])
        limit = Fraction(round((value + random.choice([-2, -1, 0, 0, 1])) * 16), 16)
        promises.append(f'p{number}: "always {demand.text} {side} {float(limit)}"')
        kept = [p for p in kept if (demand.at(p) <= limit if side == "<=" else demand.at(p) >= limit)]
    loops = "".join(
        f"\n  {name}: {{timescale: {{period: 10 s}}, trigger: q.{name} > 1, actuation: {{signal: {name}.run, law: step, by: 0.5, bounds: [0, {ranges[f'{name}.run'][1]}]}}}}"
        for name in "ab"
    )
    text = f"""coherence: 1
components: {{box: {{k: {stated(constants["box.k"])}}}}}
loops:{loops}
promises: {{{", ".join(promises)}}}
"""
    return Drawn(text, ("COH231",), False if kept else None, speaks=False)


NUMBERS = (promise_of_numbers, claims_of_members, targets_together)
