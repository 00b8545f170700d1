# ruff: noqa: E501
"""Draws designs of two loops that write one signal, with their truth: every value of it, one by one.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random

from tests.second_interpreter.drawn import Drawn


def two_writers(random: Random) -> Drawn:
    """Two loops that step one signal, each under a threshold of its own; from a start, or from anywhere."""
    up, down = random.randint(1, 5), random.randint(1, 5)
    below, above = Fraction(random.randint(4, 16), 2), Fraction(random.randint(4, 16), 2)
    high_up, high_down = random.randint(6, 12), random.randint(6, 12)
    start = Fraction(random.randint(0, 4 * min(high_up, high_down)), 4) if random.random() < 0.6 else None
    strict = random.choice(["<", "<="]), random.choice([">", ">="])

    def moves(n: Fraction) -> dict[str, Fraction]:
        low = n < below or (n == below and strict[0] == "<=")
        high = n > above or (n == above and strict[1] == ">=")
        after = {"up": min(max(n + up, Fraction(0)), Fraction(high_up))} if low else {}
        return {**after, **({"down": min(max(n - down, Fraction(0)), Fraction(high_down))} if high else {})}

    starts = [start] if start is not None else [Fraction(k, 4) for k in range(4 * max(high_up, high_down) + 1)]
    breaks = any(both_for_ever(n, moves) for n in starts)
    more = f", from: {float(start)}" if start is not None else ""
    text = f"""coherence: 1
loops:
  up: {{trigger: pool.n {strict[0]} {float(below)}, actuation: {{signal: pool.n, law: step, by: {up}, bounds: [0, {high_up}]{more}}}}}
  down: {{trigger: pool.n {strict[1]} {float(above)}, actuation: {{signal: pool.n, law: step, by: -{down}, bounds: [0, {high_down}]{more}}}}}
"""
    return Drawn(text, ("COH230", "COH232"), breaks)


def both_for_ever(start: Fraction, moves: Callable[[Fraction], dict[str, Fraction]]) -> bool:
    """Decides whether a lap of values is reachable on which both loops change the value."""
    reached, todo = {start}, [start]
    while todo:
        for after in moves(todo.pop()).values():
            if after not in reached:
                reached.add(after)
                todo.append(after)

    def from_(n: Fraction) -> set[Fraction]:
        seen, ahead = set[Fraction](), [n]
        while ahead:
            fresh = [after for after in moves(ahead.pop()).values() if after not in seen]
            seen.update(fresh)
            ahead += fresh
        return seen

    on_laps = {n for n in reached if n in from_(n)}
    ways = {(n, way) for n in on_laps for way, after in moves(n).items() if after != n and n in {after} | from_(after)}
    return {"up", "down"} <= {way for _, way in ways}


def two_scalers(random: Random) -> Drawn:
    """Two proportional loops on one count, or one and a setter; what they read is stated: is some count left alone?"""
    low, high = random.randint(1, 3), random.randint(4, 12)
    other = low if random.random() < 0.7 else random.randint(1, 4), high + random.choice([0, 0, 0, -1, 2])
    other = min(other), max(other)
    goals = [random.choice([5, 8, 10, 12, 15]) for _ in "ab"]
    slacks = [Fraction(random.choice([0, 10, 20]), 100) for _ in "ab"]
    shape = random.choice(["load / n", "load / max(1, n)", "load", "max(load / max(1, n), 6)", "20 - n"])
    load, more = random.randint(5, 120), random.choice([0, 0, 1, 30]) if shape != "load" else 0
    fixed = random.randint(low, high) if random.random() < 0.3 else None

    def usage(load: Fraction, n: int) -> Fraction:
        match shape:
            case "load":
                return load
            case "20 - n":
                return Fraction(20 - n)
            case "max(load / max(1, n), 6)":
                return max(load / max(1, n), Fraction(6))
        return load / max(1, n)

    def moved(k: int, ends: tuple[int, int], load: Fraction, n: int) -> int:
        ratio = usage(load, n) / goals[k]
        wish = n if abs(ratio - 1) <= slacks[k] else math.ceil(n * ratio)
        return min(max(wish, ends[0]), ends[1])

    def rest(load: Fraction) -> bool:
        left_alone = [n for n in range(40) if moved(0, (low, high), load, n) == n]
        return any(n == (moved(1, other, load, n) if fixed is None else fixed) for n in left_alone)

    stated = f"{load} .. {load + more}" if more else f"{load}"
    target = [
        f"target: {{signal: web.usage, setpoint: {g}, tolerance: {float(s * 100)} %}}"
        for g, s in zip(goals, slacks, strict=True)
    ]
    second = (
        f"actuation: {{signal: web.n, law: set, to: {fixed}, mode: always}}" if fixed is not None
        else f"{target[1]}, actuation: {{signal: web.n, law: proportional, bounds: [{other[0]}, {other[1]}]}}"
    )  # fmt: skip
    text = f"""coherence: 1
components: {{web: {{load: {stated}, usage: "{shape}"}}}}
loops:
  a: {{timescale: {{period: 15 s}}, {target[0]}, actuation: {{signal: web.n, law: proportional, bounds: [{low}, {high}], from: {low}}}}}
  b: {{timescale: {{period: 15 s}}, {second}}}
"""
    loads = (Fraction(k, 20) for k in range(20 * load, 20 * (load + more) + 1))  # tolerances end at tenths
    breaks = any(not rest(load) for load in loads)
    return Drawn(text, ("COH205",), breaks)


def writers_of_work(random: Random) -> Drawn:
    """Two loops that step a count by the work on each member; work is one unknown constant, stated, ranged or outside."""
    up, down = random.randint(1, 5), random.randint(1, 5)
    above, below = Fraction(random.randint(4, 12), 10), Fraction(random.randint(2, 10), 10)
    low, high_up, high_down = random.randint(1, 2), random.randint(5, 9), random.randint(5, 9)
    start = random.randint(low, min(high_up, high_down))
    span = random.choice(
        [None, (Fraction(random.randint(2, 12), 2),) * 2, (Fraction(1), Fraction(random.randint(2, 8)))]
    )

    def moves(work: Fraction, n: Fraction) -> dict[str, Fraction]:
        share = work / n
        after = {"up": min(max(n + up, Fraction(low)), Fraction(high_up))} if share >= above else {}
        return {**after, **({"down": min(max(n - down, Fraction(low)), Fraction(high_down))} if share <= below else {})}

    edges = sorted({Fraction(n) * share for n in range(1, 16) for share in (above, below)})
    ends = span or (Fraction(0), edges[-1] + 1)
    inside = sorted({*ends, *(edge for edge in edges if ends[0] <= edge <= ends[1])})
    works = [*inside, *((a + b) / 2 for a, b in itertools.pairwise(inside))]
    breaks = any(both_for_ever(Fraction(start), partial(moves, work)) for work in works)
    stated = (
        "" if span is None else f"{float(span[0])}" if span[0] == span[1] else f"{float(span[0])} .. {float(span[1])}"
    )
    components = f"components: {{web: {{work: {stated}}}}}\n" if stated else ""
    text = f"""coherence: 1
{components}loops:
  up: {{trigger: web.work / pool.n >= {float(above)}, actuation: {{signal: pool.n, law: step, by: {up}, bounds: [{low}, {high_up}], from: {start}}}}}
  down: {{trigger: web.work / pool.n <= {float(below)}, actuation: {{signal: pool.n, law: step, by: -{down}, bounds: [{low}, {high_down}], from: {start}}}}}
"""
    return Drawn(text, ("COH230", "COH232"), breaks)


WRITERS = (two_writers, two_scalers, writers_of_work)
