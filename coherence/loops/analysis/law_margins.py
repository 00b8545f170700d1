"""Computes margins of one loop of a design: the factor on its law and the extra delay that destabilise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from coherence.base.bisection import halved
from coherence.base.reads import with_changes
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.kinks import Branch
from coherence.loops.designs.lap_matrices import Closed, Lap, LapError, closed
from coherence.loops.designs.lap_roots import Array, LapResponse, floats, is_stable, sensitivity, spectral_radius
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.lookback import look_backs

MOST_GAIN = 100.0
FACTORS = 140  # tried up to MOST_GAIN and down to its inverse
LINEAR = 8  # delays tried one by one, then doubled
LONGEST = 64  # periods of the loop
TINY = 1e-9


@dataclass(frozen=True)
class LoopFigures:
    """One loop at one operating point.

    Factors on its law (on the change it makes) in `gain_low` .. `gain_high` around the design's 1 leave the group
    stable; an unstable group has the stable factors below 1, if any (else both are None).  `certified`: exact counts
    on both sides of the edge.  `delay`: the shortest extra landing delay tried that destabilises (s), None if none
    up to `searched`; `note` says what stands in the way.
    """

    loop: str
    gain_low: float | None
    gain_high: float | None
    certified: bool
    delay: Fraction | None
    searched: Fraction
    grid: Fraction
    response: LapResponse | None
    note: str = ""


def figures(
    laps: Sequence[Lap], parts: Sequence[Branch], point: dict[str, Fraction], loop: SampledLoop,
    paths: Collection[str], deadline: Deadline,
) -> LoopFigures:  # fmt: skip
    """Returns the margins of one loop: all branches must be stable for a factor or a delay to count as safe."""
    name = loop.name
    cut = [closed(lap, paths, left_open=[name]) for lap in laps]
    if not all(branch.opened for branch in cut):
        return LoopFigures(name, None, None, False, None, Fraction(0), Fraction(0), None, "decides nothing here")
    stable_now = all(is_stable(closed(lap, paths)) for lap in laps)
    low, high, certified = gains(laps, cut, name, paths, stable_now=stable_now)
    worst = max(
        (r for branch, lap in zip(cut, laps, strict=True) if stable_now and (r := sensitivity(branch, lap, name))),
        key=lambda response: response.peak,
        default=None,
    )
    step = grid(parts[0].model)
    if not stable_now:
        return LoopFigures(name, low, high, certified, None, Fraction(0), step, None, "no delay margin: not stable")
    delay, searched, note = _delay(parts, point, loop, paths, step, deadline)
    return LoopFigures(name, low, high, certified, delay, searched, step, worst, note)


def gains(
    laps: Sequence[Lap], cut: Sequence[Closed], name: str, paths: Collection[str], *, stable_now: bool
) -> tuple[float | None, float | None, bool]:
    """Returns (lowest, highest safe factor, certified)."""
    families = [family(branch) for branch in cut]

    def grows(factor: float) -> bool:
        return max(spectral_radius(of(factor)) for of in families) >= 1 - 1e-12

    ups, downs = np.geomspace(1, MOST_GAIN, FACTORS), np.geomspace(1, 1 / MOST_GAIN, FACTORS)
    if stable_now:
        high, low = _edge(grows, ups), _edge(grows, downs)
        return low or 0.0, math.inf if high is None else high, _certified(laps, name, paths, [high, low])
    first = next((k for k, factor in enumerate(downs) if not grows(factor)), None)
    if first is None:
        return None, None, False
    high = _bisected(lambda factor: not grows(factor), downs[max(first - 1, 0)], downs[first])
    low = _edge(grows, downs[first:])
    return low or 0.0, high, _certified(laps, name, paths, [high])


def family(cut: Closed) -> Callable[[float], Array]:
    """Returns the closed lap in floats as a function of the factor."""
    size, count = len(cut.names), len(cut.opened)
    a, b = floats(cut.a, size), floats(cut.b, count)
    c, d = floats(cut.c, size), floats(cut.d, count)

    def of(factor: float) -> Array:
        return np.asarray(a + b @ np.linalg.solve(np.eye(count) - factor * d, factor * c))

    return of


def _edge(grows: Callable[[float], bool], factors: Sequence[float] | Array) -> float | None:
    """Returns the first factor at which a mode grows, in the direction of the list."""
    for safe, unsafe in itertools.pairwise(factors):
        if grows(unsafe):
            return _bisected(grows, float(safe), float(unsafe))
    return None


def _bisected(reached: Callable[[float], bool], before: float, after: float) -> float:
    return sum(halved(reached, after, before, steps=60)) / 2


def _certified(laps: Sequence[Lap], name: str, paths: Collection[str], edges: Sequence[float | None]) -> bool:
    """Decides whether exact counts say stable on one side and not stable on the other side of each edge."""
    for edge in edges:
        if edge is None:
            continue
        sides = [
            all(
                is_stable(closed(lap, paths, gains={name: Fraction(edge * side).limit_denominator(10**12)}))
                for lap in laps
            )
            for side in (1 - 100 * TINY, 1 + 100 * TINY)
        ]
        if sides[0] == sides[1]:
            return False
    return True


def grid(model: Model) -> Fraction:
    """Returns the greatest time of which all periods, phases, delays and windows are multiples."""
    times = [t for loop in model.loops for t in (loop.period, loop.phase or Fraction(0), loop.lands)]
    times += [s.step for s in model.states.values() if s.step] + [span for _, span in look_backs(model)]
    positive = [t for t in times if t]
    scale = math.lcm(*(t.denominator for t in positive))
    return Fraction(math.gcd(*(int(t * scale) for t in positive)), scale)


def _delay(
    parts: Sequence[Branch], point: dict[str, Fraction], loop: SampledLoop, paths: Collection[str], step: Fraction,
    deadline: Deadline,
) -> tuple[Fraction | None, Fraction, str]:  # fmt: skip
    """Returns (shortest extra delay found that destabilises, searched up to, what stopped the search)."""
    most = max(1, int(loop.period * LONGEST / step))
    safe, tried = 0, 0
    try:
        for count in _counts(most):
            tried = count
            if not _stable_with(parts, point, loop, paths, step * count, deadline):
                return step * _shortest(parts, point, loop, paths, step, (safe, count), deadline), step * count, ""
            safe = count
    except (LapError, ArithmeticError) as error:
        return None, step * safe, f"delays beyond {float(step * safe):g} s: {error}" if tried else str(error)
    return None, step * safe, ""


def _counts(most: int) -> list[int]:
    found = list(range(1, min(LINEAR, most) + 1))
    while found[-1] < most:
        found.append(min(most, found[-1] * 3 // 2 + 1))
    return found


def _shortest(
    parts: Sequence[Branch], point: dict[str, Fraction], loop: SampledLoop, paths: Collection[str], step: Fraction,
    ends: tuple[int, int], deadline: Deadline,
) -> int:  # fmt: skip
    safe, unsafe = ends
    while unsafe - safe > 1:
        middle = (safe + unsafe) // 2
        if _stable_with(parts, point, loop, paths, step * middle, deadline):
            safe = middle
        else:
            unsafe = middle
    return unsafe


def _stable_with(
    parts: Sequence[Branch], point: dict[str, Fraction], loop: SampledLoop, paths: Collection[str], delay: Fraction,
    deadline: Deadline,
) -> bool:  # fmt: skip
    """Decides whether every branch is stable with the loop's command landing later."""
    for part in parts:
        late = tuple(
            with_changes(one, lands=one.lands + delay) if one.name == loop.name else one for one in part.model.loops
        )
        if not is_stable(closed(opened(replace(part.model, loops=late), point, deadline.check), paths)):
            return False
    return True
