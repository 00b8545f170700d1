"""LocalQueue: it is found in its own namespace, and one that is stopped lets nobody in."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Verdict
from coherence.language.design import needed
from tests.importers.kueue_manifests import findings, job, not_modelled, queue, read


def test_a_queue_of_another_namespace_is_not_found() -> None:
    assert read(queue("a") + job("train", "a", 2)).jobs
    assert not read(queue("a").replace("namespace: team", "namespace: other") + job("train", "a", 2)).jobs


@pytest.mark.parametrize(
    ("of_queue", "of_job", "joined"),
    [("team", "", False), ("", "team", False), ("default", "", True), ("", "default", True), ("", "", True)],
)
def test_a_namespace_that_is_not_said_is_the_default_one(of_queue: str, of_job: str, *, joined: bool) -> None:
    door = queue("a").replace("namespace: team", f"namespace: {of_queue!r}")
    text = door + job("train", "a", 9).replace("namespace: team", f"namespace: {of_job!r}")
    conflicts = [finding for finding in findings(text, "COH211") if finding.verdict is Verdict.CONFLICT]
    assert bool(conflicts) is joined  # nine of a quota of four
    assert ("no one queue of its namespace" in not_modelled(text)) is not joined


def test_a_job_that_may_wait_in_another_namespace_counts_as_one_of_unknown_needs() -> None:
    text = queue("a") + job("train", "a", 2) + job("late", "a", 9).replace("namespace: team, ", "")
    assert {name: bool(needed(entry)) for name, entry in read(text).jobs.items()} == {
        "train_job": True,
        "late_job": False,
    }


def test_a_queue_that_is_stopped_is_listed() -> None:
    text = queue("a").replace("{clusterQueue: a}", "{clusterQueue: a, stopPolicy: Hold}") + job("train", "a", 2)
    assert not read(text).jobs
    assert "jobs that wait here are not modelled" in not_modelled(text)
