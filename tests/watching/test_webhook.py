"""Notices go out in order; what is refused waits."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
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
