"""PodGroup of Volcano: what its pods request together, unless another object owns it."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Verdict
from tests.importers.kueue_manifests import findings, read
from tests.importers.volcano_manifests import queue

GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: train{owner}}}
spec: {{queue: q, minMember: 3, minResources: {{cpu: {cpu}}}}}
"""


@pytest.mark.parametrize(("cpu", "conflicts"), [(5, 0), (6, 1)])
def test_a_group_that_needs_more_than_its_queue_may_use_never_starts(cpu: int, conflicts: int) -> None:
    found = findings(queue() + GROUP.format(cpu=cpu, owner=""), "COH211")
    assert [finding.verdict for finding in found] == [Verdict.CONFLICT] * conflicts


def test_one_that_is_owned_is_said_by_its_owner() -> None:
    assert not read(queue() + GROUP.format(cpu=5, owner=", ownerReferences: [{kind: Job}]")).jobs
