"""Finds commands with a finite set of values: those moved by constants only, and integers within bounds.

Told apart, each value is part of the mode: then whole steps are exact, and a product with such a
command is linear.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.language.expressions.tree import Arithmetic, Call, Name, Number, Tree
from coherence.model.model import Command, Interval, Model, SampledLoop

MOST_VALUES = 100
Starts = tuple[tuple[str, tuple[Fraction, ...]], ...]


def enumerable_commands(model: Model) -> Starts:
    """Returns (command, values it starts from) for every command that can be told apart."""
    found = ((path, _values(model, path, command)) for path, command in model.commands.items())
    return tuple((path, starts) for path, starts in found if starts)


def _values(model: Model, path: str, command: Command) -> tuple[Fraction, ...]:
    """Returns the start values, where it can be told apart; else nothing."""
    starts = _starts(command)
    writers = [loop for loop in model.loops if loop.signal == path]
    moves = [move for loop in writers for move in _moves(model, loop)]
    if not starts or not writers or any(move is None for move in moves):
        return ()
    reach, todo = set(starts), list(starts)
    while todo and len(reach) <= MOST_VALUES:
        value = todo.pop()
        for move in moves:
            assert move is not None
            for following in _after(value, *move):
                clipped = command.range.clip(following)
                if clipped not in reach:
                    reach.add(clipped)
                    todo.append(clipped)
    rounded = any(loop.integer and (loop.law == "proportional" or loop.hold_down or loop.hold_up) for loop in writers)
    whole = all(value.denominator == 1 for value in reach) and all(loop.has_whole_rates for loop in writers)
    return starts if len(reach) <= MOST_VALUES and (whole or not rounded) else ()


def _starts(command: Command) -> tuple[Fraction, ...]:
    low, high = command.initial.low, command.initial.high
    if low is None or high is None:
        return ()
    if low == high:
        return (low,)
    if not command.integer or high - low > MOST_VALUES:
        return ()
    return tuple(
        Fraction(n) for n in range(-(-low.numerator // low.denominator), high.numerator // high.denominator + 1)
    )


Move = tuple[str, Fraction, Interval]


def _moves(model: Model, loop: SampledLoop) -> list[Move | None]:
    """Returns ("by" | "to" | "any", number, bounds) for each write of a loop; None where it is no constant."""
    if loop.law == "proportional" and not loop.rules:
        finite = loop.integer and loop.bounds.low is not None and loop.bounds.high is not None
        return [("any", Fraction(0), loop.bounds) if finite else None]
    if loop.rates:
        return [None]
    pairs = [(rule.by, rule.to) for rule in loop.rules] or [(loop.by, loop.to)]
    return [_move(model, loop, by, to) for by, to in pairs]


def _move(model: Model, loop: SampledLoop, by: Tree | None, to: Tree | None) -> Move | None:
    number = _number(to if to is not None else by, model) if to is not None or by is not None else Fraction(0)
    return None if number is None else ("to" if to is not None else "by", number, loop.bounds)


def _after(value: Fraction, kind: str, number: Fraction, bounds: Interval) -> list[Fraction]:
    if kind == "any":
        assert bounds.low is not None
        assert bounds.high is not None
        first, last = (
            -(-bounds.low.numerator // bounds.low.denominator),
            bounds.high.numerator // bounds.high.denominator,
        )
        return [bounds.low, *(Fraction(n) for n in range(first, min(last, first + MOST_VALUES + 1) + 1)), bounds.high]
    return [bounds.clip(value + number if kind == "by" else number)]


def _number(tree: Tree | None, model: Model) -> Fraction | None:
    """Returns the value of an expression over exact constants."""
    match tree:
        case Number(value=value):
            return value
        case Name(path=path) if path in model.constants:
            span = model.constants[path].range
            return span.low if span.exact and not model.constants[path].varies else None
        case Arithmetic(op=op, left=left, right=right):
            a, b = _number(left, model), _number(right, model)
            if a is None or b is None or (op == "/" and not b):
                return None
            return {"+": a + b, "-": a - b, "*": a * b}[op] if op != "/" else a / b
        case Call(function="min" | "max", arguments=parts):
            numbers = [_number(part, model) for part in parts]
            known = [n for n in numbers if n is not None]
            return (min if tree.function == "min" else max)(known) if len(known) == len(numbers) else None
    return None
