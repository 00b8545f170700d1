"""Notices go out in order; what is refused waits."""

from __future__ import annotations

import contextlib
import http.server
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from coherence.base.errors import UsageError
from coherence.watching.monitor import Alert, AlertEvent
from coherence.watching.webhook import MOST_WAITING, Webhook

EVENTS = [AlertEvent(60.0 * n, Alert("DI", "web", 60.0 * n, f"slower {n}"), opens=n % 2 == 0) for n in range(3)]


class Hook(http.server.BaseHTTPRequestHandler):
    bodies: ClassVar[list[dict[str, Any]]] = []
    code: ClassVar[int] = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if type(self).code == 200:
            self.bodies.append(body)
        self.send_response(type(self).code)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Hook.bodies.clear()
    Hook.code = 200
    yield f"http://user:word@127.0.0.1:{server.server_address[1]}/alerts?key=1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_notices_are_posted_in_order(url: str) -> None:
    hook = Webhook(url)
    hook.add("service", EVENTS)
    assert hook.deliver() is None
    assert [body["message"] for body in Hook.bodies] == ["slower 0", "slower 1", "slower 2"]
    assert [body["state"] for body in Hook.bodies] == ["open", "closed", "open"]
    assert hook.waiting == []


@pytest.mark.parametrize("code", [302, 404, 500])
def test_what_is_refused_waits_and_is_sent_again(url: str, code: int) -> None:
    hook = Webhook(url)
    hook.add("service", EVENTS)
    Hook.code = code
    assert "takes nothing" in str(hook.deliver())
    assert len(hook.waiting) == 3
    Hook.code = 200
    assert Webhook(url, hook.waiting).deliver() is None
    assert len(Hook.bodies) == 3


def test_only_so_many_wait_and_addresses_are_checked() -> None:
    hook = Webhook("http://127.0.0.1:9/")
    hook.add("service", EVENTS * 400)
    assert (len(hook.waiting), hook.dropped) == (MOST_WAITING, 200)
    assert "takes nothing" in str(hook.deliver())
    silent = Webhook(None)
    silent.add("service", EVENTS)
    assert silent.waiting == []
    with pytest.raises(UsageError, match="is not the address of a webhook"):
        Webhook("file:///etc/passwd")
    with pytest.raises(UsageError, match="%20"):
        Webhook("http://127.0.0.1:9/?a b")
    assert Webhook(None, hook.waiting).deliver() is None  # kept by a run that had a webhook
    assert len(hook.waiting) == MOST_WAITING


@contextlib.contextmanager
def spoken(speak: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that says this to each client after its request."""
    server, ended = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def answer() -> None:
        while not ended.is_set():
            client, _ = server.accept()
            with client, contextlib.suppress(OSError):
                request = b""
                while b"}" not in request and (part := client.recv(4096)):
                    request += part
                if request:
                    speak(client)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    ended.set()
    socket.create_connection(server.getsockname()).close()
    thread.join(10)
    server.close()


def _mail(client: socket.socket) -> None:
    client.sendall(b"220 smtp ready\r\n")


def _drip_head(client: socket.socket) -> None:
    for letter in itertools.cycle(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1000):
        client.sendall(bytes([letter]))
        time.sleep(0.02)


def _endless_body(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
    client.settimeout(30)
    client.recv(1)  # until the other side goes


def _late(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


@pytest.mark.parametrize(
    ("speak", "words", "left"),
    [(_mail, "cannot be reached", 3), (_drip_head, "has not answered", 3), (_endless_body, None, 0), (_late, None, 1)],
)
def test_a_webhook_that_speaks_otherwise_holds_a_tick_for_a_limited_time(
    speak: Callable[[socket.socket], None], words: str | None, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coherence.watching.webhook.SECONDS", 0.5 if speak is _drip_head else 30.0)
    if speak is _late:  # by its clock each answer takes 5 s, so that half of the time is over after two
        monkeypatch.setattr("coherence.watching.webhook.monotonic", itertools.count(0.0, 5.0).__next__)
    with spoken(speak) as url:
        hook = Webhook(url)
        hook.add("service", EVENTS)
        begun = time.perf_counter()
        said = hook.deliver()
    assert (said is None) == (words is None)
    assert words is None or words in str(said)
    assert len(hook.waiting) == left
    assert time.perf_counter() - begun < 20
