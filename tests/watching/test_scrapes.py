"""A Prometheus as a source: ranges since the last scrape, sums of series, servers that are none."""

from __future__ import annotations

import http.server
import json
import threading
import urllib.parse
from collections.abc import Iterator
from typing import ClassVar

import pytest

from coherence.base.errors import UsageError
from coherence.causal.telemetry.prometheus import ReadLimits
from coherence.watching.monitor import SystemMonitor
from coherence.watching.scrapes import MOST_READ, PrometheusSource, Scrape
from coherence.watching.watch import Watch
from tests.watching.systems import system

T0 = 1_714_564_800


class Server(http.server.BaseHTTPRequestHandler):
    """Two series that are the number of the step, one of which lacks every other; odd answers to odd queries."""

    ranges: ClassVar[list[tuple[float, float]]] = []

    def do_POST(self) -> None:
        query = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        low, high, step = (float(query[key][0]) for key in ("start", "end", "step"))
        self.ranges.append((low, high))
        times = [low + k * step for k in range(round((high - low) / step) + 1)]
        series = [[[at, repr((at - T0) / step)] for at in times], [[at, "1"] for at in times[::2]]]
        data = {
            "resultType": "matrix",
            "result": [{"metric": {"pod": str(k)}, "values": s} for k, s in enumerate(series)],
        }
        answers = {
            "good": (200, json.dumps({"status": "success", "data": data})),
            "bad(": (400, json.dumps({"status": "error", "errorType": "bad_data", "error": "parse error"})),
            "none": (200, json.dumps({"status": "success", "data": {"resultType": "matrix", "result": []}})),
            "html": (502, "<html>bad gateway</html>"),
        }  # fmt: skip
        code, body = answers[query["query"][0]]
        self.send_response(code)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words: object) -> None:
        pass


def taken(source: PrometheusSource, after: float, until: float) -> list[Scrape]:
    return [scrape for _, scrapes in source.pieces(after, until) for scrape in scrapes]


@pytest.fixture
def url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Server.ranges.clear()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_what_is_after_the_last_scrape_is_asked_and_series_are_summed(url: str) -> None:
    rows = taken(PrometheusSource(url, {"a": "good", "b": "none"}, 15.0), T0 + 15.0, T0 + 65.0)
    assert [at - T0 for at, _ in rows] == [30.0, 45.0, 60.0]
    assert [values for _, values in rows] == [{"a": 3.0}, {"a": 3.0}, {"a": 5.0}]
    assert taken(PrometheusSource(url, {"a": "good"}, 15.0), T0 + 60.0, T0 + 70.0) == []


def test_a_long_absence_is_asked_in_pieces(url: str) -> None:
    rows = taken(PrometheusSource(url, {"a": "good"}, 15.0), T0, T0 + 15.0 * 1000)
    assert len(rows) == 1000
    assert len(Server.ranges) == -(-1000 // MOST_READ)


def test_a_piece_without_values_is_answered_and_not_asked_again(url: str) -> None:
    watch = Watch(SystemMonitor(system(), 15.0), PrometheusSource(url, {"a": "none"}, 15.0))
    asked = []
    for until in (T0 + 15.0 * 1000, T0 + 15.0 * 1001, T0 + 15.0 * 1001 + 1):
        assert list(watch.tick(T0, until)) == []
        asked.append(len(Server.ranges))
    assert asked == [5, 6, 6]
    assert Server.ranges[-1] == (T0 + 15.0 * 1001, T0 + 15.0 * 1001)


@pytest.mark.parametrize(
    ("query", "words"), [("bad(", "refuses bad.*parse error"), ("html", "did not answer as Prometheus does")]
)
def test_what_is_no_answer_is_an_error_of_one_line(url: str, query: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        taken(PrometheusSource(url, {"a": query}, 15.0), T0, T0 + 60.0)
    with pytest.raises(UsageError, match="cannot be reached"):
        taken(PrometheusSource("http://127.0.0.1:9", {"a": "x"}, 15.0), T0, T0 + 60.0)
    with pytest.raises(UsageError, match="more than 1 series"):
        taken(PrometheusSource(url, {"a": "good"}, 15.0, ReadLimits(series=1)), T0, T0 + 60.0)
