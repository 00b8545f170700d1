"""Linearisation: what the lap of a design's network does at an operating point (docs/adr/035).

What has no derivative (ceil, tolerance, hold windows, bounds, rate limits) is taken out first and listed as dropped
(model.md rule 11).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.reads import with_changes
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.kinks import branches
from coherence.loops.designs.lap_matrices import Closed, LapError, closed
from coherence.loops.designs.lap_roots import is_undecided
from coherence.loops.networks.sampled_verdict import SampledVerdict, verdict
from coherence.model.model import EVERYTHING, Model, SampledLoop
from coherence.simulate.execute.orbits import hyperperiod

MOST_VARIABLES = 160
LONGEST = 512  # bits of a denominator that is kept as it is


@dataclass(frozen=True)
class Linear:
    """The linear verdict at one operating point: per hyperperiod of `lap` seconds.

    Where the point lies on a kink there is one verdict for each of its `branches` (in words, with those of equal
    growth told once), and `verdict` is that of the one that decays slowest or grows fastest.
    """

    point: dict[str, Fraction]
    lap: Fraction
    verdict: SampledVerdict
    dropped: tuple[str, ...]
    branches: tuple[tuple[str, SampledVerdict], ...] = ()

    @property
    def period(self) -> float | None:
        """Returns the period of the dominant mode in seconds."""
        return None if self.verdict.period is None else self.verdict.period * float(self.lap)


def skeleton(model: Model) -> tuple[Model, tuple[str, ...]]:
    """Returns the model without what has no derivative, and the names of what was dropped."""
    dropped: list[str] = []
    loops = tuple(_smooth(loop, dropped) for loop in model.loops)
    return replace(model, loops=loops), tuple(dropped)


def _smooth(loop: SampledLoop, dropped: list[str]) -> SampledLoop:
    """Returns the loop with its law alone; a negative tolerance, since at the operating point the ratio is exactly
    one.
    """
    named = [
        ("ceil", loop.integer), ("tolerance", bool(loop.tolerance)),
        ("hold windows", bool(loop.hold_down or loop.hold_up)), ("cooldown", loop.cooldown is not None),
        ("rate limits", bool(loop.rates)), ("bounds", loop.bounds != EVERYTHING),
        ("threshold", loop.relay or loop.trigger is not None or bool(loop.rules)),
    ]  # fmt: skip
    dropped += [f"{what} of {loop.name}" for what, present in named if present]
    return with_changes(
        loop,
        integer=False,
        tolerance=Fraction(-1),
        hold_down=Fraction(0),
        hold_up=Fraction(0),
        cooldown=None,
        rates=(),
        bounds=EVERYTHING,
    )


def linearise(model: Model, near: dict[str, Fraction]) -> Linear | None:
    """Returns the linear verdicts at the operating point nearest to `near`; None where Newton does not find one."""
    smooth, dropped = skeleton(model)
    point = operating_point(smooth, near)
    if point is None:
        return None
    sides = branches(smooth, point)
    verdicts: dict[tuple[float, float], tuple[str, SampledVerdict]] = {}
    for branch in sides.branches:
        try:
            lap_verdict = _certified(closed(opened(branch.model, point)))
        except LapError:
            return None
        verdicts.setdefault(
            (lap_verdict.modulus, lap_verdict.angle), (branch.render_sides(sides.branches), lap_verdict)
        )
    left = [f"the jump of {jump}" for jump in sides.jumps]
    if not sides.complete:
        left.append(f"more than {len(sides.branches)} branches at one point")
    if len(verdicts) > 1:
        left.append(f"that {len(verdicts)} branches at one point alternate")
    worst = max(
        (lap_verdict for _, lap_verdict in verdicts.values()),
        key=lambda lap_verdict: (lap_verdict.modulus, lap_verdict.unstable),
    )
    return Linear(point, hyperperiod(model), worst, (*dropped, *left), tuple(verdicts.values()))


def _certified(lap: Closed) -> SampledVerdict:
    """Returns the verdict on a lap: none where what was rounded decides it."""
    lap_verdict = verdict(shortened(lap.a))
    if lap.doubt and is_undecided(lap):
        return replace(lap_verdict, stable=None, marginal=False, unstable=False)
    return lap_verdict


def shortened(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    """Returns the matrix itself, or rounded where its numbers are so long that counting roots would take for ever.

    The point is rational to a part in 10^12 only, so that digits beyond the 50th carry nothing.
    """
    if all(x.denominator.bit_length() <= LONGEST for row in matrix for x in row):
        return matrix
    return [[x.limit_denominator(10**50) for x in row] for row in matrix]
