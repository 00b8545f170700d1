"""Opens the lap of a design's network at the decisions of one loop, where its margins open it; all others stay closed.

The loop is cut between the change that its law asks for (what it would write - what it carries on of its own command,
`lap_matrices`) and what follows from it; a law that sees nothing else that it moves, at the whole command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from coherence.base.errors import UsageError
from coherence.loops.designs.bridged_laps import OpenedLifting
from coherence.loops.designs.design_network import DesignNetwork
from coherence.loops.multirate.opened_lap import OpenedLap, pruned_lap

Array = Any


def opened_design(design: DesignNetwork, loop: str, others: Callable[[], Iterable[DesignNetwork]] = tuple) -> OpenedLap:
    """Returns the lap opened at the decisions of a loop.  Raises UsageError where it has none, or cannot be lifted.

    `others` gives the networks on the other sides of the kinks: all sides are cut alike, so that the loop is that of
    one factor.
    """
    if all(law.loop != loop for law in design.laws.values()):
        raise UsageError(f"{loop} decides nothing at this operating point")
    lap = _opened(design, loop, carries=True)
    if lap.comes_back or any(_opened(other, loop, carries=True).comes_back for other in others()):
        return lap
    return _opened(design, loop, carries=False)


def _opened(design: DesignNetwork, loop: str, *, carries: bool) -> OpenedLap:
    lifting = _LoopLifting(design, loop, carries=carries)
    lifting.run()
    return pruned_lap(lifting, lifting.changes)


class _LoopLifting(OpenedLifting):
    """A lap in which the changes that one loop asks for are inputs.

    `changes`: these, as rows; `carries`: what the loop carries on of its own command stays closed.
    """

    def __init__(self, design: DesignNetwork, loop: str, *, carries: bool) -> None:
        self.loop, self.carries = loop, carries
        self.changes: list[Array] = []
        super().__init__(design)

    def is_cut(self, name: str) -> bool:
        return name in self.decided and self.decided[name].loop == self.loop

    def command(self, loop: str, now: Fraction, law: Array, before: Array, held: Array) -> Array:
        if loop != self.loop:
            return law
        memory = before if self.carries else 0 * before
        self.changes.append(law - memory)
        return memory + super().command(loop, now, law, before, held)
