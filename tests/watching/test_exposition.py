"""The text that a Prometheus scrapes: its own checker takes it, and names of others cannot leave their labels."""

from __future__ import annotations

import shutil
import subprocess
from itertools import islice

import pytest

from bench.known_systems.scraped import scrapes
from coherence.watching.exposition import MetricFamily, exposition, families
from tests.watching.systems import monitored

PROMTOOL = shutil.which("promtool")


def text() -> str:
    monitor, _ = monitored(islice(scrapes(5, 0.3), 900))
    monitor.turn("finding COH201_of_x", 1.0, "", opens=True)
    monitor.turn('odd "\\\n}', 1.0, "", opens=True)
    return exposition(families(monitor, {"errors_total": 2, "webhooks_waiting": 0, "webhooks_dropped_total": 0}))


def test_it_has_the_indices_margins_and_counts() -> None:
    lines = text().splitlines()
    for part in ('coherence_index{index="DI",workload="web",end="value"}', 'coherence_index{index="HCL"',
                 'coherence_margin_seconds{workload="web"}', 'coherence_alert{kind="finding",of="COH201_of_x"} 1.0',
                 "coherence_watch_errors_total 2", 'of="\\"\\\\\\n}"'):  # fmt: skip
        assert any(line.startswith(part) or part in line for line in lines), part
    assert all(line.startswith(("#", "coherence_")) for line in lines)


@pytest.mark.skipif(PROMTOOL is None, reason="prometheus is not installed")
def test_the_checker_of_prometheus_takes_it() -> None:
    assert PROMTOOL is not None
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=text(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error" not in (done.stdout + done.stderr).lower()


def test_numbers_without_an_end() -> None:
    family = MetricFamily("x", "gauge", "words\nof two lines", [({}, float("inf")), ({"a": "b"}, float("nan"))])
    assert exposition([family]).splitlines() == [
        "# HELP coherence_x words\\nof two lines", "# TYPE coherence_x gauge", "coherence_x +Inf",
        'coherence_x{a="b"} NaN',
    ]  # fmt: skip
