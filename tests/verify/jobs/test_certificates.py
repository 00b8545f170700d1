"""Scripts about explored relations: unsat where the claim holds of the numbers, and satisfiable where it does not."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from coherence.base.solver import unsat
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.certificates import all_joined, falling, flat, ranked, saturated, standing
from coherence.verify.jobs.contest import Contest, State, contest
from coherence.verify.jobs.job_states import LEAVING, coded
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


def test_a_rank_falls_with_every_step() -> None:
    script = ranked({"a": ["b", "c"], "b": ["c"], "c": []})
    assert script is not None
    assert script.count("(> ") == 3
    assert holds(script)
    assert not holds(script.replace("Int 2) ; a", "Int 1) ; a"))


def test_no_steps_are_trivially_ranked() -> None:
    script = ranked({"a": []})
    assert script is not None
    assert holds(script)


def test_a_round_has_no_rank_but_where_something_is_left_to_be_done_in_it_that_never_is() -> None:
    steps = {"a": ["b"], "b": ["a", "c"], "c": []}
    assert ranked(steps) is None
    script = ranked(steps, lambda states: dict.fromkeys(states, 2))
    assert script is not None
    assert script.count("(and (< 0 2) (= 2 2))") == 2
    assert holds(script)
    assert not holds(ranked(steps, lambda states: dict.fromkeys(states, 0)) or "")
    assert not holds(ranked(steps, lambda _: {"a": 2, "b": 1}) or "")


ONE, TWO, END = ((0, 0), (0,)), ((0, 1), (0,)), ((1, 1), (3,))
LINE = graph({ONE: [("admit", TWO)], TWO: [("admit", END), ("end", ONE)], END: []})


def test_states_are_flattened_kind_by_kind() -> None:
    assert [flat(state) for state in (ONE, TWO, END)] == [(0, 0, 0), (0, 1, 0), (1, 1, 3)]


def test_steps_of_the_kinds_that_are_asked_for_fall() -> None:
    script = falling(LINE, ["admit"])
    assert script is not None
    assert holds(script)
    assert script.count("(> s") == 2
    assert falling(LINE, ["admit", "end"]) is None  # there and back again


def test_a_round_in_which_a_job_is_leaving_all_the_time_does_not_last() -> None:
    leaving = coded(LEAVING, held=2)
    here, there = ((leaving,), (0,)), ((leaving,), (1,))
    script = falling(graph({here: [("admit", there)], there: [("take", here)]}), ["admit", "take"])
    assert script is not None
    assert holds(script)
    gone = ((coded(LEAVING, held=1),), (0,))
    round_trip = graph({here: [("admit", gone)], gone: [("take", here)]})
    assert falling(round_trip, ["admit", "take"]) is None


def test_scripts_are_joined_where_none_is_missing_and_each_stands_once() -> None:
    assert all_joined(["a", "b", "a"]) == "a(reset)\nb"
    assert all_joined(["a", None]) is None


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
    assert holds(standing(jobs_of(9), graph({ONE: [("admit", quiet)], quiet: []}))) is true


def test_states_in_which_somebody_acts_are_not_quiet() -> None:
    partial = ((0, 0), (1,))
    assert holds(standing(jobs_of(9), graph({partial: [("admit", END)], END: []})))
