"""Exact runs of the part that signals depend on: which runs there are, and what they do."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.simulate.execute.exact import Choices, Execution, execute
from coherence.verify.promises.exact_runs import (
    acts,
    against,
    closed,
    in_feedback,
    run_with,
    swings,
)
from tests.verify.promises.plants import model_of, relay, subject_of

PAIR = """coherence: 1
components: {plant: {state: "x' = 0.5 * x + job.v", step: 1 s, from: 0}}
loops:
  up:
    rank: 1
    timescale: {period: 1 s, phase: 0 s}
    trigger: x < 4
    actuation: {signal: job.v, law: step, by: 2, bounds: [0, 9], from: 1}
  down:
    rank: 2
    timescale: {period: 2 s, phase: 0 s}
    trigger: x >= 0
    actuation: {signal: job.v, law: step, by: -1, bounds: [0, 9]}
  other:
    timescale: {period: 1 s, phase: 0 s}
    trigger: x > 90
    actuation: {signal: far.v, law: step, by: 1, bounds: [0, 9], from: 0}
"""


def test_a_part_is_run_from_every_end_of_its_ranges() -> None:
    one, two = (
        closed(subject_of(relay("always x < 9")), ("plant.x",)),
        closed(subject_of(relay("always x < 9", start="0 .. 4")), ("plant.x",)),
    )
    assert (len(one.runs), len(two.runs)) == (1, 2)
    assert {run.choices.values["plant.x"] for run in two.runs} == {0, 4}
    assert one.missing == two.missing == ""


def test_a_part_that_reads_from_outside_is_not_run() -> None:
    open_ = closed(subject_of(relay("always x < 9").replace("x < 6", "x < meter.level")), ("plant.x",))
    assert open_.runs == ()
    assert open_.missing == "a value of meter.level (a number, or a range as in `components: {meter: {level: 0 .. 1}}`)"


def test_a_part_of_which_something_is_not_known_names_it() -> None:
    """The loop has no period, so that nothing writes its signal either: the cause is told, and no run is made up."""
    text = relay("always x < 9").replace("timescale: {period: 1 s, phase: 0 s}", "objective: low")
    part = closed(subject_of(text), ("plant.x",))
    assert part.runs == ()
    assert part.missing == "the period of act (`timescale: {period: ...}`)"


def test_a_part_that_cannot_be_carried_says_why() -> None:
    broken = closed(subject_of(relay("always x < 9").replace("to: 4", "to: 1 / (x - x)")), ("plant.x",))
    assert broken.runs == ()
    assert "zero" in broken.missing


def test_what_a_search_has_cost_is_counted_and_nothing_is_run_twice() -> None:
    subject, before = subject_of(relay("always x < 9")), Execution.executed
    (run,) = closed(subject, ("plant.x",)).runs
    assert Execution.executed == before + len(run.instants)
    assert closed(subject, ("plant.x",)).runs[0] is run
    assert Execution.executed == before + len(run.instants)
    growing = subject_of(relay("always x < 9").replace("0.5 * x", "1.5 * x"))
    before = Execution.executed
    (run,) = closed(growing, ("plant.x",)).runs
    assert run.orbit is None
    assert Execution.executed > before + len(run.instants), "what it might close in on is executed again"


def test_a_signal_swings_where_it_turns_on_the_lap() -> None:
    (run,) = closed(subject_of(relay("always x < 9")), ("plant.x",)).runs
    assert swings(run, ("plant.x",))
    assert swings(run, ("job.v", "plant.x"))
    assert not swings(run, ())
    (still,) = closed(subject_of(relay("always x < 9", high="0", low="0")), ("plant.x",)).runs
    assert not swings(still, ("plant.x",))


def test_a_loop_in_feedback_reads_its_own_effect() -> None:
    model = model_of(PAIR)
    assert in_feedback(model, ("up",))
    assert in_feedback(model, ("other", "down"))
    assert not in_feedback(model, ("other",))


def test_two_loops_oppose_each_other_where_they_move_one_signal_both_ways_at_once() -> None:
    # at 0 s up adds 2 and down takes 1; at 1 s up acts alone
    instants = tuple(execute(model_of(PAIR), Choices({}, {}, ()), instants=2))
    first = against(instants, "up", "down")
    assert first is instants[0]
    assert against(instants[1:], "up", "down") is None
    assert against(instants, "up", "other") is None
    assert against(instants, "up", "up") is None


def test_everything_that_a_loop_does_is_told_with_its_direction() -> None:
    instants = tuple(execute(model_of(PAIR), Choices({}, {}, ()), instants=1))
    assert acts(instants) == {"up": {("job.v", True)}, "down": {("job.v", False)}}
    assert acts(()) == {}


@pytest.mark.parametrize(("start", "low"), [(0, 4), (100, 4)])
def test_a_run_of_given_choices_closes_or_is_none(start: int, low: int) -> None:
    run = run_with(model_of(relay("always x < 9", start="0 .. 100")), Choices({"plant.x": Fraction(start)}))
    assert run is not None
    assert run.orbit is not None
    assert float(run.orbit.range_of("plant.x")[0]) == pytest.approx(low, abs=0.1)
    broken = model_of(relay("always x < 9").replace("to: 4", "to: 1 / (x - x)"))
    assert run_with(broken, Choices({"plant.x": Fraction(0)})) is None
