"""Asks questions of a design with traced numbers: the answer at a point, and the points around it with the same."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.base import units
from coherence.base.errors import CoherenceError, InputError, UsageError
from coherence.base.places import Place
from coherence.base.records import Record
from coherence.checking.weighing import ask_weighed
from coherence.exploring.box_answers import RegionAnswer, answer, edit_of, spelled
from coherence.exploring.half_spaces import Cell, Form, Point
from coherence.exploring.swept_numbers import Axis, scalars
from coherence.exploring.traced_numbers import Path, Traced
from coherence.findings import repairs
from coherence.findings.edited_designs import Rebuild
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity

DIGITS = 10**12


class NotTracedError(CoherenceError):
    """Raised where numbers do not stand in the design as written, or an answer looks at more than sums."""


@dataclass(frozen=True)
class Followed:
    """An answer at a point, and the rows and equations (`pins`) under which it is the same.

    `pinned`: where more than sums was looked at, which gave the equations.
    """

    answer: RegionAnswer
    rows: Cell
    pins: Cell
    pinned: tuple[str, ...]


@dataclass(frozen=True)
class ParametricDesign:
    """The design as text, and the parameters in it."""

    sources: Mapping[str, str]
    rebuild: Rebuild
    axes: tuple[Axis, ...]
    time_limit: float


def plain(source: ParametricDesign, modules: Sequence[QuestionModule], point: Point) -> RegionAnswer:
    """Returns what the questions answer at a point.  Raises NotTracedError."""
    written = tuple(itertools.starmap(_written, zip(source.axes, point, strict=True)))
    design = _read(source, _edited(source, written))
    if written != point:
        design = _with(source, written, list(point), generic=False)
    return _answers(source, design, modules)


def _answers(source: ParametricDesign, design: Design, modules: Sequence[QuestionModule]) -> RegionAnswer:
    try:
        return answer(ask_weighed(Subject(design, {}, source.time_limit), modules))
    except InputError as error:
        return RegionAnswer(refused=str(error).split("\n", maxsplit=1)[0])


def followed(source: ParametricDesign, modules: Sequence[QuestionModule], point: Point, *, generic: bool) -> Followed:
    """Returns the answer at a point with the numbers traced.  Raises NotTracedError.

    `generic`: no other number of the design equals these by chance, so one that does was copied from them.
    """
    path = Path()
    numbers = []
    for index, number in enumerate(point):
        form = Form(tuple(Fraction(int(k == index)) for k in range(len(point))), Fraction(0))
        numbers.append(Traced(number, form, path))
    written = tuple(itertools.starmap(_written, zip(source.axes, point, strict=True)))
    design = _with(source, written, numbers, generic=generic)
    try:
        with path:
            traced = _answers(source, design, modules)
    except (TypeError, ValueError, AttributeError, AssertionError) as error:  # code that takes no number but its own
        raise NotTracedError(f"the values are used otherwise than as exact numbers ({error})") from error
    if traced != plain(source, modules, point):
        raise NotTracedError("followed step by step the answer is another one")
    return Followed(traced, tuple(path.rows), tuple(path.pins), tuple(dict.fromkeys(path.pinned)))


def _written(axis: Axis, number: Fraction) -> Fraction:
    """Returns the number, or one near it that has an end in the unit of the key."""
    try:
        spelled(axis, number)
        return number
    except UsageError:
        factor = units.unit(axis.unit)[0] if axis.unit else Fraction(1)
        return Fraction(round(number / factor * DIGITS), DIGITS) * factor


def _with(source: ParametricDesign, written: Point, numbers: Sequence[Fraction], *, generic: bool) -> Design:
    """Returns the design as it reads with the written numbers, and the numbers themselves in their places."""
    edited = _edited(source, written)
    design = copy.deepcopy(_read(source, edited))
    places = {key: scalar.place for key, scalar in scalars(edited)}
    for axis, old, new in zip(source.axes, written, numbers, strict=True):
        _inject(design, places[axis.key], old, new, generic=generic, key=axis.key)
    return design


def _edited(source: ParametricDesign, point: Point) -> Mapping[str, str]:
    edits = [edit_of(axis, (number, number)) for axis, number in zip(source.axes, point, strict=True)]
    edited = repairs.apply(edits, source.sources)
    if edited is None:
        raise NotTracedError("a key is quoted or stands on several lines")
    return edited


def _read(source: ParametricDesign, edited: Mapping[str, str]) -> Design:
    try:
        return source.rebuild(edited)
    except (InputError, CoherenceError) as error:
        raise NotTracedError(str(error).split("\n", maxsplit=1)[0]) from error


def _inject(design: Design, place: Place, number: Fraction, new: Fraction, *, generic: bool, key: str) -> None:
    """Puts the new number where the design holds the written one."""
    done = 0
    for owner, name, held in _numbers(design, set()):
        here = isinstance(owner, Quantity) and _starts(owner.place, place)
        if here and held == number:
            owner.__dict__[name] = new
            done += 1
        elif generic and held == number:
            raise NotTracedError(f"the value of {key} is kept in another place as well")
    if not done:
        raise NotTracedError(f"{key} is no plain number of the design")


def _starts(one: Place, other: Place) -> bool:
    return (one.file, one.line, one.column) == (other.file, other.line, other.column)


def _numbers(node: Any, seen: set[int]) -> Iterator[tuple[Any, str, Fraction]]:
    """Yields (owner, attribute, number) of every plain exact number of a design, and drops cached values."""
    if id(node) in seen or isinstance(node, str | int | float | Fraction | bool | None):
        return
    seen.add(id(node))
    if isinstance(node, Mapping):
        children = [(str(key), child) for key, child in node.items()]
    elif isinstance(node, tuple | list | set | frozenset):
        children = [(str(index), child) for index, child in enumerate(node)]
    else:
        _forget(node)
        own = getattr(node, "__dict__", None)
        children = list(own.items()) if own is not None else _slotted(node)
    for name, child in children:
        if type(child) is Fraction:
            yield node, name, child
        else:
            yield from _numbers(child, seen)


def _slotted(node: Any) -> list[tuple[str, Any]]:
    names = [name for cls in type(node).__mro__ for name in getattr(cls, "__slots__", ())]
    return [(name, getattr(node, name)) for name in names if hasattr(node, name)]


def _forget(node: Any) -> None:
    """Deletes what was computed once from the plain numbers."""
    known = type(node).fields if isinstance(node, Record) else getattr(type(node), "__dataclass_fields__", None)
    if known is not None:
        for name in [name for name in node.__dict__ if name not in known]:
            del node.__dict__[name]
