"""Draws an analysis: exact runs, Bode and Nyquist with their bands, steps, roots, loci, maps and limit cycles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coherence.base.errors import UsageError
from coherence.base.watchdog import TimeOverError
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis
from coherence.loops.analysis.gain_delay_map import gain_delay_map
from coherence.loops.analysis.network_analysis import NetworkAnalysis, is_sampled
from coherence.loops.analysis.render_text import method_of
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.lap_roots import LapResponse
from coherence.loops.interchange.loop_analysis import LoopAnalysis
from coherence.loops.interchange.open_loop import OpenLoop
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Network
from coherence.loops.pictures.cycle_panels import cycle_panels
from coherence.loops.pictures.enclosed_curves import EnclosedCurve, enclosed
from coherence.loops.pictures.map_panel import TITLE, lap_map_panel, map_panel
from coherence.loops.pictures.response_panels import LEAST, bode_panels, is_shown, nyquist_panel
from coherence.loops.pictures.root_panels import locus_panels, multipliers_panel, roots_panel
from coherence.loops.pictures.step_panel import step_panel
from coherence.model.model import Model, unit_of
from coherence.reporting.pictures.figure import Figure, Line, Panel
from coherence.simulate.execute.affine import plain

if TYPE_CHECKING:
    from coherence.loops.designs.predicted_cycles import CycleReading

MOST_GROUPS, MOST_LINES, MOST_LOCI, MOST_SIDES = 12, 12, 3, 4
APART = 3  # groups at most that have a panel of sensitivities each
SHOWN = 3  # periods of an orbit
KINDS = ("run", "sensitivity", "bode", "nyquist", "step", "roots", "locus", "map", "cycle")
Draw = Callable[[], Iterable[Panel]]


def system_name(path: str) -> str:
    """Returns the name of a system: that of its file, or of the folder of a file `design.yaml`."""
    file = Path(path)
    named = file.resolve().parent.name if file.stem in ("design", "") else file.stem
    return named or "system"


def of_design(
    name: str, analysis: DesignAnalysis, model: Model | None = None, cycles: Sequence[CycleReading] = (),
    *, seconds: float = 30.0, decay: float | None = None, kinds: Sequence[str] = KINDS,
) -> Figure:  # fmt: skip
    """Draws the groups of a design and its loops; what is not drawn within its share of the time is named.

    `decay` (1/s): how far to the left the roots of flows are drawn.
    """
    notes = [
        f"{_short(group, 3)}: {group.verdict} by {method_of(group.answer.how)}"
        for group in analysis.groups[:MOST_GROUPS]
    ]
    if len(analysis.groups) > MOST_GROUPS:
        notes.append(f"the first {MOST_GROUPS} of {len(analysis.groups)} groups")
    opened = LoopAnalysis(analysis, name, model=model)
    flows = [" and ".join(flow.paths) for flow in analysis.flows]
    notes += [f"{flow}: {opened.verdicts[flow]} by its roots" for flow in flows[:MOST_GROUPS]]
    loops = _loops(opened, notes) if model is not None else []
    flowing = _one_of_each(loops)
    sources: dict[str, Draw] = {
        "run": lambda: (panel for group in analysis.groups[:MOST_GROUPS] for panel in _run(group, _short(group))),
        "sensitivity": lambda: _sensitivities(analysis.groups[:MOST_GROUPS]),
        "roots": lambda: (
            *(p for group in analysis.groups[:MOST_GROUPS] for p in _multipliers(group)),
            *(p for loop, net in flowing for p in _flow_roots(loop, net, decay)),
        ),
        **_of_loops(loops, decay, notes),
        "map": lambda: (*_lap_maps(analysis.groups, notes), *_flow_maps(flowing, notes)),
        "cycle": lambda: cycle_panels(model, cycles) if model is not None else (),
    }
    panels = _drawn(sources, kinds, seconds, notes)
    return Figure(f"Loops of {name}", panels or (Panel("no loops in feedback", "", "", ticks=""),), 3,
                  tuple(dict.fromkeys(notes)))  # fmt: skip


def of_network(
    name: str, analysis: NetworkAnalysis, *, seconds: float = 30.0, decay: float | None = None,
    kinds: Sequence[str] = KINDS,
) -> Figure:  # fmt: skip
    """Draws the roots of a network and its loops; `decay` (1/s): how far to the left."""
    notes: list[str] = []
    net = analysis.network
    continuous = net if isinstance(net, Network) and not is_sampled(net) else None
    loops = _loops(LoopAnalysis(analysis, name, net), notes)
    sources: dict[str, Draw] = {
        "sensitivity": lambda: _network_sensitivity(analysis),
        "roots": lambda: _network_roots(analysis, continuous, decay),
        **_of_loops(loops, decay, notes),
        "map": lambda: [map_panel(net, loops[0].name)] if loops and analysis.verdict != "undecided" else [],
    }
    panels = _drawn(sources, kinds, seconds, notes)
    title = f"{name}: {analysis.verdict}"
    return Figure(title, panels or (Panel("nothing to draw", "", "", ticks=""),), 3, tuple(dict.fromkeys(notes)))


def _one_of_each(loops: Sequence[OpenLoop]) -> list[tuple[OpenLoop, Network]]:
    """Returns each network of continuous loops, with the first loop that is opened in it."""
    known: dict[Network, OpenLoop] = {}
    for loop in loops:
        if loop.continuous is not None:
            known.setdefault(loop.continuous, loop)
    return [(loop, net) for net, loop in known.items()][:MOST_LOCI]


def _flow_roots(loop: OpenLoop, net: Network, decay: float | None) -> Iterator[Panel]:
    if panel := roots_panel(net, decay):
        yield replace(panel, title=f"{panel.title}: {loop.name}")


def _flow_maps(flowing: Sequence[tuple[OpenLoop, Network]], notes: list[str]) -> Iterator[Panel]:
    """Yields how much gain and delay each flow bears, and notes the others."""
    for loop, net in flowing:
        if verdict(net, confirm=False).verdict != "undecided":
            yield map_panel(net, loop.block, label=loop.name)
        else:
            notes.append(f"no map: {loop.name} is undecided")


def _lap_maps(groups: Sequence[GroupAnalysis], notes: list[str]) -> Iterator[Panel]:
    """Yields how much gain and later landing each of the first sampled loops bears at its first operating point."""
    smooth = [(group, one, f.loop) for group in groups for one in group.points[:1] for f in one.loops]
    if len(smooth) > MOST_LOCI:
        notes.append(f"maps of the first {MOST_LOCI} of {len(smooth)} loops")
    for group, figures, name in smooth[:MOST_LOCI]:
        try:
            yield lap_map_panel(gain_delay_map(group.group, figures, name, lambda: None), name)
        except (NotExactError, ArithmeticError) as error:
            notes.append(f"no map: {name}: {error}")


def _of_loops(loops: Sequence[OpenLoop], decay: float | None, notes: list[str]) -> dict[str, Draw]:
    """Returns what is drawn of opened loops."""
    known: list[EnclosedCurve] = []

    def curves() -> list[EnclosedCurve]:
        if not known:
            known.extend(_curves(loops, notes))
        return known

    def loci() -> Iterable[Panel]:
        if len(loops) > MOST_LOCI:
            notes.append(f"root loci of the first {MOST_LOCI} of {len(loops)} loops")
        return locus_panels(loops[:MOST_LOCI], decay)

    return {
        "bode": lambda: bode_panels(curves()) if curves() else (),
        "nyquist": lambda: [nyquist_panel(curves())] if curves() else [],
        "step": lambda: _step(loops, notes),
        "locus": loci,
    }


def _step(loops: Sequence[OpenLoop], notes: list[str]) -> list[Panel]:
    """Returns the answers of stable loops to a step, and notes the others."""
    panel = step_panel(loops) if loops else None
    others = [loop.name for loop in loops if panel is None or loop.name not in {line.name for line in panel.lines}]
    notes += [f"no step: {', '.join(others)} not proved stable"] if others else []
    return [panel] if panel is not None and panel.lines else []


def _drawn(sources: dict[str, Draw], kinds: Sequence[str], seconds: float, notes: list[str]) -> tuple[Panel, ...]:
    """Returns the panels of some kinds, each kind within its share of the time."""
    panels: list[Panel] = []
    chosen = [kind for kind in KINDS if kind in kinds and kind in sources]
    whole = Deadline(seconds)
    for number, kind in enumerate(chosen):
        try:
            with whole.share(2 / (len(chosen) - number + 1)).ending():
                drawn, empty = _parted(sources[kind]())
                panels += drawn
                notes += [f"nothing to draw: {_listed(empty)}"] if empty else []
        except TimeOverError:
            notes.append(f"{kind} is not drawn: it took too long")
        except (UsageError, ArithmeticError) as error:
            notes.append(f"{kind} is not drawn: {error}")
    if any(panel.bands or panel.discs for panel in panels):
        notes.append("pale bands: what L cannot leave between the points that are drawn, by proof")
    if any(panel.shade for panel in panels):
        notes.append("shaded: unstable")
    if any(panel.cells for panel in panels):
        notes.append(f"{TITLE}: stable where it is blue")
    return tuple(panels)


def _parted(panels: Iterable[Panel]) -> tuple[list[Panel], list[str]]:
    """Returns the panels that have a curve or a mark, and the titles of the others."""
    every = list(panels)
    drawn = [p for p in every if p.arrows or p.cells or any(n.points for n in p.lines) or any(d.points for d in p.dots)]
    return drawn, [panel.title for panel in every if panel not in drawn]


def _loops(analysis: LoopAnalysis, notes: list[str]) -> list[OpenLoop]:
    """Returns the loops that can be opened, and notes why others are not drawn."""
    loops = []
    for name in analysis.loops:
        try:
            loops += _sides(analysis, name)
        except (UsageError, NotExactError, ArithmeticError) as error:
            if "is in no loop" not in str(error) and "stands between samplers" not in str(error):
                notes.append(f"{name} has no linear loop: {error}")
    if len(loops) > MOST_LINES:
        notes.append(f"the first {MOST_LINES} of {len(loops)} loops")
    return loops[:MOST_LINES]


def _sides(analysis: LoopAnalysis, name: str) -> list[OpenLoop]:
    """Returns a loop opened, on each side of a kink at its operating point."""
    sides = len(analysis.linear_part(name, branch=0).sides) if analysis.model is not None else 1
    if sides == 1:
        return [analysis.linearize(name)]
    return [
        replace(analysis.linearize(name, branch=side), name=f"{name}, branch {side + 1}", behind=name)
        for side in range(min(sides, MOST_SIDES))
    ]


def _curves(loops: Sequence[OpenLoop], notes: list[str]) -> Iterator[EnclosedCurve]:
    """Yields L of the loops; notes those of which there is nothing to draw."""
    small: list[str] = []
    for loop in loops:
        try:
            curve = enclosed(loop)
        except UsageError as error:
            notes.append(f"no Bode and Nyquist: {error}")
            continue
        if is_shown(curve):
            yield curve
        else:
            small.append(curve.name)
    if small:
        notes.append(f"no Bode and Nyquist of {_listed(small)}: |L| is below {LEAST:g} at all frequencies")


def _short(group: GroupAnalysis, most: int = 2) -> str:
    return _listed(group.group.names, most)


def _listed(names: Sequence[str], most: int = 3) -> str:
    return " and ".join([*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])])


def _sensitivities(groups: Sequence[GroupAnalysis]) -> Iterator[Panel]:
    """Yields a panel for each of a few groups; of more all loops in one."""
    if len(groups) <= APART:
        yield from (panel for group in groups for panel in _sensitivity(group))
        return
    lines = [line for group in groups for panel in _sensitivity(group) for line in panel.lines]
    for first in range(0, len(lines), MOST_LINES):
        own = tuple(replace(line, style=style) for style, line in enumerate(lines[first : first + MOST_LINES]))
        yield _of_sensitivity(f"{len(own)} loops", own)


def _sensitivity(group: GroupAnalysis) -> Iterator[Panel]:
    curves = [
        _curve(f.response, style)
        for point in group.points[:1]
        for style, f in enumerate(point.loops[:MOST_LINES])
        if f.response is not None
    ]
    if curves:
        yield _of_sensitivity(_short(group), tuple(curves))


def _of_sensitivity(of: str, curves: tuple[Line, ...]) -> Panel:
    return Panel(f"sensitivity: {of}", "period of the disturbance, s", "gain to the command (ratio)", curves, log="xy",
                 levels=(1.0,))  # fmt: skip


def _multipliers(group: GroupAnalysis) -> Iterator[Panel]:
    for point in group.points[:1]:
        sets = [
            (f"roots ({roots.verdict})" + (f", branch {style + 1}" if side else ""), roots.verdict, roots.multipliers)
            for style, (side, roots) in enumerate(point.branches[:4])
            if roots.multipliers
        ]
        if sets:
            yield multipliers_panel(f"roots: {_short(group)}", sets)


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


def _network_roots(analysis: NetworkAnalysis, net: Network | None, decay: float | None) -> Iterator[Panel]:
    if analysis.sampled is not None:
        marks = [complex(z) for z in analysis.sampled.multipliers]
        yield multipliers_panel("multipliers of one lap", [(analysis.verdict, analysis.verdict, marks)])
    elif net is not None and (panel := roots_panel(net, decay)):
        yield panel


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
    yield Panel("sensitivity", "frequency, rad/s", "gain (ratio)", lines, log="xy", levels=(1.0,))
