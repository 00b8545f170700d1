"""Reads latencies from all runs together, with intervals, and says where the runs are too short for one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from coherence.base.number_text import render_seconds
from coherence.simulate.requests.program import Program
from coherence.simulate.study.latencies import GAMMA, Latencies
from coherence.simulate.study.pooled_intervals import (
    BATCHES,
    ENOUGH,
    Clusters,
    PooledEstimate,
    clusters,
    pooled_mean,
    pooled_quantile,
)
from coherence.simulate.study.readings import LATE, QUANTILES, SUCCEED
from coherence.simulate.study.repeated_runs import StudyReading, interval
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.setting import Setting
from coherence.simulate.study.start_up import FORGOTTEN, is_scheduled, relaxation, settles_after

LIVES = {"mean": 500.0, "P50": 150.0, "P95": 200.0, "P99": 1000.0}  # relaxation times that a figure needs
COLLAPSED = 50.0  # % of the last tenth that succeed, below which a run has collapsed
APART = 10.0  # %: runs on both sides of COLLAPSED that are nearer to each other are of one kind
SHORTEST_CUT = 0.02  # of a run: a start-up below it is left in
MOST_CUT = 0.5


@dataclass(frozen=True)
class Steadiness:
    """Whether runs are one steady state (`why` is empty) or each a story of its own, and what each forgets in (s).

    `start_up`: what is to be left out of each run (s).
    """

    why: str
    relaxation: float
    start_up: float = 0.0

    @property
    def batches(self) -> int:
        """Into how many clusters each run is cut."""
        return 1 if self.why else BATCHES


def steadiness(
    program: Program, records: Sequence[RunRecord], setting: Setting, *, scheduled: bool = False
) -> Steadiness:  # fmt: skip
    """Returns whether the runs settle, and after which start-up.  scheduled: inference servers meet stated times."""
    tau = relaxation(program, [record.loads for record in records])
    span = setting.until - setting.warmup
    if scheduled or is_scheduled(program):
        return Steadiness("what happens at stated times makes each run a story of its own", tau)
    if any(record.stopped for record in records):
        return Steadiness("runs were stopped before their time", tau)
    if any(len(set(_collapses(source.name, records).values())) > 1 for source in program.sources):
        return Steadiness("some runs collapse and others do not", tau)
    shares = [settles_after([record.latencies[source.name] for record in records]) for source in program.sources]
    shares += [settles_after([record.served[kind] for record in records]) for kind in records[0].served]
    if any(share is None for share in shares):
        return Steadiness("latencies do not settle in this time", tau)
    start_up = max(min(FORGOTTEN * tau, MOST_CUT * span), *(span * (share or 0.0) for share in shares))
    return Steadiness("", tau, start_up if start_up > SHORTEST_CUT * span else 0.0)


def _collapses(name: str, records: Sequence[RunRecord]) -> dict[int, bool]:
    """Returns for each run of a source that has a last tenth whether fewer than half of its requests succeed.

    Where a limit lets about half through, chance puts some runs below and others above: they collapse together or not.
    """
    key = (name, LATE, "%")
    late = {number: record.sample[key] for number, record in enumerate(records) if key in record.sample}
    low = [share for share in late.values() if share < COLLAPSED]
    high = [share for share in late.values() if share >= COLLAPSED]
    if low and high and min(high) - max(low) < APART:
        return dict.fromkeys(late, fmean(late.values()) < COLLAPSED)
    return {number: share < COLLAPSED for number, share in late.items()}


def pooled_readings(
    program: Program, records: Sequence[RunRecord], setting: Setting, steady: Steadiness
) -> Iterator[StudyReading]:
    """Yields the share of runs that collapse, and mean and percentiles of each source."""
    for source in program.sources:
        yield from collapse_reading(source.name, records)
        runs = [record.latencies[source.name] for record in records]
        requests = clusters(runs, steady.batches)
        if requests is not None and requests.arrived.sum():
            yield from _of_source(source.name, runs, requests, setting, steady)
    for name, kind in records[0].served if records else ():
        runs = [record.served[name, kind] for record in records]
        requests = clusters(runs, steady.batches)
        if requests is not None and requests.answered.sum():
            yield from _quantiles((name, f"{kind} "), runs, requests, setting, steady)


def _of_source(
    name: str, runs: Sequence[Latencies], requests: Clusters, setting: Setting, steady: Steadiness
) -> Iterator[StudyReading]:
    if not requests.answered.sum():
        return
    yield _reading((name, ""), "mean", pooled_mean(requests), len(runs), setting, steady)
    yield from _quantiles((name, ""), runs, requests, setting, steady)


def _quantiles(
    of: tuple[str, str], runs: Sequence[Latencies], requests: Clusters, setting: Setting, steady: Steadiness
) -> Iterator[StudyReading]:
    """Yields the percentiles of a thing and kind of time, and where some lie among the unanswered, of the answered."""
    untold, highest = False, 0.0
    for percent in QUANTILES:
        estimate = pooled_quantile(requests, percent / 100)
        if estimate.value < math.inf:
            highest = estimate.value
            yield _reading(of, f"P{percent}", estimate, len(runs), setting, steady)
        else:
            untold = True
            least = max(highest, least_quantile(runs, percent))  # no percentile lies below a lower one
            yield StudyReading(of[0], f"{of[1]}P{percent}", "s", least, more_than=True)
    for percent in QUANTILES if untold else ():
        estimate = pooled_quantile(requests, percent / 100, answered=True)
        yield _reading(of, f"P{percent}", estimate, len(runs), setting, steady, among=" of answered")


def _reading(
    of: tuple[str, str], figure: str, estimate: PooledEstimate, runs: int, setting: Setting, steady: Steadiness,
    among: str = "",
) -> StudyReading:  # fmt: skip
    shortage, name, what = _shortage(figure, estimate, runs, setting, steady), of[0], f"{of[1]}{figure}{among}"
    if shortage > 1:
        enough = _enough(shortage, runs, setting, steady)
        return StudyReading(name, what, "s", estimate.value, too_short=enough, shortage=shortage)
    if runs * steady.batches < 2 or estimate.high == math.inf:
        return StudyReading(name, what, "s", estimate.value)
    return StudyReading(name, what, "s", estimate.value, estimate.low, estimate.high)


def _shortage(what: str, estimate: PooledEstimate, runs: int, setting: Setting, steady: Steadiness) -> float:
    """Returns how many times as much a figure takes; at most 1 where there is enough."""
    few = ENOUGH / estimate.groups if estimate.groups else math.inf
    if steady.why:
        return few if runs > 1 else 0.0
    lives = runs * (setting.until - setting.warmup) / steady.relaxation if steady.relaxation else math.inf
    return max(LIVES[what] / lives if lives else math.inf, few)


def _enough(shortage: float, runs: int, setting: Setting, steady: Steadiness) -> str:
    """Returns the option with which a figure could be told."""
    if steady.why:
        return f"--runs {math.ceil(2 * shortage * runs)}" if shortage < math.inf else "more --runs"
    span = 1.3 * shortage * (setting.until - setting.warmup)
    return f'--for "{_round(span)}"' if span < math.inf else "a longer --for"


def _round(seconds: float) -> str:
    """Returns a duration of two digits that is not shorter."""
    unit = next(size for size in (86400, 3600, 60, 1) if seconds >= size or size == 1)
    whole = seconds / unit
    step = 10 ** max(0, math.floor(math.log10(max(whole, 1))) - 1)
    return render_seconds(math.ceil(whole / step) * step * unit)


def least_quantile(runs: Sequence[Latencies], percent: int) -> float:
    """Returns what a percentile is more than: those that have not ended take longer than they were watched (s).

    Where it lies among those that failed, the longest answer.
    """
    times: list[float] = []
    numbers: list[int] = []
    for run in runs:
        waiting = np.maximum(run.arrived - run.failed - run.counts.sum(axis=1), 0)
        times += [*(run.uppers / GAMMA), *(run.edges[-1] - run.edges[1:])]
        numbers += [*run.counts.sum(axis=0).tolist(), *waiting.tolist()]
    order = np.argsort(times)
    within = np.cumsum(np.array(numbers)[order])
    place = int(np.searchsorted(within, math.ceil(percent / 100 * sum(int(run.arrived.sum()) for run in runs))))
    longest = max(float(run.uppers[-1]) for run in runs if len(run.uppers))
    return float(np.array(times)[order][place]) if place < len(within) else longest


def collapse_reading(name: str, records: Sequence[RunRecord]) -> Iterator[StudyReading]:
    """Yields the share of runs in whose last tenth fewer than half of the requests succeed, where there is one."""
    collapses = _collapses(name, records).values()
    fallen, count = sum(collapses), len(collapses)
    if fallen:
        yield StudyReading(
            name, "runs that collapse", "%", 100 * fallen / count, *share_ends(fallen, count), out_of=count
        )


def share_ends(number: int, count: int) -> tuple[float, float]:
    """Returns between which shares (%) `number` of `count` leaves that of all, by Clopper and Pearson (1934)."""
    from scipy.special import betaincinv

    low = float(betaincinv(number, count - number + 1, 0.025)) if number else 0.0
    high = float(betaincinv(number + 1, count - number, 0.975)) if number < count else 1.0
    return 100 * low, 100 * high


def outcome_notes(program: Program, records: Sequence[RunRecord]) -> Iterator[str]:
    """Yields for each source whose runs end in two ways how many end in each, and what each kind is like."""
    for source in program.sources:
        ends = _collapses(source.name, records)
        fallen, held = ([records[n] for n, falls in ends.items() if falls is kind] for kind in (True, False))
        if not fallen or not held:
            continue
        low, high = share_ends(len(fallen), len(ends))
        yield (
            f"{len(fallen)} of {len(ends)} runs of {source.name} collapse, which leaves {low:.3g} to {high:.3g} % of "
            f"all runs (95 %): {_success(source.name, fallen)} succeed in those and {_success(source.name, held)} in "
            "the others; a mean over runs is like neither"
        )


def _success(name: str, records: Sequence[RunRecord]) -> str:
    """Renders which share of the requests of some runs succeed, with its interval over them."""
    mean, low, high = interval([record.sample[name, SUCCEED, "%"] for record in records])
    if low is None or high is None:
        return f"{mean:.3g} % of requests (one run: no interval)"
    return f"{mean:.3g} % of requests [{max(0.0, low):.3g}, {min(100.0, high):.3g}]"
