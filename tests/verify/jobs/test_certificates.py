"""Scripts about explored relations: unsat where the claim holds of the numbers, and satisfiable where it does not."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from coherence.base.solver import unsat
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs import certificates
from coherence.verify.jobs.certificates import falling, flat, ranked, saturated, standing
from coherence.verify.jobs.contest import Contest, State, contest
from coherence.verify.jobs.state_graph import StateGraph, StateStep

TEXT = """coherence: 1
components: {gpu: {count: GPU}}
jobs:
  a: {needs: 2 gpu, copies: 2}
  b: {needs: 3 gpu, gang: 1, barrier: 3, copies: 3}
"""


def jobs_of(gpu: int) -> Contest:
    text = TEXT.replace("GPU", str(gpu))
    return contest(known(Subject(read_text(text), {"<design>": text})))


def holds(script: str) -> bool:
    return unsat(script, timeout_ms=5000).unsat


def graph(steps: dict[State, list[tuple[str, State]]]) -> StateGraph[State]:
    return StateGraph({s: tuple(StateStep(kind, "", to) for kind, to in ways) for s, ways in steps.items()}, {}, True)


@pytest.mark.parametrize(
    ("rank", "true"),
    [({(0, 0): 2, (1, 0): 1, (1, -1): 0}, True), ({(0, 0): 2, (1, 0): 1, (1, -1): 1}, False),
     ({(0, 0): 1, (1, 0): 2, (1, -1): 0}, False)],
)  # fmt: skip
def test_a_rank_falls_with_every_step_or_the_script_has_a_model(rank: dict[tuple[int, ...], int], true: bool) -> None:
    steps = [((0, 0), (1, 0)), ((1, 0), (1, -1))]
    assert holds(ranked(rank, steps, ["x", "y"])) is true


def test_no_steps_are_trivially_ranked() -> None:
    assert holds(ranked({}, [], ["x"]))


def test_a_number_below_zero_is_written_as_the_standard_has_it() -> None:
    script = ranked({(2,): 1, (-1,): 0}, [((2,), (-1,))], ["x"])
    assert "(= x 2)" in script
    assert "(= x (- 1))" in script


ONE, TWO, END = ((0, 0), (0,)), ((0, 1), (0,)), ((1, 1), (3,))
LINE = graph({ONE: [("admit", TWO)], TWO: [("admit", END), ("end", ONE)], END: []})


def test_states_are_flattened_kind_by_kind() -> None:
    assert [flat(state) for state in (ONE, TWO, END)] == [(0, 0, 0), (0, 1, 0), (1, 1, 3)]


def test_steps_of_the_kinds_that_are_asked_for_fall() -> None:
    script = falling(jobs_of(9), LINE, ["admit"])
    assert script is not None
    assert holds(script)
    assert script.count("(> (rank") == 2
    assert falling(jobs_of(9), LINE, ["admit", "end"]) is None  # there and back again


def test_a_script_has_at_most_so_many_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "MOST_TERMS", 6)  # 2 steps of 3 numbers
    assert falling(jobs_of(9), LINE, ["admit"]) is not None
    assert standing(jobs_of(9), graph({ONE: [], TWO: []})) is not None
    monkeypatch.setattr(certificates, "MOST_TERMS", 5)
    assert falling(jobs_of(9), LINE, ["admit"]) is None
    assert standing(jobs_of(9), graph({ONE: [], TWO: []})) is None


def test_all_jobs_together_fit_or_there_is_no_script() -> None:
    script = saturated(jobs_of(13))  # 2 * 2 + 3 * 3
    assert script is not None
    assert holds(script)
    assert "(<= 13.0 13.0)" in script
    assert saturated(jobs_of(12)) is None
    assert saturated(dataclasses.replace(jobs_of(13), caps=(("l", None, Fraction(1)),))) is None


@pytest.mark.parametrize(("held", "true"), [(0, True), (1, False), (2, False), (3, True)])
def test_no_job_holds_a_part_of_what_it_waits_for_in_a_quiet_state(held: int, true: bool) -> None:
    quiet = ((1, 1), (held,))
    script = standing(jobs_of(9), graph({ONE: [("admit", quiet)], quiet: []}))
    assert script is not None
    assert holds(script) is true


def test_states_in_which_somebody_acts_are_not_quiet() -> None:
    partial = ((0, 0), (1,))
    script = standing(jobs_of(9), graph({partial: [("admit", END)], END: []}))
    assert script is not None
    assert holds(script)
