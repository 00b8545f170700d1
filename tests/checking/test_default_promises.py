"""What policies promise without a word: listed, answered by the questions about it, and counted by kind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coherence.checking.default_promises import KINDS, default_promises, render_counts
from coherence.checking.reports import report
from coherence.checking.workspace import Entry, Workspace
from coherence.cli import check
from coherence.cli._run import run
from coherence.cli.check import exit_code
from coherence.findings.finding import OpenPromises, Report, Verdict
from coherence.language.reading import read_text
from coherence.reporting._words import summary
from tests.case_files import FILE, findings_of

if TYPE_CHECKING:
    import pytest

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
    return {(p.kind.name, *p.of): p.state(findings) for p in default_promises(read_text(FLEET, FILE), findings)}


def test_each_promise_has_the_state_that_its_questions_say() -> None:
    assert states() == {
        ("target", "hpa"): "broken",
        ("target", "other"): "not asked",
        ("start", "alive"): "broken",
        ("order", "ready", "kill"): "kept",
        ("drain", "budget"): "kept",
        ("answer", "client -> llm"): "kept",
        ("rest", "ready", "web"): "open",
        ("rest", "kill", "web"): "open",
    }


def test_they_are_counted_by_kind_in_one_line_each() -> None:
    findings = findings_of(FLEET)
    lines = list(render_counts((p.kind, p.state(findings)) for p in default_promises(read_text(FLEET, FILE), findings)))
    assert lines[0].startswith("target: 1 broken, 1 not asked (a loop with a setpoint comes to rest")
    assert [line.partition(":")[0] for line in lines] == ["target", "start", "order", "drain", "answer", "rest"]


def test_a_design_without_policies_promises_nothing() -> None:
    assert not list(default_promises(read_text("coherence: 1\nworkload: {web: {rate: 1 req/s}}\n", FILE), ()))


def reported(text: str, **options: object) -> Report:
    entry = Entry(read_text(text, FILE), {FILE: text}, lambda sources: read_text(sources[FILE], FILE))
    workspace = Workspace()
    workspace.entries.append(entry)
    return report(workspace, verify_repairs=False, **options)  # type: ignore[arg-type]


LACKING = """
coherence: 1
loops: {hpa: {uses: kubernetes_hpa, target: {signal: web.cpu, setpoint: 70 %}, actuation: {signal: n, bounds: [2, 9]}}}
timers: {alive: {uses: liveness_probe, from: web starts, first: 60 s, unless: web.load ends, then: restart web}}
components: {web: {takes: {answer: 2 s}}, db: {}}
calls: [{from: web, to: db, deadline: 3 s, on_timeout: cancel}]
"""


def test_a_default_promise_that_lacks_a_number_is_counted_and_no_finding() -> None:
    answered = reported(LACKING)
    assert [(p.kind, p.number) for p in answered.open_promises] == [("target", 1), ("start", 1), ("answer", 1)]
    assert not [f for f in answered.findings if f.verdict is Verdict.UNDECIDED]
    expected = "2 default promises need a load, 1 the time of a start"
    assert summary(replace(answered, open_promises=(OpenPromises("target", "a load", 2), answered.open_promises[1]))
                   ).endswith(f"{expected}.")  # fmt: skip


def test_it_is_no_reason_for_a_strict_run_to_fail() -> None:
    more = "kept: {uses: liveness_probe, from: web starts, first: 60 s, unless: web.answer ends, then: restart web}"
    answered = reported(LACKING.replace("timers: {", f"timers: {{{more}, "))
    assert any(f.verdict is Verdict.PROVED for f in answered.findings)
    assert any(p.kind == "start" for p in answered.open_promises)
    assert exit_code(replace(answered, not_read=()), "conflict", strict=True) == 0


def test_what_a_person_wrote_stays_a_finding_where_a_number_is_missing() -> None:
    answered = reported("coherence: 1\ncomponents: {web: {copies: 3}}\npromises: {p: always web.cpu <= 80 %}\n")
    assert [f.verdict for f in answered.findings] == [Verdict.UNDECIDED]
    assert not answered.open_promises


def test_a_kind_can_be_switched_off_by_name() -> None:
    codes = {f.code for f in reported(FLEET).findings if f.verdict is Verdict.CONFLICT}
    assert {"COH206", "COH308"} <= codes
    without = reported(FLEET, without=("start", "target"))
    assert not {"COH206", "COH308"} & {f.code for f in without.findings if f.verdict is Verdict.CONFLICT}
    assert not {"start", "target"} & {p.kind for p in without.open_promises}


def test_a_limit_that_is_no_budget_is_not_switched_off_with_the_budgets() -> None:
    text = "coherence: 1\ncomponents: {agent: {turns: 30}}\nlimits: {steps: {counts: agent.turns, at_most: 25}}\n"
    assert [f.code for f in reported(text, without=("drain",)).findings] == ["COH209"]


def test_the_command_knows_every_kind() -> None:
    assert tuple(kind.name for kind in KINDS) == check.KINDS


def test_machines_get_each_promise_with_its_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(LACKING, encoding="utf-8")
    assert run(["inventory", str(file), "-o", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["default_promises"]
    assert [(p["kind"], p["of"], p["state"], p["needs"]) for p in listed] == [
        ("target", ["hpa"], "not asked", "a load"),
        ("start", ["alive"], "open", "the time of a start"),
        ("answer", ["web -> db"], "not asked", "the time of an answer (`takes: {answer: ..}` of what is called)"),
    ]


SIGHTS = """
coherence: 1
components: {web: {copies: 4}}
timers:
  ready_a: {from: web overloaded, sees: web.a, every: 10 s, misses: 3, then: unlist web}
  alive_a: {from: web overloaded, sees: web.a, every: 10 s, misses: 9, then: restart web}
  ready_b: {from: web overloaded, sees: web.b, every: 10 s, misses: 3, then: unlist web}
  alive_b: {from: web overloaded, sees: web.b, every: 10 s, misses: 9, then: restart web}
"""


def test_probes_that_see_different_things_are_counted_unless_somebody_promised_their_order() -> None:
    answered = reported(SIGHTS)
    assert ("order", "one event that both see", 2) in [(p.kind, p.needs, p.number) for p in answered.open_promises]
    assert sorted(f.of for f in answered.findings if f.code == "COH208") == [
        ("ready_a", "alive_a"),
        ("ready_b", "alive_b"),
    ]
    promised = reported(f"{SIGHTS}promises: {{p: ready_a before alive_b}}\n")
    open_ = [f for f in promised.findings if f.code == "COH208" and f.verdict is Verdict.UNDECIDED]
    assert [f.message.partition(":")[0] for f in open_] == ["needs one event that both see"]


def test_a_loop_that_reads_stated_numbers_needs_no_load() -> None:
    text = """
coherence: 1
components: {q: {depth: DEPTH}}
loops:
  hpa:
    target: {signal: q.depth, setpoint: 8, type: average}
    timescale: {period: 15 s}
    actuation: {signal: web.replicas, law: proportional, bounds: [1, 16]}
"""
    stated = text.replace("DEPTH", "40"), text.replace("DEPTH", "10 .. 40"), text.replace(" {depth: DEPTH}", " {}")
    assert [bool(reported(each).open_promises) for each in stated] == [False, True, True]
