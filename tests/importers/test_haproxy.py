"""HAProxy: a call for each backend, what its servers take, its checks, and the defaults that hold for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Call, Design
from tests.importers.value_texts import text

SERVER = "server a web:80"


def read(text: str) -> Design:
    return importers.design_from_sources({"edge.cfg": text})


def call(*lines: str, defaults: str = "timeout server 30s") -> Call:
    body = "\n  ".join([*lines, *(() if any(line.startswith("server ") for line in lines) else (SERVER,))])
    (only,) = read(f"defaults\n  {defaults}\nbackend app\n  {body}\n").calls
    return only


def causes(route: Call) -> list[str]:
    return [text(cause) for cause in route.retry_when or ()]


def test_what_is_not_written_is_the_default_of_the_part() -> None:
    route = call()
    assert (route.name, text(route.per_try), text(route.tries[0]), causes(route)) == (
        "edge -> web", "30 s", "4", ["connect_failure"],
    )  # fmt: skip
    assert (text(route.timeout_kind), text(route.pause)) == ("between bytes", "1 s")


@pytest.mark.parametrize(
    ("time", "means"), [("5000", "5 s"), ("2m", "2 min"), ("250ms", "250 ms"), ("1d", "24 h"), ("30s", "30 s")]
)
def test_times_are_milliseconds_where_they_have_no_unit(time: str, means: str) -> None:
    assert text(call(f"timeout server {time}").per_try) == means


def test_retries_come_after_the_first_try() -> None:
    assert text(call("retries 2").tries[0]) == "3"
    assert text(call("retries 0").tries[0]) == "1"
    assert text(call("retry-on none", "retries 5").tries[0]) == "1"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("conn-failure response-timeout", ["connect_failure", "timeout"]),
        ("empty-response 503 504 408", ["reset", "unavailable", "timeout", "status_408"]),
        ("0rtt-rejected", ["early_data_rejected"]),
    ],
)
def test_words_are_causes(words: str, expected: list[str]) -> None:
    assert causes(call(f"retry-on {words}")) == expected


def test_a_failed_connection_takes_as_long_as_it_may_and_is_tried_after_a_pause() -> None:
    route = call("timeout connect 500ms")
    assert route.fails is not None
    assert (text(route.fails["connect_failure"]), text(route.pause)) == ("0 s .. 500 ms", "500 ms")
    assert text(call("option redispatch 1").pause) == "0 s"
    assert text(call("retry-on response-timeout").pause) == "0 s"
    assert text(call("option redispatch").pause) == "0 s .. 1 s"  # at once where another server may be chosen
    assert text(call("option redispatch", "timeout connect 500ms").pause) == "0 s .. 500 ms"


@pytest.mark.parametrize(
    ("lines", "server", "lasts"),
    [
        ("", "inter 3s", 3),
        ("timeout check 1s", "inter 3s", 4),
        ("timeout check 1s", "", 3),
        ("timeout connect 500ms\n timeout check 1s", "inter 3s", 1.5),
        ("timeout connect 9s\n timeout check 1s", "inter 3s", 4),
    ],
)
def test_a_check_lasts_as_long_as_connecting_and_timeout_check(lines: str, server: str, lasts: float) -> None:
    (timer,) = read(f"backend app\n {lines}\n {SERVER} check {server}\n").timers.values()
    assert timer.reply_within is not None
    assert timer.reply_within.high == lasts
    assert text(timer.paced_by) == "reply"


def test_the_defaults_before_a_backend_hold_or_those_that_it_names() -> None:
    sections = "defaults slow\n timeout server 1m\ndefaults fast\n timeout server 1s\n"
    last = read(f"{sections}backend app\n {SERVER}\n").calls[0]
    named = read(f"{sections}backend app from slow\n {SERVER}\n").calls[0]
    own = read(f"{sections}backend app from slow\n timeout server 5s\n {SERVER}\n").calls[0]
    assert [text(route.per_try) for route in (last, named, own)] == ["1 s", "60 s", "5 s"]


def test_servers_on_several_hosts_are_their_backend_and_each_backend_is_a_route() -> None:
    design = read(f"backend app\n server a one:80\n server b two:80\nlisten other\n bind :81\n {SERVER}\n")
    assert [(route.name, [text(case) for case in route.cases]) for route in design.calls] == [
        ("edge -> app", ["route_1"]), ("edge -> web", ["route_2"]),
    ]  # fmt: skip


def test_the_requests_of_all_servers_are_one_limit_without_those_in_reserve() -> None:
    design = read(
        "backend app\n default-server maxconn 100\n server a x:80\n server b y:80 maxconn 50\n server c z:80 backup\n"
    )
    (limit,) = design.limits.values()
    assert (text(limit.counts), text(limit.at_most), text(limit.when_full)) == ("app.requests in flight", "150", "wait")
    assert not read("backend app\n server a x:80 maxconn 9\n server b y:80\n").limits


def test_a_check_is_a_timer_that_takes_servers_out() -> None:
    (timer,) = read("backend app\n default-server inter 3s fall 2\n server a web:80 check rise 2\n").timers.values()
    assert (text(timer.start), text(timer.every), text(timer.misses), text(timer.reply_within), text(timer.then)) == (
        "web hangs", "3 s", "2", "3 s", "unlist web",
    )  # fmt: skip
    assert not read(f"backend app\n {SERVER}\n").timers


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("timeout server soon", "timeout server is 'soon'"),
        ("retries many", "retries is 'many'"),
        ("server a web:80 check inter -1", "inter is '-1'"),
        ("server a web:80 check fall 0", "fall is '0'"),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_line(line: str, message: str) -> None:
    with pytest.raises(InputError, match=f"edge.cfg:3:.*{message}"):
        read(f"backend app\n {SERVER}\n {line}\n")


def test_a_variable_of_the_environment_is_listed() -> None:
    design = read(f'backend app\n timeout server "${{TIMEOUT}}"\n {SERVER}\n')
    assert any("known at run time" in words for _, words in design.not_modelled)


def test_what_is_not_read_is_listed_and_wiring_in_one_line() -> None:
    listed = [
        words
        for _, words in read(
            f"frontend in\n bind :80\n log global\n timeout client 1m\nbackend a\n {SERVER}\n"
        ).not_modelled
    ]
    assert any("haproxy.bind, haproxy.log (names, labels" in words for words in listed)
    assert any(words.endswith("timeout client") for words in listed)


OVERLAY = """\
coherence: 1
overlays: manifests
components: {web: {takes: {serve: 100 ms .. 60 s}}}
timers: {gunicorn: {from: web.serve starts, after: 30 s, unless: web.serve ends, then: kill web}}
promises: {once: attempts(web) per call(edge) <= 2}
"""


def test_retries_on_slow_answers_multiply_work_and_their_repaired_twin_does_not(tmp_path: Path) -> None:
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    slow = (
        "defaults\n timeout server 50000ms\n retries 3\nbackend app\n retry-on all-retryable-errors\n server a web:80\n"
    )
    (tmp_path / "edge.cfg").write_text(slow)
    assert "COH202" in {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    (tmp_path / "edge.cfg").write_text(slow.replace("retries 3", "retries 1"))
    assert "COH202" not in {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}


def test_a_file_of_another_syntax_is_listed_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = x\n")
    (tmp_path / "edge.cfg").write_text(f"backend app\n {SERVER}\n")
    (skipped,) = check(tmp_path).skipped
    assert (Path(skipped.path).name, skipped.kind) == ("setup.cfg", "file of another syntax")


def test_backends_that_share_a_server_limit_it_each_by_itself() -> None:
    written = "defaults\n  timeout server 9s\nbackend app\n  server app1 app1:80 maxconn 99\n"
    one = importers.design_from_sources({"haproxy.cfg": written})
    assert [text(limit.at_most) for limit in one.limits.values()] == ["99"]
    two = importers.design_from_sources({"haproxy.cfg": written + "backend slow\n  server app1 app1:80 maxconn 10\n"})
    assert not two.limits
    assert sum("2 clusters go to it, and each counts by itself" in words for _, words in two.not_modelled) == 2
