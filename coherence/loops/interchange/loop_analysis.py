"""Analyzes a design or a network from Python, and opens any of its loops as systems of python-control."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.language import document
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_design, read_text
from coherence.loops.analysis import network_analysis, render_json, render_network
from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis, PointFigures, analysed
from coherence.loops.analysis.network_analysis import NetworkAnalysis
from coherence.loops.analysis.network_reading import is_network, read_network
from coherence.loops.designs.design_network import DesignNetwork, network_of
from coherence.loops.designs.feedback_groups import is_smooth
from coherence.loops.designs.flow_feedback import FlowAnswer
from coherence.loops.designs.kinks import Branch, branches, stopped
from coherence.loops.designs.operating_points import smooth_part
from coherence.loops.interchange.open_loop import OpenLoop, opened_at
from coherence.loops.interchange.opened_designs import opened_design
from coherence.loops.multirate.sampled_system import Multirate
from coherence.loops.networks.network import Network
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.slices import sliced

WORST_FIRST = ("oscillates", "unstable", "undecided", "marginal", "settles", "stable")


@dataclass(frozen=True)
class LinearPart:
    """A design near one operating point and on one side of its kinks: its network, and what is beside it (`notes`).

    `sides`: the kinks of each branch at that point, in words; `others`: models of the other branches.
    """

    network: DesignNetwork
    point: Mapping[str, Fraction]
    flows: tuple[str, ...]  # states that feed back without a loop; none: the part is sampled
    notes: tuple[str, ...]
    sides: tuple[str, ...] = ("",)
    others: tuple[Model, ...] = ()


@dataclass(frozen=True)
class LoopAnalysis:
    """The analysis of a `model`, or of a `network`."""

    analysis: DesignAnalysis | NetworkAnalysis
    name: str
    network: Network | Multirate | None = None
    model: Model | None = None

    @property
    def verdict(self) -> str:
        """Returns the worst verdict of all groups: oscillates, unstable, undecided, marginal, settles or stable."""
        return min(self.verdicts.values(), key=WORST_FIRST.index, default="stable")

    @property
    def verdicts(self) -> dict[str, str]:
        """Returns the verdict of each group of loops, and of each group of states that flow."""
        if isinstance(self.analysis, NetworkAnalysis):
            return {self.name: self.analysis.verdict}
        groups = {" and ".join(group.group.names): group.verdict for group in self.analysis.groups}
        return groups | {" and ".join(flow.paths): _verdict(flow) for flow in self.analysis.flows}

    @property
    def loops(self) -> tuple[str, ...]:
        """Returns the names that `linearize` takes."""
        if isinstance(self.analysis, DesignAnalysis):
            groups = (name for group in self.analysis.groups for name in group.group.names)
            return (*groups, *(path for flow in self.analysis.flows for path in flow.paths))
        if isinstance(self.network, Multirate):
            return tuple(sampler.name for sampler in self.network.samplers)
        return self.network.names if self.network else ()

    def to_dict(self) -> dict[str, Any]:
        """Returns what `coherence analyze --output json` prints of it."""
        if isinstance(self.analysis, NetworkAnalysis):
            return render_network.as_json(self.name, self.analysis)
        return render_json.as_json(self.name, self.analysis, (), [()] * len(self.analysis.groups))

    def linearize(self, loop: str, *, point: int = 0, branch: int | None = None) -> OpenLoop:
        """Returns the loop opened, as systems of python-control: at what a loop reads, or at a state or block.

        `point` counts the operating points of its group, `branch` the sides of the kinks at that point.  What a law
        carries on of its own command is no part of L, unless it sees nothing else that it moves.  Raises UsageError
        where there is no linear loop, with the reason.
        """
        if self.network is not None:
            return opened_at(self.network, loop)
        part = self.linear_part(loop, point=point, branch=branch)
        if part.flows:
            return replace(opened_at(part.network.continuous(part.flows), loop), notes=part.notes)
        others = (network_of(model, part.point) for model in part.others)
        return OpenLoop(loop, sampled=opened_design(part.network, loop, lambda: others), notes=part.notes)

    def linear_part(self, loop: str, *, point: int = 0, branch: int | None = None) -> LinearPart:
        """Returns the network of the group around a loop (or a state that flows) of a design.  Raises UsageError."""
        if not isinstance(self.analysis, DesignAnalysis) or self.model is None:
            raise UsageError("a network has no operating points: it is linear itself")
        group = next((group for group in self.analysis.groups if loop in group.group.names), None)
        flow = next((flow for flow in self.analysis.flows if loop in flow.paths), None)
        if group is None and flow is None:
            raise UsageError(f"'{loop}' is in no feedback: {_why_alone(self.analysis, loop, self.loops)}")
        try:
            if group is not None:
                return _of_group(group, loop, point, branch)
            assert flow is not None
            return _of_flow(sliced(self.model, flow.paths), flow, point, branch)
        except NotExactError as error:
            raise UsageError(f"{loop} has no linear form: {error}") from None


def analyze(
    source: Design | Network | Multirate | Mapping[str, Any] | str | Path, *, time_limit: float = 20.0
) -> LoopAnalysis:
    """Returns the analysis of a design or a network within a time limit (s).

    `source`: a Design, its text (with a newline), path or mapping; a network file; or what `network` returns.  Raises
    InputError.
    """
    if isinstance(source, str | Path) and holds_network(source):
        return replace(analyze(read_network(Path(source))), name=str(source))
    if isinstance(source, Network | Multirate):
        return LoopAnalysis(network_analysis.analysed(source), "<network>", source)
    name, design = _design(source)
    model = elaborate(design)
    return LoopAnalysis(analysed(model, time_limit=time_limit), name, model=model)


def holds_network(source: str | Path) -> bool:
    """Returns whether a path is that of a network file."""
    path = Path(source) if "\n" not in str(source) else None
    if path is None or not path.is_file():
        return False
    documents = document.read(path.read_bytes(), str(path))
    return bool(documents) and is_network(documents[0].root)


def _design(source: Design | Mapping[str, Any] | str | Path) -> tuple[str, Design]:
    if isinstance(source, Design):
        return "<design>", source
    if isinstance(source, Mapping):
        return "<design>", read_text(json.dumps(source))
    if isinstance(source, str) and "\n" in source:
        return "<design>", read_text(source)
    return str(source), read_design(source)


def _verdict(flow: FlowAnswer) -> str:
    """Returns the verdict that all equilibria share."""
    shared = {point.verdict for point in flow.points}
    return shared.pop() if len(shared) == 1 else "undecided"


def _why_alone(analysis: DesignAnalysis, loop: str, loops: tuple[str, ...]) -> str:
    return dict(analysis.alone).get(loop) or did_you_mean(loop, loops)


def _of_group(group: GroupAnalysis, loop: str, point: int, branch: int | None) -> LinearPart:
    if not is_smooth(next(each for each in group.group.loops if each.name == loop)):
        raise UsageError(f"{loop} acts by thresholds: it has no derivative, exact execution alone decides")
    chosen = _point(loop, [each for each in group.points if each.point.real], group.notes, point)
    model, dropped = smooth_part(group.group.model, chosen.point.values)
    start = {path: chosen.point.values[path] for path in (*model.states, *model.commands)}
    side, notes, sides, others = _side(model, start, branch)
    left_out = (f"not in the linear loop: {', '.join(dropped)}",) if dropped else ()
    return LinearPart(network_of(side.model, start), start, (), (*left_out, *notes), sides, others)


def _point(loop: str, points: list[PointFigures], notes: tuple[str, ...], point: int) -> PointFigures:
    if not 0 <= point < len(points):
        reason = "; ".join(notes) if not points else f"there are {len(points)}, counted from 0"
        raise UsageError(f"no operating point {point} of {loop}: {reason or 'none was found'}")
    return points[point]


def _of_flow(model: Model, flow: FlowAnswer, point: int, branch: int | None) -> LinearPart:
    if flow.reason and not flow.points:
        raise UsageError(f"no equilibrium of {' and '.join(flow.paths)} with a linear form: {flow.reason}")
    if not 0 <= point < len(flow.points):
        known = f"there are {len(flow.points)}, counted from 0"
        raise UsageError(f"no equilibrium {point} of {' and '.join(flow.paths)}: {known}")
    values = dict(flow.points[point].values)
    side, notes, sides, others = _side(model, values, branch)
    free = tuple(path for path in flow.paths if path not in stopped(model, values))
    return LinearPart(network_of(side.model, values), values, free, notes, sides, others)


def _side(
    model: Model, point: dict[str, Fraction], branch: int | None
) -> tuple[Branch, tuple[str, ...], tuple[str, ...], tuple[Model, ...]]:
    """Returns the side of the kinks at a point, remarks about it, all sides in words, and models of the others.

    Raises UsageError where there are several and none is named.
    """
    sides = branches(model, point)
    count = len(sides.branches)
    if branch is None and count > 1:
        every = "; ".join(f"{k}: {each.render_sides(sides.branches)}" for k, each in enumerate(sides.branches))
        raise UsageError(
            f"the operating point lies on a kink, and each side has its own loop: name a branch of {every}"
        )
    if not 0 <= (branch or 0) < count:
        raise UsageError(f"there is no branch {branch}: there are {count}, counted from 0")
    words = tuple(each.render_sides(sides.branches) for each in sides.branches)
    chosen = sides.branches[branch or 0]
    others = tuple(each.model for each in sides.branches if each is not chosen)
    return chosen, tuple(_remarks(sides.branches, branch or 0, sides.jumps)), words, others


def _remarks(sides: tuple[Branch, ...], chosen: int, jumps: tuple[str, ...]) -> Iterator[str]:
    if len(sides) > 1:
        yield f"the side of the kink where {sides[chosen].render_sides(sides)}"
    for jump in jumps:
        yield f"{jump} jumps at the operating point: the loop is that of one side"
