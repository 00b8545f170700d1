"""Pairs of loops that hold one reading at targets that do not overlap: HPA and VPA first of all."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.disjoint_targets import disjoint_targets
from coherence.verify.patterns.writers.contradictory_actuation import ask as opposed


def scalers(setpoint: str, *, vpa: str = "kubernetes_vpa_cpu", reading: str = "cpu", more: str = "") -> Subject:
    """Returns a horizontal and a vertical autoscaler of one workload."""
    return Subject(
        read_text(f"""coherence: 1
components:
  web: {{used: 12, held: 30, cpu: web.used / (web.replicas * web.request), memory: web.held / web.request}}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {{signal: web.cpu, setpoint: {setpoint}}}
    actuation: {{signal: web.replicas, bounds: [2, 40], from: 10}}
  vpa:
    uses: {vpa}
    target: {{signal: web.{reading}}}
    actuation: {{signal: web.request, bounds: [0.1, 4], from: 1}}{more}
""")
    )


@pytest.mark.parametrize("setpoint", ["50 %", "70 %", "110 %"])
def test_a_horizontal_and_a_vertical_autoscaler_of_one_utilisation_never_agree(setpoint: str) -> None:
    (pair,) = disjoint_targets(scalers(setpoint))
    assert pair.names == ("hpa", "vpa")
    assert pair.always
    assert (float(pair.second.low), float(pair.second.high)) == pytest.approx((0.9 / 1.15, 1.1 / 1.15), rel=1e-6)


def test_what_targets_already_say_is_not_told_again_as_actions_against_each_other() -> None:
    assert list(opposed(scalers("50 %"))) == []


@pytest.mark.parametrize("setpoint", ["80 %", "90 %"])
def test_tolerances_that_overlap_leave_values_that_suit_both(setpoint: str) -> None:
    assert list(disjoint_targets(scalers(setpoint))) == []


def test_vertical_autoscaling_of_memory_beside_a_horizontal_one_of_cpu_is_no_pair() -> None:
    assert list(disjoint_targets(scalers("50 %", vpa="kubernetes_vpa_memory", reading="memory"))) == []


def test_one_that_waits_for_a_trigger_does_not_hold_at_all_times() -> None:
    (pair,) = disjoint_targets(scalers("50 %", more="\n    trigger: web.used > 50"))
    assert not pair.always
