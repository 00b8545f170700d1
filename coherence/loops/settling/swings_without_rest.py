"""Says of models whose flows have no constant rates whether they keep swinging, by roots and a run that agree.

A model keeps swinging where every equilibrium that is inside its bounds is unstable by its roots, none was left out,
and a run in floats from its own start still swings after many periods, not less than before; where it starts at such
an equilibrium, and so stays there, the run is one from beside it.  It comes to rest where
that run ends at an equilibrium that is stable, certified as `lap_roots`, `delayed_verdict` and, where several branches
meet, `bent_verdicts` do.  All else is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.bent_verdicts import bent_verdict
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.every_equilibrium import equilibria
from coherence.loops.designs.feedback_groups import is_smooth
from coherence.loops.designs.float_runs import FloatRun, float_run
from coherence.loops.designs.flow_feedback import FlowAnswer, FlowPoint
from coherence.loops.designs.group_runs import RunVerdict
from coherence.loops.designs.kinks import branches
from coherence.loops.designs.lap_matrices import closed
from coherence.loops.designs.lap_roots import Roots, roots
from coherence.loops.designs.linear import skeleton
from coherence.loops.networks.delayed_verdict import DelayVerdict
from coherence.loops.settling.settling_proofs import settling
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, MissingValueError
from coherence.simulate.execute.slices import sliced
from coherence.simulate.execute.starts import constant_corners, corners, fixed_at

MOST_LOOPS = 8
IN_FLOATS = "a run in floats"
NEAR = 0.05  # of how far a run went from a stable point: from there on it is on its way to it
UNSTABLE_APART = "unstable in each branch"
STILL = 1e-6  # relative distance from a point at which a run that begins there has never left it
BESIDE = Fraction(1, 100)  # relative distance from an unstable point at which a run is started


@dataclass(frozen=True)
class Persistence:
    """`verdict`: swings, rests or undecided; `linear`: that of the `point` whose mode grows most or decays least.

    `period` (s, None without oscillation) and `rate` (1/s) are those of that mode; `run`: where one was followed.
    `seconds`: of a run that shows the mode, one turn or one time constant.  `left_out`: what was not looked at.
    `beside`: the run started beside the unstable point at which the model itself starts.  `choices`: of what is open.
    """

    verdict: str
    linear: str
    point: Mapping[str, Fraction]
    period: float | None
    rate: float
    seconds: float
    run: FloatRun | None = None
    left_out: str = ""
    beside: bool = False
    choices: Choices = field(default_factory=Choices)

    def where(self) -> str:
        """Renders the point."""
        return ", ".join(f"{path} = {float(value):.6g}" for path, value in self.point.items())

    def render(self) -> str:
        """Renders the linear verdict: `unstable at a.x = 0, linear rate 0.17 1/s, linear period 3.75 s`."""
        period = f", linear period {self.period:.4g} s" if self.period is not None else ""
        unseen = f"; not looked at: {self.left_out}" if self.left_out else ""
        start = f"; started {float(BESIDE):.0%} beside that point, where it stays by itself" if self.beside else ""
        return f"{self.linear} at {self.where()}, linear rate {self.rate:.3g} 1/s{period}{unseen}{start}"


def decided_beside_roots(
    answer: RunVerdict, model: Model, signals: Sequence[str], check: Callable[[], object]
) -> RunVerdict:
    """Returns what exact runs say of a group; where these decide nothing, that it is proved to settle, or what its
    roots and a run in floats say.
    """
    missing = answer.how.startswith("needs ")
    if answer.verdict != "oscillates" and not (missing or answer.proved):
        settled = settling(model, check)
        if settled.start:
            return replace(answer, verdict="settles", proved=True, how=f"{settled.start}: {settled.how}")
    persistence = None if answer.verdict != "undecided" or missing else of_loops(model, signals, check)
    if persistence is None or persistence.run is None or persistence.verdict == "undecided":
        return answer
    how = f"{IN_FLOATS}, {persistence.render()}; {answer.how}"
    if persistence.verdict == "rests":
        return replace(answer, verdict="settles", how=how)
    ranges = {path: (Fraction(low), Fraction(high)) for path, (low, high) in persistence.run.ranges.items()}
    own = persistence.run.period
    period = None if own is None else Fraction(f"{own:.4g}")
    chosen = persistence.choices
    return replace(answer, verdict="oscillates", how=how, period=period, ranges=ranges, choices=chosen)


def never_moved(model: Model, answer: RunVerdict) -> bool:
    """Decides whether the run of an answer without proof is at rest because it starts where it rests."""
    instants = answer.run.instants if answer.run is not None else ()
    if answer.verdict != "settles" or answer.proved or not instants:
        return False
    return bool(model.states) and all(
        i.after[path] == instants[0].after[path] for i in instants for path in model.states
    )


def of_loops(model: Model, paths: Sequence[str], check: Callable[[], object]) -> Persistence | None:
    """Returns the answer about loops with smooth laws; None where no point is inside their bounds, or a number is not
    known.  `check` may raise to end it.
    """
    if len(model.loops) > MOST_LOOPS or not all(is_smooth(loop) for loop in model.loops):
        return None
    judged: list[Persistence] = []
    try:
        for choices in constant_corners(model):
            persistence = _of_smooth(fixed_at(model, choices), choices, paths, check)
            if persistence is None or persistence.verdict == "swings":
                return persistence
            judged.append(persistence)
    except (ArithmeticError, MissingValueError):  # not linear, not to be followed, or out of time
        return None
    return max(judged, key=lambda each: (each.verdict == "undecided", each.seconds))  # that of every corner


def _of_smooth(model: Model, choices: Choices, paths: Sequence[str], check: Callable[[], object]) -> Persistence | None:
    smooth, _ = skeleton(model)
    known = equilibria(smooth, check)
    judged: list[Persistence] = []
    for point in known.points:
        if all(loop.bounds.clip(point[loop.signal]) == point[loop.signal] for loop in model.loops if loop.signal):
            judged += _at_point(smooth, point, check)
    signals = tuple(dict.fromkeys((*paths, *model.states)))
    persistence = _beside_run(model, choices, signals, judged, known.left_out, check)
    return None if persistence is None else replace(persistence, choices=choices)


def _at_point(smooth: Model, point: dict[str, Fraction], check: Callable[[], object]) -> list[Persistence]:
    """Returns the verdict of each branch at a point; where several meet, that of all of them together."""
    sides = branches(smooth, point)
    laps = [opened(branch.model, point, check) for branch in sides.branches]
    verdicts = [_of_roots(point, roots(closed(lap), lap.length), float(lap.length)) for lap in laps]
    if len(verdicts) == 1 and not sides.jumps:
        return verdicts
    linear = "undecided" if sides.jumps else bent_verdict(smooth, point, check=check).verdict
    if linear == "undecided" and all(one.linear == "unstable" for one in verdicts):
        linear = UNSTABLE_APART
    return [replace(one, linear=linear) for one in verdicts]


def _of_roots(point: Mapping[str, Fraction], lap_roots: Roots, length: float) -> Persistence:
    rate = math.log(lap_roots.growth) / length if lap_roots.growth else -math.inf
    seconds = max(length, _seconds(rate, lap_roots.period))
    return Persistence("undecided", lap_roots.verdict, point, lap_roots.period, rate, seconds)


def _seconds(rate: float, period: float | None) -> float:
    return max(period or 0.0, 1 / -rate if rate < 0 else 0.0)


def of_flows(model: Model, answer: FlowAnswer, check: Callable[[], object]) -> Persistence | None:
    """Returns the answer about flows in feedback; None where no equilibrium is known, or a number is not.

    `check` may raise to end it.
    """
    part = sliced(model, answer.paths)
    judged = [_of_mode(point, mode) for point in answer.points for _, mode in point.branches]
    try:
        return _beside_run(part, next(iter(corners(part))), answer.paths, judged, answer.left_out, check)
    except (ArithmeticError, MissingValueError):
        return None


def _of_mode(point: FlowPoint, mode: DelayVerdict) -> Persistence:
    rate, period = mode.abscissa, mode.period
    return Persistence("undecided", point.verdict, point.values, period, rate, _seconds(rate, period))


def _beside_run(
    model: Model, choices: Choices, paths: Sequence[str], judged: Sequence[Persistence], left_out: str,
    check: Callable[[], object],
) -> Persistence | None:  # fmt: skip
    """Returns what roots and a run say together: about the stable mode that dies out last, or else about the one that
    turns and grows most.
    """
    if not judged:
        return None
    stable = [each for each in judged if each.linear == "stable"]
    grows = {each.linear for each in judged} <= {"unstable", UNSTABLE_APART} and not left_out
    worst = max(judged, key=lambda each: (each.period is not None, each.rate))
    mode = replace(max(stable, key=lambda each: each.seconds) if stable else worst, left_out=left_out)
    if not stable and (not grows or mode.period is None):
        return mode
    try:
        run = float_run(model, choices, paths, period=mode.seconds, rate=mode.rate, check=check)
    except NotExactError:
        return mode  # it cannot be followed, or not in time
    if grows:
        if run.verdict == "rests" and _near(mode.point, run):
            return _from_beside(model, choices, paths, mode, check)
        return replace(mode, verdict="swings" if run.verdict == "swings" else "undecided", run=run)
    return replace(mode, verdict=_at_rest(stable, run), run=run)


def _from_beside(
    model: Model, choices: Choices, paths: Sequence[str], mode: Persistence, check: Callable[[], object]
) -> Persistence:
    """Returns what a run does that starts beside an unstable point: each state a little off it."""
    off = {path: value + BESIDE * (abs(value) or 1) for path, value in mode.point.items() if path in model.states}
    start = replace(choices, values={**choices.values, **off})
    try:
        run = float_run(model, start, paths, period=mode.seconds, rate=mode.rate, check=check)
    except NotExactError:
        return mode
    return replace(mode, verdict="swings" if run.verdict == "swings" else "undecided", run=run, beside=True)


def _at_rest(stable: Sequence[Persistence], run: FloatRun) -> str:
    """Returns whether the run has come near a stable point."""
    return "rests" if run.verdict == "rests" and any(_near(each.point, run) for each in stable) else "undecided"


def _near(point: Mapping[str, Fraction], run: FloatRun) -> bool:
    """Decides whether every signal ends near the point, beside how far it went from there."""
    for path, last in run.last.items():
        at = float(point[path])
        went = max(abs(end - at) for end in run.whole[path])
        if abs(last - at) > max(NEAR * went, STILL * (1 + abs(at))):
            return False
    return True
