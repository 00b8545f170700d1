"""Rollout: pods, canary, deadline of progress, and the replicas that an autoscaler writes too."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text

GPU = "resources: {limits: {nvidia.com/gpu: 1}}"
PROBE = "startupProbe: {periodSeconds: 10, failureThreshold: 60, httpGet: {port: 80}}"


def rollout(more: str = "", *, container: str = "name: web") -> str:
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {{name: web, namespace: prod}}
spec: {{template: {{spec: {{containers: [{{{container}}}]}}}}, {more}}}
"""


SCALER = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: prod}
spec: {scaleTargetRef: {kind: Rollout, name: web}, minReplicas: 2, maxReplicas: 9}
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"web.yaml": text})


def caps(design: Design) -> dict[str, str]:
    return {name: text(limit.at_most) for name, limit in design.limits.items()}


@pytest.mark.parametrize(
    ("strategy", "container", "expected"),
    [
        ("canary: {}", "name: web", {}),
        ("canary: {maxSurge: 0, maxUnavailable: 1}", "name: web", {"web_surge": "0", "web_unavailable": "1"}),
        ("canary: {}", GPU, {
            "web_surge": "25 % of web.copies round up", "web_unavailable": "25 % of web.copies round down",
        }),
        ("canary: {trafficRouting: {istio: {}}}", GPU, {
            "web_surge": "100 % of web.copies round up", "web_unavailable": "0",
        }),
        ("canary: {trafficRouting: {istio: {}}, dynamicStableScale: true}", GPU, {}),
        ("blueGreen: {activeService: a}", GPU, {"web_surge": "100 % of web.copies round up", "web_unavailable": "0"}),
    ],
)  # fmt: skip
def test_how_many_pods_may_be_extra_or_missing(strategy: str, container: str, expected: dict[str, str]) -> None:
    assert caps(read(rollout(f"strategy: {{{strategy}}}", container=container))) == expected


def test_what_moves_pods_between_two_sets_is_listed() -> None:
    design = read(rollout("strategy: {canary: {steps: [{setWeight: 20}, {pause: {}}]}}"))
    assert any("strategy.canary.steps (" in words for _, words in design.not_modelled)


def test_its_replicas_beside_an_autoscaler_are_a_writer() -> None:
    assert set(read(rollout("replicas: 3") + SCALER).loops) == {"web_hpa", "web_apply"}
    assert set(read(rollout() + SCALER).loops) == {"web_hpa"}


@pytest.mark.parametrize(
    ("abort", "then"), [("", "report web update"), (", progressDeadlineAbort: true", "abort web update")]
)
def test_the_deadline_of_progress_is_a_timer(abort: str, then: str) -> None:
    timer = read(rollout(f"progressDeadlineSeconds: 60{abort}")).timers["web_progress"]
    assert (text(timer.after), text(timer.then)) == ("60 s", then)


OVERLAY = "coherence: 1\noverlays: manifests\ncomponents: {web: {takes: {load: 100 s .. 300 s}}}\n"


def test_a_deadline_that_aborts_a_slow_start_is_a_conflict_and_its_repaired_twin_is_none(tmp_path: Path) -> None:
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    for seconds, expected in (("60", {"COH207"}), ("600", set())):
        more = f"progressDeadlineSeconds: {seconds}, progressDeadlineAbort: true"
        (tmp_path / "web.yaml").write_text(rollout(more, container=f"name: web, {PROBE}"))
        assert {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT} == expected
