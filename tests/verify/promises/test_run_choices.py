"""Choices of runs beside the corners at phase 0: patterns of phases, orders of equal rank, values that vary."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, Execution
from coherence.simulate.execute.schedules import schedules
from coherence.simulate.execute.starts import corners
from coherence.verify.promises.run_choices import DRAWS, in_every_order, orders_of_equal_rank, other_choices

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


def drawn_loops(draw: Random) -> str:
    """Three or four loops of equal rank that read states, an output, one another's signals and modes, and the past."""
    count = draw.randint(3, 4)
    sources = ["p.x", "q.y", "p.both", "delayed(w.u0, 1 s)", "previous(w.u1)", "mean_over(w.u1, 2 s)"]
    read = [draw.choice([*sources, *(f"w.u{k}" for k in range(3) if draw.random() < 0.4)]) for _ in range(count)]
    loops = []
    for k in range(count):
        signal = 0 if k == 3 and draw.random() < 0.5 else k
        other = f" or l{draw.randrange(k)}" if k and draw.random() < 0.3 else ""
        law = draw.choice((f"by: {draw.choice((1, 2))}", f"law: set, to: {draw.choice(('p.x', 'p.both', '2'))}"))
        lag = ", lands: 1 s" if draw.random() < 0.2 else ""
        held = " for 1 s" if draw.random() < 0.2 else ""
        loops.append(
            f"  l{k}:\n    timescale: {{period: {draw.choice((1, 1, 2))} s, phase: 0 s{lag}}}\n"
            f'    trigger: {{enter: "{read[k]} <= 3{held}{other}", leave: "{read[k]} > 6"}}\n'
            f"    actuation: {{signal: w.u{signal}, {law}, bounds: [-9, 9], from: 0}}\n"
        )
    return (
        "coherence: 1\ncomponents:\n"
        '  p: {state: "x\' = x + 0.5 * w.u0 - 1", step: 1 s, from: 4, both: w.u0 + y}\n'
        '  q: {state: "y\' = 0.5 * y + w.u1 - w.u2", step: 1 s, from: 1}\n'
        "loops:\n" + "".join(loops)
    )


def trace(model: Model, order: tuple[str, ...]) -> list[object]:
    run = Execution(model, Choices(next(corners(model)).values, {}, order))
    return [(instant.time, instant.after) for instant in (run.advance() for _ in range(9))]


@pytest.mark.parametrize("seed", range(24))
def test_every_order_runs_as_one_of_those_that_stand_for_all(seed: int) -> None:
    model = elaborate(read_text(drawn_loops(Random(seed))))  # noqa: S311  (no secret)
    assert not model.gaps
    orders, every = orders_of_equal_rank(model)
    assert every
    runs = [trace(model, order) for order in orders]
    names = [loop.name for loop in model.loops]
    assert all(trace(model, order) in runs for order in itertools.permutations(names))
    assert len(orders) <= len(list(itertools.permutations(names)))


def test_loops_that_do_not_see_one_another_have_one_order_however_many_they_are() -> None:
    pairs = "".join(
        f"  l{k}: {{timescale: {{period: 1 s, phase: 0 s}}, trigger: x > {k},"
        f" actuation: {{signal: w.u{k}, by: 1, bounds: [0, 9], from: 0}}}}\n"
        for k in range(7)
    )
    plant = 'components: {p: {state: "x\' = x + w.u0", step: 1 s, from: 0 .. 3}}\n'
    apart = elaborate(read_text(f"coherence: 1\n{plant}loops:\n{pairs}"))
    assert orders_of_equal_rank(apart) == (((),), True)
    met = elaborate(read_text(f"coherence: 1\n{plant}loops:\n{pairs.replace('x > 6', 'w.u5 > 6')}"))
    orders, every = orders_of_equal_rank(met)
    assert len(orders) == 2
    assert not every  # of more than four loops some orders are drawn
    assert {order.index("l5") < order.index("l6") for order in orders} == {False, True}
