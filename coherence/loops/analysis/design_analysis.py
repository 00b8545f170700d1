"""Analyses a design: per group of loops its operating points, linear verdicts, margins, and the exact verdict.

A linear verdict alone is not the design's verdict: thresholds, rounding and bounds are outside of it.  So each one
stands beside what exact execution says of the same loops.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.watchdog import STOPPED, TimeOverError
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.analysis.blame import Subset, smallest_swinging, smallest_unstable
from coherence.loops.analysis.law_margins import LoopFigures, figures
from coherence.loops.designs.bent_verdicts import bent_verdict
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.feedback_groups import Deadline, OutOfTimeError, is_smooth, region, structure
from coherence.loops.designs.flow_feedback import FlowAnswer, flow_answers
from coherence.loops.designs.group_runs import RestingCommand, RunVerdict, executed, from_bounds, rests
from coherence.loops.designs.groups import Group
from coherence.loops.designs.kinks import Branch, branches
from coherence.loops.designs.lap_matrices import Lap, LapError, closed
from coherence.loops.designs.lap_roots import Roots, coupling, roots
from coherence.loops.designs.operating_points import Point, operating_points, smooth_part, with_basins
from coherence.loops.settling.swings_without_rest import decided_beside_roots, never_moved
from coherence.model.crossings import at_crossings
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, MissingValueError
from coherence.simulate.execute.orbits import hyperperiod
from coherence.simulate.execute.slices import lacking
from coherence.simulate.execute.starts import corners
from coherence.simulate.execute.timeline import told_constants

MOST_LOOPS = 12  # whose margins are computed
MOST_POINTS = 4
UNSTABLE_REST = "every run starts at an operating point, stays there, and would leave it for good: it is unstable"
ORDER = {"unstable": 3, "undecided": 2, "marginal": 1, "stable": 0}
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class PointFigures:
    """One operating point: a verdict per branch outside the tolerances, one inside them, and margins.

    `verdict` joins the branches; `why` says how, and `inside` is None where no loop has a tolerance.  `pair`: the
    two loops (or one twice) through whose commands most of the dominant mode goes round, with that gain.
    """

    point: Point
    verdict: str
    why: str
    branches: tuple[tuple[str, Roots], ...]
    inside: Roots | None
    tolerant: tuple[str, ...]
    loops: tuple[LoopFigures, ...]
    pair: tuple[str, str, float] | None
    subset: Subset | None
    dropped: tuple[str, ...]


@dataclass(frozen=True)
class GroupAnalysis:
    """`verdict` is that of exact execution; `points` are linearised; `notes` tell what was not reached."""

    group: Group
    lap: Fraction
    answer: RunVerdict
    points: tuple[PointFigures, ...]
    subset: Subset | None
    notes: tuple[str, ...]
    from_bounds: RunVerdict | None = None  # of a group that settles: started from the ends of its bounds

    @property
    def verdict(self) -> str:
        return self.answer.verdict

    @property
    def rests(self) -> tuple[RestingCommand, ...]:
        """Returns how the commands of the group came to rest, where they do."""
        return rests(self.answer, [loop.signal for loop in self.group.loops if loop.signal])


@dataclass(frozen=True)
class DesignAnalysis:
    """All groups, the loops in none (with the reason), and what the model could not carry.

    `stopped` by Ctrl-C: the groups that were not analysed by then are undecided.
    """

    groups: tuple[GroupAnalysis, ...]
    alone: tuple[tuple[str, str], ...]
    assumptions: tuple[str, ...]
    stopped: bool = False
    flows: tuple[FlowAnswer, ...] = ()  # that feed back without a loop


def analysed(
    model: Model,
    *,
    time_limit: float = 20.0,
    choices: Mapping[str, Fraction] | None = None,
    bar: Progress | None = None,
) -> DesignAnalysis:
    """Analyses every group, each within its share of the time limit (s).  `choices`:
    values for what the design leaves open.
    """
    parts = structure(model)
    whole = Deadline(time_limit)
    groups: list[GroupAnalysis] = []
    with contextlib.suppress(KeyboardInterrupt):
        for index, group in enumerate(parts.groups):
            if bar:
                bar(index / len(parts.groups), " and ".join(group.names[:3]))
            groups.append(_in_time(group, whole.share(1 / (len(parts.groups) - index)), choices or {}))
    rest = [GroupAnalysis(one, Fraction(0), _blocked(STOPPED), (), None, ()) for one in parts.groups[len(groups) :]]
    flows = () if rest else flow_answers(at_crossings(model))
    return DesignAnalysis((*groups, *rest), parts.alone, model.abstractions, stopped=bool(rest), flows=flows)


def _in_time(group: Group, deadline: Deadline, values: Mapping[str, Fraction]) -> GroupAnalysis:
    """Analyses one group; it is undecided where that looks at no clock and is not over at the deadline."""
    try:
        with deadline.ending():
            return of_group(group, deadline, values)
    except TimeOverError:
        return GroupAnalysis(group, Fraction(0), _blocked(str(OutOfTimeError())), (), None, ())


def of_group(group: Group, deadline: Deadline, values: Mapping[str, Fraction]) -> GroupAnalysis:
    """Analyses one group.  What cannot be carried out becomes `undecided` with the reason, never an exception."""
    model, signals = group.model, tuple(dict.fromkeys(loop.signal for loop in group.loops if loop.signal))
    try:
        lap = hyperperiod(model)
    except NotExactError as error:
        return GroupAnalysis(group, Fraction(0), _blocked(str(error)), (), None, ())
    missing = lacking(model, signals, (path for path in model.inputs if path not in values))
    if missing:
        return GroupAnalysis(group, lap, _blocked(f"needs {missing}"), (), None, ())
    executed_answer = executed(model, group.signals, deadline.share(0.35))
    answer = decided_beside_roots(executed_answer, model, signals, deadline.share(0.5).check)
    try:
        first = next(iter(corners(model)))
    except MissingValueError as error:
        return GroupAnalysis(group, lap, answer, (), None, (f"no operating point: needs {error}",))
    notes: list[str] = []
    points = _points(group, first, answer, deadline.share(0.6), notes)
    chosen = told_constants(model, first)
    if points and chosen:
        notes.insert(0, f"linear figures are of {', '.join(chosen)}")
    subset = None
    if executed_answer.verdict == "oscillates":
        levels = levels_of(model, first, answer)
        subset = smallest_swinging(group, signals, levels, deadline, laps=_laps(answer, lap))
    elsewhere = from_bounds(model, group.signals, deadline.share(0.5)) if executed_answer.verdict == "settles" else None
    if never_moved(model, answer) and any(_is_left(point) for point in points):
        answer = replace(answer, verdict="undecided", how=UNSTABLE_REST)
    return GroupAnalysis(group, lap, answer, points, subset, tuple(dict.fromkeys(notes)), elsewhere)


def _is_left(figures: PointFigures) -> bool:
    """Decides whether runs that start beside a point, at which one was at rest all the time, leave it."""
    reached = figures.point.basin is not None and figures.point.basin[0] > 0
    return reached and figures.verdict == "unstable" and figures.inside is None


def _laps(answer: RunVerdict, lap: Fraction) -> int:
    """Returns twice the number of laps that the whole group takes to its recurrence."""
    run = answer.run
    return max(20, int(2 * run.instants[-1].time / lap) + 1) if run and run.instants else 40


def _blocked(why: str) -> RunVerdict:
    return RunVerdict("undecided", why, False, None, {}, None, (), 0)


def _points(
    group: Group, first: Choices, answer: RunVerdict, deadline: Deadline, notes: list[str]
) -> tuple[PointFigures, ...]:
    model = group.model
    smooth = [loop.name for loop in group.loops if is_smooth(loop)]
    if not smooth:
        notes.append("every loop acts by thresholds: no derivative, exact execution alone decides")
        return ()
    levels = levels_of(model, first, answer)
    try:
        known = operating_points(model, first, levels, deadline.share(0.5))
    except (NotExactError, MissingValueError) as error:
        notes.append(f"no operating point: {error}")
        return ()
    if known.left_out:
        notes.append(f"undecided whether these are all operating points: none was looked for {known.left_out}")
    real = [p for p in known.points if p.real]
    shown = real[:MOST_POINTS] or sorted(known.points, key=lambda p: (bool(p.outside), bool(p.acts)))[:1]
    if len(real) > MOST_POINTS:
        notes.append(f"{MOST_POINTS} of {len(real)} operating points are told")
    if not shown:
        notes.append(_no_point(model, smooth, answer))
    elif not any(p.real for p in shown):
        notes.append(_unreal(shown))
    settled = with_basins([p for p in shown if p.real], answer.ends)
    judged = (_figures(group, p, deadline.share(0.7), notes) for p in settled)
    return (*judged, *(_unjudged(group, p) for p in shown if not p.real))


def _no_point(model: Model, smooth: Sequence[str], answer: RunVerdict) -> str:
    end = next((end for end in answer.ends if end is not None), None)
    at = [
        loop.name
        for loop in model.loops
        if end is not None and loop.name in smooth and end.get(loop.signal) in (loop.bounds.low, loop.bounds.high)
    ]
    if at:
        return f"no operating point of the laws: {' and '.join(at)} rests at a bound"
    return f"no operating point of the law of {' and '.join(smooth)} was found from any start"


def _unreal(points: Sequence[Point]) -> str:
    acting = sorted({name for p in points for name in p.acts})
    outside = sorted({name for p in points for name in p.outside})
    reasons = [f"{' and '.join(acting)} acts wherever the others rest"] if acting else []
    reasons += [f"what {' and '.join(outside)} wants lies outside its bounds"] if outside else []
    return f"no operating point of the whole design: {'; '.join(reasons)}"


def levels_of(model: Model, first: Choices, answer: RunVerdict) -> list[dict[str, Fraction]]:
    """Returns levels of all commands: where the run begins, where it ends, and the ends of its orbit."""
    start = {p: first.values.get(p, c.initial.low or Fraction(0)) for p, c in model.commands.items()}
    ends = [dict(end) for end in answer.ends if end is not None][:2]
    for side in (0, 1):
        if answer.ranges:
            ends.append({p: answer.ranges[p][side] if p in answer.ranges else start[p] for p in start})
    ends.insert(0, start)
    levels = [{p: level.get(p, start[p]) for p in start} for level in ends]
    return [level for k, level in enumerate(levels) if level not in levels[:k]]


def _unjudged(group: Group, point: Point) -> PointFigures:
    """Returns a point at which the laws rest and the design does not: roots there would say nothing of any run."""
    acting = f"{' and '.join(point.acts)} acts" if point.acts else ""
    outside = f"the command of {' and '.join(point.outside)} cannot be" if point.outside else ""
    why = f"the design does not rest here: {' and '.join(filter(None, (acting, outside)))}"
    return PointFigures(
        point, "undecided", why, (), None, (), (), None, None, smooth_part(group.model, point.values)[1]
    )


def _figures(group: Group, point: Point, deadline: Deadline, notes: list[str]) -> PointFigures:
    model, dropped = smooth_part(group.model, point.values)
    names = [loop.name for loop in group.loops if is_smooth(loop)]
    start = {p: point.values[p] for p in (*model.states, *model.commands)}
    tolerant = tuple(loop.name for loop in group.loops if loop.name in names and loop.tolerance > 0)
    try:
        sides = branches(model, start)
        complete = sides.complete
        all_laps = [opened(part.model, start, deadline.check) for part in sides.branches]
        paths = region(model, names)
        judged = _distinct(sides.branches, all_laps, [roots(closed(lap, paths), lap.length) for lap in all_laps])
    except (LapError, NotExactError, MissingValueError) as error:
        why = str(error)
        notes.append(f"not linearised: {why}")
        return PointFigures(point, "undecided", why, (), None, tolerant, (), None, None, dropped)
    parts = tuple(part for part, _, _ in judged)
    laps, every = [lap for _, lap, _ in judged], [rows for _, _, rows in judged]
    verdict, why = every[0].verdict, every[0].how
    if len(sides.branches) > 1:
        verdict, why = _together(model, start, paths, every, complete, deadline)
    if sides.jumps:
        notes.append(f"the law jumps at an operating point, linear figures are of one side: {'; '.join(sides.jumps)}")
        verdict, why = (verdict, why) if verdict != "stable" else ("undecided", f"stable on one side of a jump: {why}")
    inside = _inside(group, laps[0], paths, tolerant)
    loops = _margins(group, sides.branches, all_laps, start, paths, deadline, notes)
    worst = max(range(len(every)), key=lambda k: every[k].growth)
    unstable = every[worst].verdict == "unstable" and len(names) > 1
    subset = smallest_unstable(laps[worst], model, names) if unstable else None
    named_roots = tuple((part.render_sides(parts), rows) for part, rows in zip(parts, every, strict=True))
    pair = _pair(laps[worst], every[worst], paths)
    return PointFigures(point, verdict, why, named_roots, inside, tolerant, loops, pair, subset, dropped)


def _inside(group: Group, lap: Lap, paths: frozenset[str], tolerant: Sequence[str]) -> Roots | None:
    """Returns the roots inside the tolerances, where the tolerant loops do not act."""
    if not tolerant:
        return None
    still = {loop.signal for loop in group.loops if loop.name in tolerant}
    still -= {loop.signal for loop in group.loops if loop.name not in tolerant}
    return roots(closed(lap, paths - still, held=tolerant), lap.length)


def _distinct(
    parts: Sequence[Branch], laps: Sequence[Lap], verdicts: Sequence[Roots]
) -> list[tuple[Branch, Lap, Roots]]:
    """Returns one of each set of branches with the same roots."""
    distinct: dict[tuple[complex, ...], tuple[Branch, Lap, Roots]] = {}
    for part, lap, lap_roots in zip(parts, laps, verdicts, strict=True):
        key = tuple(complex(round(z.real, 9), round(abs(z.imag), 9)) for z in lap_roots.multipliers if abs(z) > 1e-6)
        distinct.setdefault((*key, complex(len(lap_roots.verdict))), (part, lap, lap_roots))
    return list(distinct.values())


def _together(
    model: Model, start: Mapping[str, Fraction], paths: frozenset[str], every: Sequence[Roots], complete: bool,
    deadline: Deadline,
) -> tuple[str, str]:  # fmt: skip
    """Returns the verdict on all branches that meet, however they alternate, and how it was found."""
    branches = "one kind of branch" if len(every) == 1 else f"{len(every)} branches"
    count = branches if complete else f"{len(every)} of the branches"
    bent = bent_verdict(model, start, paths, deadline.check)
    if bent.verdict != "undecided":
        return bent.verdict, f"{bent.how}; {count} with {' or '.join(sorted({one.verdict for one in every}))} roots"
    if len({one.verdict for one in every}) == 1:
        return "undecided", f"{every[0].verdict} in each of {count}; how they alternate is not decided: {bent.how}"
    worst = max(range(len(every)), key=lambda k: (ORDER[every[k].verdict], every[k].growth))
    others = " or ".join(sorted({one.verdict for one in every} - {every[worst].verdict}))
    return "undecided", f"{every[worst].verdict} in branch {worst + 1}, {others} in others; {bent.how}"


def _margins(
    group: Group, parts: Sequence[Branch], laps: Sequence[Lap], start: dict[str, Fraction],
    paths: frozenset[str], deadline: Deadline, notes: list[str],
) -> tuple[LoopFigures, ...]:  # fmt: skip
    smooth = [loop for loop in parts[0].model.loops if loop.name in group.names]
    rows = []
    for index, loop in enumerate(smooth[:MOST_LOOPS]):
        if deadline.over:
            notes.append(f"margins of {index} of {len(smooth)} loops: the time limit was reached")
            break
        try:
            share = deadline.share(1 / (min(len(smooth), MOST_LOOPS) - index))
            rows.append(figures(laps, parts, start, loop, paths, share))
        except (LapError, OutOfTimeError) as error:
            notes.append(f"margins of {loop.name}: {error}")
    if len(smooth) > MOST_LOOPS:
        cut = f"margins of the first {MOST_LOOPS} of {len(smooth)} loops"
        notes.append(f"{cut}; through which of them the mode goes is not looked for")
    return tuple(rows)


def _pair(lap: Lap, lap_roots: Roots, paths: frozenset[str]) -> tuple[str, str, float] | None:
    """Returns the two commands through which the dominant mode goes round, with that gain."""
    names = list(dict.fromkeys(cut.loop for cut in lap.cuts))
    if not lap_roots.multipliers or lap_roots.growth == 0 or not 1 < len(names) <= MOST_LOOPS:
        return None
    z = lap_roots.multipliers[0] * (1 + 1e-9)
    gain = coupling(closed(lap, paths, left_open=names), z)
    pairs = itertools.combinations_with_replacement(names, 2)
    best = max(pairs, key=lambda p: gain[p] if p[0] == p[1] else (gain[p] * gain[p[::-1]]) ** 0.5)
    size = gain[best] if best[0] == best[1] else (gain[best] * gain[best[::-1]]) ** 0.5
    return (*best, size)
