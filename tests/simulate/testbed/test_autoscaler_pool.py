"""The pool of replicas: when each is put into the proxy and taken out, and what the two programs answer."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import pytest

from coherence.language.reading import read_design
from coherence.simulate.testbed import autoscaler_pool
from coherence.simulate.testbed.autoscaler_files import SOCKET
from coherence.simulate.testbed.autoscaler_pool import AGAIN, LAST_ANSWERS, Pool, ask, tell
from coherence.simulate.testbed.autoscaler_set_up import set_up
from coherence.simulate.testbed.processes import LOOPBACK, ProcessFailedError, ProcessGroup
from tests.paths import ROOT

SETUP = set_up(read_design(ROOT / "specs/hpa-metric-lag/design.yaml"))
BOOT = 1.7  # s, of that design; its replicas serve 40 requests per second


@dataclass
class Processes:
    """Remembers which processes were started and stopped, and starts none."""

    folder: Path = Path()
    commands: dict[str, Sequence[str]] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)

    def start(self, name: str, command: Sequence[str]) -> None:
        self.commands[name] = command

    def stop(self, name: str) -> None:
        self.stopped.append(name)

    def check(self) -> None:
        """None of them can fail."""


class Bench:
    """A pool whose clock, ports and proxy are in the hand of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.processes = Processes()
        self.now = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []
        self.answers_from = 0.0  # when the ports of replicas begin to answer
        self.told: list[tuple[float, str]] = []
        monkeypatch.setattr(autoscaler_pool, "listening", lambda _: self.now >= self.answers_from)
        monkeypatch.setattr(autoscaler_pool, "tell", lambda _, command: self.told.append((self.now, command)))
        self.pool = Pool(SETUP, cast("ProcessGroup", self.processes), self.after)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        self.due.append((self.now + seconds, action))

    def until(self, time: float) -> None:
        """Does everything that is due by a time."""
        while ready := [entry for entry in self.due if entry[0] <= time]:
            entry = min(ready, key=lambda entry: entry[0])
            self.due.remove(entry)
            self.now = entry[0]
            entry[1]()
        self.now = time

    def states(self) -> list[tuple[float, str]]:
        """Returns (when, "replica state") of what the proxy was told, addresses aside."""
        words = [(at, command.split()) for at, command in self.told]
        return [(at, f"{line[2].rpartition('/')[2]} {line[4]}") for at, line in words if line[3] == "state"]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_a_replica_is_a_process_at_once_and_in_the_proxy_after_its_boot(bench: Bench) -> None:
    bench.pool.scale(2)
    assert list(bench.processes.commands) == ["replica-1", "replica-2"]
    bench.until(BOOT - 0.01)
    assert not bench.told
    bench.until(BOOT)
    assert bench.states() == [(BOOT, "replica-1 ready"), (BOOT, "replica-2 ready")]
    assert bench.pool.late == 0


def test_the_proxy_learns_the_port_before_it_uses_the_replica(bench: Bench) -> None:
    bench.pool.scale(1)
    bench.until(BOOT)
    port, service = bench.processes.commands["replica-1"][-2:]
    assert [command for _, command in bench.told] == [
        f"set server pool_pool/replica-1 addr 127.0.0.1 port {port}",
        "set server pool_pool/replica-1 state ready",
    ]
    assert service == "0.025"  # 40 requests per second, one after the other


def test_a_port_that_does_not_answer_is_tried_again_and_the_delay_is_told(bench: Bench) -> None:
    bench.answers_from = BOOT + 2.5 * AGAIN
    bench.pool.scale(1)
    bench.until(BOOT + 2.9 * AGAIN)
    assert not bench.told
    bench.until(BOOT + 3.1 * AGAIN)
    assert [state for _, state in bench.states()] == ["replica-1 ready"]
    assert bench.pool.late == pytest.approx(3 * AGAIN)


def test_the_newest_goes_first_and_ends_when_its_last_answers_are_out(bench: Bench) -> None:
    bench.pool.scale(3)
    bench.until(5.0)
    bench.pool.scale(1)
    assert bench.states()[-2:] == [(5.0, "replica-3 maint"), (5.0, "replica-2 maint")]
    assert bench.processes.stopped == []
    bench.until(5.0 + LAST_ANSWERS)
    assert bench.processes.stopped == ["replica-3", "replica-2"]
    assert [replica.process for replica in bench.pool.replicas] == ["replica-1"]
    assert bench.pool.leaving == []


def test_a_replica_that_leaves_before_its_boot_is_never_used(bench: Bench) -> None:
    bench.pool.scale(1)
    bench.until(1.0)
    bench.pool.scale(0)
    bench.until(10.0)
    assert bench.told == []
    assert bench.processes.stopped == ["replica-1"]


def test_a_place_is_free_again_when_its_process_has_ended(bench: Bench) -> None:
    bench.pool.scale(2)
    bench.until(5.0)
    bench.pool.scale(1)
    bench.pool.scale(2)  # replica-2 still answers what it was asked
    bench.until(9.0)
    bench.pool.scale(3)
    bench.until(20.0)
    assert [(replica.process, replica.slot) for replica in bench.pool.replicas] == [
        ("replica-1", 1), ("replica-3", 3), ("replica-4", 2),
    ]  # fmt: skip


def test_the_number_that_stands_changes_nothing(bench: Bench) -> None:
    bench.pool.scale(2)
    bench.until(5.0)
    before = list(bench.told)
    bench.pool.scale(2)
    bench.until(10.0)
    assert bench.told == before
    assert len(bench.processes.commands) == 2


# -- the proxy's socket -------------------------------------------------------------------------------


@contextlib.contextmanager
def proxy_that_answers(folder: Path, answer: str) -> Iterator[list[str]]:
    """Yields what one client sends to the proxy's socket in a folder."""
    seen: list[str] = []

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            seen.append(connection.recv(4096).decode())
            connection.sendall(answer.encode())

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(folder / SOCKET))
        listener.listen()
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        yield seen
        server.join(2)


@pytest.mark.parametrize(
    "answer",
    ["\n", "no need to change the addr\n", "IP changed from '127.0.0.1' to '127.0.0.1', port changed from '1' to '80'"],
)
def test_a_command_is_one_line_and_these_answers_are_good(answer: str, tmp_path: Path) -> None:
    with proxy_that_answers(tmp_path, answer) as seen:
        assert tell(tmp_path, "set server pool/replica-1 state ready") == answer.strip()
    assert seen == ["set server pool/replica-1 state ready\n"]


def test_a_refusal_of_the_proxy_is_told_with_the_command(tmp_path: Path) -> None:
    with (
        proxy_that_answers(tmp_path, "No such server.\n"),
        pytest.raises(ProcessFailedError, match=r"`set server x/y state ready`: No such server\."),
    ):
        tell(tmp_path, "set server x/y state ready")


# -- Prometheus ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def prometheus_that_answers(answer: object) -> Iterator[tuple[int, list[str]]]:
    """Yields the port of a Prometheus with one answer, and the paths that it is asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = HTTPServer((LOOPBACK, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.server_port, paths
    finally:
        server.shutdown()
        server.server_close()


def vector(*values: tuple[float, str]) -> object:
    return {"status": "success", "data": {"result": [{"metric": {}, "value": list(value)} for value in values]}}


def test_the_value_of_an_expression_at_a_time() -> None:
    with prometheus_that_answers(vector((1700000000.5, "0.625"))) as (port, paths):
        assert ask(port, 'sum(rate(x{proxy="a"}[4s])) / 2', 1700000000.4996) == 0.625
    asked = urlsplit(paths[0])
    assert asked.path == "/api/v1/query"
    assert parse_qs(asked.query) == {"query": ['sum(rate(x{proxy="a"}[4s])) / 2'], "time": ["1700000000.500"]}


def test_no_series_is_no_value() -> None:
    with prometheus_that_answers(vector()) as (port, _):
        assert ask(port, "up", 0.0) is None


def test_a_refusal_of_prometheus_is_told_with_the_expression() -> None:
    with (
        prometheus_that_answers({"status": "error", "error": "parse error: unexpected end"}) as (port, _),
        pytest.raises(ProcessFailedError, match=r"`sum\(`: parse error"),
    ):
        ask(port, "sum(", 0.0)
