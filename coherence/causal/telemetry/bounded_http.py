"""Sends one HTTP request with a limit on the time of the whole answer and on its size.

A socket's own time-out counts from one byte to the next, so that a server that drips bytes would never end: here the
connection is closed when the time is over, wherever the answer stands.  Redirects are answers, and are not followed.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import urllib.parse
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from coherence.base.errors import UsageError
from coherence.base.units import shorten
from coherence.causal.telemetry.secrets_hidden import hidden

PIECE = 1 << 16
LONGEST_REASON = 200  # characters of a server's own words


@dataclass(frozen=True)
class HttpAnswer:
    """What a server answered."""

    status: int
    reason: str
    body: bytes


@dataclass(frozen=True)
class HttpAddress:
    """An address of a server without its user, the headers that log the user in, and how TLS checks the server."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    tls: ssl.SSLContext | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)  # a server may say them back


def http_address(url: str, *, of: str, example: str) -> HttpAddress:
    """Returns the parts of `http[s]://[user:password@]host[:port][/path]`.  Raises UsageError without the password."""
    user, at, place = url.rpartition("@")
    named = f"***@{place}" if at and user else url  # a user may stand there without a scheme
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        raise UsageError(f"'{named}' is not the address of {of}: write for example {example}") from None
    if parts.scheme not in ("http", "https") or not host or not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(f"'{named}' is not the address of {of}: write for example {example}")
    if parts.query or parts.fragment:
        raise UsageError(f"'{named}' has a query: write the address of {of} alone, for example {example}")
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
    login = _login(parts)
    secrets = (urllib.parse.unquote(parts.password), *map(login_word, login.values())) if parts.password else ()
    return HttpAddress(f"{parts.scheme}://{place}{parts.path.rstrip('/')}", login, secrets=secrets)


def login_word(header: str) -> str:
    """Returns the user and password of a header of basic authentication, which anyone can decode."""
    return header.rpartition(" ")[2].rstrip("=")


def _login(parts: urllib.parse.SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    words = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(words.encode()).decode()}"}


def posted(
    address: HttpAddress, path: str, form: Mapping[str, str], *, seconds: float, most_bytes: int
) -> HttpAnswer:  # fmt: skip
    """Returns the answer to a form, whatever its status.  Raises UsageError where none comes in the limits."""
    data, headers = urllib.parse.urlencode(form).encode(), {"Accept": "application/json"}
    with _answer(address, path, data, headers, seconds) as answer:
        body = b"".join(_pieces(answer, address, most_bytes))
        return HttpAnswer(answer.status, hidden(str(answer.reason), address.secrets), body)


def notified(address: HttpAddress, path: str, notice: Mapping[str, Any], *, seconds: float) -> tuple[int, str]:
    """Returns status and reason of the answer to a notice in JSON, whose body is not read.  Raises UsageError."""
    data, headers = json.dumps(notice, allow_nan=False).encode(), {"Content-Type": "application/json"}
    with _answer(address, path, data, headers, seconds) as answer:
        return answer.status, hidden(str(answer.reason), address.secrets)


@contextlib.contextmanager
def _answer(
    address: HttpAddress, path: str, data: bytes, headers: Mapping[str, str], seconds: float
) -> Iterator[http.client.HTTPResponse]:
    """Yields the answer to a POST; whatever goes wrong, also while it is read, is a UsageError."""
    request = urllib.request.Request(  # noqa: S310  (http_address allows http and https alone)
        address.url + path, data=data, headers={**headers, **address.headers}
    )
    with _Watchdog(seconds) as watchdog:
        try:
            opener = urllib.request.build_opener(_Plain(watchdog), _Secure(watchdog, address.tls), _EveryStatus())
            with opener.open(request, timeout=seconds) as answer:
                yield answer
        except (OSError, http.client.HTTPException, ValueError) as error:
            watchdog.check(address)
            why = getattr(error, "reason", None) or error
            words = shorten(hidden(str(why or type(error).__name__), address.secrets), LONGEST_REASON)
            raise UsageError(f"{address.url} cannot be reached ({words}): {_REMEDY}") from None
        watchdog.check(address)


_REMEDY = "start the server, or give another address"


def _pieces(answer: http.client.HTTPResponse, address: HttpAddress, most_bytes: int) -> Iterator[bytes]:
    size = 0
    while piece := answer.read(PIECE):
        size += len(piece)
        if size > most_bytes:
            raise UsageError(
                f"{address.url} answers with more than {most_bytes >> 20} MB: ask for fewer series, or a larger step"
            )
        yield piece
    if answer.length:
        raise UsageError(f"{address.url} ended its answer {answer.length} bytes early: ask again")


class _Watchdog:
    """Closes the connections of one request when its time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.over = seconds, False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._close)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        for connected in self._sockets:
            connected.close()

    def connection(self, kind: type[http.client.HTTPConnection], *words: Any, **options: Any) -> Any:
        """Returns a connection whose sockets are closed with the others, also while TLS begins."""
        connection = kind(*words, **options)
        connection._create_connection = self._connected  # type: ignore[attr-defined]  # noqa: SLF001
        return connection

    def check(self, address: HttpAddress) -> None:
        """Raises UsageError where the time was over."""
        if self.over:
            raise UsageError(f"{address.url} has not answered in {self.seconds:.3g} s: {_REMEDY}")

    def _connected(self, *words: Any) -> socket.socket:
        connected = socket.create_connection(*words)
        self._sockets.append(connected.dup())
        if self.over:
            self._close()
        return connected

    def _close(self) -> None:
        self.over = True
        for connected in self._sockets:
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, watchdog: _Watchdog) -> None:
        super().__init__()
        self.watchdog = watchdog

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self.watchdog.connection, http.client.HTTPConnection), req)


class _Secure(urllib.request.HTTPSHandler):
    def __init__(self, watchdog: _Watchdog, tls: ssl.SSLContext | None) -> None:
        super().__init__()
        self.watchdog, self.tls = watchdog, tls

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self.watchdog.connection, http.client.HTTPSConnection, context=self.tls), req)


class _EveryStatus(urllib.request.HTTPErrorProcessor):
    """Gives back every answer: neither errors nor redirects are followed."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        del request
        return response

    https_response = http_response
