"""Says of models whose flows have no constant rates whether they keep swinging, by roots and a run that agree.

A model keeps swinging where every equilibrium that is inside its bounds is unstable by its exact-delay roots, and a
run in floats from its own start still swings after many periods, not less than before.  It comes to rest where a
stable equilibrium is reached by that run.  All else is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.every_equilibrium import equilibria
from coherence.loops.designs.feedback_groups import is_smooth
from coherence.loops.designs.float_runs import FloatRun, float_run
from coherence.loops.designs.flow_feedback import FlowAnswer
from coherence.loops.designs.group_runs import RunVerdict
from coherence.loops.designs.kinks import branches
from coherence.loops.designs.lap_matrices import closed
from coherence.loops.designs.lap_roots import Roots, roots
from coherence.loops.designs.linear import skeleton
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, MissingValueError
from coherence.simulate.execute.slices import sliced
from coherence.simulate.execute.starts import corners

MOST_LOOPS = 8
IN_FLOATS = "a run in floats"
NEAR = 0.05  # relative distance from a stable point at which a run that dies out is on its way to it


@dataclass(frozen=True)
class Persistence:
    """`verdict`: swings, rests or undecided; `linear`: that of the `point` whose mode grows most or decays least.

    `period` (s, None without oscillation) and `rate` (1/s) are those of that mode; `run`: where one was followed.
    """

    verdict: str
    linear: str
    point: Mapping[str, Fraction]
    period: float | None
    rate: float
    run: FloatRun | None = None

    def render(self) -> str:
        """Renders the linear verdict: `unstable at a.x = 0, rate 0.17 1/s, period 3.75 s`."""
        where = ", ".join(f"{path} = {float(value):.6g}" for path, value in self.point.items())
        period = f", period {self.period:.4g} s" if self.period is not None else ""
        return f"{self.linear} at {where}, rate {self.rate:.3g} 1/s{period}"


def decided_beside_roots(
    answer: RunVerdict, model: Model, signals: Sequence[str], check: Callable[[], object]
) -> RunVerdict:
    """Returns what exact runs say of a group; where these decide nothing, what its roots and a run in floats say."""
    missing = answer.how.startswith("needs ")
    persistence = None if answer.verdict != "undecided" or missing else of_loops(model, signals, check)
    if persistence is None or persistence.run is None or persistence.verdict == "undecided":
        return answer
    how = f"{IN_FLOATS}, {persistence.render()}; {answer.how}"
    if persistence.verdict == "rests":
        return replace(answer, verdict="settles", how=how)
    ranges = {path: (Fraction(low), Fraction(high)) for path, (low, high) in persistence.run.ranges.items()}
    period = None if persistence.period is None else Fraction(f"{persistence.period:.4g}")
    return replace(answer, verdict="oscillates", how=how, period=period, ranges=ranges)


def of_loops(model: Model, paths: Sequence[str], check: Callable[[], object]) -> Persistence | None:
    """Returns the answer about loops with smooth laws; None where no point is inside their bounds, or a number is not
    known.  `check` may raise to end it.
    """
    if len(model.loops) > MOST_LOOPS or not all(is_smooth(loop) for loop in model.loops):
        return None
    try:
        return _of_smooth(model, paths, check)
    except (ArithmeticError, MissingValueError):  # not linear, not to be followed, or out of time
        return None


def _of_smooth(model: Model, paths: Sequence[str], check: Callable[[], object]) -> Persistence | None:
    smooth, _ = skeleton(model)
    judged = []
    for point in equilibria(smooth, check):
        if all(loop.bounds.clip(point[loop.signal]) == point[loop.signal] for loop in model.loops if loop.signal):
            laps = [opened(branch.model, point, check) for branch in branches(smooth, point).branches]
            judged += [_of_roots(point, roots(closed(lap), lap.length), float(lap.length)) for lap in laps]
    signals = tuple(dict.fromkeys((*paths, *model.states)))
    return _beside_run(model, next(iter(corners(model))), signals, judged, check)


def _of_roots(point: Mapping[str, Fraction], lap_roots: Roots, length: float) -> Persistence:
    rate = math.log(lap_roots.growth) / length if lap_roots.growth else -math.inf
    return Persistence("undecided", lap_roots.verdict, point, lap_roots.period, rate)


def of_flows(model: Model, answer: FlowAnswer, check: Callable[[], object]) -> Persistence | None:
    """Returns the answer about flows in feedback; None where no equilibrium is known, or a number is not.

    `check` may raise to end it.
    """
    part = sliced(model, answer.paths)
    judged = [
        Persistence("undecided", point.verdict, point.values, verdict.period, verdict.abscissa)
        for point in answer.points
        for _, verdict in point.branches
    ]
    try:
        return _beside_run(part, next(iter(corners(part))), answer.paths, judged, check)
    except (ArithmeticError, MissingValueError):
        return None


def _beside_run(
    model: Model, choices: Choices, paths: Sequence[str], judged: Sequence[Persistence], check: Callable[[], object]
) -> Persistence | None:
    """Returns what roots and a run say together, about the mode that turns and grows most."""
    if not judged:
        return None
    worst = max(judged, key=lambda each: (each.period is not None, each.rate))
    verdicts = {each.linear for each in judged}
    if worst.period is None or not math.isfinite(worst.rate) or verdicts not in ({"stable"}, {"unstable"}):
        return worst
    try:
        run = float_run(model, choices, paths, period=worst.period, rate=worst.rate, check=check)
    except NotExactError:
        return worst  # it cannot be followed, or not in time
    both = verdicts == {"unstable"} and run.verdict == "swings"
    return replace(worst, verdict="swings" if both else _at_rest(judged, run), run=run)


def _at_rest(judged: Sequence[Persistence], run: FloatRun) -> str:
    """Returns whether the run has come near a stable point."""
    near = any(each.linear == "stable" and _near(each.point, run.last) for each in judged)
    return "rests" if near and run.verdict == "rests" else "undecided"


def _near(point: Mapping[str, Fraction], last: Mapping[str, float]) -> bool:
    return all(abs(value - float(point[path])) <= NEAR * (1 + abs(value)) for path, value in last.items())
