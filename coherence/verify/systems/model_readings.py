"""Orders the readings of a model, cheap ones first, and tries them until a proof stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from coherence.base.clock import left_until, now
from coherence.model.model import Model
from coherence.simulate.execute.slices import signals_in
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.lattices import enumerable_commands
from coherence.verify.systems.state_space import ModelReading

T = TypeVar("T")


def readings(model: Model) -> list[ModelReading]:
    """Returns how closely to read a model, the cheap ways first; every one of them is sound.

    Rates of flows between instants whose times are open are read as numbers first: other products are relaxed.
    """
    held = any(loop.hold_down or loop.hold_up for loop in model.loops)
    plain = [ModelReading(windows=False), ModelReading()] if held else [ModelReading()]
    discrete = enumerable_commands(model)
    apart = [ModelReading(discrete, windows) for windows in ((True, False) if held else (True,))] if discrete else []
    flows = [state.flow for state in model.states.values() if state.flow is not None]
    rates = {path for flow in flows for path in signals_in(model, flow)} & {path for path, _ in discrete}
    return [*apart, *plain] if rates and any(loop.phase is None for loop in model.loops) else [*plain, *apart]


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
