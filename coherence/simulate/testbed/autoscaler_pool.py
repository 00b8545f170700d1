"""Starts and ends real replicas behind the real proxy, put in and taken out at run time.

A replica is a process from the moment it is wanted.  It is put into the proxy `boot` seconds later, when its port
answers (what its own start takes is part of that).  One that is no longer wanted is taken out of the proxy at once,
and ended when its last answers are out.  The newest goes first.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

from coherence.simulate.testbed import autoscaler_backend
from coherence.simulate.testbed.autoscaler_files import SOCKET, proxied
from coherence.simulate.testbed.autoscaler_set_up import AutoscalerSetUp
from coherence.simulate.testbed.processes import LOOPBACK, ProcessFailedError, ProcessGroup, free_ports, listening

LAST_ANSWERS = 0.4  # seconds from leaving the proxy to the end of the process
AGAIN = 0.02  # seconds until a port that does not answer yet is tried again
After = Callable[[float, Callable[[], None]], None]  # run something so many seconds from now, on the plan's clock


@dataclass(slots=True)
class Replica:
    """One process, its place in the proxy, and whether it is in use there."""

    slot: int
    process: str
    port: int
    serving: bool = False
    wanted: bool = True


@dataclass(slots=True)
class Pool:
    """The replicas that are wanted, oldest first."""

    setup: AutoscalerSetUp
    processes: ProcessGroup
    after: After
    replicas: list[Replica] = field(default_factory=list)
    leaving: list[Replica] = field(default_factory=list)
    late: float = 0.0  # the worst delay of a replica beyond `boot` (s)
    started: int = 0

    def scale(self, wanted: int) -> None:
        """As many replicas as wanted: more are started, or the newest leave."""
        while len(self.replicas) > wanted:
            self._retire(self.replicas.pop())
        while len(self.replicas) < wanted:
            replica = self._start()
            boot = float(self.setup.plant.boot)
            self.after(boot, lambda replica=replica: self._admit(replica, 0.0))  # type: ignore[misc]

    def _start(self) -> Replica:
        self.started += 1
        taken = {replica.slot for replica in (*self.replicas, *self.leaving)}
        slot = next(n for n in range(1, 2 * self.setup.behaviour.highest + 1) if n not in taken)
        replica = Replica(slot, f"replica-{self.started}", free_ports(1)[0])
        service = 1 / self.setup.plant.rate_per_replica
        program = str(Path(autoscaler_backend.__file__))
        command = [sys.executable, "-I", "-S", program, str(replica.port), repr(float(service))]
        self.processes.start(replica.process, command)
        self.replicas.append(replica)
        return replica

    def _admit(self, replica: Replica, late: float) -> None:
        """Into the proxy, as soon as it answers."""
        if not replica.wanted:
            return
        self.late = max(self.late, late)
        if not listening(replica.port):
            self.processes.check()
            self.after(AGAIN, lambda: self._admit(replica, late + AGAIN))
            return
        server = f"{proxied(self.setup.pool)}/replica-{replica.slot}"
        tell(self.processes.folder, f"set server {server} addr {LOOPBACK} port {replica.port}")
        tell(self.processes.folder, f"set server {server} state ready")
        replica.serving = True

    def _retire(self, replica: Replica) -> None:
        replica.wanted = False
        if replica.serving:
            tell(self.processes.folder, f"set server {proxied(self.setup.pool)}/replica-{replica.slot} state maint")
        self.leaving.append(replica)
        self.after(LAST_ANSWERS, lambda: self._end(replica))

    def _end(self, replica: Replica) -> None:
        self.processes.stop(replica.process)
        self.leaving.remove(replica)


def tell(folder: Path, command: str) -> str:
    """One command of HAProxy's runtime API.  Raises ProcessFailedError if it refuses."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(2.0)
        link.connect(str(folder / SOCKET))
        link.sendall(f"{command}\n".encode())
        answer = b"".join(iter(lambda: link.recv(4096), b"")).decode().strip()
    if answer and "no need to change" not in answer and "changed from" not in answer:
        raise ProcessFailedError(f"haproxy answered to `{command}`: {answer}")
    return answer


def ask(port: int, promql: str, time: float) -> float | None:
    """Returns the value of a PromQL expression at a time (s since 1970), or None.  Raises ProcessFailedError."""
    link = HTTPConnection(LOOPBACK, port, timeout=5.0)
    try:
        link.request("GET", "/api/v1/query?" + urlencode({"query": promql, "time": f"{time:.3f}"}))
        response = json.loads(link.getresponse().read())
    finally:
        link.close()
    if response["status"] != "success":
        raise ProcessFailedError(f"Prometheus refused `{promql}`: {response.get('error')}")
    series = response["data"]["result"]
    return float(series[0]["value"][1]) if series else None
