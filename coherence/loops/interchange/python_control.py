"""Converts python-control systems to networks and back.

In: a StateSpace becomes one integrator per state and one block without dynamics per output (exact, any number of
inputs and outputs); a TransferFunction of one input and output becomes one block.  Delays are no part of a
python-control system: give them by keyword.

Out: a network without delays becomes its exact closed-loop StateSpace.  With delays there is none; ask for the exact
frequency response (FrequencyResponseData), or name the order of a Pade approximation, whose poles prove nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import MissingExtraError, UsageError
from coherence.loops.margins.peaks_response import at, response
from coherence.loops.networks.network import Block, Coupling, Network, network

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ONE = (1.0,)


def python_control() -> Any:
    """Returns python-control.  Raises MissingExtraError."""
    try:
        import control
    except ImportError:
        raise MissingExtraError("interchange with python-control", "control") from None
    return control


def block_of(system: Any, name: str = "plant", *, delay: float = 0.0) -> Block:
    """Returns one block of a python-control system with one input and one output.

    Raises UsageError for several inputs or outputs, for discrete time and for what is improper.
    """
    control = python_control()
    if system.ninputs != 1 or system.noutputs != 1:
        raise UsageError(f"{name} has {system.ninputs} inputs and {system.noutputs} outputs: use network_of")
    _continuous(system, name)
    fraction = control.tf(system)
    numerator, denominator = (tuple(map(float, p[0][0])) for p in (fraction.num, fraction.den))
    return network([Block(name, numerator, denominator, delay)]).blocks[0]


def network_of(system: Any, name: str = "plant", *, feedback: ArrayLike | None = None, delay: float = 0.0) -> Network:
    """Returns the network of a python-control system: inputs `name_u1`, states `name_x1`, outputs `name_y1` and so on.

    `feedback` F closes the loops u = r - F y (inputs by outputs); `delay` in seconds stands at every output.
    Raises UsageError for discrete time and for a feedback of another shape.
    """
    control = python_control()
    _continuous(system, name)
    states = control.ss(system)
    a, b, c, d = (np.atleast_2d(np.asarray(m, dtype=float)) for m in (states.A, states.B, states.C, states.D))
    names = [[f"{name}_{letter}{k + 1}" for k in range(n)] for letter, n in zip("uxy", _sizes(states), strict=True)]
    inputs, integrators, outputs = names
    couplings = [
        *_couplings(a, integrators, integrators),
        *_couplings(b, inputs, integrators),
        *_couplings(c, integrators, outputs),
        *_couplings(d, inputs, outputs),
    ]
    if feedback is not None:
        matrix = np.atleast_2d(np.asarray(feedback, dtype=float))
        if matrix.shape != (len(inputs), len(outputs)):
            raise UsageError(f"the feedback must have {len(inputs)} rows and {len(outputs)} columns")
        couplings += _couplings(-matrix, outputs, inputs)
    blocks = [Block(each, ONE, ONE) for each in inputs] + [Block(each, ONE, (1.0, 0.0)) for each in integrators]
    return network([*blocks, *(Block(each, ONE, ONE, delay) for each in outputs)], couplings)


def _sizes(states: Any) -> tuple[int, int, int]:
    return states.ninputs, states.nstates, states.noutputs


def _continuous(system: Any, name: str) -> None:
    if system.dt not in (None, 0):
        raise UsageError(f"{name} is in discrete time (dt = {system.dt}): convert it to continuous time first")


def _couplings(matrix: np.ndarray[Any, Any], sources: Sequence[str], targets: Sequence[str]) -> list[Coupling]:
    return [
        Coupling(source, target, float(matrix[row, column]))
        for row, target in enumerate(targets)
        for column, source in enumerate(sources)
        if matrix.size and matrix[row, column]
    ]


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
