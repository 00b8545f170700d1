"""Jobs give the same results whoever runs them, and wherever a worker dies."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.base.jobs import WorkerPool
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import grams
from coherence.causal.fitting.jobs import bootstrap, generator, run, windows


def draw(task: int, random: np.random.Generator) -> float:
    return task + float(random.normal())


def waiting(task: tuple[int, str], random: np.random.Generator) -> tuple[float, int]:
    """A number and who computed it; leaves a mark in a folder when it begins."""
    number, folder = task
    Path(folder, f"{os.getpid()}-{number}").touch()
    time.sleep(0.25)
    return number + float(random.normal()), os.getpid()


def heavy(task: Floats, random: np.random.Generator) -> float:
    time.sleep(0.1)
    return float(task.sum() + random.normal())


def mean_of(sums: Floats) -> Floats:
    return np.asarray(sums[:, 0, 1] / sums[:, 0, 0], np.float64)


def level(window: Series, random: np.random.Generator) -> float:
    return float(window["x"].mean() + random.normal())


def failing(task: int, random: np.random.Generator) -> float:
    del random
    if task == 3:
        raise UsageError("task 3 cannot be done")
    return float(task)


@pytest.fixture
def series() -> Series:
    return Series(("x", "y"), np.random.default_rng(1).normal(size=(1000, 2)), 1.0, 100.0)


def test_a_job_s_numbers_depend_on_the_seed_and_its_place_alone() -> None:
    alone = run(draw, [5, 6, 7], seed=3)
    assert run(draw, [5, 6], seed=3) == alone[:2]
    assert run(draw, [5, 6, 7], seed=4) != alone
    assert alone[1] == 6 + float(generator(3, 1).normal())
    assert len({value - task for value, task in zip(alone, [5, 6, 7], strict=True)}) == 3


def test_any_number_of_workers_gives_the_same() -> None:
    alone = run(draw, range(40), seed=1)
    assert run(draw, range(40), seed=1, workers=2) == alone


def test_no_tasks_no_results() -> None:
    assert run(draw, []) == []


def test_an_error_of_a_job_arrives_as_it_is() -> None:
    with pytest.raises(UsageError, match="task 3 cannot be done"):
        run(failing, range(5))
    with pytest.raises(UsageError, match="task 3 cannot be done"):
        run(failing, range(5), workers=2)


@pytest.mark.parametrize("workers", [0, -2])
def test_the_number_of_workers_is_checked(workers: int) -> None:
    with pytest.raises(UsageError, match=rf"workers\(={workers}\)"):
        run(draw, [1], workers=workers)


def test_the_bootstrap_spreads_as_the_mean_does(series: Series) -> None:
    found = grams(series, [("x", 0), ("y", 0)])
    drawn = bootstrap(found, mean_of, count=430, seed=2)
    assert drawn.shape == (430,)
    assert float(drawn.std() * found.scale[0]) == pytest.approx(float(series["x"].std() / np.sqrt(1000)), rel=0.3)
    assert bootstrap(found, mean_of, count=0).shape == (0,)


def test_windows_stand_side_by_side_or_overlap(series: Series) -> None:
    answers = windows(series, 250, level, seed=5)
    assert len(answers) == 4
    assert answers[1] == series["x"][250:500].mean() + float(generator(5, 1).normal())
    assert len(windows(series, 250, level, stride=125)) == 7
    with pytest.raises(UsageError, match=r"length\(=1001\)"):
        windows(series, 1001, level)


@pytest.mark.slow
def test_bootstraps_and_windows_are_the_same_with_two_workers(series: Series) -> None:
    found = grams(series, [("x", 0), ("y", 0)])
    alone = bootstrap(found, mean_of, count=430, seed=2)
    np.testing.assert_array_equal(bootstrap(found, mean_of, count=430, seed=2, workers=WorkerPool(2)), alone)
    assert windows(series, 250, level, seed=5, workers=2) == windows(series, 250, level, seed=5)


@pytest.mark.slow
def test_no_scheduler_is_a_clear_message() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        run(draw, [1], cluster="tcp://127.0.0.1:9")


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    tasks = [(number, str(tmp_path)) for number in range(24)]
    large = [np.full(50_000, float(number)) for number in range(24)]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    ) as cluster:
        address = cluster.scheduler_address
        workers = [nanny.pid for nanny in cluster.workers.values()]
        killer = threading.Thread(target=_kill_when_busy, args=(workers[0], tmp_path))
        killer.start()
        answers = run(waiting, tasks, seed=9, cluster=address)
        killer.join()
        killed_alone = run(heavy, large, seed=9)
        again = threading.Timer(0.5, _kill, args=(workers[1],))
        again.start()
        assert run(heavy, large, seed=9, cluster=address) == killed_alone
        again.join()
        with pytest.raises(UsageError, match="task 3 cannot be done"):
            run(failing, range(5), cluster=address)
    assert [value for value, _ in answers] == [number + float(generator(9, number).normal()) for number in range(24)]
    began = [path.name.split("-") for path in tmp_path.iterdir()]
    assert workers[0] in {int(pid) for pid, _ in began}, "the killed worker had work"
    finished = {pid for _, pid in answers}
    assert len(finished - {workers[0]}) >= 1
    lost = {int(number) for pid, number in began if int(pid) == workers[0]}
    again_done = {number for number, (_, pid) in enumerate(answers) if pid != workers[0]}
    assert lost & again_done, "a job of the killed worker ran again elsewhere"


@pytest.mark.slow
def test_another_process_finds_the_same_numbers() -> None:
    code = (
        "import pickle, sys; from coherence.causal.fitting.jobs import generator;"
        "sys.stdout.buffer.write(pickle.dumps([generator(4, n).normal() for n in range(3)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert pickle.loads(done.stdout) == [generator(4, number).normal() for number in range(3)]  # noqa: S301


def _kill_when_busy(pid: int, folder: Path) -> None:
    """Kill one worker once it has begun its third job."""
    for _ in range(600):
        if len(list(folder.glob(f"{pid}-*"))) >= 3:
            break
        time.sleep(0.05)
    _kill(pid)


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
