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
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.kinks import Branch
from coherence.loops.designs.lap_matrices import LapError, closed
from coherence.loops.designs.lap_roots import is_stable
from coherence.loops.designs.signal_gradients import own_names
from coherence.model.boundaries import Sight, later
from coherence.model.model import Model, SampledLoop

READ = ("measured", "setpoint", "ready", "by", "to")
LONGEST = 64  # periods of the loop
CLOSE = Fraction(1, 10**5)  # relative width of the bracket of a delay margin
LEAST = Fraction(1, 10**9)  # of a period: with a shorter delay nothing is tried


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

    def stable(delay: Fraction) -> bool:
        models = (replace(part.model, loops=tuple(_late(part.model, loop, delay))) for part in parts)
        return all(is_stable(closed(opened(model, point, check), paths)) for model in models)

    return delay_margin(stable, loop.period)


def _late(model: Model, loop: SampledLoop, delay: Fraction) -> Iterator[SampledLoop]:
    """Yields the loops of a model, one of which reads everything but its own command so many seconds later."""
    own = own_names(model, loop)

    def age(path: str) -> Fraction:
        return Fraction(0) if path in own or path in model.constants else delay

    for other in model.loops:
        trees = {key: getattr(other, key) for key in READ} if other.name == loop.name else {}
        yield with_changes(other, **{key: later(tree, Sight(age)) for key, tree in trees.items() if tree is not None})


def delay_margin(stable: Callable[[Fraction], bool], period: Fraction) -> DelayMargin:
    """Returns the first delay that loses stability, of multiples of a quarter of a period and beyond.

    Where every delay loses it, the bracket ends at LEAST of a period.
    """
    safe = Fraction(0)
    try:
        for delay in _tried(period):
            if not stable(delay):
                ends = halved(
                    stable, safe, delay, near=lambda low, high: high - low <= CLOSE * high or high <= LEAST * period
                )
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
