"""Two loops that wake each other: the lap of their maps, or the script that there is none; by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.solver import unsat
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.actions.loop_directions import moves
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.writers._turns import TurnCycle, cycle
from tests.draws import few


def turns(low: int, up: int, high: int, down: int, *, bounds: str = "0, 100") -> TurnCycle | list[str]:
    """Returns the cycle of a loop that adds `up` up to `low` and one that takes `down` from `high` on."""
    text = f"""coherence: 1
loops:
  up: {{trigger: job.n <= {low}, actuation: {{signal: job.n, law: step, by: {up}, bounds: [{bounds}]}}}}
  down: {{trigger: job.n >= {high}, actuation: {{signal: job.n, law: step, by: -{down}, bounds: [{bounds}]}}}}
"""
    facts = known(Subject(read_text(text), {"<design>": text}))
    first, second = (next(iter(moves(facts, writer))) for writer in facts.written["job.n"])
    return cycle(facts, "job.n", first, second)


@pytest.mark.parametrize(("high", "there"), [(8, True), (9, True), (10, False)])
def test_from_five_and_less_four_more_reach_nine_and_not_ten(high: int, there: bool) -> None:
    answer = turns(5, 4, high, 4)
    if not there:
        assert isinstance(answer, list)
        assert [unsat(script, timeout_ms=5000).unsat for script in answer] == [True]
        return
    assert isinstance(answer, TurnCycle)
    assert not answer.between
    (first, low, risen), (second, again, back) = answer.lap
    assert (first, second) == ("up", "down")
    assert low <= 5
    assert (risen, again, back) == (low + 4, low + 4, low)
    assert low.denominator == 1


@settings(max_examples=few(25), deadline=None)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(2, 12), st.integers(1, 4))
def test_a_lap_is_one_that_the_two_maps_run(low: int, up: int, gap: int, down: int) -> None:
    """Each step of it is what the loop does there, it ends where it began, and both loops take part."""
    high = low + gap
    answer = turns(low, up, high, down)
    if not isinstance(answer, TurnCycle):
        return
    for name, before, after in answer.lap:
        acts, move = (before <= low, up) if name == "up" else (before >= high, -down)
        assert acts
        assert after == min(max(before + move, Fraction(0)), Fraction(100))
    places = [before for _, before, _ in answer.lap]
    assert [after for _, _, after in answer.lap] == [*places[1:], places[0]]
    assert {name for name, *_ in answer.lap} == {"up", "down"}


def test_a_bound_that_stops_one_leaves_no_lap() -> None:
    assert not isinstance(turns(5, 4, 9, 4, bounds="0, 8"), TurnCycle)
    assert isinstance(turns(5, 4, 9, 4, bounds="0, 9"), TurnCycle)
