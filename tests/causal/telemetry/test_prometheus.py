"""Range queries: pieces, labels, errors with their query; then a real Prometheus on loopback."""

from __future__ import annotations

import http.server
import json
import math
import shutil
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import InputError, UsageError
from coherence.base.places import Place
from coherence.causal.telemetry import aligned, queried, render_brief, report
from coherence.causal.telemetry.prometheus import PIECE, ReadLimits, pieces
from coherence.language.schema_kinds import Word
from coherence.simulate.telemetry.contract import Telemetry
from coherence.simulate.testbed.processes import LOOPBACK, ProcessGroup, free_ports

T0 = 1_714_564_800


class Server(http.server.BaseHTTPRequestHandler):
    """Answers with the sum of steps asked for; some queries are special."""

    asked: ClassVar[list[dict[str, str]]] = []

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        query = {key: texts[0] for key, texts in urllib.parse.parse_qs(self.rfile.read(size).decode()).items()}
        self.asked.append(query)
        code, body = self.answer(query)
        self.send_response(code)
        self.end_headers()
        self.wfile.write(body)

    def answer(self, query: dict[str, str]) -> tuple[int, bytes]:
        if query["query"] == "html":
            return 404, b"<html>not here</html>"
        if query["query"] == "odd":
            return 200, b'{"hello": 1}'
        if query["query"].startswith("bad"):
            return 400, json.dumps(
                {"status": "error", "errorType": "bad_data", "error": "parse error at char 4"}
            ).encode()
        start, end, step = (float(query[key]) for key in ("start", "end", "step"))
        times = [start + k * step for k in range(int((end - start) / step + 1e-6) + 1)]
        texts = ["NaN", "+Inf", "-Inf"] if query["query"] == "strange" else [repr(at - T0) for at in times]
        values = [[at, text] for at, text in zip(times, texts, strict=False)]
        found: list[dict[str, Any]] = [{"metric": {"__name__": "x_total", "pod": "a", "job": "j"}, "values": values}]
        if query["query"] == "two":
            found.append({"metric": {"__name__": "x_total", "pod": 'b"', "job": "j"}, "values": values[1:]})
        if query["query"] == "nothing":
            found = []
        more = {"warnings": ["half of it is gone"]} if query["query"] == "partial" else {}
        return 200, json.dumps({"status": "success", "data": {"resultType": "matrix", "result": found}} | more).encode()

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer((LOOPBACK, 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Server.asked.clear()
    yield f"http://{LOOPBACK}:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


@given(st.integers(0, 10**6), st.integers(0, 60_000), st.sampled_from([0.25, 1.0, 15.0]))
@settings(max_examples=60, deadline=None)
def test_pieces_hold_every_step_once(start: int, count: int, step: float) -> None:
    found = []
    for low, high in pieces(start, start + count * step, step):
        steps = round((high - low) / step) + 1
        assert steps <= PIECE
        found += [low + k * step for k in range(steps)]
    assert found == [start + k * step for k in range(count + 1)]


def test_a_long_range_is_asked_in_pieces_and_joined(url: str) -> None:
    found = queried(url, {"x": "one"}, start=T0, end=T0 + 25_000, step=1)
    assert len(Server.asked) == 3
    assert found["x"].values.tolist() == list(range(25_001))
    assert found.signals[0].kind == "counter"  # a bare `x_total`


def test_series_are_told_apart_by_the_labels_that_differ(url: str) -> None:
    found = queried(url, {"x": "two"}, start=T0, end=T0 + 3, step=1)
    assert [signal.name for signal in found.signals] == ['x{pod="a"}', 'x{pod="b\\""}']
    assert len(found['x{pod="b\\""}']) == 3
    assert any("2 series" in note for note in found.origins[0].notes)


def test_values_that_are_not_numbers_are_kept(url: str) -> None:
    found = queried(url, {"x": "strange"}, start=T0, end=T0 + 2, step=1)["x"].values.tolist()
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf]


def test_a_query_that_gives_nothing_is_named(url: str) -> None:
    found = queried(url, {"x": "one", "y": "nothing"}, start=T0, end=T0 + 9, step=1)
    assert [one.what for one in aligned(found, keep=("constant",)).excluded] == ["y"]


def test_what_a_server_warns_of_is_told_once(url: str) -> None:
    read = queried(url, {"x": "partial", "y": "partial"}, start=T0, end=T0 + 9, step=1)
    assert [note for origin in read.origins for note in origin.notes][1:] == ["the server warns: half of it is gone"]
    brief = render_brief(report(read, aligned(read)))
    assert "of the server: the server warns: half of it is gone" in brief


def test_refusals_come_all_at_once_with_the_query_and_its_place(url: str) -> None:
    queries: dict[str, str | Word] = {"x": Word("bad(", Place("d.yaml", 7, 6, 7, 10)), "y": "bad)", "z": "one"}
    with pytest.raises(InputError) as caught:
        queried(url, queries, start=T0, end=T0 + 9, step=1)
    first, second = sorted(caught.value.problems, key=lambda one: one.place.line, reverse=True)
    assert str(first).startswith("d.yaml:7:6: the query of x, bad(, was refused: bad_data: parse error at char 4")
    assert "the query of y, bad)" in second.message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"url": "file:///etc/passwd"}, "is not the address of a Prometheus"),
        ({"url": f"http://{LOOPBACK}:9/"}, "cannot be reached"),
        ({"queries": {}}, "needs queries"),
        ({"queries": {"x": "html"}}, "did not answer as Prometheus does: b'<html>.*status 404"),
        ({"queries": {"x": "odd"}}, "did not answer as Prometheus does"),
        ({"end": T0 - 1}, "is empty"),
        ({"step": 0}, "at least a millisecond"),
        ({"end": 1e18}, "after the year 9999: give seconds since 1970"),
        ({"end": T0 + 1e9}, "1,000,000,001 steps in all queries; 10,000,000 are the most"),
        ({"limits": ReadLimits(points=9)}, "gives more than 9 points: aggregate in the query"),
        ({"queries": {"x": "two"}, "limits": ReadLimits(series=1)}, "gives more than 1 series"),
        ({"limits": ReadLimits(answer_bytes=50)}, "answers with more than 0 MB"),
        ({"limits": ReadLimits(seconds=0)}, "took more than 0 s for the whole range"),
    ],
)
def test_what_cannot_be_asked(url: str, given: dict[str, Any], words: str) -> None:
    asked: dict[str, Any] = {"url": url, "queries": {"x": "one"}, "start": T0, "end": T0 + 9, "step": 1} | given
    with pytest.raises(UsageError, match=words):
        queried(asked.pop("url"), asked.pop("queries"), **asked)


# -- a real one -----------------------------------------------------------------------------------------

PROMETHEUS = shutil.which("prometheus")


class Exporter(http.server.BaseHTTPRequestHandler):
    """A counter of its own scrapes, reset once; a gauge of two pods; one series ends after four scrapes."""

    scrapes: ClassVar[int] = 0

    def do_GET(self) -> None:
        cls = type(self)
        cls.scrapes += 1
        n = cls.scrapes
        lines = [
            f"done_total {3 * (n if n < 8 else n - 7)}",
            f'queue{{pod="a"}} {n}',
            f'queue{{pod="b"}} {-n}',
            "odd NaN",
        ]
        lines += ["gone 1"] if n <= 4 else []
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("\n".join(lines) + "\n").encode())

    def log_message(self, *words: object) -> None:
        pass


@pytest.mark.slow
@pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed")
def test_a_real_prometheus(tmp_path: Path) -> None:
    assert PROMETHEUS is not None
    exporter = http.server.ThreadingHTTPServer((LOOPBACK, 0), Exporter)
    thread = threading.Thread(target=exporter.serve_forever)
    thread.start()
    Exporter.scrapes = 0
    (port,) = free_ports(1)
    target = f"{LOOPBACK}:{exporter.server_address[1]}"
    (tmp_path / "p.yml").write_text(
        "global: {scrape_interval: 500ms, scrape_timeout: 400ms}\n"
        f'scrape_configs: [{{job_name: test, static_configs: [{{targets: ["{target}"]}}]}}]\n',
        encoding="utf-8",
    )
    address = f"http://{LOOPBACK}:{port}"
    options = ["--config.file=p.yml", "--storage.tsdb.path=data", f"--web.listen-address={LOOPBACK}:{port}"]
    start = math.floor(time.time())
    try:
        with ProcessGroup(tmp_path) as processes:
            processes.start("prometheus", [PROMETHEUS, *options])
            processes.until(lambda: Exporter.scrapes >= 16, "16 scrapes", seconds=60)
            _check(address, start, math.ceil(time.time()))
    finally:
        exporter.shutdown()
        exporter.server_close()
        thread.join()


def _check(address: str, start: float, end: float) -> None:
    queries = {"done": "done_total", "queue": "queue", "odd": "odd", "gone": "gone", "none": "no_such_metric"}
    found: Telemetry = queried(address, queries, start=start, end=end, step=0.5)
    names = [signal.name for signal in found.signals]
    assert names == ["done", "gone", "odd", 'queue{pod="a"}', 'queue{pod="b"}']
    assert found.origins[0].left_out[0][0] == "none"
    a, b = found['queue{pod="a"}'], found['queue{pod="b"}']
    assert a.values.tolist() == (-b.values).tolist()
    assert (a.values[1:] >= a.values[:-1]).all()
    assert math.isnan(found["odd"].values[0])
    assert len(found["gone"]) < len(a) - 8  # a staleness marker ends it; nothing is made up after
    series = aligned(found, step=0.5, keep=("constant", "copies"))
    rate = series["done"]
    known = rate[np.isfinite(rate)]
    assert (known >= 0).all()  # the reset is no negative rate
    deltas = [y - x if y >= x else y for x, y in zip(found["done"].values, found["done"].values[1:], strict=False)]
    assert known.sum() * 0.5 == pytest.approx(sum(deltas), rel=0.02)
    with pytest.raises(InputError, match=r"the query of x, sum\(, was refused: bad_data"):
        queried(address, {"x": "sum("}, start=start, end=end, step=1)
    long = queried(address, {"v": "vector(1)"}, start=start - 30_000, end=start, step=1)  # above 11,000 points
    assert len(long["v"]) == 30_001
