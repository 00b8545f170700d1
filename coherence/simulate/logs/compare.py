"""Compares a prediction with a record: the sequence of replicas first, its times second."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from coherence.base.errors import Problem, UsageError
from coherence.base.number_text import render_seconds
from coherence.language.design import Design
from coherence.language.reading import read_design, read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.logs.designs import design_text
from coherence.simulate.logs.facts import origin_of
from coherence.simulate.logs.predict import ReplicaPrediction, Trajectory, predict, values_of
from coherence.simulate.logs.runs import RunFiles, the_run
from coherence.simulate.logs.series import RecordedSeries, autoscaler
from coherence.simulate.logs.tables import read_table, utc


@dataclass(frozen=True)
class ReplayComparison:
    """One recorded run and its prediction.  Times in seconds since `origin` (Unix seconds)."""

    name: str
    origin: int
    observed: Trajectory
    prediction: ReplicaPrediction
    problems: tuple[Problem, ...] = ()  # malformed lines of the record, which were left out

    @property
    def equal(self) -> bool:
        """Is the nominal sequence the observed one?"""
        return values_of(self.prediction.nominal) == values_of(self.observed)

    @property
    def possible(self) -> bool:
        """Is the observed sequence one of those that the unknowns leave open?"""
        return values_of(self.observed) in self.prediction.sequences

    @property
    def verdict(self) -> str:
        """`equal` (nothing else could come), `equal, among others`, `possible`, or `different`."""
        if self.equal:
            return "equal" if len(self.prediction.sequences) == 1 else "equal, among others"
        return "possible" if self.possible else "different"

    @property
    def nearest(self) -> Trajectory:
        """Of the predictions with the observed sequence, the one whose times are nearest; else the nominal one."""
        every = (self.prediction.nominal, *self.prediction.possible)
        same = [one for one in every if values_of(one) == values_of(self.observed)]
        return min(same, key=lambda one: sum(_apart(one, self.observed)), default=self.prediction.nominal)

    @property
    def time_errors(self) -> tuple[Fraction, ...]:
        """|predicted - observed| of every step of the nearest trajectory, in seconds; empty where none is equal."""
        return _apart(self.nearest, self.observed) if self.possible else ()

    @property
    def nominal_time_errors(self) -> tuple[Fraction, ...]:
        """The same of the nominal trajectory."""
        return _apart(self.prediction.nominal, self.observed) if self.equal else ()


def _apart(one: Trajectory, other: Trajectory) -> tuple[Fraction, ...]:
    return tuple(abs(a - b) for (a, _), (b, _) in zip(one, other, strict=True))


def replay_logs(where: RunFiles | Path | str, design: Design | Path | str | None = None) -> ReplayComparison:
    """Predict a recorded run and compare.

    `where`: a folder with one run, its gethpa log, or its files.  `design`: a design or its file, whose time 0 is the
    first `kubectl apply` of the run; without one it is written from the run's own manifests and measurements.
    Raises InputError and UsageError.
    """
    run = where if isinstance(where, RunFiles) else the_run(Path(where))
    series = autoscaler(read_table(run.autoscaler))
    origin = origin_of(run)
    observed = observed_of(series, origin)
    end = Fraction(series.shown[-1].time - origin) if series.shown else Fraction(0)
    if not observed:
        raise UsageError(f"{run.autoscaler.name} shows no replicas")
    prediction = predict(elaborate(_design(run, design)), until=end)
    return ReplayComparison(run.name, origin, observed, prediction, series.problems)


def _design(run: RunFiles, design: Design | Path | str | None) -> Design:
    if isinstance(design, Design):
        return design
    return read_text(design_text(run), f"<{run.name}>") if design is None else read_design(design)


def observed_of(series: RecordedSeries, origin: int) -> Trajectory:
    """Returns (time, replicas) of every change, of the first autoscaler that is shown.

    Until its first sync an autoscaler's status is empty and shows 0: left out.
    """
    changes: list[tuple[Fraction, int]] = []
    for shown in (one for one in series.shown if one.name == series.shown[0].name):
        if (changes and changes[-1][1] != shown.replicas) or (
            not changes and (shown.replicas or shown.share is not None)
        ):
            changes.append((Fraction(shown.time - origin), shown.replicas))
    return tuple(changes)


def rendered(comparison: ReplayComparison) -> str:
    """Returns a few lines for a terminal."""
    prediction = comparison.prediction
    lines = [
        f"{comparison.name} (time 0 is {utc(comparison.origin)})",
        f"  observed   {_line(comparison.observed)}",
        f"  predicted  {_line(prediction.nominal)}",
        f"  sequences  {_sequences(comparison)}",
    ]
    if comparison.time_errors:
        lines.append(f"  times      {_times(comparison.time_errors)} in the nearest prediction")
    if comparison.nominal_time_errors:
        lines.append(f"             {_times(comparison.nominal_time_errors)} in the nominal one")
    lines += [f"  left out   {problem}" for problem in comparison.problems]
    return "\n".join(lines)


def _line(trajectory: Trajectory) -> str:
    return "  ".join(f"{replicas} ({render_seconds(time)})" for time, replicas in trajectory)


def _sequences(comparison: ReplayComparison) -> str:
    sequences = comparison.prediction.sequences
    if len(sequences) == 1:
        comparison_word = "equal" if comparison.equal else "different"
        return f"{comparison_word}; nothing that is unknown changes the prediction"
    listed = "; ".join(", ".join(map(str, sequence)) for sequence in sequences)
    first = "equal" if comparison.equal else "nominal one different, observed one possible"
    part = "" if comparison.prediction.complete else ", not all explored"
    return f"{first if comparison.possible else 'different'}; {len(sequences)} possible{part}: {listed}"


def _times(errors: tuple[Fraction, ...]) -> str:
    mean = sum(errors, Fraction(0)) / len(errors)
    return f"mean {render_seconds(round(mean, 1))}, at most {render_seconds(max(errors))} apart"
