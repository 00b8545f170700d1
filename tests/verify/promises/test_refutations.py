"""Promises decided by exact runs: instants of the first break, recurring laps, every start; by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.clock import now
from coherence.base.solver import unsat
from coherence.language.expressions import parse
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Tree, rename
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.orbits import long_run
from coherence.verify.promises.edges_ahead import LAPS, MOST_INSTANTS
from coherence.verify.promises.outcomes import Open, Proved, Refuted
from coherence.verify.promises.refutations import (
    FRESH,
    every_start,
    lap_truths,
    refuted,
    truths,
    violation,
    watched,
)
from tests.verify.promises.plants import model_of, relay

AT_ZERO = Choices({"plant.x": Fraction(0)})
SOON = 10.0


def condition(model: Model, text: str) -> Tree:
    return rename(parse(text), model.resolve)


def the_model(**design: str) -> Model:
    return model_of(relay("always x < 99", **design))


@pytest.mark.parametrize(
    ("text", "wanted", "count"),
    [
        # sampled 0, 4, 6, 4, 6; left 4, 6, 4, 6: the first instant at which one of the two is not as wanted
        ("x < 6", True, 2),
        ("x < 4", True, 1),
        ("x <= 6", True, 0),
        ("x >= 6", False, 2),
        ("x < 1", False, 1),
        ("x > 6", False, 0),
        ("job.v >= 1", True, 1),  # 0 before the first sample
    ],
)
def test_a_run_ends_at_the_first_instant_that_breaks_the_promise(text: str, wanted: bool, count: int) -> None:
    model = the_model()
    found = violation(model, AT_ZERO, condition(model, text), wanted=wanted, deadline=now() + SOON)
    assert len(found) == count
    assert [instant.time for instant in found] == list(range(count))


UNEVEN = """coherence: 1
components:
  pace: {state: "y' = y + 1", step: 1 s, from: 0}
  plant: {state: "x' = x + pace.y", step: 1 s, from: 0}
loops: {act: {timescale: {period: 1 s, phase: 0 s}, actuation: {signal: j.v, to: x, bounds: [0, 9], from: 0}}}
promises: {p: always x <= 9}
"""


@pytest.mark.parametrize(("laps", "broken"), [(LAPS + 1, True), (FRESH * LAPS, True), (FRESH * LAPS + 1, False)])
def test_a_run_that_does_not_recur_is_looked_at_for_so_many_laps(laps: int, broken: bool) -> None:
    model = model_of(UNEVEN)  # the instant after so many laps is the first that leaves more than this
    below = condition(model, f"plant.x < {laps * (laps + 1) // 2}")
    at_zero = Choices({"plant.x": Fraction(0), "pace.y": Fraction(0)})
    assert bool(violation(model, at_zero, below, wanted=True, deadline=now() + SOON)) is broken


def test_a_condition_that_counts_samples_must_recur_with_the_run() -> None:
    model = the_model()
    for text, counts in (("x > 4", False), ("(x > 4) for 2 s", True), ("x > previous(x)", True)):
        tree = condition(model, text)
        assert watched(model, tree) == ((tree,) if counts else ())


@pytest.mark.parametrize(
    ("kind", "text", "broken"),
    [
        ("always", "x < 6", True),
        ("always", "x < 7", False),
        ("never", "x >= 6", True),
        ("never", "x >= 7", False),
        ("eventually", "x >= 6", False),
        ("eventually", "x < 1", False),  # at the beginning, and never again
        ("eventually", "x >= 7", True),
        ("eventually_always", "x >= 4", False),
        ("eventually_always", "x >= 5", True),
        ("eventually_always", "x < 1", True),
    ],
)
def test_a_corner_whose_run_breaks_the_promise_refutes_it(kind: str, text: str, broken: bool) -> None:
    model = the_model()
    tree = condition(model, text)
    found = refuted(model, tree, kind, now() + SOON)
    assert (found is not None) is broken
    assert found is None or found.certainty.certain
    decided = every_start(model, tree, kind, now() + SOON)
    assert isinstance(decided, Refuted if broken else Proved)
    if isinstance(decided, Proved):
        assert decided.method == "exact execution of its only start to a recurrence"
        assert decided.assumptions == ()  # one loop without a sensor
        assert decided.certificate is not None
        assert unsat(decided.certificate, timeout_ms=5000).unsat


def test_only_some_corners_that_break_are_not_everywhere() -> None:
    model = the_model(start="0 .. 10")
    some = refuted(model, condition(model, "x <= 9"), "always", now() + SOON)
    assert some is not None
    assert not some.certainty.certain
    assert some.choices.values["plant.x"] == 10
    every = refuted(model, condition(model, "x <= 3"), "always", now() + SOON)
    assert every is not None
    assert every.certainty.certain


def test_what_holds_on_the_lap_and_on_the_way_to_it() -> None:
    model = the_model()
    tree = condition(model, "x >= 6")
    run = long_run(model, AT_ZERO, laps=LAPS, most=MOST_INSTANTS)
    assert run.orbit is not None
    told = list(truths(model, run, tree))
    assert [(int(time), holds) for time, holds in told[:6]] == [
        (0, False),
        (0, False),
        (1, False),
        (1, True),
        (2, True),
        (2, False),
    ]
    lap = lap_truths(model, run, tree)
    assert set(lap) == {True, False}
    assert len(lap) < len(told)
    assert set(lap_truths(model, run, condition(model, "x >= 4"))) == {True}


def test_an_orbit_that_is_only_approached_has_no_past() -> None:
    model = the_model(high="1", low="1")  # x comes to 2 and never is
    run = long_run(model, AT_ZERO, laps=LAPS, most=MOST_INSTANTS)
    assert run.orbit is not None
    assert not run.orbit.exact
    assert all(lap_truths(model, run, condition(model, "x > 1.9")))
    with pytest.raises(NotExactError, match="only approached"):
        lap_truths(model, run, condition(model, "(x > 1.9) for 2 s"))
    assert isinstance(every_start(model, condition(model, "x < 3"), "always", now() + SOON), Open)


COUNTER = """coherence: 1
loops:
  a:
    timescale: {{period: 2 s{phase}}}
    trigger: job.v < 3
    actuation: {{signal: job.v, law: step, by: 1, bounds: [0, 9], from: {start}}}
  b:
    timescale: {{period: 2 s, phase: {other} s}}
    trigger: job.v > 1
    actuation: {{signal: job.v, law: step, by: -1, bounds: [0, 9]}}
promises: {{p: always job.v <= 3}}
"""


def counter(start: str, phase: str = ", phase: 0 s", other: str = "0") -> Model:
    return model_of(COUNTER.format(start=start, phase=phase, other=other))


@pytest.mark.parametrize(
    ("start", "phase", "method"),
    [
        ("0", ", phase: 0 s", "exact execution of its only start to a recurrence"),
        ("0 .. 2", ", phase: 0 s", "exact execution of all 3 starts to a recurrence"),
        ("0 .. 2", "", "exact execution of all 3 starts to a recurrence"),
    ],
)
def test_every_start_phase_and_order_is_run(start: str, phase: str, method: str) -> None:
    model = counter(start, phase)
    kept = every_start(model, condition(model, "job.v <= 3"), "always", now() + SOON)
    assert isinstance(kept, Proved)
    assert kept.method == method
    assert kept.assumptions == ("every phase; every order of equal rank, the same at every instant",)


def test_the_order_that_breaks_a_promise_is_found() -> None:
    # from 2: a first makes 3, and b 2 again; b first makes 1, and a 2 again: 3 is never left after an instant
    model = counter("2")
    for text, kind in (("job.v <= 2", Proved), ("job.v >= 2", Proved), ("job.v < 2", Refuted)):
        assert isinstance(every_start(model, condition(model, text), "always", now() + SOON), kind), text
    apart = counter("2", phase="", other="1")  # b comes a second later, and 3 stands till then
    assert isinstance(every_start(apart, condition(apart, "job.v <= 2"), "always", now() + SOON), Refuted)


def test_a_deadline_that_is_over_leaves_the_promise_open() -> None:
    model = counter("0 .. 2")
    left = every_start(model, condition(model, "job.v <= 3"), "always", now() - 1)
    assert left == Open("the time limit", "0 starts keep the promise")
