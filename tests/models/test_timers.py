"""Timers of training against plain polling threads, start by start.

SOURCE: PyTorch 2.5 to 2.8, ProcessGroupNCCL.cpp: the watchdog sleeps kWatchdogThreadSleepMillis (100) between looks and
aborts at the first one at which a collective has lasted its timeout; HeartbeatMonitor::runLoop wakes each second
(TORCH_NCCL_COORD_CHECK_MILSEC 1000) and, once the time-out has passed since it looked last, compares the heartbeat with
that of its last look.
"""

from __future__ import annotations

import random
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.verify.timers.firing import FiringWindow, firing
from tests.draws import source, trace_counts

SECOND = 1000  # times are whole milliseconds


def window(timer: str) -> FiringWindow:
    """Returns the firing window of a part."""
    text = f"coherence: 1\ntimers: {{guard: {{from: job starts, then: abort job, {timer}}}}}\n"
    fires = firing(read_text(text).timers["guard"])
    assert fires is not None
    return fires.window


def watchdog(timeout: int, phase: int) -> int:
    """Returns when the watchdog aborts a collective that began at 0; it looks at phase, phase + 100, ..."""
    look = phase
    while look < timeout:
        look += 100
    return look


def heartbeat(timeout: int, last: int, rng: random.Random) -> int:
    """Returns when the monitor that began at 0 acts, on a heartbeat that stood still from `last` on."""
    now = looked = 0
    seen = -1
    while True:
        now += SECOND + rng.randint(0, 3)  # a wait is never shorter
        if now - looked < timeout:
            continue
        looked = now
        beat = min(now, last)
        if beat == seen:
            return now
        seen = beat


def within(time: int, span: FiringWindow, *, slack: Fraction = Fraction(0)) -> bool:
    """Decides whether a time in milliseconds lies in the window."""
    assert span.latest is not None
    return span.earliest <= Fraction(time, SECOND) <= span.latest + slack


@trace_counts(300, parts=1, of=("nccl_watchdog",))
def test_the_watchdog_aborts_within_the_window_and_at_both_ends_of_it(traces: int) -> None:
    rng = source(1)
    spans = {s: window(f"uses: nccl_watchdog, after: {s} s") for s in (1, 30, 600, 1800)}
    spans[600] = window("uses: nccl_watchdog")
    lags = []
    for _ in range(traces):
        timeout = rng.choice(sorted(spans))
        time = watchdog(timeout * SECOND, rng.randint(0, 99))
        assert within(time, spans[timeout]), (timeout, time)
        lags.append(time - timeout * SECOND)
    assert min(lags) <= 2
    assert max(lags) >= 97


@trace_counts(100, parts=5, of=("nccl_heartbeat",))
def test_the_heartbeat_monitor_acts_within_the_window_and_near_both_ends_of_it(traces: int) -> None:
    """Each second of waiting lasts a little longer than one: 3 ms at most, here."""
    rng = source(2)
    spans = {480: window("uses: nccl_heartbeat"), 60: window("uses: nccl_heartbeat, after: 60 s .. 122 s")}
    shares = []
    for _ in range(traces):
        timeout = rng.choice(sorted(spans))
        last = rng.randint(SECOND, 3 * timeout * SECOND)
        lag = heartbeat(timeout * SECOND, last, rng) - last
        assert within(lag, spans[timeout], slack=Fraction(3 * 2 * timeout, SECOND)), (timeout, lag)
        shares.append(lag / (timeout * SECOND))
    assert min(shares) < 1.1
    assert max(shares) > 1.9
