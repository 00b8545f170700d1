"""Inputs that vary in time: schedules, and the bursts of a design's workloads."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.bursts import bursts
from coherence.simulate.execute.exact import Choices, Execution, Schedule, View, execute, replay
from coherence.simulate.execute.hybrid import execute as execute_hybrid
from coherence.simulate.execute.orbits import long_run
from tests.paths import SPECS

SERVING = SPECS / "serving-hpc" / "design.yaml"
TALLY = """
coherence: 1
components: {c: {state: "n' = n + outside.load", step: 10 s, from: 0}}
"""
RELAY = """
coherence: 1
components:
  c: {load: 1, desired: 0}
loops:
  l: {timescale: {period: 10 s}, actuation: {signal: c.desired, to: c.load, bounds: [0, 99], from: 0}}
"""
F = Fraction


def serving() -> Model:
    return elaborate(read_text(SERVING.read_text()))


def entries(*rows: tuple[Any, str, Any]) -> Schedule:
    return tuple((F(at), path, F(level)) for at, path, level in rows)


def test_an_instant_stands_at_each_time_and_the_value_is_there_before_it_is_sampled() -> None:
    schedule = entries((7, "c.load", 5), (20, "c.load", 2))
    run = execute(elaborate(read_text(RELAY)), Choices(schedule=schedule), until=F(30))
    seen: list[Any] = [(i.time, i.sampled["c.load"], i.after["c.desired"]) for i in run]
    assert seen == [
        (0, 1, 1), (7, 5, 1), (10, 5, 5), (20, 2, 2), (30, 2, 2),
    ]  # fmt: skip


def test_an_input_outside_the_design_takes_its_value_from_the_schedule_alone() -> None:
    schedule = entries((0, "outside.load", 1), (15, "outside.load", 4))
    run = execute(elaborate(read_text(TALLY)), Choices(schedule=schedule), until=F(30))
    seen: list[Any] = [(i.time, i.after["c.n"]) for i in run]
    assert seen == [(0, 1), (10, 2), (15, 2), (20, 6), (30, 10)]


def test_a_schedule_may_take_the_place_of_an_output() -> None:
    design = elaborate(read_text(SERVING.read_text()))
    run = execute(design, Choices(schedule=entries((10, "chat.attempts", 290))), until=F(15))
    assert run[-1].after["gateway.backlog"] == 5 * (440 - 360)


@pytest.mark.parametrize("entry", [(F(-1), "c.load", F(1)), (F(1), "c.desired", F(1))])
def test_a_schedule_sets_no_command_and_nothing_before_the_start(entry: tuple[Fraction, str, Fraction]) -> None:
    with pytest.raises(ValueError, match="a schedule sets inputs"):
        Execution(elaborate(read_text(RELAY)), Choices(schedule=(entry,)))


def test_a_run_recurs_only_after_the_last_entry() -> None:
    made = elaborate(read_text(RELAY))
    calm = long_run(made, Choices(), laps=30).orbit
    late = long_run(made, Choices(schedule=entries((105, "c.load", 3))), laps=30).orbit
    assert calm is not None
    assert late is not None
    assert calm.start <= 20
    assert late.start >= 105
    assert late.range_of("c.desired") == (F(3), F(3))


def test_a_schedule_that_goes_on_has_no_orbit() -> None:
    made = elaborate(read_text(RELAY))
    swings = entries(*((20 * k + 5, "c.load", 1 + k % 2) for k in range(40)))
    assert long_run(made, Choices(schedule=swings), laps=30).orbit is None


def test_a_run_with_a_schedule_replays() -> None:
    made, choices = serving(), Choices(schedule=bursts(serving(), F(60)))
    run = execute(made, choices, until=F(200))
    assert replay(made, choices, run)
    assert not replay(made, Choices(), run)


def test_bursts_of_a_design() -> None:
    assert bursts(serving(), F(700)) == entries(
        (60, "chat.rate", 440), (60, "vision.rate", 240), (80, "chat.rate", 110), (80, "vision.rate", 60),
        (660, "chat.rate", 440), (660, "vision.rate", 240), (680, "chat.rate", 110), (680, "vision.rate", 60),
    )  # fmt: skip
    assert bursts(serving(), F(50)) == ()
    own = bursts(serving(), F(60), values={"chat.rate": F(99)})
    assert (F(80), "chat.rate", F(99)) in own


def test_a_burst_that_outlasts_its_period_is_refused() -> None:
    text = SERVING.read_text().replace("lasts: 20 s, every: 10 min", "lasts: 20 s, every: 10 s")
    with pytest.raises(ValueError, match="lasts longer"):
        bursts(elaborate(read_text(text)), F(100))


def test_the_burst_of_the_serving_design_second_by_second() -> None:
    """By hand: at 30 s backfill takes 8 of 40 idle accelerators, 32 remain and serve 320/s.

    From 60 to 80 s 440 + 240 + 60 + 30 = 770/s arrive: the backlog grows by 450/s to 9000, a wait of 28 1/8 s.
    At 75 s the autoscaler asks for 41; nothing of that is ready within a minute.
    """
    run = Execution(serving(), Choices(schedule=bursts(serving(), F(60))))
    seen = {}
    while run.next_time() <= 80:
        instant = run.advance()
        view = View(run, run.time, dict(instant.after))
        seen[instant.time] = tuple(view.value(path) for path in ("gateway.backlog", "pool.capacity", "gateway.wait"))
    assert seen == {
        0: (0, 360, 0), 15: (0, 360, 0), 30: (0, 320, 0), 45: (0, 320, 0), 60: (0, 320, 0),
        75: (6750, 320, F(675, 32)), 80: (9000, 320, F(225, 8)),
    }  # fmt: skip


def test_between_instants_of_the_burst_the_hybrid_run_tells_the_backlog() -> None:
    run = execute_hybrid(serving(), Choices(schedule=bursts(serving(), F(60))), until=F(80))
    for second in range(60, 81):
        assert run.value("gateway.backlog", second) == pytest.approx(450 * (second - 60), rel=1e-12)
        assert run.value("gateway.wait", second) == pytest.approx(450 * (second - 60) / 320, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), max_size=8))
def test_the_order_of_the_entries_matters_only_within_one_time(rows: list[tuple[int, int]]) -> None:
    made = elaborate(read_text(RELAY))
    distinct = {at: level for at, level in rows}  # noqa: C416
    forward = entries(*((at, "c.load", level) for at, level in distinct.items()))
    one, other = (execute(made, Choices(schedule=s), until=F(60)) for s in (forward, forward[::-1]))
    assert [i.after for i in one] == [i.after for i in other]
    for instant in one:
        told = [level for at, level in sorted(distinct.items()) if at <= instant.time]
        assert instant.sampled["c.load"] == (told[-1] if told else 1)


def test_a_copy_goes_on_with_the_rest_of_the_schedule() -> None:
    run = Execution(elaborate(read_text(RELAY)), Choices(schedule=entries((7, "c.load", 5), (15, "c.load", 6))))
    run.advance()
    twin = run.copy()
    assert [i.time for i in (run.advance(), run.advance(), run.advance())] == [7, 10, 15]
    assert [i.after["c.load"] for i in (twin.advance(), twin.advance(), twin.advance())] == [5, 5, 6]
