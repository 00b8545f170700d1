"""Judges flows that feed back on each other without any loop: their equilibria, and the exact-delay roots at each.

>>> from coherence.model.elaborate import elaborate
>>> from coherence.language.reading import read_text
>>> text = 'coherence: 1\\ncomponents: {a: {state: "x\\' = -2 * delayed(a.x, 1 s) / 1 s", from: 1}}'
>>> model = elaborate(read_text(text))
>>> answer = flow_answer(model, flow_groups(model)[0])
>>> answer.points[0].verdict, round(answer.points[0].period or 0, 3)
('unstable', 3.754)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from coherence.base.errors import UsageError
from coherence.base.graphs import cycles, reached
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.bent_verdicts import bent_verdict
from coherence.loops.designs.design_network import network_of
from coherence.loops.designs.every_equilibrium import equilibria
from coherence.loops.designs.kinks import Branch, branches, stopped
from coherence.loops.networks.delayed_verdict import DelayVerdict, verdict
from coherence.model.model import Model, State
from coherence.simulate.execute.instants import MissingValueError
from coherence.simulate.execute.slices import influences, lacking, signals_in, sliced

ORDER = ("unstable", "undecided", "marginal", "stable")
Point = Mapping[str, Fraction]


@dataclass(frozen=True)
class FlowPoint:
    """The linear verdict at one equilibrium: of each branch where several meet, and of all `together`."""

    values: Point
    branches: tuple[tuple[str, DelayVerdict], ...]
    jumps: tuple[str, ...] = ()
    together: str = "undecided"

    @property
    def worst(self) -> DelayVerdict:
        return min((judged for _, judged in self.branches), key=lambda judged: ORDER.index(judged.verdict))

    @property
    def verdict(self) -> str:
        """Returns the verdict on one branch, or on all however they alternate."""
        if self.jumps:
            return "undecided"
        return self.worst.verdict if len(self.branches) == 1 else self.together

    @property
    def period(self) -> float | None:
        return self.worst.period


@dataclass(frozen=True)
class FlowAnswer:
    """What is known of flows in feedback; `reason` says why there is no point, where there is none, and `left_out`
    what was not looked at.
    """

    paths: tuple[str, ...]
    points: tuple[FlowPoint, ...]
    reason: str = ""
    left_out: str = ""

    @property
    def unstable(self) -> bool:
        """Decides whether there are equilibria, all are known, and none of them attracts."""
        return bool(self.points) and not self.left_out and all(point.verdict == "unstable" for point in self.points)


def flow_answers(model: Model) -> tuple[FlowAnswer, ...]:
    """Returns the answer about every group of flows in feedback."""
    return tuple(flow_answer(model, paths) for paths in flow_groups(model))


def flow_groups(model: Model) -> list[tuple[str, ...]]:
    """Returns states with a flow that feed back on each other and on no loop: the strongly connected parts."""
    paths = [path for path, state in model.states.items() if state.flow is not None]
    loops = {loop.name for loop in model.loops}
    free = [path for path in paths if not influences(model, [path]) & loops]
    after = {path: _reads(model, path) & set(free) for path in free}
    group_of = {path: group for group in cycles(after) for path in group}
    groups = dict.fromkeys(frozenset(group_of[path]) for path in free if path in group_of)
    return [tuple(path for path in free if path in group) for group in groups]


def _reads(model: Model, path: str) -> frozenset[str]:
    """Returns what a flow reads: where it reads what switches, what decides about that too."""
    flow = model.states[path].flow
    return frozenset() if flow is None else frozenset(reached(signals_in(model, flow), partial(_decides, model)))


def _decides(model: Model, path: str) -> Iterator[str]:
    state = model.states.get(path)
    if state is not None and state.switch is not None:
        yield from (name for tree in state.switch.trees for name in signals_in(model, tree))


def switches_of(model: Model, paths: Sequence[str]) -> tuple[State, ...]:
    """Returns the states that switch and on which some flows depend."""
    needed = influences(model, paths)
    return tuple(state for path, state in model.states.items() if state.switch is not None and path in needed)


def flow_answer(model: Model, paths: Sequence[str], check: Callable[[], object] = bool) -> FlowAnswer:
    """Returns the verdict at every equilibrium that was found from the starts and pieces of the flows.

    `check` may raise to end it.
    """
    part = sliced(model, paths)
    missing = lacking(model, tuple(paths), part.inputs)
    if missing:
        return FlowAnswer(tuple(paths), (), f"needs {missing}")
    switching = [state.path for state in switches_of(part, paths)]
    if switching:
        return FlowAnswer(tuple(paths), (), f"{' and '.join(switching)} switches: no linear form at its thresholds")
    try:
        known = equilibria(part, check)
        points = tuple(_judged(part, paths, point, check) for point in known.points)
    except MissingValueError as error:
        return FlowAnswer(tuple(paths), (), f"needs {error}")
    except (NotExactError, UsageError) as error:
        return FlowAnswer(tuple(paths), (), str(error))
    reason = "" if points else "no equilibrium was found from any start"
    return FlowAnswer(tuple(paths), points, reason, known.left_out)


def _judged(model: Model, paths: Sequence[str], point: dict[str, Fraction], check: Callable[[], object]) -> FlowPoint:
    sides = branches(model, point)
    still = stopped(model, point)
    free = [path for path in paths if path not in still]
    judged = tuple((branch.render_sides(sides.branches), _verdict(branch, free, point)) for branch in sides.branches)
    several = len(judged) > 1 and not sides.jumps
    together = bent_verdict(model, point, free, check).verdict if several else "undecided"
    return FlowPoint(point, judged, sides.jumps, together)


def _verdict(branch: Branch, paths: Sequence[str], point: Point) -> DelayVerdict:
    return verdict(network_of(branch.model, point).continuous(paths))
