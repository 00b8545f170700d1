"""Runs many independent jobs: on this machine's cores through joblib, beyond it through joblib's Dask backend.

A result depends on its job and its task alone, so it is the same for any number of workers and any backend, in any
order, and where a worker dies and its jobs run again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from coherence.base.errors import MissingExtraError, UsageError
from coherence.base.memory import restrict, room

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class WorkerPool:
    """Who does jobs: `count` processes of this machine (-1: one a core), or those of a Dask scheduler.

    `cluster`: the address of the scheduler (tcp://host:port), which then decides on the processes.
    """

    count: int = 1
    cluster: str | None = None

    @property
    def elsewhere(self) -> bool:
        """Returns whether jobs and tasks travel to other processes, and have to be picklable."""
        return self.cluster is not None or self.count != 1


HERE = WorkerPool()


def finished(job: Callable[[T], R], tasks: Sequence[T], workers: WorkerPool = HERE) -> Iterator[tuple[int, R]]:
    """Yields the number of each task and its result, as they end: alone in the order of the tasks.

    Raises MissingExtraError without Dask, UsageError where no scheduler answers.
    """
    if workers.count < 1 and workers.count != -1:
        raise UsageError(f"workers(={workers.count}) must be at least 1, or -1 for one a core")
    if not workers.elsewhere:
        yield from ((number, job(task)) for number, task in enumerate(tasks))
        return
    from joblib import Parallel, delayed

    share = 0 if workers.cluster else room() // (workers.count if workers.count > 0 else os.cpu_count() or 1)
    calls = [delayed(_run_one)((job, task, number, share)) for number, task in enumerate(tasks)]
    if workers.cluster is None:
        yield from Parallel(n_jobs=workers.count, return_as="generator_unordered")(calls)
        return
    with _on(workers.cluster) as spread:
        yield from (_arrived(one, workers.cluster) for one in spread(calls))


def in_order(ended: Iterator[tuple[int, R]]) -> Iterator[R]:
    """Yields results in the order of their tasks, each as soon as those before it are there."""
    waiting: dict[int, R] = {}
    due = 0
    for number, result in ended:
        waiting[number] = result
        while due in waiting:
            yield waiting.pop(due)
            due += 1


def _run_one(pack: tuple[Callable[[T], R], T, int, int]) -> tuple[int, R]:
    """One job, with its worker's share of the memory (0: as much as there is).

    A tuple travels with it; a large argument by itself joblib would leave on one worker, to die there.
    """
    job, task, number, share = pack
    if share:
        restrict(share)
    return number, job(task)


def _arrived(one: Any, cluster: str) -> Any:
    """A result; a job that the scheduler cancelled comes back as something else."""
    if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], int):
        return one
    raise UsageError(f"the cluster at {cluster} cancelled a job ({one!r}): look at the log of its scheduler")


@contextmanager
def _on(cluster: str) -> Iterator[Callable[[Any], Any]]:
    """joblib's Dask backend on a running scheduler."""
    try:
        import distributed
        from joblib import Parallel, parallel_config
    except ImportError as error:
        raise MissingExtraError("work on a Dask cluster", "cluster") from error
    connect: Any = distributed.Client
    try:
        client = connect(cluster, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {cluster}: {error}; start one with `dask scheduler`") from error
    with client:
        with client.as_current(), parallel_config(backend="dask"):
            spread = Parallel(return_as="generator_unordered")
        try:
            yield spread
        except distributed.KilledWorker as error:
            raise UsageError(
                f"a job lost its worker again and again ({error}): give the workers more memory"
            ) from error
