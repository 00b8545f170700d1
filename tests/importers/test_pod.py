"""Pod: one copy, with the probes and the grace of its containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from tests.importers.value_texts import text

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: prod, labels: {app: web}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 45
  containers:
  - name: web
    resources: {requests: {cpu: 500m}}
    readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 10}
    livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: EVERY, failureThreshold: 3}
"""
BUDGET = """\
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: prod}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""


def test_it_is_one_copy_of_what_it_needs() -> None:
    design = importers.design_from_sources({"a.yaml": POD.replace("EVERY", "30")})
    assert text(design.components["web"].copies) == "1"
    assert text(design.timers["web_grace"].after) == "45 s"
    assert any("spec.restartPolicy" in words for _, words in design.not_modelled)


@pytest.mark.parametrize(("every", "conflict"), [("10", True), ("60", False)])
def test_identical_probes_are_a_conflict(every: str, conflict: bool, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD.replace("EVERY", every))
    codes = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert codes == ({"COH208"} if conflict else set())


def test_a_budget_finds_it_by_its_labels(tmp_path: Path) -> None:
    """A pod that is not started again ends by itself: a drain waits so long, and not for ever."""
    for policy, verdict in (("Never", Verdict.UNDECIDED), ("Always", Verdict.CONFLICT)):
        text = POD.replace("restartPolicy: Never", f"restartPolicy: {policy}").replace("EVERY", "60")
        (tmp_path / "a.yaml").write_text(text + BUDGET)
        found = [f.verdict for f in check(tmp_path).findings if f.code == "COH209"]
        assert found == [verdict]
