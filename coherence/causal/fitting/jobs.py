"""Runs many independent jobs: on this machine's cores through joblib, beyond it through joblib's Dask backend.

A job gets its task and a random generator that depends on `seed` and on the job's number alone, so the results are the
same for any number of workers, any backend, and where a worker dies and its jobs run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from coherence.base.errors import MissingExtraError, UsageError
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import Grams

T = TypeVar("T")
R = TypeVar("R")
DONE = "done"
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
    processes run them.  Raises MissingExtraError without joblib or Dask, UsageError where no scheduler answers.
    """
    if workers < 1 and workers != -1:
        raise UsageError(f"workers(={workers}) must be at least 1, or -1 for one a core")
    packs = [(job, task, seed, number) for number, task in enumerate(tasks)]
    if cluster is None and workers == 1:
        return [_run_one(pack)[1] for pack in packs]
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingExtraError("work on several cores", "parallel") from error
    calls = [delayed(_run_one)(pack) for pack in packs]
    if cluster is None:
        return [result for _, result in Parallel(n_jobs=workers)(calls)]
    with _on(cluster):
        return [_arrived(one, cluster) for one in Parallel()(calls)]


def generator(seed: int, number: int) -> np.random.Generator:
    """The random numbers of one job."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def bootstrap(
    products: Grams,
    statistic: Callable[[Floats], Floats],
    *,
    count: int = 200,
    seed: int = 0,
    workers: int = 1,
    cluster: str | None = None,
) -> Floats:
    """(count, ...): a statistic of `count` sums of products drawn over batches with replacement.

    `statistic` maps (n, q+1, q+1) to (n, ...), as `Grams.resampled` gives them.
    """
    sizes = [DRAWS] * (count // DRAWS) + ([count % DRAWS] if count % DRAWS else [])
    parts = run(_Draw(products, statistic), sizes, seed=seed, workers=workers, cluster=cluster)
    return np.concatenate(parts) if parts else statistic(products.resampled(0, seed))


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


def _run_one(pack: tuple[Callable[[T, np.random.Generator], R], T, int, int]) -> tuple[str, R]:
    """One job.  A tuple travels with it; a large argument by itself joblib would leave on one worker, to die there."""
    job, task, seed, number = pack
    return DONE, job(task, generator(seed, number))


def _arrived(one: Any, cluster: str) -> Any:
    """A result; a job that the scheduler cancelled comes back as something else."""
    if isinstance(one, tuple) and len(one) == 2 and one[0] == DONE:
        return one[1]
    raise UsageError(f"the cluster at {cluster} cancelled a job ({one!r}): look at the log of its scheduler")


def _rows(series: Series, start: int, length: int) -> Series:
    values = series.values[start : start + length]
    return Series(series.names, values, series.step, series.start + start * series.step, series.units, series.excluded)


@contextmanager
def _on(cluster: str) -> Iterator[None]:
    """joblib's Dask backend on a running scheduler."""
    try:
        import distributed
        from joblib import parallel_config
    except ImportError as error:
        raise MissingExtraError("work on a Dask cluster", "cluster") from error
    connect: Any = distributed.Client
    try:
        client = connect(cluster, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {cluster}: {error}; start one with `dask scheduler`") from error
    with client, client.as_current(), parallel_config(backend="dask"):
        try:
            yield
        except distributed.KilledWorker as error:
            raise UsageError(
                f"a job lost its worker again and again ({error}): give the workers more memory"
            ) from error
