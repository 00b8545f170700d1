"""Choices of runs beside the corners at phase 0: patterns of phases, orders of equal rank, values that vary."""

from __future__ import annotations

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.schedules import schedules
from coherence.simulate.execute.starts import corners
from coherence.verify.promises.run_choices import DRAWS, in_every_order, other_choices

TEXT = """
coherence: 1
components: {{tank: {{w: {w}, state: "x' = x + w", step: 1 s, from: 0 .. 3}}}}
loops:
  a:
    timescale: {{period: 1 s{phase}}}
    trigger: x > 1
    actuation: {{signal: out.u, by: 1, bounds: [0, 3], from: 0}}
  b:
    timescale: {{period: 1 s{phase}}}
    trigger: x < 1
    actuation: {{signal: out.u, by: -1, bounds: [0, 3], from: 0}}
"""


def design(w: str = "1", phase: str = ", phase: 0 s") -> Model:
    return elaborate(read_text(TEXT.format(w=w, phase=phase)))


def test_stated_phases_leave_the_other_order_of_equal_rank() -> None:
    assert [choices.order for choices in other_choices(design())] == [("b", "a"), ("a", "b"), ("b", "a")]
    assert [choices.order for choices in in_every_order(design(), next(corners(design())))] == [(), ("b", "a")]


def test_free_phases_are_run_in_every_pattern_and_order_from_every_corner() -> None:
    model = design(phase="")
    patterns = list(schedules(model))
    choices = list(other_choices(model))
    assert len(choices) == 2 * len(patterns) * 2 - 1  # corners, patterns, orders; without the first of all
    assert {tuple(one.phases.items()) for one in choices} == {tuple(pattern.phases.items()) for pattern in patterns}


def test_what_varies_goes_from_end_to_end_and_by_chance_the_same_in_every_call() -> None:
    model = design(w="{varies: 0 .. 2}")
    courses = [choices.schedule for choices in other_choices(model) if choices.schedule]
    assert len(courses) == (2 + DRAWS) * len(list(corners(model)))
    assert all(value in (0, 2) for course in courses for _, _, value in course)
    assert [value for _, _, value in courses[0][:4]] == [0, 2, 0, 2]
    assert courses == [choices.schedule for choices in other_choices(model) if choices.schedule]
