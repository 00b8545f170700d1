"""Writes the files of a reproduction, runs them on loopback, and reads what happened."""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherence.base.errors import UsageError
from coherence.base.output_files import write_outputs
from coherence.simulate.testbed import backend, load
from coherence.simulate.testbed.observe import Measures, Request, measure, quantile
from coherence.simulate.testbed.processes import (
    LOOPBACK,
    ProcessFailedError,
    ProcessGroup,
    binary,
    free_ports,
    listening,
)
from coherence.simulate.testbed.proxy import Ports, Proxy
from coherence.simulate.testbed.set_up import RunTiming, SetUp

SPARE = 1.5  # service times drawn per service that the workers can begin at most
SOON = 1.5  # s from the start of the load's process to its first request
PATIENCE = 10.0  # s beyond the longest answer before a request is given up
LATE = 0.1  # of per_try: a 99th percentile of lateness above this marks the observation as disturbed
STARTS = 3  # times to start, with fresh ports: another program may take a port before we do
GRPC_INSTALL = "pip install 'coherence-engine[testbed]' brings it"
Progress = Callable[[float], object]


@dataclass(frozen=True)
class Observation:
    """What a run showed.  `lateness`: 99th percentile (s) of the back end's timers, and of the load's sending.

    `disturbed`: why the machine was too slow for the observation to be trusted, or nothing.
    `outcomes`: tries at the back end by how they ended (wasted: served for a caller that had left).
    """

    measures: Measures
    requests: tuple[Request, ...]
    lateness: Mapping[str, float]
    disturbed: str
    outcomes: Mapping[str, int]


def _unseen(share: float) -> None:
    """Nobody watches."""


def write(folder: Path, setup: SetUp, chosen: Proxy, course: RunTiming, ports: Ports) -> list[Path]:
    """Writes everything that a run needs, and returns the paths.  Raises UsageError for files that we did not write."""
    texts = {
        **chosen.files(setup, ports),
        "backend.json": _json(backend_settings(setup, course, ports)),
        "load.json": _json(load_settings(setup, course, ports)),
        "README.txt": _readme(chosen, course, ports, setup.protocol),
    }
    contents = {name: text.encode() for name, text in texts.items()}
    contents |= {Path(str(module.__file__)).name: Path(str(module.__file__)).read_bytes() for module in (backend, load)}
    paths = write_outputs(folder, contents)
    (folder / "tmp").mkdir(exist_ok=True)
    return paths


def _json(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, indent=2) + "\n"


def backend_settings(setup: SetUp, course: RunTiming, ports: Ports) -> dict[str, Any]:
    """Settings of backend.py."""
    station = setup.station
    return {
        "port": ports.backend,
        "control": ports.control,
        "copies": station.servers,
        "family": station.service.family,
        "mean": station.service.mean,
        "cv": station.service.cv,
        "on_timeout": "cancel" if setup.route.cancel else "abandon",
        "seed": course.seed,
        "services": services(setup, course),
        "protocol": setup.protocol,
    }


def services(setup: SetUp, course: RunTiming) -> int:
    """Returns how many services can begin during a course, with some to spare."""
    busy = setup.capacity * (course.lasts + setup.longest)
    return math.ceil(SPARE * min(busy, setup.highest_rate * setup.most_sends * course.lasts)) + 100


def load_settings(setup: SetUp, course: RunTiming, ports: Ports) -> dict[str, Any]:
    """Settings of load.py."""
    return {
        "port": ports.proxy,
        "rate": setup.rate,
        "bursts": bursts(setup, course),
        "lasts": course.lasts,
        "give_up": setup.longest + PATIENCE,
        "seed": course.seed,
        "report": "load-report.json",
        "protocol": setup.protocol,
    }


def bursts(setup: SetUp, course: RunTiming) -> list[tuple[float, float, float]]:
    """Returns (rate, start, lasts) of every burst of the design within the course."""
    occurrences = []
    for burst in setup.source.arrivals.bursts:
        turns = math.ceil((course.lasts - burst.start) / burst.every) if burst.every > 0 else 1
        occurrences += [(burst.rate, burst.start + k * burst.every, burst.lasts) for k in range(max(1, turns))]
    return occurrences


def trigger(setup: SetUp, course: RunTiming) -> tuple[float, float]:
    """Start and end of the pause, or of the first burst."""
    if course.pause or not setup.source.arrivals.bursts:
        return course.trigger
    first = setup.source.arrivals.bursts[0]
    return first.start, first.start + first.lasts


def _readme(chosen: Proxy, course: RunTiming, ports: Ports, protocol: str) -> str:
    at = f"{course.before:g} s after the load began"
    pause = f"curl 'http://{LOOPBACK}:{ports.control}/pause?seconds={course.pause:g}'   # {at}"
    needed = " (python3 with the package grpcio)" if protocol == "grpc" else ""
    lines = [
        f"In this folder, each in a terminal of its own{needed}:",
        "    python3 backend.py backend.json",
        f"    {' '.join(chosen.command(chosen.BINARY))}",
        f"    python3 load.py load.json   # {course.lasts:g} s; writes load-report.json",
        *([f"    {pause}"] if course.pause else []),
        f"    curl http://{LOOPBACK}:{ports.control}/report > backend-report.json   # every try at the back end",
    ]
    return "\n".join(lines) + "\n"


def new_ports(hops: int = 0) -> Ports:
    """Free ones."""
    first, *others = free_ports(3 + hops)
    return Ports(first, others[0], others[1], tuple(others[2:]))


def found_binary(chosen: Proxy) -> str:
    """Returns the path of the proxy.  Raises UsageError that says how to install it."""
    path = binary(chosen.BINARY)
    if path is None:
        raise UsageError(f"there is no `{chosen.BINARY}` on this machine: install it ({chosen.INSTALL})")
    return path


def refuse_missing_grpc(setup: SetUp) -> None:
    """Raises UsageError where a run speaks gRPC, and nothing here does."""
    if setup.protocol == "grpc" and importlib.util.find_spec("grpc") is None:
        raise UsageError(f"gRPC needs the package grpcio: {GRPC_INSTALL}")


def run(folder: Path, setup: SetUp, chosen: Proxy, course: RunTiming, *, progress: Progress = _unseen) -> Observation:
    """Run it; everything that was started is stopped, whatever happens.  Raises ProcessFailedError, UsageError."""
    path = found_binary(chosen)
    refuse_missing_grpc(setup)
    for turn in range(1, STARTS + 1):
        with ProcessGroup(folder) as processes:
            ports = new_ports(len(setup.hops))
            write(folder, setup, chosen, course, ports)
            try:
                _start(processes, chosen.command(path), ports, setup.protocol)
            except ProcessFailedError:
                if turn == STARTS:
                    raise
                continue
            return _observed(processes, folder, setup, course, ports, progress)
    raise AssertionError


def _start(processes: ProcessGroup, command: Sequence[str], ports: Ports, protocol: str) -> None:
    """The back end, then the proxy, each until it answers (the proxy: until it passes a request of HTTP on)."""
    processes.start("backend", [sys.executable, "-I", "backend.py", "backend.json"])
    processes.until(lambda: _get(ports.control, "/ready") is not None, "the back end")
    processes.start("proxy", command)
    if protocol == "grpc":
        processes.until(lambda: listening(ports.proxy), "the proxy")
    else:
        processes.until(lambda: _get(ports.proxy, "/ready") == b"ready\n", "the proxy")


def _observed(
    processes: ProcessGroup, folder: Path, setup: SetUp, course: RunTiming, ports: Ports, progress: Progress
) -> Observation:
    start = time.monotonic() + SOON
    (folder / "load.json").write_text(_json(load_settings(setup, course, ports) | {"start": start}), encoding="utf-8")
    processes.start("load", [sys.executable, "-I", "load.py", "load.json"])
    if course.pause:
        _get(ports.control, f"/pause?seconds={course.pause!r}&at={start + course.before!r}")
    processes.wait(
        "load",
        SOON + course.lasts + setup.longest + 2 * PATIENCE,
        progress=lambda: progress(min(1.0, max(0.0, time.monotonic() - start) / course.lasts)),
    )
    seen = _get(ports.control, "/report")
    if seen is None:
        raise ProcessFailedError("the back end does not report: " + processes.output("backend"))
    sent = json.loads((folder / "load-report.json").read_text(encoding="utf-8"))
    return observation(json.loads(seen), sent, setup, course)


def _get(port: int, path: str) -> bytes | None:
    """Returns the body of a good answer of loopback; None otherwise."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
        with contextlib.closing(connection):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.read() if answer.status == 200 else None
    return None


def observation(seen: Mapping[str, Any], sent: Mapping[str, Any], setup: SetUp, course: RunTiming) -> Observation:
    """Returns the reports of the back end and of the load, joined by the number of the request."""
    tries: dict[int, int] = {}
    outcomes: dict[str, int] = {}
    for request, _, _, _, outcome in seen["tries"]:
        tries[request] = tries.get(request, 0) + 1
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    start = sent["start"]
    requests = tuple(
        Request(due - start, ended - start, tries.get(int(number), 0), status == 200)
        for number, due, _, ended, status in sent["requests"]
    )
    late = {
        "back end": quantile(sorted(seen["lags"]), 0.99),
        "load": quantile(sorted(gone - due for _, due, gone, _, _ in sent["requests"]), 0.99),
    }
    measures = measure(requests, course, trigger(setup, course))
    return Observation(measures, requests, late, _disturbed(late, setup.route.per_try), outcomes)


def _disturbed(late: Mapping[str, float], per_try: float) -> str:
    slow = [f"{name} {1000 * seconds:.0f} ms late" for name, seconds in late.items() if seconds > LATE * per_try]
    return f"{', '.join(slow)} (99th percentile), of a limit of {1000 * per_try:.0f} ms for a try" if slow else ""
