"""Work gives the same results whoever does it."""

from __future__ import annotations

import pytest

from coherence.base.errors import UsageError
from coherence.base.jobs import WorkerPool, finished, in_order


def test_results_come_in_the_order_of_their_tasks() -> None:
    assert list(in_order(iter([(2, "c"), (0, "a"), (1, "b")]))) == ["a", "b", "c"]


@pytest.mark.slow
def test_two_processes_find_the_same_as_one() -> None:
    tasks = list(range(-20, 20))
    assert sorted(finished(abs, tasks, WorkerPool(2))) == list(finished(abs, tasks))


def test_work_begins_as_it_is_asked_for() -> None:
    begun: list[int] = []
    results = finished(begun.append, [1, 2, 3])
    next(results)
    assert begun == [1]


def test_a_number_of_workers_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"workers\(=0\)"):
        list(finished(abs, [1], WorkerPool(0)))
