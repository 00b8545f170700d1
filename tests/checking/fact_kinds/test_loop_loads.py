"""What autoscalers have to carry."""

from __future__ import annotations

from coherence.checking.fact_kinds import loop_loads
from tests.checking.fact_kinds.asking import asks, lacks

LOOP = """
loops:
  hpa: {timescale: {period: 15 s}, target: {signal: web.%s, setpoint: 60 %%},
        actuation: {signal: web.replicas, law: proportional, bounds: [1, 9]}}
"""


def test_a_utilization_is_usage_over_requests() -> None:
    (fact,) = lacks(loop_loads, LOOP % "cpu" + "components: {web: {needs: {cpu: 0.5}}}", "COH301", "hpa").values()
    assert fact.also == ((("components", "web", "cpu"), "web.demand / (web.replicas * 0.5)"),)
    assert "container_cpu_usage_seconds_total" in asks(loop_loads, fact)[0]
    assert not lacks(loop_loads, LOOP % "cpu" + "components: {web: {cpu: 3 / web.replicas}}", "COH301", "hpa")


def test_memory_and_what_has_no_request_are_not_derived() -> None:
    for signal in ("memory", "cpu"):
        (fact,) = lacks(loop_loads, LOOP % signal + "components: {web: {}}", "COH301", "hpa").values()
        assert not fact.also
        assert not asks(loop_loads, fact)
        assert fact.remedy


def test_a_metric_of_pods_is_summed_under_both_spellings() -> None:
    (fact,) = lacks(loop_loads, LOOP % "vllm_waiting" + "components: {web: {}}", "COH308", "hpa").values()
    assert '{__name__=~"vllm[_:]waiting"' in asks(loop_loads, fact)[0]
