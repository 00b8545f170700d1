"""The five signatures on systems whose truth is known: false alarms and power of 300 seeds, and the least window."""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Row
from coherence.exploring.experiments.experiment import LEAST_SEEN, MOST_FALSE, SEEDS
from coherence.exploring.experiments.migration import EXPERIMENT, SAMPLES
from coherence.exploring.experiments.results import experiment_named, experiment_names, run_experiment


def rows() -> Iterator[Row]:
    """All rows of this part."""
    for name in experiment_names():
        mode = experiment_named(name).mode
        for row in run_experiment(name, None, curves=False).counts():
            what, target = ("null rejected", f"<= {MOST_FALSE}") if row.is_null else ("seen", f">= {LEAST_SEEN}")
            yield Row(f"{mode}: {row.name}: {what}", row.rejected, target, f"of {SEEDS}")
    yield Row("5 migration: samples of a window that + 20 % takes", shortest(), f"<= {SAMPLES}", "of 500 services")


def shortest() -> float:
    """The fewest samples of a window with which the effect is seen as often as the target says."""
    curve = EXPERIMENT.curves[-1]
    for size, truth in zip(curve.sizes, curve.truths(), strict=True):
        if sum(truth.signature(seed).rejects for seed in range(truth.seeds)) >= LEAST_SEEN:
            return size
    return 10**6
