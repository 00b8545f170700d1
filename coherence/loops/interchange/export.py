"""Chooses what of an analysis is exported: a network, or a design near one operating point of one group of loops."""

from __future__ import annotations

from collections.abc import Sequence

from coherence.base.errors import UsageError
from coherence.loops.analysis.design_analysis import DesignAnalysis
from coherence.loops.interchange.design_systems import whole_system
from coherence.loops.interchange.exported_network import ExportedNetwork
from coherence.loops.interchange.loop_analysis import LoopAnalysis
from coherence.loops.interchange.open_loop import OpenLoop


def exported(
    analysis: LoopAnalysis, *, loop: str | None = None, point: int = 0, branch: int | None = None
) -> ExportedNetwork:
    """Returns the network around a loop with all its loops opened.  Raises UsageError where there is none, or several
    groups and none is named.
    """
    if analysis.network is not None:
        loops, notes = _opened(analysis, analysis.loops)
        return ExportedNetwork(analysis.name, analysis.network, loops, {}, notes)
    group = _group(analysis, loop)
    part = analysis.linear_part(group[0], point=point, branch=branch)
    network = part.network.continuous(part.flows) if part.flows else whole_system(part.network)
    loops, unopened = _opened(analysis, group, point, branch)
    values = {path: float(value) for path, value in part.point.items()}
    return ExportedNetwork(analysis.name, network, loops, values, (*part.notes, *unopened))


def _group(analysis: LoopAnalysis, loop: str | None) -> list[str]:
    """Returns the names of a group, the one to ask for first."""
    assert isinstance(analysis.analysis, DesignAnalysis)
    groups = [list(group.group.names) for group in analysis.analysis.groups]
    groups += [list(flow.paths) for flow in analysis.analysis.flows]
    if loop is not None:
        around = next((names for names in groups if loop in names), [])
        return [loop, *(name for name in around if name != loop)]
    if len(groups) != 1:
        names = "; ".join(" and ".join(group) for group in groups)
        remedy = f": name a loop (--loop) of {names}" if names else " in feedback"
        raise UsageError(f"the design has {len(groups) or 'no'} groups of loops{remedy}")
    return groups[0]


def _opened(
    analysis: LoopAnalysis, names: Sequence[str], point: int = 0, branch: int | None = None
) -> tuple[tuple[OpenLoop, ...], tuple[str, ...]]:
    """Returns the loops that can be opened, and why the others cannot."""
    loops, notes = list[OpenLoop](), list[str]()
    for name in names:
        try:
            loops.append(analysis.linearize(name, point=point, branch=branch))
        except UsageError as error:
            notes.append(f"{name} is not opened: {error}")
    return tuple(loops), tuple(notes)
