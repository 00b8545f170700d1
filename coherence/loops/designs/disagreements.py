"""Lays two engines' answers about one group of loops beside each other, where they speak of the same runs.

What is comparable, and when:

- Roots of a linearised lap and a run from beside the same point, both of the laws alone.  Roots inside the circle: the
  deviation dies out; outside: it grows.  A law is straight near the point only: what differs must differ in a thousand
  times smaller deviation too.  Marginal roots, and modes too slow to show within the run, are not compared.
- Exact runs from the ends of the ranges and the cycle that ticks predict from one of these starts: where every exact
  run comes to rest, none goes round a confirmed cycle; where both go round, period and extremes are the same.
- A proof that a group settles and a run of it that never does.

No disagreement: a limit cycle by rounding, dead bands, saturation or windows beside roots of the laws alone; runs that
start at other ends, phases or orders; an answer that is undecided.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_seconds
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.nearby_runs import SIZES, Deviation, RunAllowance, deviations
from coherence.model.model import Model

SAME_PERIOD, SAME_RANGE = 1e-3, 5e-3  # relative: the tolerances within which a predicted cycle is confirmed
STABLE, UNSTABLE = "stable", "unstable"
Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Statement:
    """What one engine says of a group of loops, and the command that makes it say so again."""

    text: str
    command: str

    def render(self) -> str:
        """Renders the statement with its command."""
        return f"{self.text} (`{self.command}`)"


@dataclass(frozen=True)
class Disagreement:
    """Two statements about the same runs of some loops, of which at least one is wrong."""

    of: tuple[str, ...]
    first: Statement
    second: Statement

    def render(self) -> str:
        """Renders both statements; neither is preferred."""
        names = " and ".join(self.of)
        return f"two answers about {names} contradict each other: {self.first.render()}; {self.second.render()}"


@dataclass(frozen=True)
class LinearAnswer:
    """A linear verdict (`stable`, `unstable`) at a point of a smooth model, about the signals in `paths`."""

    model: Model
    point: Mapping[str, Fraction]
    paths: Collection[str]
    verdict: str
    growth: float


def beside_a_point(
    names: Sequence[str], answer: LinearAnswer, command: str, deadline: Deadline, allowed: RunAllowance | None = None
) -> Disagreement | None:
    """Returns how roots and runs from beside the point differ; None where they agree or cannot be compared.

    `allowed`: how many instants may be run; as many as the deadline has time for where none is given.
    """
    if answer.verdict not in (STABLE, UNSTABLE) or (answer.growth >= 1) is (answer.verdict == STABLE):
        return None
    followed: tuple[Deviation, ...] = ()
    for size in SIZES:
        runs = deviations(answer.model, answer.point, answer.paths, answer.growth, deadline,
                          size=size, allowed=allowed or RunAllowance())  # fmt: skip
        if runs is None or not _contradicts(answer.verdict, runs):
            return None
        followed = runs
    worst = max(followed, key=lambda run: run.last / run.first)
    where = ", ".join(f"{path} = {render_decimal(value)}" for path, value in answer.point.items())
    roots = f"the roots at {where} are {answer.verdict}, factor {answer.growth:.4g} a lap"
    run = f"a run of the same laws from {worst.first:.1g} beside it ends {worst.last:.2g} away after {worst.laps} laps"
    start = " ".join(f"--set {path}={float(value):.15g}" for path, value in worst.start.items())
    simulated = f"coherence simulate {command.rsplit(' ', 1)[-1]} {start} --for '{render_seconds(worst.seconds)}'"
    return Disagreement(tuple(names), Statement(roots, command), Statement(run, simulated))


def _contradicts(verdict: str, runs: Sequence[Deviation]) -> bool:
    """Decides whether a deviation grows beside a stable point, or all die out beside an unstable one."""
    return any(run.grows for run in runs) if verdict == STABLE else all(run.dies_out for run in runs)


@dataclass(frozen=True)
class CycleAnswer:
    """A cycle of the loops' commands: its period (s) and (lowest, highest) of each signal that moves."""

    period: float
    ranges: Ranges


def cycles_differ(cycle: CycleAnswer, other: CycleAnswer) -> bool:
    """Decides whether two cycles of one run are not the same; one may be told over several turns of the other."""
    longer, shorter = max(cycle.period, other.period), min(cycle.period, other.period)
    turns = round(longer / shorter)
    if abs(longer - turns * shorter) > SAME_PERIOD * shorter:
        return True
    return any(_apart(cycle.ranges[path], other.ranges[path]) for path in cycle.ranges.keys() & other.ranges.keys())


def _apart(ends: tuple[float, float], others: tuple[float, float]) -> bool:
    swing = max(ends[1] - ends[0], others[1] - others[0], 1e-9 * (1 + abs(ends[1])))
    return max(abs(ends[0] - others[0]), abs(ends[1] - others[1])) > SAME_RANGE * swing
