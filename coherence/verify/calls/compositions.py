"""Composes what single calls do to what their caller does: the one algebra of calls, for times, sends and terms alike.

The calls of a caller are made in turn, at once, one of several (its cases), or one after the failure of another.  What
each of these makes of the parts is an `Algebra`: of times in turn is the sum, at once the maximum, one of several the
hull; of sends both in turn and at once are the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from coherence.language.call_cases import CallCase, CallChain
from coherence.language.design import Call

T = TypeVar("T")
Compose = Callable[[Sequence[T]], T]


@dataclass(frozen=True)
class Algebra(Generic[T]):
    """What calls of one caller make together, from what each of them makes; each list has one part or more.

    `after_failure`: the first call, and those that are made when the ones before have failed.  `in_any_order`: all are
    made, in an order that is not said.  `some`: not even whether all are made is said.
    """

    in_turn: Compose[T]
    at_once: Compose[T]
    one_of: Compose[T]
    after_failure: Compose[T]
    in_any_order: Compose[T]
    some: Compose[T]


def composed(cases: Sequence[CallCase], of: Callable[[Call], T | None], by: Algebra[T]) -> T | None:
    """Returns what the calls of a caller make together; a call of which there is nothing is left out."""
    parts = [part for case in cases if (part := composed_case(case, of, by)) is not None]
    return _joined(parts, by.one_of)


def composed_case(case: CallCase, of: Callable[[Call], T | None], by: Algebra[T]) -> T | None:
    """Returns what the calls of one case make together."""
    stages = [
        part for stage in case.stages if (part := _joined(_chains(stage, of, by), by.at_once)) is not None
    ]  # fmt: skip
    return _joined(stages, by.in_turn if case.in_order else by.in_any_order if case.all_made else by.some)


def _chains(stage: Sequence[CallChain], of: Callable[[Call], T | None], by: Algebra[T]) -> list[T]:
    chains = ([part for call in chain if (part := of(call)) is not None] for chain in stage)
    return [joined for chain in chains if (joined := _joined(chain, by.after_failure)) is not None]


def _joined(parts: Sequence[T], by: Compose[T]) -> T | None:
    return by(parts) if len(parts) > 1 else parts[0] if parts else None


@dataclass(frozen=True)
class TimeTerm:
    """Seconds at most, as a term over those of single calls; `how` it is made of its parts, none of a single call."""

    bound: Fraction | None
    how: str = "call"  # call | in turn | at once
    parts: tuple[TimeTerm, ...] = ()


def _total(parts: Sequence[TimeTerm]) -> TimeTerm:
    """Returns the sum, flat: a long chain of calls is no deep term."""
    flat = [inner for part in parts for inner in (part.parts if part.how == "in turn" else (part,)) if inner.bound != 0]
    bounds = [part.bound for part in parts]
    total = None if None in bounds else sum((b for b in bounds if b is not None), Fraction(0))
    return TimeTerm(total, "in turn", tuple(flat)) if len(flat) > 1 else flat[0] if flat else TimeTerm(Fraction(0))


def _largest(parts: Sequence[TimeTerm]) -> TimeTerm:
    bounds = [part.bound for part in parts]
    return TimeTerm(None if None in bounds else max(b for b in bounds if b is not None), "at once", tuple(parts))


LONGEST: Algebra[TimeTerm] = Algebra(_total, _largest, _largest, _total, _total, _total)
