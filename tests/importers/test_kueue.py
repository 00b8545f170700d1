"""Queues of Kueue as jobs and capacities: what fits, what never runs, what keeps a cohort out of the design."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Verdict
from tests.draws import few
from tests.importers.kueue_manifests import findings, job, not_modelled, queue, read

OTHER = "whether and when it is let in is not answered"


def conflicts(text: str) -> list[str]:
    return [f.message for f in findings(text, "COH211") if f.verdict is Verdict.CONFLICT]


def test_a_job_needs_all_its_pods_at_once() -> None:
    design = read(queue("a", more="") + job("train", "a", 3))
    needs = design.jobs["train_job"].needs
    assert isinstance(needs, dict)
    assert {name: amount.low for name, amount in needs.items()} == {"cpu_of_a": 3}
    assert str(needs["cpu_of_a"].place) == "queues.yaml:21:75"


@pytest.mark.parametrize(
    ("quota", "more", "pods", "fits"),
    [
        ("nominalQuota: 4", "", 4, True),
        ("nominalQuota: 4", "", 5, False),
        ("nominalQuota: 4", "cohortName: all", 8, True),  # the cohort lends what the other queue has
        ("nominalQuota: 4", "cohortName: all", 9, False),
        ("nominalQuota: 4, borrowingLimit: 2", "cohortName: all", 6, True),
        ("nominalQuota: 4, borrowingLimit: 2", "cohortName: all", 7, False),
        ("nominalQuota: 4, borrowingLimit: 0", "cohortName: all", 5, False),
    ],
)
def test_a_job_that_needs_more_than_its_queue_may_use_never_runs(
    quota: str, more: str, pods: int, *, fits: bool
) -> None:
    text = queue("a", quota, more) + queue("b") + job("train", "a", pods)
    assert (conflicts(text) == []) is fits


@pytest.mark.parametrize(("lent", "pods", "fits"), [(2, 6, True), (2, 7, False), (0, 5, False)])
def test_what_another_queue_keeps_is_not_borrowed(lent: int, pods: int, *, fits: bool) -> None:
    text = queue("a") + queue("b", f"nominalQuota: 4, lendingLimit: {lent}") + job("train", "a", pods)
    assert (conflicts(text) == []) is fits


def test_a_resource_without_a_quota_keeps_a_job_waiting() -> None:
    text = queue("a", more="") + job("train", "a", 1, "cpu: 1, memory: 200Mi")
    assert conflicts(text) == [
        "train_job needs 200 MiB memory_of_a, but there are 0 B (memory_of_a.count): it never runs"
    ]


@settings(deadline=None, max_examples=few(25))
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.integers(1, 30))
def test_a_job_fits_as_the_sums_say(own: int, others: int, borrowing: int, pods: int) -> None:
    text = queue("a", f"nominalQuota: {own}, borrowingLimit: {borrowing}") + queue("b", f"nominalQuota: {others}")
    assert (conflicts(text + job("train", "a", pods)) == []) is (pods <= own + min(others, borrowing))


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("cohortName: all\n  admissionChecksStrategy: {admissionChecks: [{name: provision}]}", "admission checks"),
        ("cohortName: all\n  stopPolicy: Hold", "stopPolicy lets nobody in"),
        ("cohortName: all\n  preemption: {withinClusterQueue: LowerOrNewerEqualPriority}", "who is newer"),
    ],
)
def test_what_decides_beside_the_quotas_keeps_all_jobs_of_the_cohort_out(more: str, why: str) -> None:
    text = queue("a", more=more) + queue("b") + job("train", "b", 2)
    assert not read(text).jobs
    assert why in not_modelled(text)
    assert OTHER in not_modelled(text)


def test_lending_among_three_queues_is_listed() -> None:
    text = queue("a") + queue("b", "nominalQuota: 4, lendingLimit: 1") + queue("c") + job("train", "a", 2)
    assert not read(text).jobs
    assert "lendingLimit among more than two" in not_modelled(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (job("train", "nowhere", 2), "no one queue of its namespace"),
        (queue("a") + job("train", "a", 2, labels=", kueue.x-k8s.io/priority-class: high"), "the priority of high"),
    ],
)
def test_a_job_of_which_something_is_missing_is_listed(text: str, why: str) -> None:
    assert not read(text).jobs
    assert why in not_modelled(text)


OTHERS = [
    job("some", "b", 2, labels=", kueue.x-k8s.io/job-min-parallelism: '1'"),
    "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: some, labels: {kueue.x-k8s.io/queue-name: b}}\n---\n",
    "apiVersion: spark.org/v1\nkind: Spark\nmetadata: {name: some, labels: {kueue.x-k8s.io/queue-name: b}}\n---\n",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: some, labels: {kueue.x-k8s.io/queue-name: b}}\n---\n",
]


@pytest.mark.parametrize("other", OTHERS)
def test_an_answer_about_all_jobs_asks_for_those_that_are_not_understood(other: str) -> None:
    more = "cohortName: all\n  preemption: {reclaimWithinCohort: Any}"
    text = queue("a") + queue("b", more=more) + job("train", "a", 8) + job("waking", "b", 4)
    assert [finding.verdict for finding in findings(text, "COH225")] == [Verdict.PROVED]
    (finding,) = findings(text + other, "COH225")
    assert (finding.verdict, "needs of some_job" in finding.message) == (Verdict.UNDECIDED, True)
    assert conflicts(text + other) == []


def test_a_job_that_requests_nothing_waits_for_nothing() -> None:
    text = queue("a") + job("idle", "a", 2, "") + job("train", "a", 2)
    assert list(read(text).jobs) == ["train_job"]
    assert "it requests nothing, and is let in" in not_modelled(text)


def test_two_jobs_whose_names_are_made_are_two() -> None:
    made = job("train", "a", 2).replace("name: train,", "generateName: train-,")
    assert list(read(queue("a") + made + made).jobs) == ["train_job", "train_2_job"]


def test_two_cohorts_do_not_share() -> None:
    text = queue("a", more="cohortName: one") + queue("b", more="cohortName: two") + job("train", "a", 5)
    assert conflicts(text) == ["train_job needs 5 cpu_of_one, but there are 4 (cpu_of_one.count): it never runs"]


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        ("namespaceSelector: {}", True),
        ("queueingStrategy: StrictFIFO", False),  # no selector lets in no namespace
        ("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team}}", True),
        ("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: project}}", False),
        ("namespaceSelector: {matchLabels: {tier: batch}}", True),  # labels of namespaces are not known
    ],
)
def test_a_queue_that_does_not_let_in_the_namespace_keeps_a_job_waiting(selector: str, *, fits: bool) -> None:
    text = queue("a", more="").replace("namespaceSelector: {}", selector) + job("train", "a", 2)
    assert (conflicts(text) == []) is fits


def test_a_job_without_a_namespace_may_wait_in_one_of_several_queues() -> None:
    doors = queue("a") + queue("b").replace("{name: b, namespace: team}", "{name: a, namespace: other}")
    text = doors + job("train", "a", 2).replace(" namespace: team,", "")
    assert not read(text).jobs
    assert "no one queue of its namespace" in not_modelled(text)
