"""Limits of one computation, and of a run of questions that Ctrl-C ends in order."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import signal
import threading
import time
import weakref
from collections.abc import Generator

import numpy as np
import pytest

from coherence.base.clock import recorded_cuts
from coherence.base.watchdog import (
    _WALL,
    TimeOverError,
    at_most,
    current_run,
    interruptible,
    is_interruptible,
    many_limits,
    run_limit,
)

NOTHING = "define void @nothing() { ret void }"


def busy(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def busy_of_the_processor(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
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


def test_a_run_counts_seconds_of_the_processor_and_of_the_wall_where_it_waits_for_others() -> None:
    with run_limit(0.4) as run:
        time.sleep(0.5)
        assert run.left > 0.3
        with pytest.raises(TimeOverError), run.ending():
            busy_of_the_processor(10)
        assert run.left < 0.3
    with run_limit(0.1, wall=True) as run:
        time.sleep(0.2)
        assert not run.left
    with run_limit(0.3, wall=True) as run, pytest.raises(TimeOverError), run.ending():
        time.sleep(10)


def test_a_run_in_another_ends_with_it_whatever_their_clocks() -> None:
    with run_limit(100) as outer, run_limit(1000, wall=True) as inner:
        assert 90 < inner.left <= 100
        outer.stopped = True
        assert not inner.left
    with run_limit(100, wall=True), run_limit(1000) as inner:
        assert 90 < inner.left <= 100


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


def test_an_alarm_amid_the_end_of_a_weakly_held_object_is_not_lost() -> None:
    class Held:
        pass

    def drop_and_go_on() -> None:
        held = Held()
        weakref.finalize(held, busy, 0.3)
        del held
        busy(10)

    with pytest.raises(TimeOverError), at_most(0.1):
        drop_and_go_on()


def test_an_alarm_amid_a_call_of_the_compiler_is_not_lost() -> None:
    """A call from C by the compiler of loops drops what is raised in it."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_assembly(f'target triple = "{binding.get_default_triple()}"\n' + NOTHING)
    engine = binding.create_mcjit_compiler(module, binding.Target.from_default_triple().create_target_machine())
    engine.set_object_cache(lambda _module, _data: busy(0.3))

    def compile_and_go_on() -> None:
        engine.finalize_object()
        busy(10)

    with pytest.raises(TimeOverError), at_most(0.1):
        compile_and_go_on()


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


def test_a_block_of_many_limits_keeps_the_alarms_and_leaves_them_as_they_were() -> None:
    before = signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGPROF)
    with many_limits():
        for seconds in (0.02, 5, 0.02, 60):
            begun = time.monotonic()
            with contextlib.suppress(TimeOverError), at_most(seconds), at_most(50, processor=True):
                busy(0.1)
            assert (time.monotonic() - begun >= 0.1) == (seconds > 1)  # the alarm of one is none of the next
        busy(0.1)
        assert signal.getsignal(signal.SIGALRM) != before[0]
    assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGPROF)) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_a_timer_of_somebody_else_ends_a_block_and_goes_on() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: heard.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(TimeOverError), at_most(60):
            busy(10)
        busy(0.05)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert heard == [signal.SIGALRM]


def test_another_thread_has_no_limit_while_the_first_has() -> None:
    ended = []

    def work() -> None:
        with at_most(0.001):
            busy(0.05)
            ended.append(True)

    with at_most(60):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert ended == [True]


@pytest.mark.slow
def test_an_alarm_at_the_end_of_a_block_leaves_no_limit_behind() -> None:
    matrix = np.ones((600, 600))
    with many_limits():
        for _ in range(40):  # the alarm comes amid an operator in C, and is heard where the block ends
            with contextlib.suppress(TimeOverError), at_most(0.002):
                matrix @ matrix @ matrix
        with contextlib.suppress(TimeOverError), at_most(0.01):
            busy(10)
        busy(0.05)
        assert len(_WALL.limits) == 1
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_block_that_is_gone_without_its_end_has_no_limit() -> None:
    with many_limits():
        lost = at_most(0.02)
        lost.__enter__()  # and nobody leaves it
        del lost
        busy(0.1)
        with at_most(60):
            busy(0.01)
    assert not _WALL.limits


def test_limits_may_end_in_any_order() -> None:
    def answers() -> Generator[int, None, None]:
        with at_most(60):
            yield 1

    def close_and_go_on() -> None:
        several.close()
        busy(10)

    several = answers()
    assert next(several) == 1
    with pytest.raises(TimeOverError), at_most(0.05):
        close_and_go_on()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process")  # threads of a worker of the tests: the child only looks at a clock
def test_a_forked_process_has_limits_of_its_own() -> None:
    with at_most(0.2, processor=True):  # nearer than that of the child; its timer is none of the child's
        child = os.fork()
        if not child:
            try:
                with at_most(0.3, processor=True):
                    busy(10)
            except TimeOverError:
                os._exit(7)
            os._exit(1)
        status = os.waitpid(child, 0)[1]
    assert os.waitstatus_to_exitcode(status) == 7
