"""Compose files: copies, what is reserved, health checks that others wait for, the time to stop, commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language import document
from coherence.language.design import Design
from tests.importers.test_hostile_manifests import HOSTILE, paths, problems, replaced
from tests.importers.value_texts import text


def compose(service: str, more: str = "") -> str:
    return f"services:\n  db: {{image: postgres, {service}}}\n{more}"


def read(service: str, more: str = "") -> Design:
    return importers.design_from_sources({"compose.yaml": compose(service, more)})


@pytest.mark.parametrize("copies", ["deploy: {replicas: 3}", "scale: 3", "deploy: {replicas: '${N:-3}'}"])
def test_copies_are_those_that_are_written(copies: str) -> None:
    assert text(read(copies).components["db"].copies) == "3"


def test_what_is_reserved_is_what_one_container_needs() -> None:
    devices = "devices: [{driver: nvidia, count: 2, capabilities: [gpu]}]"
    design = read(f"deploy: {{resources: {{reservations: {{cpus: '0.5', memory: 512M, {devices}}}}}}}")
    needs = design.components["db"].needs
    assert isinstance(needs, dict)
    assert {key: text(value) for key, value in needs.items()} == {"cpu": "0.5", "memory": "512 MiB", "gpu": "2 gpu"}
    older = read("mem_reservation: 1.5gb").components["db"].needs
    assert isinstance(older, dict)
    assert text(older["memory"]) == "1.5 GiB"


WAITS = "  web: {build: ., depends_on: {db: {condition: service_healthy}}}\n"


def test_a_check_that_somebody_waits_for_ends_his_start() -> None:
    check_ = "healthcheck: {test: [CMD, x], interval: 5s, timeout: 2s, retries: 4, start_period: 1m}"
    timer = read(check_, WAITS).timers["db_health"]
    assert (text(timer.first), text(timer.every), text(timer.misses), text(timer.reply_within)) == (
        "60 s", "5 s", "4", "2 s",
    )  # fmt: skip
    assert text(timer.then) == "abort web.load"
    assert text(read(check_).timers["db_health"].then) == "report db"


def test_what_is_not_written_of_a_check_is_the_default_of_docker() -> None:
    timer = read("healthcheck: {test: x}").timers["db_health"]
    assert (text(timer.first), text(timer.every), text(timer.misses), text(timer.reply_within)) == (
        "30 s", "30 s", "3", "30 s",
    )  # fmt: skip


@pytest.mark.parametrize("off", ["disable: true", "test: NONE", "test: [NONE]"])
def test_a_check_that_is_off_is_none(off: str) -> None:
    assert not read(f"healthcheck: {{{off}}}").timers


OVERLAY = """\
coherence: 1
overlays: manifests
components: {db: {takes: {load: 5 s .. 40 s}}}
"""


@pytest.mark.parametrize(("period", "conflict"), [("0s", True), ("60s", False)])
def test_a_start_that_outlasts_its_check_keeps_others_from_starting(
    period: str, conflict: bool, tmp_path: Path
) -> None:
    check_ = f"healthcheck: {{test: x, interval: 5s, timeout: 1s, retries: 3, start_period: {period}}}"
    (tmp_path / "compose.yaml").write_text(compose(check_, WAITS))
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH206"} if conflict else set())


@pytest.mark.parametrize(
    ("grace", "conflict"),
    [("", True), ("stop_grace_period: 30s, ", True), ("stop_grace_period: 60s, ", False),
     ("stop_grace_period: 2m, ", False)],
)  # fmt: skip
def test_a_drain_beyond_the_time_to_stop_is_a_conflict(grace: str, conflict: bool, tmp_path: Path) -> None:
    command = "command: gunicorn app:app --graceful-timeout 60"
    (tmp_path / "compose.yaml").write_text(compose(f"{grace}{command}"))
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH207"} if conflict else set())


@pytest.mark.parametrize(
    "service",
    ["image: vllm/vllm-openai, command: --model m --max-num-seqs 64",
     "build: ., command: [vllm, serve, m, --max-num-seqs=64]",
     "build: ., entrypoint: [sh, -c], command: ['vllm serve m --max-num-seqs 64']"],
)  # fmt: skip
def test_flags_of_known_programs_are_read(service: str) -> None:
    design = importers.design_from_sources({"compose.yaml": f"services: {{llm: {{{service}}}}}\n"})
    assert text(design.limits["llm_max_num_seqs"].at_most) == "64"


def test_a_service_is_the_host_that_a_proxy_calls() -> None:
    nginx = "http { server { location / { proxy_pass http://db:80; proxy_read_timeout 5s; } } }"
    design = importers.design_from_sources({"compose.yaml": compose("scale: 2"), "nginx.conf": nginx})
    (call,) = design.calls
    assert (text(call.callee), text(design.components["db"].copies)) == ("db", "2")


def test_no_value_of_an_environment_is_shown_and_the_rest_is_listed() -> None:
    design = read("environment: {PASSWORD: hunter22}, restart: always, oom_score_adj: 5, scale: '${N}'")
    listed = " ".join(words for _, words in design.not_modelled)
    assert "hunter22" not in listed
    assert all(key in listed for key in ("restart", "oom_score_adj", "scale (a variable, known at run time)"))


@pytest.mark.parametrize(
    "broken", ["stop_grace_period: soon", "healthcheck: {test: x, interval: 3 apples}", "scale: many"]
)
def test_a_value_that_is_none_is_refused(broken: str) -> None:
    with pytest.raises(InputError, match=r"compose\.yaml:2"):
        read(broken)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("services: {a: {image: b}}\n", "Compose"),
        ("services: {a: {build: .}}\n", "Compose"),
        ("services: {a: {url: b}}\n", ""),
        ("services: []\n", ""),
        ("services: {}\n", ""),
    ],
)
def test_it_is_known_by_its_content(content: str, kind: str) -> None:
    (source,) = document.read_text(content, "a.yaml")
    assert importers.kind_of(source) == kind


@pytest.mark.slow
def test_hostile_values_are_read_or_refused() -> None:
    body: dict[str, Any] = {
        "services": {
            "db": {
                "image": "x", "command": ["gunicorn", "-w", "2"], "scale": 2, "stop_grace_period": "10s",
                "healthcheck": {"test": ["CMD", "x"], "interval": "5s", "retries": 2},
                "deploy": {"replicas": 2, "resources": {"reservations": {"cpus": "1", "devices": [{"count": 1}]}}},
                "depends_on": {"web": {"condition": "service_healthy"}},
            },
            "web": {"build": ".", "depends_on": ["db"]},
        }
    }  # fmt: skip
    for path in paths(body):
        for value in HOSTILE[::3]:
            assert problems(json.dumps(replaced(body, path, value)), "compose.yaml") >= 0
