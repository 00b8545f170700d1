"""Finds operating points, where a group's smooth loops are at rest, by Newton from a grid of starts.

Loops with thresholds have no law to solve: they are held at the levels they take on a run, and a point counts
for the design only if none of them acts there.  A point outside a loop's bounds is told as such: the loop then
rests at its bound, or what it wants does not exist.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.equilibria import operating_point
from coherence.loops.designs.feedback_groups import Deadline, OutOfTimeError, frozen, is_smooth
from coherence.loops.designs.linear import skeleton
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, Execution, MissingValueError
from coherence.simulate.execute.orbits import hyperperiod

MOST_STARTS = 24
SAME = Fraction(1, 10**6)
STIR_LAPS = 6


@dataclass(frozen=True)
class Point:
    """Values of states and commands at rest.  `held`: levels of loops with thresholds; `acts`: those that act there.

    `outside`: loops whose command lies outside their bounds.  `basin`: (exact runs that end here, of how many),
    None where it is not known.  `others`: constants as chosen.
    """

    values: Mapping[str, Fraction]
    held: tuple[str, ...]
    acts: tuple[str, ...]
    outside: tuple[str, ...]
    basin: tuple[int, int] | None = None

    @property
    def real(self) -> bool:
        """Decides whether the whole design rests here, as far as its laws are smooth."""
        return not self.acts and not self.outside


@dataclass(frozen=True)
class Points:
    """Operating points that were found, and in words where none was looked for; empty: from every start."""

    points: tuple[Point, ...]
    left_out: str = ""


def smooth_part(model: Model, levels: Mapping[str, Fraction]) -> tuple[Model, tuple[str, ...]]:
    """Returns the model with its threshold loops switched off, laws only; and what was dropped."""
    rough = [loop.name for loop in model.loops if not is_smooth(loop)]
    made, dropped = skeleton(frozen(model, levels, rough))
    return made, (*(f"threshold of {name}" for name in rough), *dropped)


def operating_points(
    model: Model, choices: Choices, levels: Iterable[Mapping[str, Fraction]], deadline: Deadline
) -> Points:
    """Returns points for each set of levels (of every command), each found once."""
    points: list[Point] = []
    left_out = ""
    for level in levels:
        smooth, _ = smooth_part(model, level)
        if not any(True for _ in smooth.loops):
            continue
        starts = list(itertools.islice(_starts(model, smooth, choices, level), MOST_STARTS + 1))
        left_out = f"from starts beyond the first {MOST_STARTS}" if len(starts) > MOST_STARTS else left_out
        for start in starts[:MOST_STARTS]:
            if deadline.over:
                return Points(tuple(points), "in the time limit from every start")
            point = _solved(smooth, start, deadline)
            if point is not None:
                values = {**{p: level[p] for p in model.commands}, **point}
                if not any(_same(values, other.values) for other in points):
                    points.append(_point(model, choices, values, deadline))
    return Points(tuple(points), left_out)


def _solved(smooth: Model, start: dict[str, Fraction], deadline: Deadline) -> dict[str, Fraction] | None:
    try:
        point = operating_point(smooth, start, deadline.check)
        empty = point is not None and any(
            point[loop.signal] == 0 for loop in smooth.loops if loop.law == "proportional"
        )
        return None if point is None or empty else _shortened(smooth, point, deadline)  # 0 is at rest under any factor
    except OutOfTimeError:
        raise
    except (NotExactError, MissingValueError, ZeroDivisionError, OverflowError):
        return None


def _shortened(smooth: Model, point: dict[str, Fraction], deadline: Deadline) -> dict[str, Fraction]:
    """Returns short fractions nearby, if they are a rest point as well."""
    short = {path: number.limit_denominator(10**4) for path, number in point.items()}
    again = operating_point(smooth, short, deadline.check)
    return point if again is None or not _same(again, point) else again


def _same(one: Mapping[str, Fraction], other: Mapping[str, Fraction]) -> bool:
    return all(abs(one[p] - other[p]) <= SAME * (1 + abs(other[p])) for p in one)


def _starts(
    model: Model, smooth: Model, choices: Choices, level: Mapping[str, Fraction]
) -> Iterator[dict[str, Fraction]]:
    """Yields a grid over bounds and initial ranges of what is not held."""
    axes: dict[str, list[Fraction]] = {}
    for path in (*smooth.states, *smooth.commands):
        bounds = [loop.bounds for loop in model.loops if loop.signal == path]
        signal = model.states[path] if path in model.states else model.commands[path]
        own = [choices.values.get(path), level.get(path), signal.initial.low, signal.initial.high]
        own += [end for b in bounds for end in (b.low, b.high)]
        finite = [number for number in own if number is not None]
        positive = sorted(number for number in finite if number > 0)
        if len(positive) > 1:
            finite.insert(2, _middle(positive[0], positive[-1]))
        axes[path] = list(dict.fromkeys(finite)) or [Fraction(0)]
    nominal = {path: ends[0] for path, ends in axes.items()}
    yield nominal
    grid = (dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values()))
    yield from (start for start in grid if start != nominal)


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """Returns the geometric mean of two ends, roughly."""
    return Fraction((float(low) * float(high)) ** 0.5).limit_denominator(1000)


def _point(model: Model, choices: Choices, values: dict[str, Fraction], deadline: Deadline) -> Point:
    rough = tuple(loop.name for loop in model.loops if not is_smooth(loop))
    outside = tuple(
        loop.name
        for loop in model.loops
        if is_smooth(loop) and loop.signal and loop.bounds.clip(values[loop.signal]) != values[loop.signal]
    )
    return Point(values, rough, _stirs(model, choices, values, deadline) if rough else (), outside)


def _stirs(model: Model, choices: Choices, values: dict[str, Fraction], deadline: Deadline) -> tuple[str, ...]:
    """Returns threshold loops that act within a few laps, the smooth ones staying where they are."""
    smooth = [loop.name for loop in model.loops if is_smooth(loop)]
    still = frozen(model, values, smooth)
    given = {**choices.values, **{p: v for p, v in values.items() if p in still.states or p in still.commands}}
    run = Execution(still, Choices(given, choices.phases, choices.order))
    windows = [d for loop in still.loops for d in (loop.lands, loop.cooldown or Fraction(0))]
    until = hyperperiod(still) * STIR_LAPS + 2 * max([*windows, run.horizon or Fraction(0), _streaks(still)])
    acting: list[str] = []
    while run.next_time() <= until and not deadline.over:
        acting += [action.loop for action in run.advance().actions]
    return tuple(dict.fromkeys(acting))


def _streaks(model: Model) -> Fraction:
    """Returns the longest `for` of a condition."""
    from coherence.language.expressions.tree import Held, walk

    spans = [n.duration for loop in model.loops for t in loop.trees for n in walk(t) if isinstance(n, Held)]
    return max(spans, default=Fraction(0))


def with_basins(points: Sequence[Point], ends: Sequence[Mapping[str, Fraction] | None]) -> tuple[Point, ...]:
    """Returns each point with the number of runs that came to rest nearer to it than to any other (relative
    distance).
    """
    from dataclasses import replace

    resting = [end for end in ends if end is not None]
    if not resting or not points:
        return tuple(points)
    nearest = [min(range(len(points)), key=lambda k: _distance(points[k], end)) for end in resting]
    return tuple(replace(p, basin=(nearest.count(k), len(ends))) for k, p in enumerate(points))


def _distance(point: Point, end: Mapping[str, Fraction]) -> float:
    return max((abs(float(end[p] - v)) / (1 + abs(float(v))) for p, v in point.values.items() if p in end), default=0.0)
