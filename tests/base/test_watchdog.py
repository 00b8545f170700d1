"""Limits of the wall: of one computation, and of a run of questions that Ctrl-C ends in order."""

from __future__ import annotations

import contextlib
import gc
import math
import signal
import threading
import time

import pytest

from coherence.base.clock import recorded_cuts
from coherence.base.watchdog import TimeOverError, at_most, current_run, interruptible, is_interruptible, run_limit


def busy(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_a_computation_that_knows_no_limit_is_interrupted() -> None:
    begun = time.monotonic()
    with pytest.raises(TimeOverError), at_most(0.05):
        busy(10)
    assert time.monotonic() - begun < 5
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_an_alarm_that_its_caller_catches_is_recorded_all_the_same() -> None:
    with recorded_cuts() as cuts, contextlib.suppress(TimeOverError), at_most(0.01):
        busy(10)
    assert cuts.happened


def test_a_limit_of_the_processor_does_not_count_waiting() -> None:
    with pytest.raises(TimeOverError), at_most(0.05, processor=True):
        busy(10)
    with at_most(10), at_most(0.5, processor=True):
        time.sleep(0.6)
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_what_ends_in_time_or_has_no_limit_goes_on() -> None:
    with at_most(60):
        busy(0.01)
    with at_most(math.inf):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_in_another_thread_a_computation_runs_to_its_end() -> None:
    ended = []

    def work() -> None:
        with at_most(0.001):
            busy(0.05)
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]


def test_a_run_ends_at_the_nearer_of_two_limits_and_none_is_left_after_a_stop() -> None:
    assert current_run().left == math.inf
    with run_limit(100), run_limit(1000) as inner:
        assert 90 < inner.left <= 100
        inner.stopped = True
        assert inner.left == 0
    assert current_run().left == math.inf


def test_only_a_run_that_tells_what_is_asked_is_stopped_in_order_and_the_run_around_it_knows() -> None:
    heard: list[tuple[float, str]] = []
    with run_limit(1):
        assert not is_interruptible()
        current_run().announce(0.5, "nobody hears it")
    with interruptible(lambda share, label: heard.append((share, label))) as around:
        with run_limit(1) as run:
            assert is_interruptible()
            run.announce(0.5, "asking")
            run.stopped = True
        assert around.stopped
    assert heard == [(0.5, "asking")]


def test_an_alarm_amid_a_call_of_the_garbage_collector_is_not_lost() -> None:
    waits = [0.3]

    def collected(_phase: str, _about: dict[str, int]) -> None:
        busy(waits.pop() if waits else 0)

    def collect_and_go_on() -> None:
        gc.collect()
        busy(10)

    gc.callbacks.append(collected)
    try:
        with pytest.raises(TimeOverError), at_most(0.1):
            collect_and_go_on()
    finally:
        gc.callbacks.remove(collected)


def swallowing() -> None:
    """Ends itself after 30 s, and goes on."""
    with contextlib.suppress(TimeOverError), at_most(30):
        busy(10)
    busy(10)


def test_a_limit_around_a_limit_holds_on() -> None:
    begun = time.monotonic()
    with pytest.raises(TimeOverError), at_most(0.1):
        swallowing()
    assert time.monotonic() - begun < 5
    with at_most(60):
        with pytest.raises(TimeOverError), at_most(0.01):
            busy(10)
        assert 50 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
