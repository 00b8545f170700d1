"""Long runs: exact recurrence, rational fixed points of laps, and what is no orbit."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.orbits import FollowedRun, contraction, hyperperiod, long_run, solve
from tests.draws import few

F = Fraction


def plant(expression: str, start: int = 0, step: str = "1 s") -> Model:
    return elaborate(
        read_text(f'coherence: 1\ncomponents: {{a: {{state: "x\' = {expression}", step: {step}, from: {start}}}}}\n')
    )


def test_a_counter_that_wraps_recurs_exactly() -> None:
    found = long_run(plant("x + 1 if x < 4 else 0"), Choices(), laps=30).orbit
    assert found is not None
    assert (found.exact, found.period, found.contraction) == (True, F(5), F(0))
    assert found.range_of("a.x") == (F(0), F(4))
    assert found.turns("a.x")
    assert not found.still


def test_a_lag_closes_in_on_its_rational_fixed_point() -> None:
    """x' = x / 2 + 3 tends to 6 and halves its distance at each step."""
    found = long_run(plant("0.5 * x + 3"), Choices(), laps=20).orbit
    assert found is not None
    assert (found.exact, found.still, found.contraction) == (False, True, F(1, 2))
    assert found.range_of("a.x") == (F(6), F(6))


@pytest.mark.parametrize("expression", ["x + 1", "2 * x + 1"])
def test_what_grows_has_no_orbit(expression: str) -> None:
    assert long_run(plant(expression), Choices(), laps=40).orbit is None


@pytest.mark.parametrize("expression", ["x + 1 if x < 70 else 0", "0.5 * x + 3", "x + 1", "x + 1 if x < 35 else 3"])
def test_a_run_that_is_followed_farther_is_the_run_that_was_followed_at_once(expression: str) -> None:
    """Also where it recurs, or the word repeats, with what was passed before it went on."""
    followed = FollowedRun(plant(expression), Choices())
    near, far = followed.until(40, 20_000, bool), followed.until(200, 20_000, bool)
    assert near == long_run(plant(expression), Choices(), laps=40)
    assert far == long_run(plant(expression), Choices(), laps=200)


SCRAPED = """
coherence: 1
components: {web: {load: 100, usage: load / replicas}}
loops:
  hpa:
    timescale: {period: 4 s}
    target: {signal: web.usage, setpoint: 0.5, tolerance: 10 %, sensor: [scrape 6 s]}
    actuation: {signal: web.replicas, law: proportional, bounds: [1, 1000], from: 120}
"""


REFILLED = """
coherence: 1
components:
  a: {u: 0, state: "x' = ((a.u if a.x < 4 else 1) - 0) / 1 s", from: 1}
loops:
  l: {timescale: {period: 10 s}, actuation: {signal: a.u, to: 2 - 0.1 * a.x, bounds: [-9, 9], from: 0}}
"""


def test_a_lap_whose_events_move_with_its_start_is_not_claimed_to_contract() -> None:
    """The time at which x passes 4 depends on the start, and the derivative of a lap does not follow it."""
    found = long_run(elaborate(read_text(REFILLED)), Choices(), laps=30).orbit
    assert found is None or found.exact


def test_the_hyperperiod_holds_loops_steps_and_scrapes() -> None:
    assert hyperperiod(plant("x", step="1500 ms")) == F(3, 2)
    assert hyperperiod(elaborate(read_text(SCRAPED))) == 12
    assert hyperperiod(elaborate(read_text("coherence: 1\n"))) == 1


def test_solve_by_hand() -> None:
    assert solve([[F(2), F(1), F(5)], [F(1), F(-1), F(1)]]) == [F(2), F(1)]
    assert solve([[F(0), F(2), F(4)], [F(3), F(0), F(9)]]) == [F(3), F(2)]
    assert solve([[F(1), F(2), F(1)], [F(2), F(4), F(1)]]) is None


@given(st.lists(st.lists(st.integers(-4, 4).map(F), min_size=3, max_size=3), min_size=2, max_size=2))
def test_a_solution_solves(rows: list[list[Fraction]]) -> None:
    solution = solve([list(row) for row in rows])
    singular = rows[0][0] * rows[1][1] == rows[0][1] * rows[1][0]
    assert (solution is None) is singular
    if solution is not None:
        assert all(row[0] * solution[0] + row[1] * solution[1] == row[2] for row in rows)


def test_contraction_may_need_several_laps() -> None:
    assert contraction([[F(1, 2)]]) == F(1, 2)
    assert contraction([[F(0), F(2)], [F(1, 8), F(0)]]) == F(1, 4)  # norm 2, then 1/4
    assert contraction([[F(1)]]) is None
    assert contraction([[F(10) ** 400]]) is None


entries = st.fractions(F(-2), F(2), max_denominator=60) | st.just(F(0))


@pytest.mark.slow
@settings(max_examples=few(60), deadline=None)
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n)))
def test_the_contraction_is_the_norm_of_the_first_power_below_one(matrix: list[list[F]]) -> None:
    power, norms = matrix, []
    for _ in range(64):
        norms.append(max(sum((abs(a) for a in row), F(0)) for row in power))
        columns = [*zip(*matrix, strict=True)]
        power = [[sum((a * b for a, b in zip(row, c, strict=True)), F(0)) for c in columns] for row in power]
    assert contraction(matrix) == next((norm for norm in norms if norm < 1 - F(1, 10**9)), None)


def test_writes_that_undo_each_other_in_one_instant_are_no_rest() -> None:
    text = """coherence: 1
loops:
  cut: {rank: 1, timescale: {period: 1 s}, trigger: a.share > 80 %,
        actuation: {signal: a.share, law: set, to: 50 %, from: 100 %}}
  give: {rank: 2, timescale: {period: 1 s}, trigger: a.share < 60 %, actuation: {signal: a.share, law: set, to: 100 %}}
components: {a: {}}
"""
    run = long_run(elaborate(read_text(text, "d.yaml")), Choices())
    assert run.orbit is not None
    assert run.orbit.undone == ("cut", "give")
    assert not run.orbit.still


@pytest.mark.parametrize(
    ("timing", "lasts"),
    [("hold_down: 1 h", True), ("cooldown: 1 h", True), ("hold_down: 2 min", False), ("lands: 5 s", False)],
)
def test_what_a_loop_remembers_has_to_come_again_too(timing: str, lasts: bool) -> None:
    """The level falls by a tenth a step; a window that is not over yet holds 100, and is no cycle."""
    text = f"""coherence: 1
components: {{q: {{state: "level' = 0.9 * level", step: 15 s, from: 100}}}}
loops:
  follow:
    timescale: {{period: 15 s, {timing}}}
    actuation: {{signal: pool.n, law: set, to: ceil(q.level), bounds: [1, 200], from: 1}}
"""
    orbit = long_run(elaborate(read_text(text)), Choices(), laps=120).orbit
    assert (orbit is None) is lasts
    assert orbit is None or orbit.range_of("pool.n") == (F(1), F(1))
