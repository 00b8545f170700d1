"""The checks of HAProxy against a plain checker, and checks and retries against HAProxy itself, where it is installed.

SOURCE: HAProxy 2.6 to 3.5, src/check.c: process_chk_conn (the next check begins `inter` after the end of this one),
set_server_check_status (`fall` failures take the server out); src/backend.c: back_handle_st_cer (a refused connection
is tried again on the same server after the shorter of timeout connect and one second).
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from coherence.language.reading import read_text
from coherence.simulate.testbed.processes import LOOPBACK, ProcessGroup, binary, free_ports, listening
from coherence.verify.timers.firing import FiringWindow, firing
from tests.draws import source, trace_counts
from tests.simulate.testbed.testbed_helpers import undisturbed

F = Fraction
LATE = 0.15  # seconds by which a wait of HAProxy may end later on a machine that is not disturbed
Reply = Callable[[], Fraction]


def window(every: Fraction, misses: int, reply_within: Fraction) -> FiringWindow:
    """Returns when the part says that the server is taken out, after it began to hang."""
    text = f"""coherence: 1
timers:
  check: {{uses: haproxy_check, from: web hangs, every: {float(every)} s, misses: {misses},
    reply_within: {float(reply_within)} s, then: unlist web}}
"""
    fires = firing(read_text(text).timers["check"])
    assert fires is not None
    return fires.window


def taken_out(begins: Fraction, every: Fraction, misses: int, reply: Reply) -> Fraction:
    """Returns when a server that failed at 0 is out; its first check after that begins then, and each fails so late."""
    now = begins
    for left in reversed(range(misses)):
        now += reply()
        now += every if left else 0
    return now


@trace_counts(300, of=("haproxy_check",))
def test_a_server_is_taken_out_within_the_window_and_near_both_ends_of_it(traces: int) -> None:
    rng = source(36)
    shares = []
    for _ in range(traces):
        every, misses = F(rng.choice((500, 1000, 2000, 10_000)), 1000), rng.randint(1, 5)
        limit = every if rng.random() < 0.5 else F(rng.randint(50, 3000), 1000)
        slow = rng.choice((0, 1, 2))  # refused at once, never answered, either

        def reply(limit: Fraction = limit, slow: int = slow) -> Fraction:
            return limit * (F(rng.randint(0, 100), 100) if slow == 2 else slow)

        out, span = taken_out(every * F(rng.randint(0, 99), 100), every, misses, reply), window(every, misses, limit)
        assert span.latest is not None
        assert span.earliest <= out <= span.latest, (every, misses, limit)
        shares.append((out - span.earliest) / (span.latest - span.earliest))
    assert min(shares) < F(1, 10)
    assert max(shares) > F(9, 10)


def test_a_server_that_hangs_is_out_after_12_s_by_default_and_one_that_refuses_after_4() -> None:
    text = "coherence: 1\ntimers: {check: {uses: haproxy_check, from: web hangs, then: unlist web}}\n"
    fires = firing(read_text(text).timers["check"])
    assert fires is not None
    assert fires.window == FiringWindow(F(4), F(12))


# --- HAProxy itself


FILE = """\
global
    nbthread 1
defaults
    mode http
    timeout client 1m
    timeout server 1m
    timeout connect {connect}
frontend clients
    bind {host}:{port}
    default_backend workers
backend workers
{backend}
"""


@contextmanager
def running(folder: Path, connect: str, backend: str) -> Iterator[int]:
    """Yields the port at which HAProxy listens with this backend."""
    path = binary("haproxy")
    if path is None:
        pytest.skip("haproxy is not installed (Debian package haproxy)")
    (port,) = free_ports(1)
    text = FILE.format(host=LOOPBACK, port=port, connect=connect, backend=backend)
    (folder / "haproxy.cfg").write_text(text, encoding="utf-8")
    with ProcessGroup(folder) as processes:
        processes.start("haproxy", [path, "-db", "-f", "haproxy.cfg"])
        processes.until(partial(listening, port), "haproxy")
        yield port


def answered_after(folder: Path, retries: int, pause: float) -> float:
    """Returns the seconds until a client learns that the only server refuses every connection."""
    (closed,) = free_ports(1)
    backend = f"    retries {retries}\n    server web {LOOPBACK}:{closed}\n"
    with (
        running(folder, f"{pause * 1000:g}ms", backend) as port,
        closing(http.client.HTTPConnection(LOOPBACK, port, timeout=60)) as client,
    ):
        begun = time.monotonic()
        client.request("GET", "/")
        assert client.getresponse().status == 503
        return time.monotonic() - begun


@pytest.mark.slow
@pytest.mark.parametrize(("retries", "pause"), [(3, 0.4), (1, 0.8), (0, 0.4)])
def test_haproxy_pauses_before_each_retry_on_the_same_server(retries: int, pause: float, tmp_path: Path) -> None:
    def late(seconds: float) -> bool:
        return seconds > retries * pause + LATE

    took = undisturbed(partial(answered_after, tmp_path, retries, pause), late)
    assert retries * pause - 0.01 <= took <= retries * pause + LATE


class HangingServer:
    """Accepts connections, reads nothing, and keeps when each came."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._listener = socket.create_server((LOOPBACK, 0))
        self._kept: list[socket.socket] = []
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                self._kept.append(self._listener.accept()[0])
            except OSError:
                return
            self.times.append(time.monotonic())

    def close(self) -> None:
        """Ends the thread and every connection."""
        self._listener.shutdown(socket.SHUT_RDWR)
        for one in (self._listener, *self._kept):
            one.close()


def spacings(folder: Path, every: float, timeout: float | None) -> list[float]:
    """Returns the seconds between the first five checks of a server that never answers."""
    server = HangingServer()
    limit = "" if timeout is None else f"    timeout check {timeout * 1000:g}ms\n"
    checks = f"server web {LOOPBACK}:{server.port} check inter {every * 1000:g}ms fall 3"
    try:
        with running(folder, "5s", f"    option httpchk\n{limit}    {checks}\n"):
            end = time.monotonic() + 30
            while len(server.times) < 5 and time.monotonic() < end:
                time.sleep(0.02)
        return [after - before for before, after in pairwise(server.times[:5])]
    finally:
        server.close()


@pytest.mark.slow
@pytest.mark.parametrize(("every", "timeout"), [(0.3, None), (0.4, 0.1), (0.2, 0.5)])
def test_haproxy_begins_a_check_so_long_after_the_end_of_the_one_before(
    every: float, timeout: float | None, tmp_path: Path
) -> None:
    """With `timeout check` a check lasts that long and up to `inter` more, in which it connects."""
    least, most = (every, every) if timeout is None else (timeout, every + timeout)

    def late(seen: list[float]) -> bool:
        return len(seen) < 4 or max(seen) > every + most + LATE

    seen = undisturbed(partial(spacings, tmp_path, every, timeout), late)
    assert all(every + least - 0.1 <= spacing <= every + most + LATE for spacing in seen), seen
    assert sum(seen) >= 4 * (every + least) - 0.1  # a clock that goes on would begin one every `every`
