"""`coherence fit --prometheus` against servers that misbehave: a message each time, in time, without the password."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from coherence.causal.telemetry import prometheus
from coherence.causal.telemetry.prometheus import ReadLimits
from coherence.cli._run import run
from tests.paths import DATA
from tests.peak_memory import PEAK

DESIGN = """coherence: 1
components: {q: {wait: a.load * k, k: 0 .. 10}}
telemetry: {a.load: up, q.wait: up}
"""
OK, SECRET = b"HTTP/1.1 200 OK\r\n", "HUSH4711"
T0, STEPS = 1_714_564_800, 40
Speak = Callable[[socket.socket], None]
Bytes = Callable[[], Iterator[bytes]]


def plain(body: bytes, head: bytes = OK) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def answer(data: Any, status: Any = "success") -> bytes:
    return plain(json.dumps({"status": status, "data": data}).encode())


def matrix(*series: Any) -> bytes:
    return answer({"resultType": "matrix", "result": list(series)})


def points(values: Any, metric: Any = None) -> bytes:
    return matrix({"metric": {} if metric is None else metric, "values": values})


def ever(start: bytes, drop: bytes, pause: float = 0.01) -> Callable[[socket.socket], None]:
    """Returns a server that says something again and again."""

    def speak(client: socket.socket) -> None:
        client.sendall(start)
        while True:
            client.sendall(drop)
            time.sleep(pause)

    return speak


GOOD: list[tuple[int, str]] = [(T0 + 15 * k, str(k)) for k in range(STEPS)]
BOMB = gzip.compress(b"x" * (64 << 20), mtime=0)
REFUSED: dict[str, bytes | Speak] = {
    # no HTTP
    "nothing": b"",
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n",
    "random bytes": bytes(range(256)) * 4,
    "nul bytes": b"\0" * 4096,
    "tls alert": b"\x15\x03\x01\x00\x02\x02\x28",
    "http2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "status that is a word": b"HTTP/1.1 abc OK\r\n\r\n",
    "status of five digits": b"HTTP/1.1 20000 OK\r\n\r\n",
    "status line of 70,000 bytes": b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n\r\n",
    "header of 70,000 bytes": OK + b"X: " + b"y" * 70_000 + b"\r\n\r\n",
    "200 headers": OK + b"X: y\r\n" * 200 + b"\r\n",
    "header without a colon": OK + b"hello\r\n\r\n",
    "continue without end": ever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "head that never ends": ever(b"", b"H"),
    "headers that never end": ever(OK, b"X: y\r\n"),
    # sizes and lengths
    "body cut short": OK + b"Content-Length: 1000\r\n\r\n{",
    "length that is negative": OK + b"Content-Length: -5\r\n\r\n{}",
    "length that is a word": OK + b"Content-Length: many\r\n\r\n{}",
    "length of 10^30": OK + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n{}",
    "two lengths": OK + b"Content-Length: 2\r\nContent-Length: 900\r\n\r\n{}",
    "chunk that is no number": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
    "chunk cut short": OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
    "chunk of 10^15 bytes": OK + b"Transfer-Encoding: chunked\r\n\r\n38D7EA4C68000\r\nab",
    "chunk that is negative": OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nab\r\n",
    "chunks of one byte that never end": ever(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "body that never ends": ever(OK + b"\r\n", b"x" * 65_536, 0.0),
    "one byte at a time": ever(OK + b"Content-Length: 1000\r\n\r\n", b" "),
    "spaces that never end": ever(OK + b"\r\n", b" " * 1024),
    "silence": lambda _: time.sleep(3),
    "gzip bomb": plain(BOMB, OK + b"Content-Encoding: gzip\r\n"),
    "gzip that is none": plain(b"{}", OK + b"Content-Encoding: gzip\r\n"),
    # statuses
    "redirect to itself": b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    "redirect to a file": b"HTTP/1.1 301 Moved\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
    "redirect to no address": b"HTTP/1.1 307 T\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "not modified": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "login wanted": b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n",
    "login echoed": plain(b"no such user: me:" + SECRET.encode(), b"HTTP/1.1 403 Forbidden\r\n"),
    "too many requests": plain(b"slow down", b"HTTP/1.1 429 Too Many\r\nRetry-After: 9999\r\n"),
    "server error": plain(b"<html>oh</html>", b"HTTP/1.1 500 Oh\r\n"),
    "terminal codes in the reason": plain(b"{}", b"HTTP/1.1 500 \x1b]0;pwn\x07\r\n"),
    # no JSON of Prometheus
    "html": plain(b"<html><script>alert(1)</script></html>"),
    "empty body": plain(b""),
    "json cut short": plain(b'{"status": "success", "data": {'),
    "json of 100,000 brackets": plain(b"[" * 100_000),
    "json with a number of 100,000 digits": plain(b'{"status": ' + b"1" * 100_000 + b"}"),
    "utf-16": plain(json.dumps({"status": "success"}).encode("utf-16")),
    "bytes that are no text": plain(b'{"status": "\xff\xfe"}'),
    "a list": plain(b"[1, 2]"),
    "null": plain(b"null"),
    "a number": plain(b"7"),
    "no status": plain(b'{"data": {}}'),
    "status that is a number": answer({}, 1),
    "status that is a list": answer({}, ["success"]),
    "error without words": plain(b'{"status": "error"}'),
    "error that is an object": plain(b'{"status": "error", "errorType": {"a": 1}, "error": [1]}'),
    "error of a million letters": plain(b'{"status": "error", "error": "' + b"x" * 1_000_000 + b'"}'),
    "terminal codes in the error": plain(json.dumps({"status": "error", "error": "\x1b]0;pwn\x07\u202e"}).encode()),
    "no data": plain(b'{"status": "success"}'),
    "data that is a list": answer([]),
    "data that is null": answer(None),
    "a vector": answer({"resultType": "vector", "result": []}),
    "a scalar": answer({"resultType": "scalar", "result": [T0, "1"]}),
    "result that is a text": answer({"resultType": "matrix", "result": "none"}),
    "result that is an object": answer({"resultType": "matrix", "result": {"0": {}}}),
    "series that is a number": matrix(3),
    "series without metric": matrix({"values": GOOD}),
    "metric that is a list": points(GOOD, []),
    "label that is a number": points(GOOD, {"pod": 3}),
    "values that are a text": points("12"),
    "values that are null": points(None),
    "point of three": points([[T0, "1", "2"]]),
    "point that is a number": points([T0]),
    "value that is a number": points([[T0, 1]]),
    "value that is a word": points([[T0, "much"]]),
    "value that is null": points([[T0, None]]),
    "time that is a text": points([[str(T0), "1"]]),
    "time that is not a number": plain(
        b'{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}, "values": [[NaN, "1"]]}]}}'
    ),
    "time that is infinite": plain(
        b'{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}, "values": [[1e999, "1"]]}]}}'
    ),
    "time of another range": points([[T0 - 10**6, "1"]]),
    "time in milliseconds": points([[T0 * 1000, "1"]]),
    "native histograms": matrix({"metric": {}, "histograms": [[T0, {"count": "1"}]]}),
    "30,000 series": matrix(*({"metric": {"pod": str(k)}, "values": []} for k in range(30_000))),
    "300,000 points": points([[T0, "1"]] * 300_000),
}
READ: dict[str, bytes] = {  # what is odd and allowed: an answer, or a refusal of the values
    "no series": matrix(),
    "a series without points": points([]),
    "one point": points(GOOD[:1]),
    "values that are NaN": points([[at, "NaN"] for at, _ in GOOD]),
    "values that are infinite": points([[at, "+Inf" if at % 2 else "-Inf"] for at, _ in GOOD]),
    "values of 1e308": points([[at, "1e308"] for at, _ in GOOD]),
    "values of 1e999": points([[at, "1e999"] for at, _ in GOOD]),
    "times that go back": points(GOOD[::-1]),
    "times twice with other values": points([*GOOD, *([at, "9"] for at, _ in GOOD)]),
    "label with terminal codes": matrix(*({"metric": {"pod": f"\x1b]0;pwn{k}\x07"}, "values": GOOD} for k in (1, 2))),
    "label of a megabyte": matrix(*({"metric": {"pod": letter * 1_000_000}, "values": GOOD} for letter in "ab")),
    "warnings beside the data": plain(json.dumps({
        "status": "success", "warnings": ["x"], "infos": 3, "data": {"resultType": "matrix", "result": [
            {"metric": {}, "values": GOOD}]}}).encode()),
}  # fmt: skip


class Speaker:
    """A server that says one thing to everybody."""

    def __init__(self, speak: bytes | Speak, tls: ssl.SSLContext | None = None) -> None:
        self._speak = speak if callable(speak) else lambda client: client.sendall(speak)
        self._server, self._tls = socket.create_server(("127.0.0.1", 0)), tls
        self.port, self.heard = self._server.getsockname()[1], b""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                with client, suppress(OSError, ValueError):
                    self._serve(client)

    def _serve(self, client: socket.socket) -> None:
        client.settimeout(10)
        if self._tls is not None:
            client = self._tls.wrap_socket(client, server_side=True)
        with client.makefile("rb") as request:
            head = list(takewhile(lambda line: line not in (b"\r\n", b""), iter(request.readline, None)))
            self.heard += b"".join(head)
            length = next((int(line[15:]) for line in head if line.lower().startswith(b"content-length:")), 0)
            request.read(length)
        self._speak(client)
        client.close()

    def end(self) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(20)
        assert not self._thread.is_alive(), "it goes on and takes the processor from the tests that follow"


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Asks a server with small limits, by a user with a password; returns (exit code, all that was printed)."""
    limits = ReadLimits(answer_seconds=0.4, seconds=3.0, answer_bytes=8 << 20, points=200_000)
    monkeypatch.setattr(prometheus, "queried", _with(limits))
    monkeypatch.setattr("coherence.causal.telemetry.queried", _with(limits))
    (tmp_path / "design.yaml").write_text(DESIGN)
    servers: list[Speaker] = []

    def asked(speak: bytes | Speak, *words: str, scheme: str = "http", tls: Any = None, user: bool = True) -> Any:
        servers.append(Speaker(speak, tls))
        login = f"me:{SECRET}@" if user else ""
        url = f"{scheme}://{login}127.0.0.1:{servers[-1].port}"
        times = ["--from", str(T0), "--to", str(T0 + 15 * (STEPS - 1)), "--step", "15"]
        capsys.readouterr()
        begun = time.monotonic()
        code = run(["fit", str(tmp_path / "design.yaml"), "--prometheus", url, *times, "--loss", "q.wait", *words])
        assert time.monotonic() - begun < 60, "it hangs"  # 0.4 s an answer; the rest is a slow machine
        printed = capsys.readouterr()
        return code, printed.out + printed.err, servers[-1].heard

    yield asked
    for server in servers:
        server.end()


def _with(limits: ReadLimits) -> Callable[..., Any]:
    whole = prometheus.queried
    return lambda *words, **options: whole(*words, **{**options, "limits": limits})


def check(text: str) -> None:
    assert "internal error" not in text
    assert "Traceback" not in text
    assert SECRET not in text
    assert not set("\x1b\x07\u202e") & set(text)
    assert max(map(len, text.split("\n"))) < 2_500


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_server_is_refused_with_a_message(ask: Any, name: str) -> None:
    code, text, _ = ask(REFUSED[name])
    check(text)
    assert code == 2
    assert text.startswith("error: ") or "\nerror" in text or "error:" in text.split("\n")[0]


@pytest.mark.parametrize("key", ["credentials", "basic"])
def test_a_server_that_says_the_login_back_is_not_quoted(ask: Any, tmp_path: Path, key: str) -> None:
    login = tmp_path / "login.yaml"
    basic = f"basic_auth: {{username: me, password: {SECRET}}}\n"
    login.write_text(basic if key == "basic" else f"authorization: {{credentials: {SECRET}}}\n")
    for said in (plain(SECRET.encode()), plain(json.dumps({"status": "error", "error": SECRET}).encode())):
        code, text, heard = ask(said, "--http-config", str(login), user=False)
        check(text)
        assert code == 2
        assert b"Authorization: " in heard


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_odd_values_are_read_or_refused(ask: Any, name: str) -> None:
    code, text, _ = ask(READ[name])
    check(text)
    assert code in (0, 2)


@pytest.mark.parametrize(("start", "end", "step"), [("0", "1e18", "15"), ("0", "1e9", "0.001"), ("0", "nan", "15"),
                         ("-1e300", "1e300", "1"), ("0", "10", "1e-300"), ("0", "10", "inf")])  # fmt: skip
def test_ranges_of_absurd_length_are_refused_before_anything_is_asked(
    ask: Any, start: str, end: str, step: str
) -> None:
    code, text, heard = ask(points(GOOD), "--from", start, "--to", end, "--step", step)
    check(text)
    assert code == 2
    assert not heard


def test_a_certificate_that_nobody_knows_is_refused_and_one_that_is_named_is_taken(ask: Any, tmp_path: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(DATA / "tls/loopback.pem", DATA / "tls/loopback.key")
    code, text, _ = ask(points(GOOD), scheme="https", tls=tls)
    check(text)
    assert code == 2
    assert "certificate verify failed" in text
    login = tmp_path / "login.yaml"
    login.write_text(f"tls_config: {{ca_file: {DATA / 'tls/loopback.pem'}}}\n")
    code, text, heard = ask(points(GOOD), "--http-config", str(login), scheme="https", tls=tls)
    check(text)
    assert b"POST /api/v1/query_range" in heard
    code, text, _ = ask(points(GOOD), scheme="https")  # TLS to a server that speaks none
    check(text)
    assert code == 2


def test_the_login_of_a_file_is_sent_and_shown_nowhere(ask: Any, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\n")
    login = tmp_path / "login.yaml"
    login.write_text(
        "authorization: {credentials_file: token}\nhttp_headers: {X-Scope-OrgID: {values: [team-a, team-b]}}\n"
    )
    _, text, heard = ask(points(GOOD), "--http-config", str(login), user=False)
    check(text)
    assert f"Authorization: Bearer {SECRET}\r\n".encode() in heard
    assert b"X-Scope-Orgid: team-a, team-b" in heard or b"X-Scope-OrgID: team-a, team-b" in heard
    code, text, _ = ask(points(GOOD), "--http-config", str(login))
    check(text)
    assert code == 2
    assert "keep one of the two" in text


@pytest.mark.slow
def test_memory_stays_bounded_while_a_server_talks_for_ever(tmp_path: Path) -> None:
    server = Speaker(ever(OK + b"\r\n", b"x" * 65_536, 0.0))
    (tmp_path / "design.yaml").write_text(DESIGN)
    program = f"import sys; from coherence.cli._run import run; code = run(sys.argv[1:]); print(code, {PEAK} // 1024)"
    words = ["fit", str(tmp_path / "design.yaml"), "--prometheus", f"http://127.0.0.1:{server.port}", "--from", "0",
             "--to", "60", "--step", "15"]  # fmt: skip
    ended = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    server.end()
    code, peak = map(int, ended.stdout.split())
    assert code == 2
    assert "more than 64 MB" in ended.stderr
    assert peak < 1000  # MB: 64 of the answer, twice where it is joined, and the program
