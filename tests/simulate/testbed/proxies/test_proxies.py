"""All proxies alike: how they are discovered, what is refused with its place, and how often a real one tries."""

from __future__ import annotations

import http.client
import inspect
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.simulate.requests.program import RetryBudget
from coherence.simulate.testbed import proxies
from coherence.simulate.testbed.processes import LOOPBACK, ProcessGroup, listening
from coherence.simulate.testbed.proxy import Proxy
from coherence.simulate.testbed.reproduction import new_ports
from tests.simulate.testbed.testbed_helpers import DESIGN, GOLDEN, PORTS, PROXIES, SHARE, installed, made, routed


def test_every_module_of_the_package_is_a_proxy() -> None:
    assert proxies.names() == PROXIES
    with pytest.raises(UsageError, match="did you mean 'nginx'"):
        proxies.proxy("ngnix")


@pytest.mark.parametrize("name", PROXIES)
def test_a_proxy_offers_what_the_testbed_calls(name: str) -> None:
    module = proxies.proxy(name)
    assert name == module.NAME
    assert all(getattr(module, constant) for constant in Proxy.__annotations__)
    for function in ("lacks", "files", "command", "checker"):
        offered = list(inspect.signature(getattr(module, function)).parameters)
        assert ["self", *offered] == list(inspect.signature(getattr(Proxy, function)).parameters)


@pytest.mark.parametrize("name", PROXIES)
def test_the_configuration_is_as_reviewed(name: str) -> None:
    for file, text in proxies.proxy(name).files(made(), PORTS).items():
        assert text == (GOLDEN / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PROXIES)
def test_a_proxy_is_started_and_checked_with_the_file_that_it_wrote(name: str) -> None:
    chosen = proxies.proxy(name)
    (file,) = chosen.files(made(), PORTS)
    for command in (chosen.command("/a/proxy"), chosen.checker("/a/proxy")):
        assert command[0] == "/a/proxy"
        assert file in command
    assert chosen.checker("/a/proxy") != chosen.command("/a/proxy")


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("nginx", "    pause: 10 ms\n", "cannot pause"),
        ("haproxy", SHARE, "no retry budget"),
        ("nginx", "limits: {cap: {counts: clients in flight, at_most: 9, when_full: reject}}\n", "number in flight"),
        ("haproxy", "    deadline: 600 ms\n", "deadline"),
        ("envoy", "    pause: 10 ms\n", "jitters them fully"),
    ],
)
def test_what_a_proxy_cannot_do_is_refused_where_it_stands(name: str, more: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        proxies.accept(proxies.proxy(name), made(DESIGN + more))
    assert [(problem.place.file, problem.place.line) for problem in refused.value.problems] == [("design.yaml", 11)]
    assert all(problem.remedy for problem in refused.value.problems)


def test_everything_that_a_proxy_cannot_do_is_told_at_once() -> None:
    with pytest.raises(InputError) as refused:
        proxies.accept(proxies.proxy("nginx"), made(DESIGN + "    pause: 10 ms\n    deadline: 600 ms\n" + SHARE))
    assert len(refused.value.problems) == 3


class SilentBackend:
    """Accepts every connection, counts the requests that come, and never answers one."""

    def __init__(self) -> None:
        self.requests = 0
        self._listener = socket.create_server((LOOPBACK, 0))
        self._connections: list[socket.socket] = []
        self._lock = threading.Lock()
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._count, args=(connection,), daemon=True).start()

    def _count(self, connection: socket.socket) -> None:
        try:
            while data := connection.recv(65536):
                with self._lock:
                    self.requests += data.count(b"\r\n\r\n")
        except OSError:
            return

    def close(self) -> None:
        for holder in (self._listener, *self._connections):
            holder.close()


@contextmanager
def silent_backend() -> Iterator[SilentBackend]:
    backend = SilentBackend()
    try:
        yield backend
    finally:
        backend.close()


@pytest.mark.parametrize("name", PROXIES)
@pytest.mark.parametrize("tries", [1, 2, 4])
def test_a_real_proxy_sends_a_request_as_often_as_the_design_says(name: str, tries: int, tmp_path: Path) -> None:
    path = installed(name)
    ports = new_ports()
    setup = routed(tries=tries, per_try=0.1)
    with silent_backend() as backend, ProcessGroup(tmp_path) as processes:
        (tmp_path / "tmp").mkdir()
        chosen = proxies.proxy(name)
        for file, text in chosen.files(setup, type(ports)(ports.proxy, backend.port, ports.control)).items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        processes.start("proxy", chosen.command(path))
        processes.until(lambda: listening(ports.proxy), "the proxy")
        with closing(http.client.HTTPConnection(LOOPBACK, ports.proxy, timeout=10)) as client:
            client.request("GET", "/0")
            assert client.getresponse().status == 504
        assert backend.requests == tries


@pytest.mark.parametrize(("requests", "retries"), [(3, 0), (4, 1)])
def test_envoys_budget_counts_the_request_that_just_timed_out(requests: int, retries: int, tmp_path: Path) -> None:
    """A budget of 25 % lets one of four be tried again: the first that fails is still one of the four."""
    path, ports = installed("envoy"), new_ports()
    setup = routed(tries=2, per_try=1.0, budget=RetryBudget(0.25, 0.0))
    with silent_backend() as backend, ProcessGroup(tmp_path) as processes, ExitStack() as open_:
        (tmp_path / "tmp").mkdir()
        chosen = proxies.proxy("envoy")
        for file, text in chosen.files(setup, type(ports)(ports.proxy, backend.port, ports.control)).items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        processes.start("proxy", chosen.command(path))
        processes.until(lambda: listening(ports.proxy), "the proxy")
        clients = [
            open_.enter_context(closing(http.client.HTTPConnection(LOOPBACK, ports.proxy, timeout=10)))
            for _ in range(requests)
        ]
        for client in clients:
            client.request("GET", "/0")
            time.sleep(0.05)
        assert [client.getresponse().status for client in clients] == [504] * requests
        assert backend.requests == requests + retries
