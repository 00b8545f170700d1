"""Orders the readings of a model, cheap ones first, and tries them until a proof stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from coherence.base.clock import left_until, now
from coherence.model.model import Model
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.lattices import enumerable_commands
from coherence.verify.systems.state_space import ModelReading

T = TypeVar("T")


def readings(model: Model) -> list[ModelReading]:
    """Returns how closely to read a model, the cheap ways first; every one of them is sound."""
    held = any(loop.hold_down or loop.hold_up for loop in model.loops)
    readings_ = [ModelReading(windows=False), ModelReading()] if held else [ModelReading()]
    if discrete := enumerable_commands(model):
        readings_ += [ModelReading(discrete, windows) for windows in ((True, False) if held else (True,))]
    return readings_


def first_reading(
    ways: Sequence[ModelReading], deadline: float, attempt: Callable[[ModelReading, float], T | str]
) -> tuple[ModelReading, T] | str:
    """Returns the first reading by which an attempt succeeds, with its value; or why the last one failed.

    Each attempt is given a reading and its own deadline: a third of the time that is left, all of it for the last.
    Raises NotLinearError where no reading encodes the model.
    """
    refused: NotLinearError | None = None
    reason = ""
    for number, reading in enumerate(ways, 1):
        left = left_until(deadline)
        if left <= 0:
            return reason or "the time is over"
        try:
            value = attempt(reading, deadline if number == len(ways) else now() + left / 3)
        except NotLinearError as error:
            refused = refused or error
            continue
        if not isinstance(value, str):
            return reading, value
        reason = value
    if not reason and refused is not None:
        raise refused
    return reason
