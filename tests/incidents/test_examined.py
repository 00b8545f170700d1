"""Reproductions of examinations whose right answer is no finding: what is not read is named, and nothing looks clean.

Those of which a question answers stand in examined.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence.checking.reports import check
from coherence.cli._run import run
from coherence.findings.finding import Verdict

LONG_TASKS = """\
coherence: 1
workload:
  chat: {rate: 20 req/s, service: {mean: 100 ms, cv: 1}}
  report: {rate: 0.1 req/s, service: {mean: 60 s, cv: 0.2}}
components: {pool: {copies: 12}}
calls:
  - {from: chat, to: pool, per_try: 100 s, tries: 1, on_timeout: cancel}
  - {from: report, to: pool, per_try: 1 h, tries: 1, on_timeout: cancel}
"""
ONE_LINK = """\
coherence: 1
workload: {r: {rate: 400 req/s}}
infrastructure:
  tiers: {pre: {uses: h100_sxm, count: 64}, dec: {uses: mi300x, count: 64}}
  links: [{ends: [pre, dec], uses: ethernet_100g, count: 1}]
components:
  pq: {uses: queue, arrivals: r.attempts, served_by: prefill}
  prefill: {uses: replica_pool, runs_on: pre, rate_per_replica: 10 req/s, takes: {start: 1 s}}
  dq: {uses: queue, arrivals: pq.served, served_by: decode}
  decode: {uses: replica_pool, runs_on: dec, rate_per_replica: 10 req/s, takes: {start: 1 s}}
"""
TRAINING = """\
coherence: 1
infrastructure: {tiers: {h100: {uses: h100_sxm, count: 1024}}}
components:
  training: {runs_on: h100, copies: 1024, takes: {step: 900 ms .. 1100 ms, checkpoint: 30 s, restart: 2 min}, mtbf: 3 h}
"""


def test_a_design_about_which_nothing_is_asked_is_not_green(tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(TRAINING, encoding="utf-8")
    report = check(file)
    assert report.accounting.unanswered == 1
    named = {"components.training.mtbf", "tiers.h100.count"}  # bound is about it
    assert named <= {line.path for line in report.not_read}
    assert run(["check", str(file), "--strict"]) == 4


def test_long_tasks_beside_short_ones_load_what_serves_both(tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(LONG_TASKS, encoding="utf-8")
    report = check(file)
    (finding,) = report.findings
    assert (finding.code, finding.verdict) == ("COH245", Verdict.PROVED)  # 20 x .1 + .1 x 60 = 8 of 12
    assert {"workload.chat.service.cv", "workload.report.service.cv"} <= {line.path for line in report.not_read}


def test_transfers_over_one_link_are_asked_for_their_size(tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(ONE_LINK, encoding="utf-8")
    (finding,) = check(file).findings
    assert (finding.code, finding.verdict) == ("COH508", Verdict.UNDECIDED)
    assert "needs `carries` of dq" in finding.message
    assert run(["check", str(file), "--strict"]) == 4


def test_a_limit_on_failures_that_no_question_counts_is_named(tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(
        "coherence: 1\n"
        "calls: [{from: client, to: model, per_try: 10 s, tries: 4, retry_when: [timeout], on_timeout: abandon}]\n"
        "limits: {allowed_fails: {counts: model.failures, at_most: 3, window: 1 min, when_full: reject}}\n",
        encoding="utf-8",
    )
    counting = {line.path for line in check(file).not_read if line.counts}
    assert counting == {f"limits.allowed_fails.{key}" for key in ("counts", "at_most", "window", "when_full")}


QUEUE = """\
coherence: 1
workload: {clients: {rate: 120 req/s, service: {mean: 40 ms, cv: 1}}}
components: {workers: {copies: 8}}
calls: [{from: clients, to: workers, per_try: 250 ms, tries: 2, on_timeout: abandon}]
"""
BUCKET = """\
coherence: 1
workload: {clients: {rate: 120 req/s, service: {mean: 40 ms, cv: 1}}}
components:
  bucket: {uses: token_bucket, rate: 60 req/s, burst: 10 req, arrivals: clients.attempts}
  workers: {copies: 8}
calls: [{from: clients, to: bucket}, {from: bucket, to: workers}]
"""


@pytest.mark.parametrize(
    ("text", "succeed"),
    [
        (QUEUE + "limits: {rl: {counts: clients.requests, at_most: 60, window: 1 s, when_full: reject}}\n", (45, 60)),
        (BUCKET, (45, 60)),
        (QUEUE.replace("cv: 1}", "cv: 1}, deadline: 60 ms"), (65, 85)),
        (QUEUE.replace("cv: 1}", "cv: 1, max: 50 ms}"), (99, 100)),
    ],
    ids=["window", "bucket", "deadline", "most"],
)
def test_a_run_has_what_is_stated(
    text: str, succeed: tuple[float, float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(text, encoding="utf-8")
    assert run(["simulate", str(file), "--for", "60 s", "--runs", "2", "--strict", "-o", "json"]) == 0
    (design,) = json.loads(capsys.readouterr().out)["designs"]
    assert not [row for row in design["not_read"] if row["counts"]]
    (share,) = [row["value"] for row in design["readings"] if row["what"] == "succeed"]
    assert succeed[0] <= share <= succeed[1]


def test_a_run_judges_a_promise_about_what_it_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "design.yaml"
    overloaded = QUEUE.replace("copies: 8", "copies: 4")
    file.write_text(overloaded + "promises: {quick: always workers.wait <= 100 ms}\n", encoding="utf-8")
    assert run(["simulate", str(file), "--for", "60 s", "--runs", "1"]) == 1
    assert "quick  broken       always workers.wait <= 100 ms: not so at" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            QUEUE + "timers: {cb: {uses: circuit_breaker_open, from: workers fails, then: retry workers}}\n",
            ["timers.cb.uses", "timers.cb.from", "timers.cb.then"],
        ),
        (
            QUEUE + "timers: {liveness: {from: workers slow, every: 1 s, misses: 1, then: restart workers}}\n",
            ["timers.liveness.from", "timers.liveness.every", "timers.liveness.misses", "timers.liveness.then"],
        ),
    ],
    ids=["breaker", "restart"],
)
def test_a_run_names_what_it_does_not_run_in_every_format(
    text: str, named: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(text, encoding="utf-8")
    words = ["simulate", str(file), "--for", "5 s", "--runs", "1"]
    assert run([*words, "-o", "json"]) == 0
    (design,) = json.loads(capsys.readouterr().out)["designs"]
    assert [path(row) for row in design["not_read"] if row["counts"]] == named
    assert run([*words, "--strict"]) == 4
    section, entry, key = named[0].split(".", 2)
    line = next(line for line in capsys.readouterr().out.split("\n") if f"of {section} {entry}" in line)
    assert key in line


def path(row: dict[str, Any]) -> str:
    return ".".join((row["section"], row["entry"], row["key"]))


def test_calls_of_one_caller_are_said_to_be_made_in_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(
        "coherence: 1\nworkload: {c: {rate: 6 req/s, service: {mean: 100 ms, cv: 1}}}\n"
        "components: {left: {copies: 1}, right: {copies: 1}}\ncalls: [{from: c, to: left}, {from: c, to: right}]\n",
        encoding="utf-8",
    )
    assert run(["simulate", str(file), "--for", "5 s", "--runs", "1"]) == 0
    assert "  c calls left, right one after another\n" in capsys.readouterr().out
