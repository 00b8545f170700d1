"""What policies promise without a word: listed, answered by the questions about it, and counted by kind."""

from __future__ import annotations

from coherence.checking.default_promises import default_promises, render_counts
from coherence.language.reading import read_text
from tests.case_files import FILE, findings_of

FLEET = """
coherence: 1
components: {web: {used: 40, cpu: web.used / web.replicas, copies: 2}, llm: {takes: {load: 4 min, answer: 2 s}}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: web.cpu, setpoint: 2, tolerance: 10 %}
    actuation: {signal: web.replicas, law: proportional, bounds: [2, 10], from: 4}
  other:
    timescale: {period: 15 s}
    target: {signal: cache.fill, setpoint: 70 %}
    actuation: {signal: cache.shards, law: proportional, bounds: [1, 4]}
timers:
  alive: {uses: liveness_probe, from: llm starts, first: 60 s, unless: llm.load ends, then: restart llm}
  ready: {uses: readiness_probe, from: web overloaded, then: unlist web}
  kill: {uses: liveness_probe, from: web overloaded, misses: 30, then: restart web}
limits: {budget: {uses: pod_disruption_budget, counts: web.pods, at_least: 1}}
calls: [{from: client, to: llm, deadline: 30 s, on_timeout: cancel}]
"""


def states() -> dict[tuple[str, ...], str]:
    """Returns the state of each promise by its kind and policies."""
    findings = findings_of(FLEET)
    return {(p.kind.name, *p.of): p.state(findings) for p in default_promises(read_text(FLEET, FILE))}


def test_each_promise_has_the_state_that_its_questions_say() -> None:
    assert states() == {
        ("target", "hpa"): "broken",
        ("target", "other"): "not asked",
        ("start", "alive"): "broken",
        ("order", "ready", "kill"): "kept",
        ("drain", "budget"): "kept",
        ("answer", "client -> llm"): "kept",
    }


def test_they_are_counted_by_kind_in_one_line_each() -> None:
    findings = findings_of(FLEET)
    lines = list(render_counts((p.kind, p.state(findings)) for p in default_promises(read_text(FLEET, FILE))))
    assert lines[0].startswith("target: 1 broken, 1 not asked (a loop with a setpoint comes to rest")
    assert [line.partition(":")[0] for line in lines] == ["target", "start", "order", "drain", "answer"]


def test_a_design_without_policies_promises_nothing() -> None:
    assert not list(default_promises(read_text("coherence: 1\nworkload: {web: {rate: 1 req/s}}\n", FILE)))
