"""Who is first and who takes in queues of Kueue: the real order, and no order where ages decide."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Verdict
from tests.importers.kueue_manifests import findings, job, not_modelled, queue, read

RECLAIM = "cohortName: all\n  preemption: {{reclaimWithinCohort: {}}}"
CLASSES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
---
"""
HIGH = ", kueue.x-k8s.io/priority-class: high"


def verdicts(text: str, code: str = "COH225") -> list[Verdict]:
    return [finding.verdict for finding in findings(text, code)]


def test_who_stays_within_its_quota_is_let_in_before_the_one_that_was_taken() -> None:
    """Kueue sorts by that first, so that a borrower does not come back before the one that took from it."""
    text = queue("a") + queue("b", more=RECLAIM.format("Any")) + job("old", "a", 8) + job("waking", "b", 4)
    assert verdicts(text) == [Verdict.PROVED]


def test_a_borrower_of_high_priority_is_taken_and_comes_after() -> None:
    text = CLASSES + queue("a") + queue("b", more=RECLAIM.format("Any"))
    assert verdicts(text + job("old", "a", 8, labels=HIGH) + job("waking", "b", 4)) == [Verdict.PROVED]


@pytest.mark.parametrize("policy", ["Never", "LowerPriority", "Any"])
def test_a_policy_is_a_number_of_its_queue(policy: str) -> None:
    text = queue("a", more=RECLAIM.format(policy)) + queue("b", more=RECLAIM.format("Any"))
    design = read(text + job("one", "a", 2) + job("two", "b", 2))
    level = design.components["a"].constants["reclaims"]
    assert str(level) == {"Never": "0", "LowerPriority": "1", "Any": "2"}[policy]
    assert level.place.line == 7


def test_nobody_takes_where_every_policy_is_never() -> None:
    text = queue("a") + queue("b") + job("one", "a", 2) + job("two", "b", 2)
    order = read(text).order
    assert order is not None
    assert order.preempt is None


def test_several_jobs_of_a_queue_that_shares_are_in_no_order() -> None:
    text = queue("a", more=RECLAIM.format("Any")) + queue("b") + job("one", "a", 2) + job("two", "a", 8)
    order = read(text).order
    assert order is not None
    assert order.admit is None
    assert "goes by ages that no manifest says" in not_modelled(text)


def test_a_queue_of_its_own_goes_by_priority() -> None:
    order = read(queue("a", more="") + job("one", "a", 2) + job("two", "a", 8)).order
    assert order is not None
    assert order.admit is not None
    assert str(order.admit.by) == "job.priority"
    assert not order.admit.smallest


@pytest.mark.parametrize(
    ("strategies", "word"),
    [(("StrictFIFO", "StrictFIFO"), "holds its queue"), (("BestEffortFIFO", "BestEffortFIFO"), "is passed"),
     (("StrictFIFO", "BestEffortFIFO"), None)],
)  # fmt: skip
def test_a_first_job_that_does_not_fit_is_passed_or_holds_its_queue(
    strategies: tuple[str, str], word: str | None
) -> None:
    queues = "".join(
        queue(name, more=f"cohortName: all\n  queueingStrategy: {strategy}")
        for name, strategy in zip("ab", strategies, strict=True)
    )
    order = read(queues + job("one", "a", 2) + job("two", "b", 2)).order
    assert order is not None
    assert (order.blocked.text if order.blocked else None) == word


def test_within_a_queue_a_lower_priority_is_taken() -> None:
    more = "preemption: {withinClusterQueue: LowerPriority}"
    text = CLASSES + queue("a", more=more) + job("low", "a", 4) + job("urgent", "a", 4, labels=HIGH)
    assert verdicts(text) == [Verdict.PROVED]
