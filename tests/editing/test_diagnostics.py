"""Findings of a text, with repairs; faults of a text; texts that are no designs."""

from __future__ import annotations

import pytest

from coherence.editing.diagnostics import HINT, diagnostics, titles
from coherence.findings.repairs import text_at

TEXT = """\
coherence: 1
components: {web: {takes: {serve: 200 ms}}}
calls:
  - {from: users, to: web, deadline: 2 s, per_try: 1500 ms, tries: 3}
"""


def test_a_conflict_has_its_place_its_grade_and_repairs_whose_old_words_stand_there() -> None:
    (conflict,) = [it for it in diagnostics(TEXT, "d.yaml") if it.code == "COH201"]
    assert (conflict.place.line, conflict.severity) == (4, "warning")
    assert conflict.message.endswith("(budget-containment, conflict, possible)")
    assert {edit.new for repair in conflict.repairs for edit in repair.edits} == {"600 ms", "5 s"}
    assert all(text_at({"d.yaml": TEXT}, e.place) == e.old for repair in conflict.repairs for e in repair.edits)
    assert "COH201: 1500 ms -> 600 ms (proved)" in dict(titles(conflict))


def test_all_faults_of_a_text_come_at_once() -> None:
    faults = diagnostics("coherence: 1\nloop: {}\ncalls: [{from: a, tox: b}]\n", "d.yaml")
    assert {fault.severity for fault in faults} == {"error"}
    assert any("did you mean" in fault.message for fault in faults)
    assert {fault.place.line for fault in faults} == {2, 3}


def test_a_value_that_is_not_read_is_a_hint() -> None:
    text = "coherence: 1\nlimits: {memory: {counts: pool.used, at_most: 5, when_full: wait}}\n"
    (hint, *_) = [it for it in diagnostics(text, "d.yaml") if it.severity == HINT]
    assert hint.place.line == 2
    assert "no answer was computed from limits.memory." in hint.message


MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {
  containers: [{name: web}]}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
"""


def test_manifests_are_checked_as_they_stand() -> None:
    found = {(it.code, it.place.line) for it in diagnostics(MANIFEST, "web.yaml") if it.severity != HINT}
    assert found == {("COH205", 12)}  # a Deployment that states replicas throws back what its autoscaler chose
    alone = MANIFEST.replace("replicas: 3, ", "")
    assert not [it for it in diagnostics(alone, "web.yaml") if it.severity != HINT]
    wrong = MANIFEST.replace("minReplicas: 2", "minReplicas: two")
    assert [(it.severity, it.place.line) for it in diagnostics(wrong, "web.yaml")] == [("error", 12)]


@pytest.mark.parametrize("text", [
    "kind: Deployment\n", "", "# coherence: of our services\na: b\n",
    "apiVersion: example.org/v1\nkind: Widget\n", "apiVersion: [\nkind: Pod\n",
    MANIFEST.replace("minReplicas: 2", "minReplicas: {{ .Values.least }}"),
])  # fmt: skip
def test_what_is_no_design_is_left_alone(text: str) -> None:
    assert diagnostics(text, "d.yaml") == ()


def test_an_overlay_says_where_it_is_checked() -> None:
    (line,) = diagnostics("coherence: 1\noverlays: manifests\n", "d.yaml")
    assert line.severity == "info"
    assert "coherence check FOLDER" in line.message
