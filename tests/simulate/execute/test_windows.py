"""What is kept of windows gives the same means and maxima as evaluating them anew, and marks the same recurrences."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.simulate.execute import views, windows
from coherence.simulate.execute.exact import Execution, Instant, execute
from coherence.simulate.execute.hybrid import Integrated, floated
from coherence.simulate.execute.orbits import long_run
from coherence.simulate.execute.starts import corners

PLANTS = (
    'step: 1 s, state: "x\' = 0.5 * x + 0.5 * (10 - cap.value)"',
    'step: 2 s, state: "x\' = 10 - cap.value"',
    'state: "x\' = 1 - cap.value / 4"',
)


def design(plant: str, read: str, period: int, window: str, second: str) -> str:
    return f"""coherence: 1
components: {{plant: {{{plant}, y: "{read}"}}}}
loops:
  throttle:
    timescale: {{period: {period} s}}
    rules:
      - {{when: "mean_over(plant.y, {window}) > 4", by: 1}}
      - {{when: "mean_over(plant.y, {window}) < 2 and mean_over(cap.value, {second}) > 1", by: -1}}
    actuation: {{signal: cap.value, bounds: [0, 8]}}
"""


def ran(text: str, instants: int) -> list[Instant]:
    model = Subject(read_text(text, "d"), {"d": text}).model
    return execute(model, next(iter(corners(model))), instants=instants)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(PLANTS), st.sampled_from(["plant.x", "delayed(plant.x, 4 s)", "plant.x + cap.value"]),
    st.integers(1, 3), st.sampled_from(["7 s", "10 s", "3.5 s", "500 ms", "30 s"]), st.sampled_from(["5 s", "7 s"]),
)  # fmt: skip
def test_running_sums_are_the_sums(plant: str, read: str, period: int, window: str, second: str) -> None:
    text = design(plant, read, period, window, second)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "MOST", 8)  # forget often
        quick = ran(text, 80)
        patch.setattr(views, "_sums", lambda *_: None)
        slow = ran(text, 80)
    assert quick == slow
    assert all(isinstance(one.after["cap.value"], Fraction | int) for one in quick)


@pytest.mark.parametrize("read", ["plant.x", "delayed(plant.x, 4 s)"])
def test_an_orbit_is_found_where_it_recurs(read: str) -> None:
    text = design(PLANTS[1], read, 1, "20 s", "5 s")
    model = Subject(read_text(text, "d"), {"d": text}).model
    run = long_run(model, next(iter(corners(model))), laps=400)
    assert run.orbit is not None
    assert run.orbit.exact
    lap = run.orbit.lap
    again = execute(model, run.choices, instants=len(run.instants) + len(lap))
    assert [one.after for one in again[-len(lap) :]] == [one.after for one in lap]


def in_floats(text: str, instants: int) -> list[Instant]:
    model = floated(Subject(read_text(text, "d"), {"d": text}).model)
    run = Execution(model, next(iter(corners(model))), Integrated(Fraction(instants)))
    half = [run.advance() for _ in range(instants // 2)]
    other = run.copy()
    ahead = run.advance()  # what it keeps of its windows is no part of what the other keeps
    return [*half, ahead] + [other.advance() for _ in range(instants // 2)]


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("read", ["plant.x", "delayed(plant.x, 4 s)"])
def test_in_floats_each_digit_is_that_of_windows_that_are_evaluated_anew(plant: str, read: str) -> None:
    text = design(plant, read, 2, "7 s", "5 s")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "MOST", 8)  # forget often
        quick = in_floats(text, 60)
        patch.setattr(views, "_sums", lambda *_: None)
        assert quick == in_floats(text, 60)


@pytest.mark.parametrize("execute_in", [ran, pytest.param(in_floats, marks=pytest.mark.slow)])
def test_the_window_of_five_minutes_of_a_loop_of_a_second_is_no_work(
    monkeypatch: pytest.MonkeyPatch, execute_in: Callable[[str, int], list[Instant]]
) -> None:
    text = design(PLANTS[1], "plant.x", 1, "5 min", "5 min")
    spans = 0
    piece = views.piece

    def counted(*given: object) -> object:
        nonlocal spans
        spans += 1
        return piece(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(views, "piece", counted)
    instants = len(execute_in(text, 500))
    assert spans < 8 * instants  # once two ends and one new piece for each of two windows; else 300 pieces each
