"""Cohort: what it has beside its queues, and cohorts within cohorts."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Verdict
from tests.importers.kueue_manifests import findings, job, not_modelled, queue, read

COHORT = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {{name: all}}\nspec: {{{spec}}}\n---\n"
QUOTA = "resourceGroups: [{coveredResources: [cpu], flavors: [{name: any, resources: [{name: cpu, nominalQuota: 3}]}]}]"


@pytest.mark.parametrize(("pods", "fits"), [(7, True), (8, False)])
def test_what_a_cohort_has_of_its_own_is_lent_to_its_queues(pods: int, *, fits: bool) -> None:
    text = COHORT.format(spec=QUOTA) + queue("a") + job("train", "a", pods)
    assert (not [f for f in findings(text, "COH211") if f.verdict is Verdict.CONFLICT]) is fits


@pytest.mark.parametrize("key", ["parentName", "parent"])
def test_a_cohort_within_another_keeps_its_jobs_out(key: str) -> None:
    text = COHORT.format(spec=f"{key}: company") + queue("a") + job("train", "a", 2)
    assert not read(text).jobs
    assert "cohorts within cohorts lend along a tree" in not_modelled(text)


def test_a_cohort_that_says_nothing_lists_nothing() -> None:
    assert not_modelled(COHORT.format(spec="")) == ""
