"""Times to answer of what calls go to."""

from __future__ import annotations

from coherence.checking.fact_kinds import answers
from tests.checking.fact_kinds.asking import asks, lacks

CALL = "calls: [{from: clients, to: web, deadline: 1 s}]\n"


def test_an_answer_is_asked_for_until_an_activity_is_one() -> None:
    path = "components.web.takes.serve"
    assert list(lacks(answers, CALL + "components: {web: {}}", "COH201", "clients -> web")) == [path]
    assert list(lacks(answers, CALL + "components: {web: {takes: {load: 1 s}}}", "COH201", "clients -> web")) == [path]
    for stated in ("takes: {serve: 1 s}", "takes: {handle: 1 s}", "takes: {odd: 1 s}, roles: {odd: answer}"):
        assert not lacks(answers, CALL + f"components: {{web: {{{stated}}}}}", "COH201", "clients -> web")


def test_the_proxy_of_a_workload_is_asked_first() -> None:
    (fact,) = lacks(answers, CALL + "components: {web: {}}", "COH201", "clients -> web").values()
    first, *others = asks(answers, fact)
    assert 'reporter="destination",destination_workload="web"' in first
    assert any("vllm:e2e_request_latency_seconds_bucket" in query for query in others)
    host = asks(answers, fact, "")
    assert 'destination_service_name="web"' in host[0]
    assert not any("pod=~" in query for query in host)
