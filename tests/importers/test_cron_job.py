"""CronJob: how often its jobs start, whether one may overlap the next, and their time limit."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.importers.cron_job import least_gap
from coherence.language.design import Design

JOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec: {schedule: "*/5 * * * *", jobTemplate: {spec: {template: {spec: {containers: []}}}}}
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"job.yaml": text})


@pytest.mark.parametrize(
    ("schedule", "seconds"),
    [("*/5 * * * *", 300), ("* * * * *", 60), ("0 * * * *", 3600), ("30 2 * * *", 86400), ("0 */6 * * *", 21600),
     ("*/25 * * * *", 600), ("0 */5 * * *", 14400), ("*/60 * * * *", 3600), ("@hourly", 3600), (" @daily ", 86400)],
)  # fmt: skip
def test_the_least_time_between_two_starts(schedule: str, seconds: int) -> None:
    assert least_gap(schedule) == seconds


@pytest.mark.parametrize("schedule", ["0 0 1 * *", "0 9 * * mon-fri", "*/0 * * * *", "5,9 * * * *", "soon", ""])
def test_other_schedules_are_not_guessed(schedule: str) -> None:
    assert least_gap(schedule) is None


@given(st.integers(1, 90))
def test_the_gap_is_the_least_that_the_minutes_have(step: int) -> None:
    minutes = [minute + 60 * hour for hour in range(3) for minute in range(0, 60, step)]
    assert least_gap(f"*/{step} * * * *") == min(b - a for a, b in itertools.pairwise(minutes)) * 60


@pytest.mark.parametrize(("policy", "timers"), [("Allow", 1), ("Forbid", 0), ("Replace", 0)])
def test_only_jobs_that_may_overlap_are_started_again(policy: str, timers: int) -> None:
    assert (
        len(read(JOB.replace("spec: {schedule", f"spec: {{concurrencyPolicy: {policy}, schedule", 1)).timers) == timers
    )


def test_a_policy_that_is_unknown_is_told() -> None:
    with pytest.raises(InputError, match="concurrencyPolicy is 'Never'"):
        read(JOB.replace("spec: {schedule", "spec: {concurrencyPolicy: Never, schedule", 1))


@pytest.mark.parametrize(("longest", "verdict"), [("40 min", Verdict.CONFLICT), ("4 min", Verdict.PROVED)])
def test_a_job_that_runs_longer_than_its_period_overlaps_itself(longest: str, verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    overlay = f"coherence: 1\noverlays: manifests\ncomponents: {{report: {{takes: {{run: 1 min .. {longest}}}}}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    (finding,) = [f for f in check(tmp_path).findings if f.code == "COH246"]
    assert finding.verdict is verdict
    assert not any("schedule" in edit.old or "* *" in edit.old for repair in finding.repairs for edit in repair.edits)


def test_schedules_whose_work_has_no_time_are_counted_once(tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text(JOB + "---\n" + JOB.replace("report", "other"))
    report = check(tmp_path)
    assert not [finding for finding in report.findings if finding.code == "COH246"]
    assert [(it.kind, it.number) for it in report.open_promises] == [("work", 2)]


def test_a_deadline_below_its_time_kills_it(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.replace("spec: {template", "spec: {activeDeadlineSeconds: 60, template"))
    overlay = "coherence: 1\noverlays: manifests\ncomponents: {report: {takes: {run: 2 min .. 4 min}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    assert Verdict.CONFLICT in {f.verdict for f in check(tmp_path).findings if f.code == "COH207"}


@pytest.mark.parametrize(
    ("schedule", "seconds"), [("*/45 */2 * * *", 2700), ("*/45 3 * * *", 2700), ("*/90 */6 * * *", 21600)]
)
def test_the_hours_count_where_minutes_are_steps(schedule: str, seconds: int) -> None:
    assert least_gap(schedule) == seconds


@pytest.mark.parametrize("schedule", [f"*/{'9' * 5000} * * * *", "75 * * * *", "0 24 * * *"])
def test_a_schedule_that_never_comes_has_no_gap(schedule: str) -> None:
    assert least_gap(schedule) is None


def test_a_suspended_job_starts_nothing() -> None:
    assert not read(JOB.replace("spec: {schedule", "spec: {suspend: true, schedule")).timers
