"""Converts networks to systems of python-control.

A network without delays becomes its exact closed-loop StateSpace.  With delays there is none; ask for the exact
frequency response (FrequencyResponseData), or name the order of a Pade approximation, whose poles prove nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import MissingExtraError, UsageError
from coherence.loops.margins.peaks_response import at, response
from coherence.loops.networks.network import Block, Network

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def python_control() -> Any:
    """Returns python-control.  Raises MissingExtraError."""
    try:
        import control
    except ImportError:
        raise MissingExtraError("interchange with python-control", "control") from None
    return control


def frequency_response(
    closed: Network, omega: ArrayLike, *, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None
) -> Any:
    """Returns the exact closed loop, delays included, as control.FrequencyResponseData over frequencies in rad/s."""
    control = python_control()
    grid = np.atleast_1d(np.asarray(omega, dtype=float))
    of = response(closed, outputs=outputs, inputs=inputs)
    return control.frd(
        np.moveaxis(at(of, grid), 0, -1), grid, inputs=[_plain(closed.names[k]) for k in of.columns],
        outputs=[_plain(closed.names[k]) for k in of.rows],
    )  # fmt: skip


def state_space(closed: Network, *, pade: int | None = None) -> Any:
    """Returns the closed loop from all inputs to all outputs as control.StateSpace.

    Raises UsageError for a network with delays, unless `pade` names the order that replaces each delay.
    """
    control = python_control()
    delayed = [block.name for block in closed.blocks if block.delay]
    if delayed and pade is None:
        raise UsageError(
            f"{', '.join(delayed)} have delays, which no state space has: take frequency_response, "
            "or name the order of a Pade approximation (its poles prove nothing)"
        )
    response(closed)  # refuses sampled blocks
    systems = [_system(control, block, pade) for block in closed.blocks]
    whole = control.append(*systems) if len(systems) > 1 else systems[0]
    gains = np.zeros((len(closed.blocks),) * 2)
    for coupling in closed.couplings:
        gains[closed.index[coupling.target], closed.index[coupling.source]] += coupling.gain
    names = [_plain(name) for name in closed.names]
    feedback = control.feedback(whole, control.ss([], [], [], gains), sign=1)
    return control.ss(feedback.A, feedback.B, feedback.C, feedback.D, inputs=names, outputs=names)


def _plain(name: str) -> str:
    """Returns a name without dots, which python-control refuses in the names of signals."""
    return name.replace(".", "_")


def _system(control: Any, block: Block, pade: int | None) -> Any:
    system = control.ss(control.tf(list(block.numerator), list(block.denominator)))
    if not block.delay:
        return system
    return control.series(control.ss(control.tf(*control.pade(block.delay, pade))), system)
