"""Lays the answers of an analysis beside each other: roots beside runs, exact runs beside predicted cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis, PointFigures
from coherence.loops.designs.disagreements import (
    CycleAnswer,
    Disagreement,
    LinearAnswer,
    Statement,
    beside_a_point,
    cycles_differ,
)
from coherence.loops.designs.feedback_groups import Deadline, is_smooth, region
from coherence.loops.designs.group_runs import RunVerdict
from coherence.loops.designs.operating_points import smooth_part
from coherence.loops.designs.predicted_cycles import CycleReading
from coherence.simulate.execute.exact import Choices

STILL = 1e-9  # relative: a command that moves less stands still


def disagreements(
    analysis: DesignAnalysis, cycles: Sequence[CycleReading], deadline: Deadline
) -> tuple[Disagreement, ...]:  # fmt: skip
    """Returns every pair of answers of an analysis that contradict each other."""
    return tuple(
        disagreement
        for group in analysis.groups
        for disagreement in (*_beside_points(group, deadline), *_of_cycles(group, cycles))
    )


def render_disagreements(disagreements: Sequence[Disagreement]) -> str:
    """Renders one line for each pair of answers, before all else that is said."""
    return "".join(f"error[COH107]: {disagreement.render()}\n" for disagreement in disagreements)


def _beside_points(group: GroupAnalysis, deadline: Deadline) -> Iterator[Disagreement]:
    for point in group.points:
        answer = _linear(group, point)
        disagreement = None if answer is None else beside_a_point(group.group.names, answer, _analyze(group), deadline)
        if disagreement is not None:
            yield disagreement


def _linear(group: GroupAnalysis, figures: PointFigures) -> LinearAnswer | None:
    """Returns the verdict of the one branch at a point; None where there are several, or other loops write too."""
    model = group.group.model
    if len(figures.branches) != 1 or any(loop.name not in group.group.names for loop in model.loops):
        return None
    smooth, _ = smooth_part(model, figures.point.values)
    paths = region(model, [loop.name for loop in group.group.loops if is_smooth(loop)])
    return LinearAnswer(smooth, figures.point.values, paths, figures.verdict, figures.branches[0][1].growth)


def _of_cycles(group: GroupAnalysis, cycles: Sequence[CycleReading]) -> Iterator[Disagreement]:
    """Yields a predicted cycle that the exact runs of the same starts do not have, or have otherwise."""
    answer, names = group.answer, group.group.names
    for reading in cycles:
        if reading.loop != ", ".join(names):
            continue
        if _differs(answer, reading, group.group.model.commands, alone=_alone(cycles, reading)):
            ticks = Statement(f"the run by ticks says: {reading.render_line()}", _analyze(group))
            yield Disagreement(names, Statement(f"exact runs say: {_render(answer)}", _simulate(group)), ticks)


def _alone(cycles: Sequence[CycleReading], reading: CycleReading) -> bool:
    """Decides whether all starts that were predicted come to the same."""
    return sum(other.loop == reading.loop for other in cycles) == 1


def _differs(answer: RunVerdict, reading: CycleReading, commands: Collection[str], *, alone: bool) -> bool:
    """Decides whether they say different things of one run; the prediction is of the first starts in nominal phases."""
    if reading.verdict == "cycle" and reading.confirmed and answer.verdict == "settles":
        return any(high - low > STILL * (1 + abs(high)) for path, low, high in reading.ranges if path in commands)
    run = answer.run
    if answer.verdict != "oscillates" or not alone or run is None or run.orbit is None or not is_nominal(run.choices):
        return False
    if answer.starts > 1 or reading.verdict == "undecided":
        return False  # another start swings than the first, which alone is surely among those predicted
    if reading.verdict == "none" or reading.period is None:
        return reading.verdict == "none"
    predicted = CycleAnswer(reading.period, {path: (low, high) for path, low, high in reading.ranges})
    return cycles_differ(CycleAnswer(float(run.orbit.period), _floats(answer.ranges)), predicted)


def is_nominal(choices: Choices) -> bool:
    """Decides whether a run has the phases and the order that the design states."""
    return not choices.phases and not choices.order


def _floats(ranges: Mapping[str, tuple[Fraction, Fraction]]) -> dict[str, tuple[float, float]]:
    return {path: (float(low), float(high)) for path, (low, high) in ranges.items()}


def _render(answer: RunVerdict) -> str:
    if answer.verdict != "oscillates" or answer.period is None:
        return f"{answer.verdict}, {answer.how}"
    moves = ", ".join(f"{path} {float(low):.6g} to {float(high):.6g}" for path, (low, high) in answer.ranges.items())
    return f"period {float(answer.period):.6g} s, {moves}"


def _analyze(group: GroupAnalysis) -> str:
    return f"coherence analyze {group.group.model.design.file}"


def _simulate(group: GroupAnalysis) -> str:
    return f"coherence simulate {group.group.model.design.file}"
