"""ReplicaSet and ReplicationController: pods as those of a Deployment, and stated replicas beside an autoscaler."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from tests.importers.test_argo_application import WORKLOAD


@pytest.mark.parametrize(("version", "kind"), [("apps/v1", "ReplicaSet"), ("v1", "ReplicationController")])
@pytest.mark.parametrize("stated", [True, False])
def test_stated_replicas_beside_an_autoscaler_are_a_conflict(
    version: str, kind: str, stated: bool, tmp_path: Path
) -> None:
    text = WORKLOAD.replace("Deployment", kind).replace("apps/v1", version, 1)
    (tmp_path / "a.yaml").write_text(text if stated else text.replace("{replicas: 3}", "{}"))
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH205"} if stated else set())
