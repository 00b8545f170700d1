"""Serves `/metrics` of a watch on one address, and `/-/healthy`; nothing else."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from coherence.base.errors import UsageError
from coherence.watching.exposition import CONTENT_TYPE


class _Server(http.server.ThreadingHTTPServer):
    """A server in the family of its address, 4 or 6."""

    def __init__(self, host: str, port: int, handler: type[http.server.BaseHTTPRequestHandler]) -> None:
        self.address_family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        super().__init__(place, handler)  # type: ignore[arg-type]


class MetricsServer:
    """A server in a thread of its own; `with MetricsServer("127.0.0.1:9464", text) as server:`."""

    def __init__(self, address: str, text: Callable[[], str]) -> None:
        host, _, port = address.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        host = host[1:-1] if bracketed else host
        if not host or bracketed != (":" in host) or not _is_port(port):
            raise UsageError(f"--listen {address!r} is no address: write for example 127.0.0.1:9464 or [::1]:9464")
        try:
            self.server = _Server(host, int(port), _handler(text))
        except (OSError, ValueError) as error:  # ValueError: a name that no resolver takes
            raise UsageError(f"--listen {address!r}: {getattr(error, 'strerror', None) or error}") from None

    @property
    def port(self) -> int:
        """Returns the port that is listened at."""
        return int(self.server.server_address[1])

    def __enter__(self) -> Self:
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65_535


def _handler(text: Callable[[], str]) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            page = text() if path == "/metrics" else "healthy\n" if path == "/-/healthy" else "see /metrics\n"
            body = page.encode()
            self.send_response(200 if path in ("/metrics", "/-/healthy") else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            del words

    return Handler
