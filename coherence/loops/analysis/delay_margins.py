"""Computes by how much a loop of a design may act later: in what it reads, and in the landing of what it decides.

Each delay is put into the design's own lap, as `check` would find it in the text: a command that lands so much later,
or every reading of the law that shows the past.  Delays are tried in rising steps from a quarter of the loop's period,
and the first loss of stability is halved to `CLOSE`; a loss and a recovery between two that were tried would be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.bisection import halved
from coherence.base.errors import UsageError
from coherence.base.reads import with_changes
from coherence.loops.designs.bridged_laps import bridged_lap, opened
from coherence.loops.designs.design_network import READ_FOR_ONE, DesignNetwork, network_of
from coherence.loops.designs.kinks import Branch
from coherence.loops.designs.lap_matrices import LapError, closed
from coherence.loops.designs.lap_roots import is_stable
from coherence.loops.multirate.late_readings import read_late
from coherence.loops.networks.network import Coupling
from coherence.model.model import SampledLoop

LONGEST = 64  # periods of the loop
CLOSE = Fraction(1, 10**5)  # relative width of the bracket of a delay margin


@dataclass(frozen=True)
class DelayMargin:
    """Stable with every extra delay that was tried up to `stable`, unstable with `unstable` (s; None: none found).

    `note` says what stood in the way of looking further, or is empty.
    """

    stable: Fraction
    unstable: Fraction | None
    note: str = ""


def landing_margin(
    parts: Sequence[Branch], point: Mapping[str, Fraction], loop: SampledLoop, paths: Collection[str],
    check: Callable[[], object],
) -> DelayMargin:  # fmt: skip
    """Returns the margin of a loop whose commands land later; every branch must be stable."""

    def stable(delay: Fraction) -> bool:
        for part in parts:
            late = tuple(
                with_changes(other, lands=other.lands + delay) if other.name == loop.name else other
                for other in part.model.loops
            )
            if not is_stable(closed(opened(replace(part.model, loops=late), point, check), paths)):
                return False
        return True

    return delay_margin(stable, loop.period)


def reading_margin(
    parts: Sequence[Branch], point: Mapping[str, Fraction], loop: SampledLoop, paths: Collection[str],
    check: Callable[[], object],
) -> DelayMargin:  # fmt: skip
    """Returns the margin of a loop whose law sees everything later, but its own command."""
    try:
        designs = [network_of(part.model, point) for part in parts]
    except ArithmeticError as error:
        return DelayMargin(Fraction(0), None, str(error))

    def stable(delay: Fraction) -> bool:
        check()
        return all(is_stable(closed(bridged_lap(read_later(design, loop.name, delay)), paths)) for design in designs)

    return delay_margin(stable, loop.period)


def delay_margin(stable: Callable[[Fraction], bool], period: Fraction) -> DelayMargin:
    """Returns the first delay that loses stability, of multiples of a quarter of a period and beyond."""
    safe = Fraction(0)
    try:
        for delay in _tried(period):
            if not stable(delay):
                ends = halved(stable, safe, delay, near=lambda low, high: high - low <= CLOSE * high)
                return DelayMargin(*ends)
            safe = delay
    except (LapError, UsageError, ArithmeticError) as error:
        return DelayMargin(safe, None, str(error))
    return DelayMargin(safe, None)


def _tried(period: Fraction) -> Iterator[Fraction]:
    count = Fraction(1, 4)
    while count < LONGEST:
        yield count * period
        count += Fraction(1, 4) if count < 2 else max(Fraction(1, 2), Fraction(int(count), 2))
    yield LONGEST * period


def read_later(design: DesignNetwork, loop: str, delay: Fraction) -> DesignNetwork:
    """Returns the design in which the law of a loop reads everything but its own command so many seconds later.

    Of the mean over a window and the sample before that are taken for this law, what enters is late.
    """
    law = next((name for name, law in design.laws.items() if law.loop == loop), "")
    command = next((sampler.writes or law for sampler in design.samplers if sampler.name == law), "")
    readers = _readers(design, law)

    def is_late(coupling: Coupling) -> bool:
        return coupling.target in readers and coupling.source not in readers and coupling.source != command

    blocks, couplings = read_late(design.couplings, is_late, delay)
    return replace(design, blocks=(*design.blocks, *blocks), couplings=tuple(couplings))


def _readers(design: DesignNetwork, law: str) -> set[str]:
    """Returns a law, and the means and memories that are taken for it."""
    readers, count = {law}, 0
    while count < len(readers):
        count = len(readers)
        readers |= {c.source for c in design.couplings if c.target in readers and c.source.startswith(READ_FOR_ONE)}
    return readers
