"""`coherence overlay`: what is asked for, what is measured, and that it turns questions into verdicts."""

from __future__ import annotations

import contextlib
import http.server
import io
import json
import math
import shutil
import threading
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from coherence.__main__ import main
from coherence.checking.reports import check
from coherence.cli import overlay
from coherence.reporting import render
from coherence.simulate.testbed.processes import LOOPBACK, ProcessGroup, free_ports

MANIFESTS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          resources: {requests: {cpu: 500m}}
          livenessProbe: {httpGet: {path: /healthz, port: 80}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: prod}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 3
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: prod}
spec:
  hosts: [web]
  http:
    - timeout: 2s
      retries: {attempts: 4, perTryTimeout: 600ms, retryOn: unavailable}
      route: [{destination: {host: web}}]
"""
MATRIX = b'{"status": "success", "data": {"resultType": "matrix", "result": [%s]}}'
LOAD = "components.web.takes.load"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "repository"
    inner.mkdir()
    (inner / "web.yaml").write_text(MANIFESTS)
    return inner


def run(*words: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["overlay", *map(str, words)])
    code = ended.value.code
    return int(code or 0), out.getvalue(), err.getvalue()


class Stub(http.server.BaseHTTPRequestHandler):
    """A server that knows the series whose metric stands in a query."""

    series: ClassVar[dict[str, list[tuple[dict[str, str], str]]]] = {}
    answer: ClassVar[tuple[int, bytes, dict[str, str]] | None] = None
    asked: ClassVar[list[str]] = []
    logins: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        form = {key: words[0] for key, words in urllib.parse.parse_qs(self.rfile.read(size).decode()).items()}
        self.asked.append(form["query"])
        self.logins.append(self.headers.get("Authorization", ""))
        known = (rows for part, rows in self.series.items() if part in form["query"])
        result = [{"metric": labels, "values": [[float(form["end"]), value]]} for labels, value in next(known, [])]
        body = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}).encode()
        code, body, headers = self.answer or (200, body, {})
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def stub() -> Iterator[str]:
    Stub.series, Stub.answer = {}, None
    Stub.asked.clear()
    Stub.logins.clear()
    server = http.server.ThreadingHTTPServer((LOOPBACK, 0), Stub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://{LOOPBACK}:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def starts(*seconds: str) -> list[tuple[dict[str, str], str]]:
    return [({"namespace": "prod", "pod": f"web-{k}"}, text) for k, text in enumerate(seconds)]


def test_nothing_is_asked_without_the_option(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: object, **options: object) -> None:
        raise AssertionError(f"a socket was opened: {words} {options}")

    monkeypatch.setattr("socket.socket.connect", refuse)
    code, out, err = run(folder)
    assert code == 0
    assert "--from-prometheus URL asks a server" in out
    for name in (LOAD, "components.web.takes.serve", "components.web.demand", "calls.clients -> web.fails.unavailable"):
        assert f"# {name}: LOW" in out
    assert "kube_pod_status_ready_time" in out
    assert "0 of 4 facts" in err
    assert run(folder, "--window", "2 h")[0] == 2  # an option of a measurement, and nothing is measured


@pytest.mark.slow
def test_a_measured_start_becomes_a_verdict_and_its_twin_a_proof(folder: Path, stub: str) -> None:
    before = {finding.code for finding in check(folder).findings if finding.verdict.value != "note"}
    assert "COH206" not in before
    for seconds, verdict in ((("12", "25.5"), "conflict"), (("4.2", "12"), "proved")):
        Stub.series = {"count((min by (namespace, pod, uid) (last_over_time(kube_pod_start_time": [({}, "2")],
                       "kube_pod_status_ready_time": starts(*seconds)}  # fmt: skip
        target = folder / "overlay.yaml"
        code, _, err = run(folder, "--from-prometheus", stub, "-o", target)
        assert code == 0, err
        text = target.read_text()
        assert f"      load: {seconds[0]} s .. {seconds[1]} s\n" in text
        assert "# 2 samples of kube-state-metrics; asked for by COH206" in text
        assert f"Measured by {stub} in the 24 h up to " in text
        (found,) = [finding for finding in check(folder).findings if finding.code == "COH206"]
        assert found.verdict.value == verdict
        assert any(place.file.endswith("overlay.yaml") for place in found.places)


def test_starts_that_never_ended_make_no_range(folder: Path, stub: str) -> None:
    Stub.series = {"count((min by (namespace, pod, uid) (last_over_time(kube_pod_start_time": [({}, "5")],
                   "kube_pod_status_ready_time": starts("4", "9")}  # fmt: skip
    _, out, err = run(folder, "--from-prometheus", stub)
    assert "2 of 5 took 4 s .. 9 s; the others did not end, or began again" in out
    assert "\n      load:" not in out
    assert "0 of 4 facts" in err


@pytest.mark.slow
def test_answers_failures_and_loads_are_stated_where_they_belong(folder: Path, stub: str) -> None:
    def rows(*counts: int) -> list[tuple[dict[str, str], str]]:
        return [({"le": le}, str(count)) for le, count in zip(("25", "500", "1000", "+Inf"), counts, strict=True)]

    Stub.series = {
        'grpc_response_status="14"': rows(0, 7, 7, 7),
        "istio_request_duration_milliseconds": rows(40, 3000, 3004, 3004),
        "container_cpu_usage_seconds_total": [({}, "1.25")],
    }
    target = folder / "measured.yaml"
    _, _, err = run(folder, "--from-prometheus", stub, "-o", target)
    assert "3 of 4 facts" in err
    text = target.read_text()
    assert "serve: 0 s .. 1 s\n" in text
    assert "demand: 1.25\n" in text
    assert "cpu: web.demand / (web.replicas * 0.5)\n" in text
    assert "- from: clients\n  to: web\n  fails:\n" in text
    assert "    unavailable: 25 ms .. 500 ms\n" in text
    codes = {(finding.code, finding.verdict.value) for finding in check(folder).findings}
    assert any("web may need 1 s to answer" in finding.message for finding in check(folder).findings)
    assert ("COH307", "proved") in codes
    narrow = run(folder, "--from-prometheus", stub, "-o", target, "--share", "99 %")
    assert narrow[0] == 0
    assert "serve: 0 s .. 500 ms\n" in target.read_text()
    assert "the range holds 99 % of them" in target.read_text()
    assert not [f.message for f in check(folder).findings if "may need" in f.message and f.verdict.value == "conflict"]


@pytest.mark.slow
def test_an_overlay_is_not_read_before_it_is_written_again_and_others_are(folder: Path, stub: str) -> None:
    own = folder / "own.yaml"
    own.write_text("coherence: 1\noverlays: manifests\ncomponents: {web: {takes: {load: 5 s}}}\n")
    assert f"# {LOAD}" not in run(folder, "--from-prometheus", stub)[1]
    assert run(folder, "--from-prometheus", stub, "-o", own)[0] == 2  # written by hand
    assert own.read_text().endswith("load: 5 s}}}\n")
    own.unlink()
    target = folder / "o.yaml"
    for _ in range(2):
        run(folder, "--from-prometheus", stub, "-o", target)
        assert f"# {LOAD}" in target.read_text()


def test_queries_of_the_user(folder: Path, stub: str) -> None:
    Stub.series = {"my_start": starts("30", "31.00004")}
    _, out, _ = run(folder, "--from-prometheus", stub, "--query", f"{LOAD}=my_start{{app='x'}}")
    assert "load: 30 s .. 31.01 s" in out
    assert "2 samples of your query" in out
    code, _, err = run(folder, "--query", "components.wbe.takes.load=x")
    assert code == 2
    assert "nothing asks for 'components.wbe.takes.load'" in err
    assert LOAD in err
    assert run(folder, "--query", "load")[0] == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, b"<html>login</html>", {}), "did not answer as Prometheus does"),
        ((302, b"", {"Location": "http://127.0.0.1:1/elsewhere"}), "status 302"),
        ((401, b"denied", {}), "status 401"),
        ((200, b'{"status": "success", "data": {"resultType": "vector", "result": []}}', {}), "is a matrix"),
        ((200, MATRIX % b'{"metric": {"a": 1}}', {}), "an object of texts"),
        ((200, MATRIX % b'{"metric": {}, "values": [[1, "x"]]}', {}), "a text that is a number"),
        ((200, b" " * (17 << 20), {}), "answers with more than 16 MB"),
        ((200, b"[" * 100_000, {}), "did not answer as Prometheus does"),
    ],
)  # fmt: skip
def test_what_is_no_answer_of_a_prometheus(
    folder: Path, stub: str, answer: tuple[int, bytes, dict[str, str]], words: str
) -> None:
    Stub.answer = answer
    code, out, err = run(folder, "--from-prometheus", stub.replace("//", "//user:hush-hush@"))
    assert code == 2
    assert words in err
    assert "Traceback" not in err
    assert "hush" not in out + err
    assert len(Stub.asked) == 1  # a redirect is not followed, and nobody is asked twice


def test_refusals_of_one_query_are_listed_and_the_others_asked(folder: Path, stub: str) -> None:
    Stub.answer = (400, b'{"status": "error", "errorType": "bad_data", "error": "no such \\u001b[31mthing"}', {})
    code, out, _ = run(folder, "--from-prometheus", stub)
    assert code == 0
    assert "refused: bad_data: no such" in out
    assert "\x1b" not in out
    assert len(Stub.asked) > 4


def test_credentials_log_in_and_are_never_shown(folder: Path, stub: str) -> None:
    code, out, err = run(folder, "--from-prometheus", stub.replace("//", "//ann:hush-hush@"))
    assert code == 0
    assert Stub.logins[0].startswith("Basic ")
    assert stub in out
    for url in ("http://ann:hush-hush@:80", "ftp://ann:hush-hush@h", "http://ann:hush-hush@h/?q=1", "http://ann:hush-hush@h:x",
                "http://ann:hush-hush@127.0.0.1:9"):  # fmt: skip
        code, out_, err_ = run(folder, "--from-prometheus", url)
        assert code == 2
        assert "hush" not in out_ + err_
    assert "hush" not in out + err


@pytest.mark.parametrize(
    "words",
    [("--window", "1 s"), ("--window", "9999 d"), ("--window", "6"), ("--share", "0"), ("--share", "120 %"),
     ("--share", "x"), ("--to", "nan"), ("--to", "1e300"), ("--time-limit", "0")],
)  # fmt: skip
def test_options_that_make_no_sense(folder: Path, stub: str, words: tuple[str, str]) -> None:
    code, _, err = run(folder, "--from-prometheus", stub, *words)
    assert code == 2, err
    assert not Stub.asked


def test_a_design_states_its_values_itself(tmp_path: Path) -> None:
    (tmp_path / "design.yaml").write_text("coherence: 1\ntimers: {t: {from: x, after: 1 s, then: y}}\n")
    code, _, err = run(tmp_path)
    assert code == 2
    assert "there are no manifests" in err


def test_a_check_of_manifests_says_what_lists_the_lines_to_add(folder: Path, tmp_path: Path) -> None:
    hint = "(`coherence overlay` lists what to state)."
    assert hint in render("text", check(folder))
    design = tmp_path / "design.yaml"
    design.write_text(
        "coherence: 1\ncomponents: {web: {}}\ntimers: {live: {from: web.load starts, every: 10 s, misses: 3, "
        "unless: web.load ends, then: restart web}}\n"
    )
    text = render("text", check(design))
    assert "1 default promise needs the time of a start." in text
    assert hint not in text


def test_the_module_is_a_command() -> None:
    assert overlay.command.name == "overlay"


# -- a real one -----------------------------------------------------------------------------------------

PROMETHEUS = shutil.which("prometheus")
BOUNDS = (0.05, 0.25, 0.5, 1.0)


class Exporter(http.server.BaseHTTPRequestHandler):
    """Two starts of `web` in the window, of 14 and 33 s, an older one, a pod that is not ready, one of `web-api`; a
    histogram whose answers take 50 ms to 500 ms; half a processor for each pod.
    """

    scrapes: ClassVar[int] = 0
    began: ClassVar[float] = 0.0

    def do_GET(self) -> None:
        Exporter.scrapes += 1
        now = math.floor(self.began)
        pods = {  # pod, its number where the name comes again -> (container started, ready)
            "web-7d9f8b6c5d-x2x4z": (now - 40, now - 26),
            "web-7d9f8b6c5d-b9c4d": (now - 38, now - 5),
            "web-7d9f8b6c5d-zld44": (now - 90_000, now - 1_000),
            "web-7d9f8b6c5d-x2x4z 2": (now - 90_000, now - 900),
            "web-api-7d9f8b6c5d-x2x4z": (now - 40, now - 39),
        }
        lines = []
        for pod, (started, ready) in pods.items():
            labels = f'namespace="prod",pod="{pod.partition(" ")[0]}",uid="{pod}"'
            lines += [
                f"kube_pod_start_time{{{labels}}} {started - 3}",
                f'kube_pod_container_state_started{{{labels},container="web"}} {started}',
                f"kube_pod_status_ready_time{{{labels}}} {ready}",
                f'kube_pod_status_ready{{{labels},condition="true"}} 1',
                f'kube_pod_status_ready{{{labels},condition="false"}} 0',
                f'kube_pod_container_status_restarts_total{{{labels},container="web"}} 0',
                f'container_cpu_usage_seconds_total{{{labels},container="web"}} {0.5 * (time.time() - self.began)}',
            ]
        istio = 'reporter="destination",destination_workload="web",destination_workload_namespace="prod"'
        name, n = "istio_request_duration_milliseconds_bucket", Exporter.scrapes
        counts = (0, 60 * n, 100 * n, 100 * n, 100 * n)
        bounds = [f"{1000 * bound:g}" for bound in BOUNDS]
        lines += [f'{name}{{{istio},le="{le}"}} {k}' for le, k in zip((*bounds, "+Inf"), counts, strict=True)]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("\n".join(lines) + "\n").encode())

    def log_message(self, *words: object) -> None:
        pass


@pytest.mark.slow
@pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed")
def test_a_real_prometheus_turns_questions_into_verdicts(folder: Path, tmp_path: Path) -> None:
    assert PROMETHEUS is not None
    exporter = http.server.ThreadingHTTPServer((LOOPBACK, 0), Exporter)
    thread = threading.Thread(target=exporter.serve_forever)
    Exporter.scrapes, Exporter.began = 0, time.time()
    thread.start()
    (port,), target = free_ports(1), f"{LOOPBACK}:{exporter.server_address[1]}"
    (tmp_path / "p.yml").write_text(
        "global: {scrape_interval: 500ms, scrape_timeout: 400ms}\nscrape_configs:\n"
        f'- {{job_name: t, honor_labels: true, static_configs: [{{targets: ["{target}"]}}]}}\n'
    )
    options = ["--config.file=p.yml", "--storage.tsdb.path=data", f"--web.listen-address={LOOPBACK}:{port}"]
    try:
        with ProcessGroup(tmp_path) as processes:
            processes.start("prometheus", [PROMETHEUS, *options])
            processes.until(lambda: Exporter.scrapes >= 44, "44 scrapes, 22 s (a subquery steps by 15 s)", seconds=90)
            _check_real(folder, f"http://{LOOPBACK}:{port}")
    finally:
        exporter.shutdown()
        exporter.server_close()
        thread.join()


def _check_real(folder: Path, url: str) -> None:
    target = folder / "overlay.yaml"
    code, _, err = run(folder, "--from-prometheus", url, "-o", target, "--window", "10 min")
    assert code == 0, err
    text = target.read_text()
    assert "load: 14 s .. 33 s" in text, text
    assert "# 2 samples of kube-state-metrics" in text
    assert "serve: 50 ms .. 500 ms" in text
    (demand,) = [line for line in text.splitlines() if line.strip().startswith("demand:")]
    highest = float(demand.rpartition(" ")[2])
    assert 2 * 16 / 300 < highest < 2 * 40 / 300  # four pods of half a processor: some 20 s of the 5 min
    found: dict[str, Any] = {f"{f.code} {f.verdict.value}": f for f in check(folder).findings}
    assert "COH206 conflict" in found  # the probe ends a start after 20 s to 31 s
    assert "COH307 undecided" in found  # it assumes that no timer takes web out
    (folder / "web.yaml").write_text(MANIFESTS.replace("port: 80}}", "port: 80}, initialDelaySeconds: 60}"))
    assert {"COH206 proved", "COH307 proved"} <= {f"{f.code} {f.verdict.value}" for f in check(folder).findings}


def test_the_first_fact_is_written_as_an_overlay_takes_it(folder: Path) -> None:
    code, text, _ = run(folder)
    assert code == 0
    before = {finding.code for finding in check(folder).findings}
    line = text.partition("the first one is written `")[2].partition("`")[0]
    asker = text.partition("asked for by ")[2][:6]
    (folder / "overlay.yaml").write_text(text + line.replace("LOW s .. HIGH s", "20 s .. 40 s") + "\n")
    assert asker in {finding.code for finding in check(folder).findings} - before
