"""Draws an analysis: the exact run, sensitivity by period, and roots in the unit circle (or the plane)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis
from coherence.loops.designs.lap_roots import LapResponse
from coherence.loops.networks.network import Network
from coherence.model.model import unit_of
from coherence.reporting.pictures.figure import Dots, Figure, Line, Panel
from coherence.simulate.execute.affine import plain

if TYPE_CHECKING:
    from coherence.loops.analysis.network_analysis import NetworkAnalysis

MOST_GROUPS, MOST_LINES = 6, 4
SHOWN = 3  # periods of an orbit


def of_design(path: str, analysis: DesignAnalysis) -> Figure:
    """Draws up to three panels per group."""
    panels = [panel for group in analysis.groups[:MOST_GROUPS] for panel in _group(group)]
    notes = [
        f"{' and '.join(group.group.names[:3])}: {group.verdict} by exact execution"
        for group in analysis.groups[:MOST_GROUPS]
    ]
    if len(analysis.groups) > MOST_GROUPS:
        notes.append(f"the first {MOST_GROUPS} of {len(analysis.groups)} groups")
    if not panels:
        panels = [Panel("no loops in feedback", "", "")]
    return Figure(f"Loops of {path}", tuple(panels), 3, tuple(notes))


def _group(group: GroupAnalysis) -> Iterator[Panel]:
    name = " and ".join(group.group.names[:2])
    yield from _run(group, name)
    curves = [
        _curve(f.response, style)
        for point in group.points[:1]
        for style, f in enumerate(point.loops[:MOST_LINES])
        if f.response is not None
    ]
    if curves:
        yield Panel(f"sensitivity: {name}", "period of the disturbance, s", "gain to the command", tuple(curves),
                    log="xy", levels=(1.0,))  # fmt: skip
    dots = []
    for point in group.points[:1]:
        for style, (side, roots) in enumerate(point.branches[:MOST_LINES]):
            marks = tuple((z.real, z.imag) for z in roots.multipliers)
            label = f"{roots.verdict}" + (f", branch {style + 1}" if side else "")
            if marks:
                dots.append(Dots(label, marks, "xd^s"[style] if roots.verdict == "unstable" else "ovs^"[style], style))
    if dots:
        yield Panel(
            f"roots of one lap: {name}", "real part", "imaginary part", (), tuple(dots), square=True, circle=1.0
        )


def _curve(found: LapResponse, style: int) -> Line:
    pairs = zip(found.frequencies, found.gains, strict=True)
    return Line(found.loop, tuple((math.tau / omega, gain) for omega, gain in pairs if omega), style)


def _run(group: GroupAnalysis, name: str) -> Iterator[Panel]:
    """Yields the commands and states of the run, by unit: from its start to a few periods of its orbit."""
    run, model = group.answer.run, group.group.model
    if run is None or not run.instants:
        return
    end = run.instants[-1].time
    if run.orbit is not None:
        end = min(end, run.orbit.start + SHOWN * max(run.orbit.period, group.lap * 4))
    instants = [i for i in run.instants if i.time <= end]
    scale, unit = (60.0, "min") if end > 900 else (1.0, "s")
    signals = [*dict.fromkeys(loop.signal for loop in group.group.loops if loop.signal), *model.states]
    by_unit: dict[str, list[str]] = {}
    for signal in [s for s in signals if s in instants[0].after][:MOST_LINES]:
        by_unit.setdefault(str(unit_of(model, signal)) if unit_of(model, signal).powers else "", []).append(signal)
    for of, members in list(by_unit.items())[:2]:
        lines = tuple(
            Line(signal, tuple((float(i.time) / scale, float(plain(i.after[signal]))) for i in instants), style,
                 steps=signal in model.commands)
            for style, signal in enumerate(members)
        )  # fmt: skip
        yield Panel(f"exact run: {name}", f"time, {unit}", of or "number", lines, low=0.0)


def of_network(path: str, analysis: NetworkAnalysis) -> Figure:
    """Draws the roots that are known, and the sensitivity of a stable continuous network."""
    panels = []
    if analysis.delayed is not None and analysis.delayed.rightmost:
        marks = tuple((z.real, s * z.imag) for z in analysis.delayed.rightmost for s in (1, -1))
        kind = "x" if analysis.verdict == "unstable" else "o"
        axis = Line(
            "stability boundary",
            ((0.0, min(y for _, y in marks) * 1.3 - 1e-9), (0.0, max(y for _, y in marks) * 1.3 + 1e-9)),
            5,
        )
        panels.append(
            Panel("rightmost roots", "real part, 1/s", "imaginary part, rad/s", (axis,), (Dots("root", marks, kind),))
        )
    if analysis.sampled is not None:
        marks = tuple((float(z.real), float(z.imag)) for z in analysis.sampled.multipliers)
        panels.append(Panel("multipliers of one lap", "real part", "imaginary part", (),
                            (Dots(analysis.verdict, marks, "x" if analysis.verdict == "unstable" else "o"),),
                            square=True, circle=1.0))  # fmt: skip
    panels += _network_sensitivity(analysis)
    return Figure(f"Network {path}: {analysis.verdict}", tuple(panels) or (Panel("nothing to draw", "", ""),), 2)


def _network_sensitivity(analysis: NetworkAnalysis) -> Iterator[Panel]:
    net = analysis.network
    if not analysis.margins or analysis.delayed is None or not isinstance(net, Network):
        return
    import numpy as np

    centre = analysis.margins[0].sensitivity.frequency
    omega = np.geomspace(centre / 300, centre * 100, 400) if 0 < centre < math.inf else np.geomspace(1e-3, 1e2, 400)
    gains = np.zeros((len(net.blocks), len(net.blocks)))
    for coupling in net.couplings:
        gains[net.index[coupling.target], net.index[coupling.source]] += coupling.gain
    response = np.stack([block.at(np.asarray(1j * omega, dtype=np.complex128)) for block in net.blocks], axis=1)
    whole = np.linalg.inv(np.eye(len(net.blocks)) - response[:, :, None] * gains)
    lines = tuple(
        Line(m.point, tuple(zip(map(float, omega), np.abs(whole[:, k, k]).tolist(), strict=True)), style)
        for style, m in enumerate(analysis.margins[:MOST_LINES])
        for k in (net.index[m.point],)
    )
    yield Panel("sensitivity", "frequency, rad/s", "gain", lines, log="xy", levels=(1.0,))
