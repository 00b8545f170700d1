"""Defines the input and output of a run: choices of open values, instants with their actions, errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError
from coherence.model.model import Model

Num = Any  # Fraction, Affine or float
Schedule = tuple[tuple[Fraction, str, Num], ...]


@dataclass(frozen=True)
class Choices:
    """One choice of everything that a design leaves open: constants, initial values, inputs, phases, order.

    Missing values default to the lower end of their range; inputs must be given.  `schedule`: values that
    inputs, constants and outputs take during the run, (seconds, path, value); delivered at an instant of their own.
    """

    values: Mapping[str, Num] = field(default_factory=dict)
    phases: Mapping[str, Fraction] = field(default_factory=dict)
    order: tuple[str, ...] = ()  # loops in the order in which they decide; empty: rank, then declaration
    schedule: Schedule = ()


@dataclass(frozen=True)
class Action:
    """A write that was made: by whom, on what, from what to what, and by which rule."""

    loop: str
    signal: str
    before: Num
    after: Num
    rule: str


@dataclass(frozen=True)
class Instant:
    """What happened at one time: values as sampled, actions, modes that changed, values afterwards."""

    time: Fraction
    sampled: Mapping[str, Num]
    actions: tuple[Action, ...]
    switched: tuple[tuple[str, bool], ...]
    after: Mapping[str, Num]
    word: tuple[Any, ...]  # which branches were taken: the symbol of this instant


class MissingValueError(KeyError):
    """A run needs a value that neither the design nor the choices give."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"a value of {self.path}"


class ZenoError(NotExactError):
    """A run that does not get on: more instants at one time than any design means."""


def ordered_schedule(model: Model, schedule: Schedule) -> Schedule:
    """Returns the schedule in the order of time.  Raises ValueError where it sets a state or a command."""
    for at, path, _ in schedule:
        if at < 0 or path in model.states or path in model.commands:
            raise ValueError(f"{path} at {at} s: a schedule sets inputs, constants and outputs, from 0 s on")
    return tuple(sorted(schedule, key=lambda entry: entry[0]))
