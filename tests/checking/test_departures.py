"""Answers from runs of a law that is not the program's own are undecided; all others stand."""

from __future__ import annotations

import pytest

from coherence.checking.departures import departures, held_back, refused, taken_back
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.language.design import Design
from coherence.language.reading import read_text

POOL = """coherence: 1
components:
  s: {uses: replica_pool, rate_per_replica: 10 req/s, takes: {start: 30 s}, share: 620 req/s / s.capacity}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: s.share, setpoint: 70 %, type: average}
    actuation: {signal: s.desired, bounds: [3, 12], from: 8}
"""
TWO = """coherence: 1
loops:
  git: {timescale: {period: 10 min}, actuation: {signal: web.replicas, law: set, to: 2, mode: on change}}
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 70 %}
    actuation: {signal: web.replicas, bounds: [2, 10]}
"""


def answer(verdict: Verdict, *, code: str = "COH301", of: tuple[str, ...] = ("hpa",)) -> Finding:
    return Finding(code, "slug", verdict, Severity.ERROR, "it settles", (), of, Evidence(Grade.PROVED, "a run"))


def verdicts(design: Design, of: tuple[str, ...] = ("hpa",)) -> list[str]:
    answers = (answer(verdict, of=of) for verdict in (Verdict.PROVED, Verdict.CONFLICT))
    return [str(taken_back(finding, design).verdict) for finding in answers]


def test_a_share_of_the_ready_replicas_that_is_read_as_one_of_all_decides_nothing_by_runs() -> None:
    design = read_text(POOL)
    assert [name for name, _ in departures(design)] == ["hpa"]
    assert verdicts(design) == ["undecided", "undecided"]
    back = taken_back(answer(Verdict.CONFLICT), design)
    assert "hpa reads a share of the ready replicas of s as one of all" in back.message
    assert "it settles" in back.message
    assert (back.severity, back.certainty, back.repairs) == (Severity.INFO, "", ())


def test_a_pool_that_is_there_at_once_has_nothing_to_wait_for() -> None:
    assert verdicts(read_text(POOL.replace("30 s", "0 s"))) == ["proved", "conflict"]


def test_an_autoscaler_that_multiplies_the_ready_replicas_does_as_the_program() -> None:
    assert verdicts(read_text(POOL.replace(", type: average", ""))) == ["proved", "conflict"]
    assert verdicts(read_text(POOL.replace("s.share", "s.cpu"))) == ["proved", "conflict"]


def test_an_autoscaler_whose_commands_land_late_decides_nothing_by_runs() -> None:
    late = TWO.replace("uses: kubernetes_hpa", "uses: kubernetes_hpa\n    timescale: {lands: 30 s}")
    assert verdicts(read_text(late)) == ["undecided", "undecided"]


def test_a_rate_limit_beside_another_writer_counts_as_the_program_does() -> None:
    assert verdicts(read_text(TWO)) == ["proved", "conflict"]


def test_answers_about_others_and_about_signs_stand() -> None:
    design = read_text(POOL)
    assert verdicts(design, of=("other",)) == ["proved", "conflict"]
    assert taken_back(answer(Verdict.PROVED, code="COH307"), design).verdict is Verdict.PROVED
    assert taken_back(answer(Verdict.UNDECIDED), design) == answer(Verdict.UNDECIDED)


def test_no_departure_of_a_loop_hides_another() -> None:
    rival = POOL + POOL[POOL.index("  hpa:") :].replace("hpa:", "keda:", 1)
    assert [name for name, _ in departures(read_text(rival))] == ["hpa", "hpa", "keda", "keda"]
    assert verdicts(read_text(rival)) == ["undecided", "undecided"]


def test_two_autoscalers_of_one_target_write_nothing_so_no_run_of_theirs_decides() -> None:
    other = """  keda:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 30 %}
    actuation: {signal: web.replicas, bounds: [2, 10]}
"""
    design = read_text(TWO + other)
    assert {name for name, _ in departures(design)} == {"hpa", "keda"}
    assert verdicts(design) == ["undecided", "undecided"]


EVICTED = """coherence: 1
components: {web: {copies: 3}}
limits: {pdb: {uses: pod_disruption_budget, %s}}
loops:
  spread: {timescale: {period: 5 min}, trigger: count of web by node > 1, actuation: {evict: web}}
timers:
  age: {from: web starts, after: 1 d, then: evict web}
  stop: {from: web starts, after: 2 d, then: kill web}
"""


@pytest.mark.parametrize(
    ("budget", "none"),
    [
        ("counts: web.unavailable, at_most: 0", True),
        ("counts: web.unavailable, at_most: 0 %", True),
        ("counts: web.unavailable, at_most: 1 %", False),
        ("counts: web.available, at_least: 100 %", True),
        ("counts: web.available, at_least: 67 %", False),
        ("counts: web.available, at_least: 3", True),
        ("counts: web.available, at_least: 2", False),
    ],
)
def test_nobody_is_evicted_of_whom_a_budget_lets_none_go(budget: str, none: bool) -> None:
    design = read_text(EVICTED % budget)
    assert sorted(name for name, _ in refused(design)) == (["age", "spread"] if none else [])
    found = [str(held_back(answer(Verdict.PROVED, of=(name,)), design).verdict) for name in ("age", "spread", "stop")]
    assert found == (["undecided"] * 2 if none else ["proved"] * 2) + ["proved"]
    assert held_back(answer(Verdict.CONFLICT, code="COH209", of=("pdb", "age")), design).verdict is Verdict.CONFLICT


def test_a_budget_of_as_many_as_there_are_now_lets_some_go_of_what_is_scaled() -> None:
    scaled = EVICTED % "counts: web.available, at_least: 3"
    hpa = "  hpa: {uses: kubernetes_hpa, target: {signal: web.cpu, setpoint: 70 %}, actuation: {signal: web.replicas, "
    design = read_text(scaled.replace("loops:\n", f"loops:\n{hpa}bounds: [3, 9]}}}}\n"))
    assert refused(design) == ()
