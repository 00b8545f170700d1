"""Gunicorn and Uvicorn: what their workers take, when one is killed, and the drain against the grace of the pod."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text


def pod(command: str, grace: str = "") -> str:
    spec = f"{grace}containers: [{{name: web, command: [sh, -c, '{command}']}}]"
    return f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{template: {{spec: {{{spec}}}}}}}\n"


def read(command: str) -> Design:
    return importers.design_from_sources({"web.yaml": pod(command)})


@pytest.mark.parametrize(
    ("command", "most", "full"),
    [
        ("gunicorn app:app --workers 4", "4", "wait"),
        ("exec gunicorn -w 4 --threads 8 app:app", "32", "wait"),
        ("python -m gunicorn --workers=2 --worker-class gthread --threads=3 app:app", "6", "wait"),
        ("uvicorn app:app --limit-concurrency 100", "100", "reject"),
    ],
)
def test_what_a_replica_works_on_is_a_limit(command: str, most: str, full: str) -> None:
    (limit,) = read(command).limits.values()
    assert (text(limit.counts), text(limit.at_most), text(limit.when_full)) == ("web.ongoing", most, full)


@pytest.mark.parametrize(
    "command",
    ["gunicorn app:app", "gunicorn -k gevent -w 4 app:app", "gunicorn -w $WORKERS app:app", "uvicorn app:app"],
)
def test_what_is_not_known_is_no_limit(command: str) -> None:
    assert not read(command).limits


@pytest.mark.parametrize(
    ("command", "after"),
    [
        ("gunicorn --timeout 30 app:app", "30 s"),
        ("gunicorn -t 30 -k sync app:app", "30 s"),
        ("gunicorn --timeout 0 app:app", ""),
        ("gunicorn --timeout 30 --threads 4 app:app", ""),
        ("gunicorn --timeout 30 -k uvicorn.workers.UvicornWorker app:app", ""),
    ],
)
def test_the_timeout_of_a_sync_worker_is_that_of_a_request(command: str, after: str) -> None:
    timers = read(command).timers
    assert [text(timer.after) for name, timer in timers.items() if "worker" in name] == ([after] if after else [])


@pytest.mark.parametrize(
    ("command", "grace", "conflict"),
    [
        ("gunicorn --graceful-timeout 120 app:app", "", True),
        ("gunicorn --graceful-timeout 120 app:app", "terminationGracePeriodSeconds: 180, ", False),
        ("uvicorn app:app --timeout-graceful-shutdown 60", "terminationGracePeriodSeconds: 45, ", True),
        ("gunicorn --graceful-timeout 20 app:app", "", False),
        ("gunicorn --graceful-timeout 30 app:app", "", False),
    ],
)
def test_a_drain_beyond_the_grace_of_its_pod_is_a_conflict(
    command: str, grace: str, conflict: bool, tmp_path: Path
) -> None:
    (tmp_path / "web.yaml").write_text(pod(command, grace))
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH207"} if conflict else set())


@pytest.mark.parametrize(
    ("command", "after"),
    [
        ("gunicorn -k gthread --keep-alive 2 app:app", ["2 s"]),
        ("uvicorn app:app --timeout-keep-alive 75", ["75 s"]),
        ("uvicorn app:app", []),
    ],
)
def test_an_idle_connection_is_closed_after_a_time(command: str, after: list[str]) -> None:
    timers = read(command).timers.values()
    assert [text(timer.after) for timer in timers if text(timer.start) == "last request of web"] == after
