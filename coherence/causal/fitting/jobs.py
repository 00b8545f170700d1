"""Runs many independent jobs with random numbers of their own, by `coherence.base.jobs`.

A job gets its task and a random generator that depends on `seed` and on the job's number alone, so the results are the
same for any number of workers, any backend, and where a worker dies and its jobs run again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from coherence.base.errors import UsageError
from coherence.base.jobs import HERE, WorkerPool, finished
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import Grams
from coherence.causal.fitting.kept_draws import KeptDraws

T = TypeVar("T")
R = TypeVar("R")
DRAWS = 25  # of one bootstrap job: fixed, so that the number of workers changes nothing


def run(
    job: Callable[[T, np.random.Generator], R],
    tasks: Sequence[T],
    *,
    seed: int = 0,
    workers: int = 1,
    cluster: str | None = None,
) -> list[R]:
    """The results of `job(task, random)` in the order of the tasks.

    `workers`: processes on this machine, -1 for one a core; `cluster`: address of a Dask scheduler
    (tcp://host:port), which then decides on the workers.  The job and its tasks must be picklable where other
    processes run them.  Raises MissingExtraError without Dask, UsageError where no scheduler answers.
    """
    ended = finished(_Seeded(job, seed), list(enumerate(tasks)), WorkerPool(workers, cluster))
    return [result for _, result in sorted(ended, key=lambda one: one[0])]


def generator(seed: int, number: int) -> np.random.Generator:
    """The random numbers of one job."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def bootstrap(
    products: Grams,
    statistic: Callable[[Floats], Floats],
    *,
    count: int = 200,
    seed: int = 0,
    workers: WorkerPool = HERE,
    store: KeptDraws | None = None,
) -> Floats:
    """(count, ...): a statistic of `count` sums of products drawn over batches with replacement.

    `statistic` maps (n, q+1, q+1) to (n, ...), as `Grams.resampled` gives them; `store`: draws that are not made again.
    """
    sizes = [DRAWS] * (count // DRAWS) + ([count % DRAWS] if count % DRAWS else [])
    parts = {} if store is None else store.parts(sizes)
    missing = [(number, size) for number, size in enumerate(sizes) if number not in parts]
    for turn, draws in finished(_Seeded(_Draw(products, statistic), seed), missing, workers):
        parts[missing[turn][0]] = draws
        if store is not None:
            store.add(missing[turn][0], draws)
    return np.concatenate([parts[n] for n in range(len(sizes))]) if sizes else statistic(products.resampled(0, seed))


def windows(
    series: Series,
    length: int,
    question: Callable[[Series, np.random.Generator], R],
    *,
    stride: int | None = None,
    seed: int = 0,
    workers: int = 1,
    cluster: str | None = None,
) -> list[R]:
    """The answer to a question for each window of `length` rows, one every `stride` (default: side by side)."""
    step = length if stride is None else stride
    if length < 1 or step < 1 or length > len(series):
        raise UsageError(
            f"length(={length}) and stride(={step}) must be at least 1 and fit the series of {len(series)} rows"
        )
    cut = [_rows(series, start, length) for start in range(0, len(series) - length + 1, step)]
    return run(question, cut, seed=seed, workers=workers, cluster=cluster)


class _Draw:
    """One bootstrap job; a class, so that other processes can be given it."""

    __slots__ = ("products", "statistic")

    def __init__(self, found: Grams, statistic: Callable[[Floats], Floats]) -> None:
        self.products, self.statistic = found, statistic

    def __call__(self, size: int, random: np.random.Generator) -> Floats:
        return self.statistic(self.products.resampled(size, int(random.integers(2**63))))


class _Seeded:
    """A job with the random numbers of each task; a class, so that other processes can be given it."""

    __slots__ = ("job", "seed")

    def __init__(self, job: Callable[[Any, np.random.Generator], Any], seed: int) -> None:
        self.job, self.seed = job, seed

    def __call__(self, task: tuple[int, Any]) -> Any:
        number, given = task
        return self.job(given, generator(self.seed, number))


def _rows(series: Series, start: int, length: int) -> Series:
    values = series.values[start : start + length]
    return Series(series.names, values, series.step, series.start + start * series.step, series.units, series.excluded)
