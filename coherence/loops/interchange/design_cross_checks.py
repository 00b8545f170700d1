"""Asks python-control about every operating point and every equilibrium of an analysis."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from coherence.base.errors import UsageError
from coherence.base.graphs import components
from coherence.loops.analysis.design_analysis import DesignAnalysis
from coherence.loops.analysis.network_analysis import NetworkAnalysis, judged
from coherence.loops.designs.feedback_groups import is_smooth
from coherence.loops.interchange.cross_check import CrossCheck, cross_checked
from coherence.loops.interchange.design_systems import whole_system
from coherence.loops.interchange.loop_analysis import LinearPart, LoopAnalysis
from coherence.loops.multirate.sampled_system import Multirate
from coherence.loops.networks.network import Network

MOST_SIDES = 8  # branches of a kink that are checked


def cross_checks(analysis: LoopAnalysis) -> Iterator[CrossCheck]:
    """Yields one check for each linear verdict; with the reason, where there is none."""
    if isinstance(analysis.analysis, NetworkAnalysis):
        yield cross_checked(analysis.name, analysis.analysis.network, analysis.verdict)
        return
    for names, point, verdict in _verdicts(analysis.analysis):
        name = f"{' and '.join(names)} at operating point {point}"
        try:
            yield from _of_sides(analysis, names, point, name, verdict)
        except UsageError as error:
            yield CrossCheck(name, verdict, (), str(error))


def _of_sides(
    analysis: LoopAnalysis, names: tuple[str, ...], point: int, name: str, verdict: str
) -> Iterator[CrossCheck]:
    """Yields the check of a point, or one for each side of the kinks there, whose verdict is that of its network."""
    first = analysis.linear_part(names[0], point=point, branch=0)
    if len(first.sides) == 1:
        yield cross_checked(name, _system(first, names), verdict)
        return
    for number, words in enumerate(first.sides[:MOST_SIDES]):
        system = _system(analysis.linear_part(names[0], point=point, branch=number), names)
        yield cross_checked(f"{name}, branch {number + 1} ({words})", system, judged(system).verdict)
    if len(first.sides) > MOST_SIDES:
        left = f"the first {MOST_SIDES} of {len(first.sides)} branches are laid beside it"
        yield CrossCheck(name, verdict, (), left)


def _verdicts(analysis: DesignAnalysis) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Yields the loops or states of each group, the number of a point and its linear verdict."""
    for group in analysis.groups:
        for number, point in enumerate(figures for figures in group.points if figures.point.real):
            smooth = tuple(loop.name for loop in group.group.loops if is_smooth(loop))
            yield smooth, number, point.verdict
    for flow in analysis.flows:
        for number, equilibrium in enumerate(flow.points):
            yield flow.paths, number, equilibrium.verdict


def _system(part: LinearPart, loops: Collection[str]) -> Network | Multirate:
    if part.flows:
        return part.network.continuous(part.flows)
    system = whole_system(part.network)
    return _around(system, [signal for signal, law in part.network.laws.items() if law.loop in loops])


def _around(system: Multirate, names: Collection[str]) -> Multirate:
    """Returns what is in one loop with these samplers: what only leads there or follows has a verdict of its own."""
    every = [*(sampler.name for sampler in system.samplers), *(block.name for block in system.blocks)]
    after: dict[str, list[str]] = {name: [] for name in every}
    for coupling in system.couplings:
        after[coupling.source].append(coupling.target)
    inside = {name for group in components(after) if set(group) & set(names) for name in group}
    return replace(
        system,
        samplers=tuple(sampler for sampler in system.samplers if sampler.name in inside),
        blocks=tuple(block for block in system.blocks if block.name in inside),
        couplings=tuple(c for c in system.couplings if c.source in inside and c.target in inside),
    )
