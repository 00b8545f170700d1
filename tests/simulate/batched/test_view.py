"""Expressions at many points at once: each point is what that point alone would be, the past included."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.parse import parse
from coherence.language.expressions.tree import Call, Name, Number
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.batched.executor import Lanes
from coherence.simulate.batched.view import LanesView
from coherence.simulate.execute.exact import Choices

X = [-2.0, 0.0, 1.0, 3.5]
TANK = """coherence: 1
components:
  tank:
    x: -10 .. 10
    state: "level' = level + x"
    step: 1 s
    from: 0
    twice: 2 * x
    late: delayed(level, 2 s)
    half: delayed(level, 2.5 s)
    mean: mean_over(level, 4 s)
loops:
  drive:
    timescale: {period: 2 s}
    trigger: tank.level < 1000
    target: {signal: tank.level, setpoint: 3, sensor: [SENSOR]}
    actuation: {signal: valve.open, law: step, by: 1, bounds: [0, 5], from: 0}
"""


def lanes(sensor: str = "scrape 3 s, max 4 s") -> Lanes:
    """Returns a run of four points of which `tank.x` differs."""
    model = elaborate(read_text(TANK.replace("SENSOR", sensor)))
    return Lanes(model, {"tank.x": [Fraction(x) for x in X]}, Choices())


def view(run: Lanes) -> LanesView:
    """Returns the world of a run at its present time, as a sample sees it."""
    return LanesView(run, run.time, run.base(), "drive")


def until(run: Lanes, time: int) -> Lanes:
    """Goes through all instants before a time, and returns the run just before the one at that time."""
    while run.next_time() < time:
        run.advance()
    run.time = Fraction(time)
    run.seen = run.base()
    return run


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("tank.x + 2 * tank.x", lambda x: 3 * x),
        ("tank.twice - 1", lambda x: 2 * x - 1),
        ("max(tank.x, 1) * abs(tank.x)", lambda x: max(x, 1) * abs(x)),
        ("1 if tank.x > 0 else tank.x", lambda x: 1 if x > 0 else x),
        ("tank.x > 0 and tank.x < 3", lambda x: 0 < x < 3),
        ("not (tank.x >= 1)", lambda x: not x >= 1),
        ("(5 if tank.x == 1 else 7) + (tank.x if tank.twice <= 0 else 0)", lambda x: (5 if x == 1 else 7) + min(x, 0)),
    ],
)
def test_every_point_has_its_own_value(text: str, alone: Callable[[float], float]) -> None:
    assert view(lanes()).read(parse(text)).tolist() == [alone(x) for x in X]


def test_an_expression_is_lowered_once() -> None:
    run, tree = lanes(), parse("tank.x > 0")
    assert view(run).read(tree).tolist() == [False, False, True, True]
    lowered = run.lowered[id(tree)]
    assert view(run).read(tree).tolist() == [False, False, True, True]
    assert run.lowered[id(tree)] is lowered


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("tank.x > 1", [False, False, True, False]),
        ("tank.x > 1.0000000000001", [False, False, True, False]),
        ("tank.x > 1.00001", [False, False, False, False]),
        ("(1000000000000 + tank.x) - 1000000000000 > 0.5", [False, True, True, False]),  # of what is added: 2
        ("tank.x * 2 > tank.twice", [True, False, True, True]),  # 0 is 0 exactly
    ],
)
def test_a_comparison_that_rounding_may_decide_marks_its_point(text: str, doubtful: list[bool]) -> None:
    run = lanes()
    view(run).read(parse(text))
    assert run.doubtful.tolist() == doubtful


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("tank.x", [2, 0, 1, 3.5]),
        ("tank.x - 10", [12, 10, 11, 13.5]),
        ("tank.x * 3", [6, 0, 3, 10.5]),
        ("max(tank.x, 1) + 1", [4, 2, 3, 5.5]),
        ("tank.twice", [4, 0, 2, 7]),
    ],
)
def test_rounding_is_relative_to_the_sum_of_what_is_added(text: str, size: list[float]) -> None:
    run = lanes()
    assert np.broadcast_to(view(run).size(parse(text)), 4).tolist() == size


def test_the_size_of_a_choice_counts_both_sides() -> None:
    run = lanes()
    assert view(run).size(parse("tank.x - 1 if tank.x > 9 else 5")).tolist() == [8, 6, 7, 9.5]


# -- the past: at second t the level was sampled as t * x, and left as (t + 1) * x --------------------


@pytest.mark.parametrize(
    ("time", "path", "times_x"),
    [
        (1, "tank.late", 0.0), (2, "tank.late", 0.0), (3, "tank.late", 1.0), (6, "tank.late", 4.0),
        (2, "tank.half", 0.0), (3, "tank.half", 1.0), (6, "tank.half", 4.0),
        (2, "tank.mean", 3 / 4), (3, "tank.mean", 6 / 4), (6, "tank.mean", (3 + 4 + 5 + 6) / 4),
    ],
)  # fmt: skip
def test_what_was_is_read_back(time: int, path: str, times_x: float) -> None:
    run = until(lanes(), time)
    assert view(run).read(Name(path)).tolist() == pytest.approx([times_x * x for x in X])


@pytest.mark.parametrize(("time", "level"), [(0, 0.0), (2, 0.0), (3, 3.0), (4, 3.0), (6, 6.0), (8, 6.0)])
def test_a_scrape_stands_until_the_next(time: int, level: float) -> None:
    run = until(lanes("scrape 3 s"), time)
    measured = run.model.loops[0].measured
    assert measured is not None
    assert view(run).read(measured).tolist() == [level * x for x in X]


@pytest.mark.parametrize(("time", "high", "low"), [(2, 0.0, 0.0), (4, 3.0, 0.0), (8, 6.0, 3.0)])
def test_a_maximum_is_over_the_window_and_the_present(time: int, high: float, low: float) -> None:
    """Over the last four seconds of what was scraped every three: a point that falls has its highest at the start."""
    run = until(lanes(), time)
    measured = run.model.loops[0].measured
    assert measured is not None
    assert view(run).read(measured).tolist() == [max(high * x, low * x) for x in X]


def test_the_sample_before_and_a_streak_are_those_of_the_loop() -> None:
    run = lanes()
    before, streak = parse("previous(tank.x)"), parse("tank.x > 0 for 2 s")
    values = []
    for time in (0, 1, 2):
        world = LanesView(run, Fraction(time), {**run.base(), "tank.x": np.array(X) + 10 * time}, "drive")
        values.append((world.read(before).tolist(), world.read(streak).tolist()))
    assert [first for first, _ in values] == [X, X, [x + 10 for x in X]]
    assert [held for _, held in values] == [[False] * 4, [False] * 4, [False, False, True, True]]


def test_what_has_no_value_at_many_points_is_refused() -> None:
    run = lanes()
    world = view(run)
    world.special["\0x"] = Number(Fraction(1))
    with pytest.raises(NotExactError, match="no value for many points"):
        world["\0x"]
    with pytest.raises(NotExactError):
        world.read(Call("rate_of", (Name("tank.x"),)))
