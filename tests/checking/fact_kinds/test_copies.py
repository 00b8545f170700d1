"""Numbers of copies that nobody states."""

from __future__ import annotations

from coherence.checking.fact_kinds import copies
from tests.checking.fact_kinds.asking import asks, lacks

LIMIT = "limits: {budget: {counts: web.available, at_least: 2}}\n"
SCALER = "loops: {hpa: {timescale: {period: 1 s}, actuation: {signal: web.replicas, law: step, by: 1}}}\n"


def test_copies_are_asked_for_until_they_are_stated_or_written() -> None:
    assert list(lacks(copies, LIMIT + "components: {web: {}}", "COH209", "budget")) == ["components.web.copies"]
    assert not lacks(copies, LIMIT + "components: {web: {copies: 3}}", "COH209", "budget")
    assert not lacks(copies, LIMIT + SCALER + "components: {web: {}}", "COH209", "budget")


def test_the_object_itself_is_asked() -> None:
    (fact,) = lacks(copies, LIMIT + "components: {web: {}}", "COH209", "budget").values()
    assert asks(copies, fact, "StatefulSet") == ['max(kube_statefulset_replicas{namespace="prod",statefulset="web"})']
    assert "count(kube_pod_status_phase{" in asks(copies, fact, "Rollout")[0]
