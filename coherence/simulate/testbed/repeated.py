"""Repeats a reproduction under several seeds: the share of runs that collapse beside its predicted probability.

Near the edge chance decides, and one run shows one side of it.  The probability is that of fresh draws of arrivals and
services, none of them a run's own; Fisher's exact test says whether what was seen can be a sample of the same share.
Each run is laid beside the prediction from its own draws as well, and kept in a file where one is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from coherence.base.kept_results import KeptResults
from coherence.base.version import VERSION
from coherence.simulate.study.pooled_readings import share_ends
from coherence.simulate.testbed.observe import COLLAPSED, RECOVERED, Measures
from coherence.simulate.testbed.predict import fresh, simulated
from coherence.simulate.testbed.reproduction import Observation
from coherence.simulate.testbed.set_up import RunTiming, SetUp

DRAWS = 400  # fresh ones, of the probability
UNLIKELY = 0.01  # of Fisher's test: below it the shares differ
RUNS_FILE = "runs.jsonl"
Running = Callable[[RunTiming], Observation]


@dataclass(frozen=True)
class SeenRun:
    """A run: its seed, what was seen, what its own draws predict, and why it was disturbed, or nothing.

    `recovery`: s from the end of the trigger; None where it never came.
    """

    seed: int
    verdict: str
    own: str
    recovery: float | None
    disturbed: str


@dataclass(frozen=True)
class CollapseShare:
    """How many of so many collapse, and which shares (%) of all that leaves, at 95 %."""

    number: int
    count: int

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval, by Clopper and Pearson."""
        return share_ends(self.number, self.count) if self.count else (0.0, 100.0)

    def render(self) -> str:
        """Returns the share as text."""
        low, high = self.ends
        return f"{self.number} of {self.count} ({low:.3g} to {high:.3g} % of all)"


@dataclass(frozen=True)
class Repetition:
    """Runs of one design (`design`: its path; `proxy`: its name) under several seeds, and what fresh draws predict."""

    design: str
    proxy: str
    setup: SetUp
    timing: RunTiming
    runs: tuple[SeenRun, ...]
    predicted: CollapseShare

    @property
    def observed(self) -> CollapseShare:
        """Of the runs that were not disturbed."""
        calm = [run for run in self.runs if not run.disturbed]
        return CollapseShare(sum(run.verdict == COLLAPSED for run in calm), len(calm))

    @property
    def p_value(self) -> float:
        """The probability of shares that differ so much, or more, where both are samples of one."""
        from scipy.stats import fisher_exact

        table = [[share.number, share.count - share.number] for share in (self.observed, self.predicted)]
        return float(fisher_exact(table)[1])

    @property
    def agrees(self) -> bool:
        """Can what was seen be a sample of the predicted share?"""
        return bool(self.observed.count) and self.p_value >= UNLIKELY


class KeptReproductions:
    """Runs in a file of a folder, by their seeds."""

    def __init__(self, folder: Path, design: str, proxy: str, timing: RunTiming) -> None:
        course = [timing.before, timing.pause, timing.lasts]
        head = {"coherence_reproduce": 1, "version": VERSION, "design_sha256": design, "with": proxy, "course": course}
        self._file = KeptResults(folder / RUNS_FILE, head, "reproduction")
        runs = filter(None, map(_from_row, self._file.rows))
        self.runs = {run.seed: run for run in runs}

    def add(self, run: SeenRun) -> None:
        """Appends a run."""
        self._file.add(asdict(run))


def _from_row(row: Mapping[str, Any]) -> SeenRun | None:
    """Returns a run from JSON; None where a line was damaged, and it is made again."""
    try:
        run = SeenRun(**row)
    except TypeError:
        return None
    values: tuple[object, ...] = (run.verdict, run.own, run.seed, run.disturbed)
    kinds = all(type(value) is kind for value, kind in zip(values, (str, str, int, str), strict=True))
    timed = run.recovery is None or (type(run.recovery) is float and 0 <= run.recovery < math.inf)
    return run if kinds and timed and {run.verdict, run.own} <= {COLLAPSED, RECOVERED} else None


def repeated(
    setup: SetUp, timing: RunTiming, seeds: Sequence[int], running: Running, store: KeptReproductions | None
) -> Iterator[SeenRun]:
    """Yields the runs of the seeds, those that are kept first where they stand."""
    for seed in seeds:
        run = store.runs.get(seed) if store is not None else None
        if run is None:
            own = replace(timing, seed=seed)
            run = seen(seed, running(own), simulated(setup, own))
            if store is not None:
                store.add(run)
        yield run


def seen(seed: int, observation: Observation, own: Measures) -> SeenRun:
    """Returns what is kept of a run, beside the prediction from its own draws."""
    measures = observation.measures
    recovery = float(measures.recovery) if math.isfinite(measures.recovery) else None
    return SeenRun(seed, measures.verdict, own.verdict, recovery, observation.disturbed)


def predicted_share(setup: SetUp, timing: RunTiming, draws: int = DRAWS) -> CollapseShare:
    """Returns how many of so many fresh draws collapse."""
    return CollapseShare(sum(one.verdict == COLLAPSED for one in fresh(setup, timing, draws)), draws)


def text(repetition: Repetition) -> str:
    """Returns one line for each run, the shares, and how they differ."""
    timing, runs = repetition.timing, repetition.runs
    trigger = f"a pause of {timing.pause:g} s" if timing.pause else "the burst of the design"
    head = f"{len(runs)} runs of {timing.lasts:g} s, {trigger} after {timing.before:g} s"
    alike = sum(run.verdict == run.own for run in runs)
    lines = [f"{repetition.design} on {repetition.proxy}: {head}", "", *map(_line, runs), ""]
    lines += [f"collapsed: {repetition.observed.render()}; fresh draws: {repetition.predicted.render()}"]
    lines += [_judgement(repetition), f"{alike} of {len(runs)} runs end as their own draws predict"]
    notes = repetition.setup.notes
    lines += ["", "Assumed:", *(f"  {note}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def _line(run: SeenRun) -> str:
    recovery = "never" if run.recovery is None else f"{run.recovery:.2f} s"
    disturbed = f"; disturbed, and not counted: {run.disturbed}" if run.disturbed else ""
    return f"seed {run.seed}: {run.verdict} (recovery {recovery}); its own draws predict {run.own}{disturbed}"


def _judgement(repetition: Repetition) -> str:
    if not repetition.observed.count:
        return "nothing is said: every run was disturbed; run it on a quieter machine"
    verdict = "as predicted" if repetition.agrees else "not as predicted"
    return f"{verdict}: shares differ so much with probability {repetition.p_value:.2g} (Fisher's exact test)"


def as_json(repetition: Repetition) -> dict[str, Any]:
    """Returns the same for programs."""
    timing = repetition.timing
    shares = {"observed": repetition.observed, "predicted": repetition.predicted}
    return {
        "design": repetition.design,
        "with": repetition.proxy,
        "seconds": timing.lasts,
        "trigger": {"pause": timing.pause, "after": timing.before},
        "agrees": repetition.agrees,
        "p_value": repetition.p_value if repetition.observed.count else None,
        "collapsed": {
            name: {"number": share.number, "of": share.count, "low": share.ends[0], "high": share.ends[1]}
            for name, share in shares.items()
        },
        "runs": [asdict(run) for run in repetition.runs],
        "assumptions": list(repetition.setup.notes),
    }
