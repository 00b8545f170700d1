"""One request against servers that misbehave: each ends in time, with a message."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from coherence.base.errors import UsageError
from coherence.causal.telemetry.bounded_http import HttpAnswer, http_address, posted

Speak = Callable[[socket.socket], None]
Serve = Callable[[Speak], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server that says to each client what it is told to."""
    ends: list[Callable[[], None]] = []

    def start(speak: Speak) -> str:
        server = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = server.accept()
                    with client, contextlib.suppress(OSError):
                        _read_request(client)
                        speak(client)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def end() -> None:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
            thread.join(5)

        ends.append(end)
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield start
    for end in ends:
        end()


def _read_request(client: socket.socket) -> None:
    """Reads head and form of a request: what is left unread at the close resets the connection, answer and all."""
    with client.makefile("rb") as request:
        length = 0
        while (line := request.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        request.read(length)


def ask(url: str, *, seconds: float = 5.0, most_bytes: int = 1 << 20) -> HttpAnswer:
    address = http_address(url, of="a server", example="http://localhost")
    return posted(address, "/x", {"a": "b"}, seconds=seconds, most_bytes=most_bytes)


def says(words: bytes) -> Speak:
    return lambda client: client.sendall(words)


def drip(start: bytes, drop: bytes) -> Speak:
    def speak(client: socket.socket) -> None:
        client.sendall(start)
        while True:
            client.sendall(drop)
            time.sleep(0.02)

    return speak


def test_an_answer_whatever_its_status(serve: Serve) -> None:
    assert ask(serve(says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))) == HttpAnswer(200, "OK", b"hi")
    assert ask(serve(says(b"HTTP/1.0 500 Oh\r\n\r\nno"))) == HttpAnswer(500, "Oh", b"no")
    moved = ask(serve(says(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")))
    assert moved.status == 302


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (b"", "cannot be reached"),
        (b"SSH-2.0-OpenSSH\r\n", "cannot be reached"),
        (b"HTTP/1.1 abc\r\n\r\n", "cannot be reached"),
        (HEAD + b"X: " + b"y" * 70_000 + b"\r\n\r\n", "cannot be reached"),
        (HEAD + b"X: y\r\n" * 200 + b"\r\n", "cannot be reached"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", "cannot be reached"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", "cannot be reached"),
        (HEAD + b"Content-Length: 100\r\n\r\nabc", "ended its answer 97 bytes early"),
    ],
)
def test_what_is_no_http(serve: Serve, words: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ask(serve(says(words)))


@pytest.mark.parametrize(
    ("start", "drop"),
    [(HEAD + b"\r\n", b"x"), (b"", b"H"), (HEAD, b"X: y\r\n"), (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
     (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n")],
)  # fmt: skip
def test_a_server_that_drips_bytes_ends_with_the_time(serve: Serve, start: bytes, drop: bytes) -> None:
    begun = time.monotonic()
    with pytest.raises(UsageError, match=r"has not answered in 0\.3 s|cannot be reached \(got more than 100"):
        ask(serve(drip(start, drop)), seconds=0.3)
    assert time.monotonic() - begun < 3


def test_an_endless_answer_ends_with_the_size(serve: Serve) -> None:
    def speak(client: socket.socket) -> None:
        client.sendall(HEAD + b"\r\n")
        while True:
            client.sendall(b"x" * 65_536)

    with pytest.raises(UsageError, match="answers with more than 1 MB: ask for fewer series"):
        ask(serve(speak))


def test_the_user_of_an_address_logs_in_and_is_shown_nowhere(serve: Serve) -> None:
    heard = []

    def speak(client: socket.socket) -> None:
        client.sendall(HEAD + b"Content-Length: 0\r\n\r\n")

    url = serve(speak).replace("//", "//me:hunter%402@")
    address = http_address(url, of="a server", example="")
    assert address.headers == {"Authorization": "Basic bWU6aHVudGVyQDI="}  # me:hunter@2
    assert "hunter" not in address.url
    heard.append(posted(address, "/x", {}, seconds=5, most_bytes=10).status)
    assert heard == [200]


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "http://[::1", "http://h:x", "http://a b", "http://h:99999999", "http://" + "a" * 64, "http://é",
     "http://", "x", "http://h/\x1b[31m", "http://h/?token=1", "http://h:1#x"],
)  # fmt: skip
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(UsageError, match="address of a server"):
        http_address(url, of="a server", example="http://localhost")


@pytest.mark.parametrize(
    "url",
    ["user:HUSH@127.0.0.1:9", "http//user:HUSH@h", "http://user:HUSH@h:x", "ftp://u:HUSH@h", "http://u:HUSH@h?a=b"],
)
def test_a_password_in_what_is_no_address_is_not_shown(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        http_address(url, of="a Prometheus", example="http://127.0.0.1:9090")
    assert "HUSH" not in str(caught.value)
    assert "'***@" in str(caught.value)
