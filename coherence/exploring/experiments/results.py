"""Runs experiments seed by seed, keeps each run in a file, and counts how often their nulls are rejected."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.kept_results import KeptResults
from coherence.base.version import VERSION
from coherence.causal.signatures.signature import LEVEL
from coherence.exploring.experiments.experiment import LEAST_SEEN, MOST_FALSE, SEEDS, Experiment, KnownTruth, PowerCurve

RUNS_FILE = "runs.jsonl"


@dataclass(frozen=True)
class SignatureRun:
    """What a test answered about a run."""

    stream: str
    seed: int
    p: float
    magnitude: float
    unit: str
    null: str


@dataclass(frozen=True)
class TruthCount:
    """In how many runs of a system its null is rejected, and how large the effect is on average."""

    name: str
    is_null: bool
    rejected: int
    magnitude: float
    unit: str

    @property
    def target(self) -> str:
        """Returns what is to hold of the rejections."""
        return f"at most {MOST_FALSE}" if self.is_null else f"at least {LEAST_SEEN}"

    @property
    def holds(self) -> bool:
        """Returns whether it does."""
        return self.rejected <= MOST_FALSE if self.is_null else self.rejected >= LEAST_SEEN


@dataclass(frozen=True)
class ExperimentResult:
    """The runs of an experiment, by stream."""

    name: str
    experiment: Experiment
    runs: Mapping[str, tuple[SignatureRun, ...]]

    @property
    def null(self) -> str:
        """Returns the null of its test, in words."""
        return next(run.null for own in self.runs.values() for run in own)

    def counts(self) -> Iterator[TruthCount]:
        """Yields a row for each null and effect."""
        for name in (*self.experiment.nulls, *self.experiment.effects):
            own = self.runs[self.experiment.truth(name).stream]
            mean = sum(run.magnitude for run in own) / len(own)
            yield TruthCount(name, name in self.experiment.nulls, _rejections(own), mean, own[0].unit)

    def points(self, curve: PowerCurve) -> tuple[tuple[float, float], ...]:
        """Returns (size, share of runs with a rejection)."""
        shares = (_rejections(self.runs[truth.stream]) / truth.seeds for truth in curve.truths())
        return tuple(zip(curve.sizes, shares, strict=True))


def _rejections(runs: tuple[SignatureRun, ...]) -> int:
    return sum(run.p <= LEVEL for run in runs)


def experiment_names() -> tuple[str, ...]:
    """Returns the names of all experiments, in the order of their modes."""
    here = importlib.import_module(__package__)
    modules = (importlib.import_module(f"{__package__}.{info.name}") for info in pkgutil.iter_modules(here.__path__))
    held = [module for module in modules if hasattr(module, "EXPERIMENT")]
    return tuple(map(_spelled, sorted(held, key=lambda module: str(module.EXPERIMENT.mode))))


def _spelled(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2].replace("_", "-")


def experiment_named(name: str) -> Experiment:
    """Returns the experiment of this name.  Raises UsageError."""
    known = experiment_names()
    if name not in known:
        raise UsageError(f"there is no experiment '{name}': {did_you_mean(name, known)}")
    experiment: Experiment = importlib.import_module(f"{__package__}.{name.replace('-', '_')}").EXPERIMENT
    return experiment


def run_experiment(
    name: str, file: Path | None, *, curves: bool, progress: Callable[[float], None] = lambda _: None
) -> ExperimentResult:
    """Returns the runs of an experiment; those that a file holds are not made again.

    file: where each run is kept as it ends.  curves: also the systems of its curves.  Raises UsageError.
    """
    experiment = experiment_named(name)
    store = KeptResults(file, {"coherence_experiment": 1, "version": VERSION, "of": name}, "experiment")
    before = {(run.stream, run.seed): run for run in filter(None, map(_from_row, store.rows))}
    truths = tuple(experiment.truths(curves=curves))
    whole, done, runs = sum(truth.seeds for truth in truths), 0, dict[str, tuple[SignatureRun, ...]]()
    for truth in truths:
        own = list[SignatureRun]()
        for seed in range(truth.seeds):
            own.append(before.get((truth.stream, seed)) or _run(truth, seed, store))
            done += 1
            progress(done / whole)
        runs[truth.stream] = tuple(own)
    return ExperimentResult(name, experiment, runs)


def _run(truth: KnownTruth, seed: int, store: KeptResults) -> SignatureRun:
    answer = truth.signature(seed)
    unit = f"{answer.unit} {answer.denominator}".removeprefix("1 ")
    run = SignatureRun(truth.stream, seed, float(answer.p), float(answer.magnitude), unit, answer.null)
    store.add(asdict(run))
    return run


def _from_row(row: Mapping[str, Any]) -> SignatureRun | None:
    """Returns a run from JSON; None where a line was damaged, and it is made again."""
    try:
        run = SignatureRun(**row)
    except TypeError:
        return None
    words = (run.stream, run.unit, run.null)
    numbers = (run.p, run.magnitude)
    whole = all(type(word) is str for word in words) and all(type(number) is float for number in numbers)
    return run if whole and type(run.seed) is int and 0 <= run.p <= 1 and math.isfinite(run.magnitude) else None


def render(result: ExperimentResult) -> Iterator[str]:
    """Yields a line for each null and effect."""
    yield f"{result.experiment.mode}: null: {result.null}"
    for row in result.counts():
        mark = "ok  " if row.holds else "MISS"
        yield f"  {mark} {row.name}: rejected in {row.rejected} of {SEEDS} ({row.target}); {_size(row)}"


def _size(row: TruthCount) -> str:
    return f"{row.magnitude:.3g} {row.unit}"


def as_json(result: ExperimentResult) -> dict[str, Any]:
    """Returns the counts for programs, with the points of the curves that were run."""
    curves = (curve for curve in result.experiment.curves if next(curve.truths()).stream in result.runs)
    return {
        "experiment": result.name,
        "null": result.null,
        "runs": SEEDS,
        "truths": [{**asdict(row), "target": row.target, "holds": row.holds} for row in result.counts()],
        "curves": [
            {"name": curve.name, "x": curve.x, "runs": curve.seeds, "points": result.points(curve)} for curve in curves
        ],
    }
