"""Draws how long answers took: the share of all requests by time, with percentiles and promises as labelled lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.number_text import render_measured
from coherence.reporting.pictures.figure import Guide, Line, Panel
from coherence.simulate.study.latencies import GAMMA, Latencies
from coherence.simulate.study.readings import QUANTILES
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.thresholds import FigureLimit

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_PANELS = 6
BARS = 40  # at most
WIDEST = 1e5  # from the end of the first bar to that of the last
SHORT = 0.002  # of the answers: those that are shorter stand in the first bar

Counted = tuple[str, str, str, list[Latencies]]  # title, of, prefix of its figures, times of each run


@dataclass(frozen=True)
class TimeUnit:
    """The unit of an axis of times, and its size (s)."""

    size: float
    name: str


SECONDS, MILLISECONDS = TimeUnit(1.0, "s"), TimeUnit(1e-3, "ms")


def time_units(studies: Sequence[Study]) -> dict[str, TimeUnit]:
    """Returns the unit of each histogram, by its title: one for all studies, which stand beside each other."""
    units: dict[str, TimeUnit] = {}
    for title, *_, runs in (of for study in studies for of in _counted(study) if _answered(of)):
        short = _typical(*binned(runs)) < 1 or units.get(title) == MILLISECONDS
        units[title] = MILLISECONDS if short else SECONDS
    return units


def histogram_panels(
    study: Study, limits: Sequence[tuple[str, FigureLimit]], notes: list[str], units: Mapping[str, TimeUnit]
) -> dict[str, Panel]:  # fmt: skip
    """Returns a histogram for each workload and inference server; those that are left out are named."""
    counted = [of for of in _counted(study) if _answered(of)]
    counted.sort(key=lambda of: -sum(int(run.arrived.sum()) for run in of[3]))
    if len(counted) > MOST_PANELS:
        left = ", ".join(of[0] for of in counted[MOST_PANELS:])
        notes.append(f"histograms of the {MOST_PANELS} with the most requests are drawn; not {left}")
    return {of[0]: _panel(study, of, limits, units[of[0]]) for of in counted[:MOST_PANELS]}


def _answered(of: Counted) -> int:
    """Returns how many have an answer."""
    return sum(int(run.counts.sum()) for run in of[3])


def _counted(study: Study) -> Iterator[Counted]:
    for name in study.records[0].latencies if study.records else ():
        yield f"answers of {name}", name, "", [record.latencies[name] for record in study.records]
    for name, kind in study.records[0].served if study.records else ():
        yield f"{kind} of {name}", name, f"{kind} ", [record.served[name, kind] for record in study.records]


def _panel(study: Study, of: Counted, limits: Sequence[tuple[str, FigureLimit]], unit: TimeUnit) -> Panel:
    title, name, prefix, runs = of
    edges, numbers = binned(runs)
    came = sum(int(run.arrived.sum()) for run in runs)
    shares = 100.0 * numbers / came
    size = unit.size
    points = ((edges[0] / size, 0.0), *zip(edges[:-1] / size, shares, strict=True), (edges[-1] / size, 0.0))
    steps = Line(_legend(numbers, came), tuple((float(x), float(y)) for x, y in points), 0, steps=True)
    guides = _merged([*_percentiles(study, name, prefix, size), *_promises(name, prefix, limits, size)])
    room = float(shares.max()) * (1.1 + 0.08 * len(guides))  # for the labels
    return Panel(
        title, f"time ({unit.name}; first: and less)", "share of all that arrived (%)", (steps,), log="x", low=0.0,
        high=room, guides=guides,
    )  # fmt: skip


def _legend(numbers: NDArray[np.int64], came: int) -> str:
    """Returns how many requests there are, and how many of them have no answer."""
    rest = came - int(numbers.sum())
    return f"{came:,} requests" + (f", {100 * rest / came:.3g} % not answered" if rest else "")


def _merged(guides: Sequence[Guide]) -> tuple[Guide, ...]:
    """Returns the guides from left to right, those that cannot be told apart as one."""
    merged: list[Guide] = []
    for guide in sorted(guides, key=lambda guide: guide.at):
        last = merged[-1] if merged else None
        if last is not None and guide.at == last.at:
            head, _, tail = guide.text.partition(": ")
            own, _, same = last.text.partition(": ")
            text = f"{own}, {head}: {tail}" if tail == same else f"{last.text}; {guide.text}"
            merged[-1] = Guide("x", guide.at, text)
        else:
            merged.append(guide)
    return tuple(merged)


def binned(runs: Sequence[Latencies]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Returns the ends of at most BARS bars of one relative width (s), and how many answers of all runs are in each.

    The first has those that are shorter, too: a SHORT part of each run, or less than the longest by WIDEST.
    """
    there = [run for run in runs if run.counts.any()]
    first = min(run.first + int(np.searchsorted(_within(run), SHORT)) for run in there)
    beyond = max(run.first + int(run.counts.sum(axis=0).nonzero()[0][-1]) + 1 for run in there)
    first = max(first, beyond - int(math.log(WIDEST) / math.log(GAMMA)))
    width = max(1, -(-(beyond - first) // BARS))
    bars = -(-(beyond - first) // width)
    numbers = np.zeros(bars, dtype=np.int64)
    for run in there:
        counts = run.counts.sum(axis=0)
        places = np.maximum(run.first + np.arange(len(counts)) - first, 0) // width
        filled = counts > 0
        numbers += np.bincount(places[filled], weights=counts[filled], minlength=bars).astype(np.int64)
    edges = np.exp(math.log(GAMMA) * (first + width * np.arange(bars + 1)))
    return edges, numbers


def _within(run: Latencies) -> NDArray[np.float64]:
    """Returns the share of the answers up to each bin."""
    counts = run.counts.sum(axis=0)
    share: NDArray[np.float64] = counts.cumsum() / counts.sum()
    return share


def _typical(edges: NDArray[np.float64], numbers: NDArray[np.int64]) -> float:
    """Returns the upper end of the bar with the median (s)."""
    return float(edges[1 + int(np.searchsorted(numbers.cumsum(), numbers.sum() / 2))])


def _percentiles(study: Study, name: str, prefix: str, size: float) -> Iterator[Guide]:
    """Yields the percentiles of the table; one among requests without an answer is more than what is known."""
    readings = {reading.key: reading for reading in study.readings}
    for percent in QUANTILES:
        reading = readings.get((name, f"{prefix}P{percent}", "s"))
        if reading is not None and reading.value > 0:
            words = "more than " if reading.more_than else ""
            yield Guide("x", reading.value / size, f"P{percent}: {words}{render_measured(reading.value, 's')}")


def _promises(name: str, prefix: str, limits: Sequence[tuple[str, FigureLimit]], size: float) -> Iterator[Guide]:
    for promise, limit in limits:
        of, what, unit = limit.key
        if of == name and not prefix and unit == "s" and limit.limit > 0:
            words = f"promise {promise}: {what} {limit.op} {render_measured(limit.limit, 's')}"
            yield Guide("x", limit.limit / size, words)
