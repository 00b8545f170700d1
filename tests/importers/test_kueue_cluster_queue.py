"""ClusterQueue: its cohort in each version of the API, its quotas, what is refused."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.findings.finding import Verdict
from tests.importers.kueue_manifests import findings, job, not_modelled, queue, read

HOSTILE = [
    "queueingStrategy: Fair",
    "preemption: {reclaimWithinCohort: Always}",
    "preemption: [1]",
    "cohortName: [all]",
]


@pytest.mark.parametrize(
    ("version", "key", "joined"),
    [
        ("v1beta1", "cohort", True),
        ("v1beta2", "cohortName", True),
        ("v1beta2", "cohort", False),
        ("v1beta1", "cohortName", False),
    ],
)
def test_each_version_has_its_own_key_for_the_cohort(version: str, key: str, *, joined: bool) -> None:
    text = (queue("a") + queue("b") + job("train", "a", 8)).replace("cohortName", key).replace("v1beta2", version)
    fits = not [f for f in findings(text, "COH211") if f.verdict is Verdict.CONFLICT]
    assert fits is joined
    assert ("no field of this version" in not_modelled(text)) is not joined


def test_several_flavors_of_a_resource_are_listed() -> None:
    spot = "{name: spot, resources: [{name: cpu, nominalQuota: 9}]}"
    text = queue("a").replace("flavors: [", f"flavors: [{spot}, ")
    assert not read(text + job("train", "a", 8)).jobs
    assert "which of several flavors of cpu a job is given" in not_modelled(text + job("train", "a", 8))


@pytest.mark.parametrize("more", HOSTILE)
def test_what_the_api_refuses_is_refused(more: str) -> None:
    with pytest.raises(InputError, match=r"queues\.yaml:"):
        read(queue("a", more=more))


@pytest.mark.parametrize("quota", ["nominalQuota: many", "nominalQuota: [4]", "nominalQuota: 4, borrowingLimit: x"])
def test_a_quota_is_a_quantity(quota: str) -> None:
    with pytest.raises(InputError, match=r"queues\.yaml:"):
        read(queue("a", quota))


def test_a_queue_without_quotas_lets_nobody_in_that_needs_something() -> None:
    text = queue("a", more="").partition("  resourceGroups")[0] + "---\n" + queue("a").partition("---\n")[2]
    (conflict,) = findings(text + job("train", "a", 1), "COH211")
    assert conflict.verdict is Verdict.CONFLICT
