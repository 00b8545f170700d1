"""Adds the options of who does independent work and where its results are kept: `--jobs`, `--cluster`, `--into`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from coherence.base.errors import UsageError
from coherence.base.jobs import WorkerPool

F = TypeVar("F", bound=Callable[..., Any])
WORTH = 48  # pieces of work from which several processes are worth their start, where nobody says how many processes


def workers_options(what: str, *, default: str = "1") -> Callable[[F], F]:
    """Decorates a command with `--jobs`, `--cluster` and `--into`.  `what`: the pieces of its work."""
    options = (
        click.option("--jobs", type=click.IntRange(1, 256), help=f"Processes.  [default: {default}]"),
        click.option("--cluster", metavar="ADDRESS", help="Work on a Dask scheduler, such as tcp://host:8786."),
        click.option("--into", metavar="FILE", help=f"Keep {what} here (JSON lines); work that stopped goes on."),
    )

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def workers_of(jobs: int | None, cluster: str | None, pieces: int = 0) -> WorkerPool:
    """Returns who works: as asked, else all cores where there are many pieces.

    Raises UsageError for both options at once.
    """
    if cluster is not None and jobs is not None:
        raise UsageError("--jobs would have no effect: the scheduler of --cluster decides on the processes")
    if cluster is not None:
        return WorkerPool(cluster=cluster)
    if jobs is not None:
        return WorkerPool(jobs)
    return WorkerPool((os.cpu_count() or 1) if pieces >= WORTH else 1)
