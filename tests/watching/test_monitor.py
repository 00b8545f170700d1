"""Faults with a known beginning are told, and healthy time is quiet; memory does not grow."""

from __future__ import annotations

import math
import pickle

import pytest

from bench._causal_watch import told
from bench.known_systems.scraped import DAY, STEP, Fault, scrapes
from coherence.watching.monitor import BLOCK, SystemMonitor
from tests.watching.systems import monitored, system

KINDS = {"collapse": "DI", "silence": "DI", "slower": "DI", "oscillation": "oscillation", "drift": "drift"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["silence", "slower", "drift"])
def test_a_fault_is_told_by_its_alert(kind: str) -> None:
    """bench/_causal_watch.py measures 30 runs of each kind; this is one."""
    alerts = told(Fault(kind, 1.1 * DAY), 7, 1.2 if kind != "drift" else 2.1)
    assert [delay for name, delay in alerts if name == KINDS[kind]]
    assert min(delay for _, delay in alerts) >= 0


def test_a_gap_closes_no_block_of_few_scrapes_and_old_scrapes_are_not_taken() -> None:
    monitor = SystemMonitor(system(), STEP)
    for number in range(1, 6):
        monitor.take(number * STEP, {"web.rate": 1.0, "web.latency": 0.5})
    assert monitor.take(2 * STEP, {"web.rate": 99.0}) == []
    assert monitor.scrapes == 5
    monitor.take(4000.0, {"web.rate": 1.0})
    assert monitor.blocks["web"].records == []  # five of twenty scrapes are no block
    for number in range(BLOCK):
        monitor.take(4200.0 + (number + 1) * STEP, {"web.rate": 1.0, "web.latency": 0.5})
    monitor.take(4200.0 + 2 * BLOCK * STEP, {"web.rate": 1.0})
    assert len(monitor.blocks["web"].records) == 1


def test_an_hour_mean_is_that_of_what_was_measured() -> None:
    monitor = SystemMonitor(system(), STEP)
    for number in range(1, 300):
        monitor.take(number * STEP, {"web.rate": 4.0 if number % 2 else math.nan})
    assert monitor.hour_mean("web.rate") == 4.0
    assert monitor.hour_mean("web.latency") is None


def test_values_too_large_for_products_are_left_out() -> None:
    monitor, _ = monitored((number * STEP, {"web.rate": 8.0, "web.latency": 1e300}) for number in range(1, 300))
    assert monitor.periods["web.latency"].share == 0.0
    assert monitor.hour_mean("web.latency") is None
    assert monitor.hour_mean("web.rate") == 8.0


@pytest.mark.slow
def test_memory_does_not_grow_with_scrapes() -> None:
    """What a monitor holds after 12,000 scrapes and after 24,000: its references are full after a week at most."""
    rows = [values for _, values in scrapes(1, 0.2)]
    monitor, sizes = SystemMonitor(system(), STEP), []
    for number in range(1, 24_001):
        monitor.take(number * STEP, rows[number % len(rows)])
        if number in (12_000, 24_000):
            for detector in monitor.detectors.values():
                assert len(detector.reference) <= 2016
            sizes.append(len(pickle.dumps((monitor.blocks, monitor.signals, monitor.hours, monitor.alerts))))
    assert sizes[1] < 1.05 * sizes[0]


def test_an_alert_of_another_reading_opens_and_closes_once() -> None:
    monitor, _ = monitored([(STEP, {"web.rate": 1.0})])
    opened = monitor.turn("finding COH201", STEP, "too late", opens=True)
    assert opened is not None
    assert opened.opens
    assert monitor.turn("finding COH201", STEP, "too late", opens=True) is None
    closed = monitor.turn("finding COH201", 2 * STEP, "", opens=False)
    assert closed is not None
    assert closed.alert.message == "too late"
    assert monitor.turn("finding COH201", 2 * STEP, "", opens=False) is None
