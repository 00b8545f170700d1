"""What manifests say of queues: quotas by resource, queues that share, namespaces that are let in."""

from __future__ import annotations

import pytest

from coherence.base.places import Place
from coherence.importers._job_queues import JobQueue, JobQueues, QueueQuota
from coherence.language.document import Scalar

PLACE = Place("queues.yaml", 1, 1, 1, 1)


def queue(name: str, cohort: str = "", *, only: str = "", is_closed: bool = False) -> JobQueue:
    nominal = Scalar("4", PLACE)
    quotas = [QueueQuota("cpu", "any", nominal, None, None)]
    return JobQueue(
        Scalar(name, PLACE), cohort, quotas, Scalar("StrictFIFO", PLACE), None, None, None, None, "", is_closed, only
    )  # fmt: skip


@pytest.mark.parametrize(("resource", "known"), [("cpu", True), ("memory", False)])
def test_a_queue_has_a_quota_of_what_it_states(resource: str, *, known: bool) -> None:
    assert (queue("a").quota(resource) is not None) is known


def test_queues_of_one_cohort_share_and_one_of_none_stands_alone() -> None:
    queues = JobQueues({name: queue(name, cohort) for name, cohort in (("a", "x"), ("b", "x"), ("c", "y"), ("d", ""))})
    shares = {name: [mate.name.text for mate in queues.mates(it)] for name, it in queues.queues.items()}
    assert shares == {"a": ["a", "b"], "b": ["a", "b"], "c": ["c"], "d": ["d"]}


@pytest.mark.parametrize(
    ("only", "is_closed", "namespace", "lets_in"),
    [
        ("", False, "team", True),
        ("", True, "team", False),
        ("team", False, "team", True),
        ("team", False, "other", False),
        ("team", False, "", True),
    ],
)
def test_a_queue_lets_in_the_namespaces_that_it_names(
    only: str, namespace: str, *, is_closed: bool, lets_in: bool
) -> None:
    assert queue("a", only=only, is_closed=is_closed).lets_in(namespace) is lets_in
