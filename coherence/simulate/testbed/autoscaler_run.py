"""Observes the autoscaler testbed once, from the first process to the last.

The controller keeps the plan of the design: scrapes at whole multiples of the scrape interval, decisions at `phase`
+ k * `period`.  Prometheus chooses its own instants, so time 0 is put on one of them.  The metric is asked for *at*
the planned instant of a decision, so a late controller acts late but reads right; how late is told.
"""

from __future__ import annotations

import heapq
import itertools
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from coherence.simulate.testbed import autoscaler_load
from coherence.simulate.testbed.autoscaler_files import (
    AutoscalerPorts,
    active,
    commands,
    files,
    gauge,
    query,
    rate_window,
)
from coherence.simulate.testbed.autoscaler_ideal import ReplicaDecision
from coherence.simulate.testbed.autoscaler_law import Controller
from coherence.simulate.testbed.autoscaler_pool import Pool, ask
from coherence.simulate.testbed.autoscaler_set_up import AutoscalerSetUp, slack
from coherence.simulate.testbed.processes import (
    PATIENCE,
    ProcessFailedError,
    ProcessGroup,
    binary,
    free_ports,
    listening,
    temporary_folder,
)

PACKAGES = {"haproxy": "haproxy", "prometheus": "prometheus"}  # program -> Debian package
MARGIN = 2.0  # seconds that the load goes on before and after what is observed
Told = Callable[[str], None]


@dataclass(frozen=True)
class AutoscalerObservation:
    """What was seen.  Times in seconds from the first scrape; `serving` is what Prometheus scraped of the proxy."""

    decisions: tuple[ReplicaDecision, ...]
    serving: tuple[tuple[Fraction, int], ...]
    sent: int
    served: int
    late: float  # worst delay of anything done, behind its planned instant
    late_load: float  # of requests behind theirs, 99 %
    slack: Fraction  # how late things may be without a scrape in between

    @property
    def disturbed(self) -> bool:
        """Was the machine too busy for the plan?  Then a scrape may have seen what it should not."""
        return max(self.late, self.late_load) >= self.slack


@dataclass(slots=True)
class SamplingPlan:
    """Things to do at instants of the wall clock, in order."""

    due: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    now: float = 0.0  # the planned instant of what is being done
    late: float = 0.0  # the worst delay of the end of anything behind its instant

    def at(self, instant: float, act: Callable[[], None]) -> None:
        heapq.heappush(self.due, (instant, next(self.numbers), act))

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Relative to the planned instant of what is being done, not to when it is done."""
        self.at(self.now + seconds, act)

    def run(self, until: float) -> None:
        """Do everything that is due before `until`, each at its instant or as soon as possible after it."""
        while self.due and self.due[0][0] <= until:
            instant, _, act = heapq.heappop(self.due)
            time.sleep(max(0.0, instant - time.time()))
            self.now = instant
            act()
            self.late = max(self.late, time.time() - instant)
        time.sleep(max(0.0, until - time.time()))
        self.now = until


def programs() -> dict[str, str]:
    """Name -> path of HAProxy and Prometheus.  Raises ProcessFailedError, naming the package."""
    paths = {name: binary(name) for name in PACKAGES}
    missing = [f"{name} (Debian package {PACKAGES[name]})" for name, path in paths.items() if path is None]
    if missing:
        raise ProcessFailedError(f"not installed: {', '.join(missing)}")
    return {name: path for name, path in paths.items() if path is not None}


def observe(setup: AutoscalerSetUp, *, decisions: int, progress: Told | None = None) -> AutoscalerObservation:
    """Run the real loop for so many decisions.  Everything it starts has ended when it returns or raises."""
    paths = programs()
    with temporary_folder() as folder, ProcessGroup(folder) as processes:
        return _Session(setup, processes, progress or (lambda _: None)).run(paths, decisions)


class _Session:
    """One run: what its steps share."""

    def __init__(self, setup: AutoscalerSetUp, processes: ProcessGroup, progress: Told) -> None:
        self.setup, self.processes, self.progress = setup, processes, progress
        self.ports = AutoscalerPorts(*free_ports(3))
        self.plan = SamplingPlan(now=time.time())
        self.pool = Pool(setup, processes, self.plan.after)
        self.controller = Controller(setup.behaviour)
        self.decisions: list[ReplicaDecision] = []
        self.zero = 0.0  # wall clock of the design's time 0

    def run(self, paths: dict[str, str], decisions: int) -> AutoscalerObservation:
        plant = self.setup.plant
        self._start(paths)
        lasts = float(plant.phase + decisions * plant.period)
        history = float(plant.window + rate_window(self.setup) + plant.boot) + MARGIN
        load = self._load(history + 2 * float(plant.scrape) + lasts + MARGIN)
        self.zero = self._scrape_after(time.time() + history)
        self.progress(f"time 0 is in {self.zero - time.time():.0f} s, the end {lasts:.0f} s later")
        for k in range(decisions):
            instant = plant.phase + k * plant.period
            self.plan.at(self.zero + float(instant), lambda instant=instant: self._decide(instant))  # type: ignore[misc]
        self.plan.run(self.zero)
        self.plan.late = self.pool.late = 0.0
        self.plan.run(self.zero + lasts)
        serving = self._serving(int(Fraction(lasts) / plant.scrape))
        self.processes.wait(load.stem, 4 * MARGIN + float(plant.scrape) * 3)
        return self._observation(serving, json.loads(load.read_text(encoding="utf-8")))

    def _start(self, paths: dict[str, str]) -> None:
        folder, pool = self.processes.folder, self.pool
        for name, text in files(self.setup, self.ports, folder).items():
            (folder / name).write_text(text, encoding="utf-8")
        for name, command in commands(folder, self.ports, **paths).items():
            self.processes.start(name, command)
        for port in (self.ports.service, self.ports.exporter, self.ports.prometheus):
            self.processes.until(lambda port=port: listening(port), f"port {port}")  # type: ignore[misc]
        self.plan.now = time.time()
        pool.scale(self.setup.initial)
        self.processes.until(self._all_serve, "the first replicas")
        seconds = PATIENCE + float(2 * self.setup.plant.scrape)
        self.processes.until(lambda: self._scraped() is not None, "the first scrape", seconds=seconds)

    def _all_serve(self) -> bool:
        self.plan.run(time.time())
        return all(replica.serving for replica in self.pool.replicas)

    def _load(self, seconds: float) -> Path:
        report = self.processes.folder / "load.json"
        program = str(Path(autoscaler_load.__file__))
        rate = repr(float(self.setup.plant.rate))
        command = [sys.executable, "-I", "-S", program, str(self.ports.service), rate, repr(seconds), str(report)]
        self.processes.start(report.stem, command)
        return report

    def _scraped(self) -> float | None:
        """Returns when the proxy was scraped last (s since 1970)."""
        return ask(self.ports.prometheus, f"timestamp({gauge(self.setup)})", time.time())

    def _scrape_after(self, instant: float) -> float:
        """Returns the first instant of a scrape after `instant`: they come at equal intervals for ever."""
        found = self._scraped() or 0.0
        scrape = float(self.setup.plant.scrape)
        return found + math.ceil((instant - found) / scrape) * scrape

    def _decide(self, instant: Fraction) -> None:
        """One decision: read, decide, carry out, write down."""
        planned = self.zero + float(instant)
        measured = ask(self.ports.prometheus, query(self.setup), planned)
        if measured is None:
            raise ProcessFailedError(
                f"Prometheus knows nothing at {float(instant):g} s: {self.processes.output('prometheus')}"
            )
        current = len(self.pool.replicas)
        desired = self.controller.decide(instant, current, measured)
        self.pool.scale(desired)
        self.processes.check()
        self.decisions.append(ReplicaDecision(instant, measured, current, desired))
        self.progress(f"{float(instant):5.1f} s  reads {measured:.3f}, {current} -> {desired} replicas")

    def _serving(self, scrapes: int) -> tuple[tuple[Fraction, int], ...]:
        scrape, seen = self.setup.plant.scrape, []
        for k in range(scrapes + 1):
            count = ask(self.ports.prometheus, active(self.setup), self.zero + float(k * scrape) + 0.01)
            seen += [(k * scrape, int(count))] if count is not None else []
        return tuple(seen)

    def _observation(self, serving: tuple[tuple[Fraction, int], ...], load: dict[str, float]) -> AutoscalerObservation:
        return AutoscalerObservation(
            tuple(self.decisions), serving, int(load["sent"]), int(load["served"]),
            max(self.plan.late, self.pool.late), load["late 99 %"], slack(self.setup.plant),
        )  # fmt: skip
