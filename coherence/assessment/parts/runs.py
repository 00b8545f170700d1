"""Runs a design, and the one that it is compared with, on the same chances: what pictures of runs are drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.assessment.parts.elements import rounded
from coherence.language.schema_kinds import Quantity
from coherence.simulate.study.course import Array, CourseCurve, RunCourse

if TYPE_CHECKING:
    from coherence.language.design import Design
    from coherence.simulate.study.repeated_runs import Study, StudyReading

OF_REQUESTS, MOST, PERIODS = 600.0, 7200.0, 20  # s of a run of requests; s of one of loops, and in their periods
SEEDS = (1, 2, 3)  # of two designs that are compared; of one alone the first
EVENTS = 3_000_000  # of a run, beyond which it stops: the same on every machine


@dataclass(frozen=True)
class RunAnswers:
    """What runs show: of the design, of the earlier one, and after minus before; `refused` where nothing ran."""

    study: Study | None = None
    before: Study | None = None
    changed: tuple[StudyReading, ...] = ()
    refused: str = ""

    @property
    def course(self) -> RunCourse:
        """Returns how the first run went."""
        return self.study.records[0].course if self.study and self.study.records else RunCourse()

    @property
    def end(self) -> float:
        """Returns how long the runs lasted, s."""
        until = self.study.setting.until if self.study else 0.0
        return max((float(curve.times[-1]) for curve in self.course.curves), default=until)

    @property
    def command(self) -> tuple[str, ...]:
        """Returns the options of `coherence simulate` that give these runs again."""
        setting = self.study.setting if self.study else None
        return (
            ("--for", f"{setting.until:g} s", "--warm-up", "0 s", "--runs", str(len(setting.seeds) or 1))
            if setting
            else ()
        )


NOT_RUN = RunAnswers()


def run_answers(design: Design, before: Design | None, seconds: float) -> RunAnswers:
    """Returns what runs of a design, and of an earlier one, show; each within so many seconds of the processor."""
    from coherence.base.errors import CoherenceError
    from coherence.simulate.study.repeated_runs import difference

    until = max(_until(own) for own in (design, before) if own is not None)
    seeds = SEEDS if before is not None else SEEDS[:1]
    try:
        own = _study(design, until, seeds, seconds)
        earlier = None if before is None else _study(before, until, seeds, seconds)
    except CoherenceError as error:
        return RunAnswers(refused=str(error).splitlines()[0])
    except ArithmeticError as error:
        return RunAnswers(refused=f"a number left the range of runs: {error}")
    if own is None:
        return RunAnswers(refused=f"a run of {until:g} s took longer than {seconds:g} s of the processor")
    return RunAnswers(own, earlier, () if earlier is None else difference(earlier, own))


def _study(design: Design, until: float, seeds: tuple[int, ...], seconds: float) -> Study | None:
    from coherence.base.watchdog import TimeOverError, at_most
    from coherence.simulate.study.samples import study
    from coherence.simulate.study.setting import Setting

    try:
        with at_most(seconds, processor=True):
            return study(design, Setting(until, 0.0, seeds, events=EVENTS, draws=True))
    except TimeOverError:
        return None


def _until(design: Design) -> float:
    """Returns how long a run lasts: many periods of the slowest loop, where no requests are followed."""
    from coherence.simulate.processes import has_requests

    if has_requests(design):
        return OF_REQUESTS
    periods = [loop.timescale.period for loop in design.loops.values() if loop.timescale and loop.timescale.period]
    longest = max((float(period.high) for period in periods if hasattr(period, "high")), default=0.0)
    return min(max(OF_REQUESTS, PERIODS * longest), MOST)


def curves_of(course: RunCourse, *whats: str) -> list[CourseCurve]:
    """Returns the curves that are of these kinds, in the order of the run."""
    return [curve for curve in course.curves if curve.what in whats]


def sampled(curve: CourseCurve, times: Array) -> Array:
    """Returns the value of a curve at each time: each holds until the next."""
    places = np.clip(np.searchsorted(curve.times, times, side="right") - 1, 0, len(curve.values) - 1)
    return curve.values[places].astype(float)


def means(curve: CourseCurve, end: float, parts: int) -> Array:
    """Returns the mean of a curve in each of so many equal parts of a run, from ten samples of each."""
    times = (np.arange(parts * 10) + 0.5) * end / (parts * 10)
    values: Array = sampled(curve, times).reshape(parts, 10).mean(axis=1)
    return values


def spans(times: Array, holds: Sequence[bool] | np.ndarray, end: float) -> Iterator[tuple[float, float]]:
    """Yields from when to when something held, that is looked at at these times."""
    begun: float | None = None
    for time, now in zip(times.tolist(), [bool(held) for held in holds], strict=True):
        if now and begun is None:
            begun = time
        elif not now and begun is not None:
            yield begun, time
            begun = None
    if begun is not None:
        yield begun, end


def loop_bounds(design: Design) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yields the signals of loops with the bounds that hold whatever the design leaves open."""
    for loop in design.loops.values():
        acts = loop.actuation
        if acts is None or acts.signal is None or not acts.bounds:
            continue
        ends = [bound for bound in acts.bounds if isinstance(bound, Quantity) and bound.exact]
        if len(ends) == 2:
            yield acts.signal.text, (float(ends[0].low), float(ends[1].low))


def unit_words(values: Iterable[float], unit: str) -> str:
    """Returns `1.2 to 30 W`."""
    every = [value for value in values if np.isfinite(value)]
    if not every:
        return "not known"
    low, high = min(every), max(every)
    words = rounded(low) if low == high else f"{rounded(low)} to {rounded(high)}"
    return f"{words} {unit}".rstrip()
