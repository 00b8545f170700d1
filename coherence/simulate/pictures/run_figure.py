"""Draws runs: requests, sends, success, queues, servers, signals and writes over time, and histograms of times.

Over time the first run is drawn; histograms are of the requests of all runs, as the percentiles are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from coherence.base.number_text import render_clock
from coherence.language.design import Design
from coherence.reporting.pictures.figure import Figure, Panel
from coherence.simulate.pictures.course_panels import course_panels
from coherence.simulate.pictures.time_histograms import TimeUnit, histogram_panels, time_units
from coherence.simulate.study.course import BUSY_WINDOW, WINDOW
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.thresholds import FigureLimit, threshold_of

ROOM = 0.05  # above the highest curve, of the height of a panel
Limits = tuple[tuple[str, FigureLimit], ...]


def run_figure(names: Sequence[str], studies: Sequence[Study], designs: Sequence[Design]) -> Figure:
    """Returns the picture of one study, or of two beside each other on the same axes."""
    notes: list[str] = []
    units = time_units(studies)
    sides = [_panels(study, _limits(design), notes, units) for study, design in zip(studies, designs, strict=True)]
    if len(sides) == 1:
        (panels,) = sides
        listed = tuple(panels.values()) or (Panel("nothing that this run has is drawn", "", ""),)
        return Figure(f"Run of {names[0]}", listed, 2, (*_when(studies[0]), *dict.fromkeys(notes)))
    labels = names if len(set(names)) == len(names) else [f"{name} ({place})" for place, name in enumerate(names, 1)]
    pairs = _beside(labels, sides)
    return Figure(f"{labels[0]} against {labels[1]}", pairs, 2, (*_when(studies[0]), *dict.fromkeys(notes)))


def _panels(study: Study, limits: Limits, notes: list[str], units: Mapping[str, TimeUnit]) -> dict[str, Panel]:
    """Returns the panels of a study; figures of runs over counts, of which no course is kept, are named."""
    of_course = {key[0] for record in study.records[:1] for key in record.sample}
    counted = dict.fromkeys(key[0] for sample in study.samples[:1] for key in sample if key[0] not in of_course)
    if counted:
        notes.append(f"not drawn, since runs over counts have no course: {', '.join(counted)}")
    return {**course_panels(study, limits, notes), **histogram_panels(study, limits, notes, units)}


def _limits(design: Design) -> Limits:
    """Returns the promises on figures of runs, by name."""
    read = ((name, threshold_of(design, promise)) for name, promise in design.promises.items())
    return tuple((name, limit) for name, limit in read if isinstance(limit, FigureLimit))


def _when(study: Study) -> Iterable[str]:
    """Yields which runs are drawn, and in which steps."""
    setting, every = study.setting, study.records[0].course.every if study.records else 0.0
    if not study.records:
        return
    if not setting.seeds:
        yield "one exact run"
        return
    runs = f"the {len(setting.seeds)} runs" if len(setting.seeds) > 1 else "this run"
    yield f"over time: the run of seed {setting.seeds[0]}; histograms and percentiles: all requests of {runs}"
    if every:
        sampled, counted, mean = (render_clock(round(every * times, 6)) for times in (1, WINDOW, BUSY_WINDOW))
        yield f"queues and servers are sampled every {sampled}, busy ones as means of {mean}; rates are over {counted}"


def _beside(labels: Sequence[str], sides: Sequence[dict[str, Panel]]) -> tuple[Panel, ...]:
    """Returns the panels of two runs in pairs with the same axes; what one of them lacks is said."""
    pairs: list[Panel] = []
    for key in dict.fromkeys(key for side in sides for key in side):
        there = [side[key] for side in sides if key in side]
        low, high = _ends(there)
        left, right = _reach(there)
        for label, side in zip(labels, sides, strict=True):
            panel = side.get(key) or Panel(key, there[0].x, there[0].y, log=there[0].log)
            corners = tuple((at, low, "start", "") for at in (left, right))  # so that both reach as far
            middle = _middle(there[0], (left, right)), (low + high) / 2
            words = () if key in side else ((*middle, "middle", _absent(key)),)
            pairs.append(replace(panel, title=f"{label}: {panel.title}", low=low, high=high, texts=(*corners, *words)))
    return tuple(pairs)


def _middle(panel: Panel, x: tuple[float, float]) -> float:
    """Returns the middle of an axis between two ends."""
    return math.sqrt(x[0] * x[1]) if "x" in panel.log else sum(x) / 2


def _absent(title: str) -> str:
    """Returns the words of a panel whose run has nothing of this kind."""
    return "few writes: all are marked" if title.endswith(", enlarged") else "nothing to draw"


def _ends(panels: Sequence[Panel]) -> tuple[float, float]:
    values = [y for panel in panels for line in panel.lines for _, y in line.points if not math.isnan(y)]
    values += [guide.at for panel in panels for guide in panel.guides if guide.axis == "y"]
    values += [panel.low for panel in panels if panel.low is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    declared = max((panel.high for panel in panels if panel.high is not None), default=high)
    return low, max(declared, high + ROOM * (high - low))


def _reach(panels: Sequence[Panel]) -> tuple[float, float]:
    times = [x for panel in panels for line in panel.lines for x, _ in line.points]
    times += [guide.at for panel in panels for guide in panel.guides if guide.axis == "x"]
    return min(times, default=0.0), max(times, default=1.0)
