"""nginx: a call for each location, with what is written in it or around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Call, Design
from tests.importers.value_texts import text

APP = "upstream app { server a:80; server b:80; server c:80; }"


def read(text: str) -> Design:
    return importers.design_from_sources({"edge.conf": text})


def call(location: str, *, server: str = "", http: str = "") -> Call:
    (only,) = read(f"http {{ {http} {APP} server {{ {server} location / {{ {location} }} }} }}\n").calls
    return only


def test_a_location_without_an_upstream_is_tried_once() -> None:
    route = call("proxy_pass http://web:3000/api;")
    assert (route.name, text(route.per_try), text(route.tries[0])) == ("edge -> web", "60 s", "1")
    assert text(route.timeout_kind) == "between bytes"


def test_an_upstream_is_tried_once_for_each_of_its_servers() -> None:
    route = call("proxy_pass http://app;")
    assert (route.name, text(route.tries[0]), [text(cause) for cause in route.retry_when or ()]) == (
        "edge -> app", "3", ["error", "timeout"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "tries"),
    [("proxy_next_upstream_tries 2;", "2"), ("proxy_next_upstream_tries 0;", "3"),
     ("proxy_next_upstream_tries 9;", "3"), ("proxy_next_upstream off;", "1")],
)  # fmt: skip
def test_tries_are_at_most_those_that_are_written(setting: str, tries: str) -> None:
    assert text(call(f"proxy_pass http://app; {setting}").tries[0]) == tries


def test_the_innermost_directive_holds() -> None:
    times = [
        call("proxy_pass http://web;", http="proxy_read_timeout 1m;").per_try,
        call("proxy_pass http://web;", server="proxy_read_timeout 30;", http="proxy_read_timeout 1m;").per_try,
        call("proxy_pass http://web; proxy_read_timeout 1m 30s;", server="proxy_read_timeout 30;").per_try,
    ]
    assert [text(time) for time in times] == ["60 s", "30 s", "90 s"]


def test_words_are_causes() -> None:
    route = call("proxy_pass http://app; proxy_next_upstream error http_504 timeout http_500 non_idempotent;")
    assert [text(cause) for cause in route.retry_when or ()] == ["error", "timeout", "status_500"]


def test_a_variable_that_is_set_around_is_followed_and_another_one_is_named() -> None:
    assert call("proxy_pass http://$up/x;", server="set $up gateway:8001;").name == "edge -> gateway"
    design = read("server { location / { proxy_pass http://$host; } }\n")
    assert not design.calls
    assert any("its host is known at run time" in words for _, words in design.not_modelled)


@pytest.mark.parametrize("protocol", ["fastcgi", "uwsgi", "scgi", "grpc"])
def test_other_protocols_have_their_own_times(protocol: str) -> None:
    assert text(call(f"{protocol}_pass app:9000; {protocol}_read_timeout 5s;").per_try) == "5 s"


def test_locations_inside_locations_and_several_servers_are_routes() -> None:
    inner = "location /a { location /a/b { proxy_pass http://b; } proxy_pass http://a; }"
    design = read(f"http {{ server {{ {inner} }} server {{ location / {{ proxy_pass http://c; }} }} }}\n")
    assert [(route.name, [text(case) for case in route.cases]) for route in design.calls] == [
        ("edge -> a", ["route_1"]), ("edge -> b", ["route_2"]), ("edge -> c", ["route_3"]),
    ]  # fmt: skip


@pytest.mark.parametrize("time", ["soon", "-1s", "1.5s", "5 minutes"])
def test_a_time_that_nginx_refuses_is_told(time: str) -> None:
    with pytest.raises(InputError, match=r"edge.conf:2:.*proxy_read_timeout"):
        read(f"server {{ location / {{ proxy_pass http://a;\nproxy_read_timeout {time}; }} }}\n")


OVERLAY = "coherence: 1\noverlays: manifests\ncomponents: {web: {takes: {first_byte: 150 s .. 240 s}}}\n"


def test_a_read_timeout_below_the_time_to_the_first_byte_is_a_conflict(tmp_path: Path) -> None:
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    (tmp_path / "nginx.conf").write_text("server { location / { proxy_pass http://web; proxy_read_timeout 2m; } }\n")
    (finding,) = [f for f in check(tmp_path).findings if f.code == "COH201"]
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "certain")
    assert "300s" in {edit.new for repair in finding.repairs for edit in repair.edits}


def test_its_repaired_twin_is_proved_by_the_whole_answer(tmp_path: Path) -> None:
    (tmp_path / "overlay.yaml").write_text(OVERLAY.replace("first_byte", "answer"))
    (tmp_path / "nginx.conf").write_text("server { location / { proxy_pass http://web; proxy_read_timeout 5m; } }\n")
    assert [f.verdict for f in check(tmp_path).findings if f.code == "COH201"] == [Verdict.PROVED]


def test_a_file_of_another_syntax_is_listed_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text("KillWait=30\nSchedulerType=sched/backfill\n")
    (tmp_path / "nginx.conf").write_text("server { location / { proxy_pass http://web; } }\n")
    (skipped,) = check(tmp_path).skipped
    assert (Path(skipped.path).name, skipped.kind) == ("slurm.conf", "file of another syntax")


def test_a_time_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="proxy_read_timeout"):
        call(f"proxy_pass http://web; proxy_read_timeout {'1' * 300}x;")


def test_who_asks_is_no_part_of_the_host() -> None:
    assert call("proxy_pass http://admin:hunter2@web:80/x;").name == "edge -> web"


def test_what_is_said_of_a_server_and_not_modelled_is_named() -> None:
    location = "server { location / { proxy_pass http://app; } }"
    group = f"http {{ upstream app {{ server a:80 weight=3; server b:80 backup; }} {location} }}"
    assert any("weights and failure counts" in words for _, words in read(group).not_modelled)
    assert not any("weights" in words for _, words in read(group.replace(" weight=3", "")).not_modelled)
