"""What expressions read in a run, as formulas without names: at an instant, in the past, and while states flow."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.solver import unsat
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.parse import parse
from coherence.language.expressions.tree import Name, Number, Truth, walk
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.certificates import run_frames
from coherence.simulate.execute.certificates.run_frames import (
    CLOCK,
    Frame,
    RunFrames,
    equal,
    leaf,
    literal,
    number_of,
    while_moving,
)
from coherence.simulate.execute.exact import Choices, Execution, execute

F = Fraction
TANK = """coherence: 1
components:
  tank:
    state: "level' = level + 1"
    step: 1 s
    from: 0
    twice: 2 * level
    late: delayed(level, 2 s)
    half: delayed(level, 2.5 s)
    mean: mean_over(level, 4 s)
    nested: mean_over(mean, 2 s)
loops:
  drive:
    timescale: {period: 2 s}
    trigger: tank.level < 1000
    target: {signal: tank.level, setpoint: 3, sensor: [scrape 3 s, max 4 s]}
    actuation: {signal: valve.open, law: step, by: 1, bounds: [0, 5], from: 0}
"""
FLOW = """coherence: 1
components:
  tank:
    state: "level' = rate"
    from: 0
    late: delayed(level, 1 s)
    mean: mean_over(level, 4 s)
loops:
  drive:
    timescale: {period: 2 s}
    rules: [{when: tank.level < 3, to: 2}, {when: tank.level >= 3, to: -1}]
    actuation: {signal: tank.rate, bounds: [-1, 2], from: 0}
"""


def frames_of(text: str, *, count: int, until: int = 12) -> RunFrames:
    """Returns the frames of a run in which `count` instants lie before the present one."""
    model = elaborate(read_text(text))
    frames = RunFrames(Execution(model, Choices()), execute(model, Choices(), until=F(until)))
    frames.count = count
    return frames


def now(frames: RunFrames, owner: str = "drive") -> Frame:
    instant = frames.instants[frames.count]
    return Frame(instant.time, instant.sampled, owner)


def read(text: str, path: str, count: int) -> Fraction:
    """Returns the value of a signal at an instant; its formula must have no name left."""
    frames = frames_of(text, count=count)
    formula = frames.ground(Name(path), now(frames))
    assert not any(isinstance(node, Name) for node in walk(formula))
    value = number_of(formula)
    assert isinstance(value, Fraction)
    return value


# -- in steps: at second t the level is sampled as t and left as t + 1 --------------------------------


@pytest.mark.parametrize(
    ("path", "count", "value"),
    [
        ("tank.level", 5, F(5)), ("tank.twice", 5, F(10)),
        ("tank.late", 1, F(0)), ("tank.late", 2, F(0)), ("tank.late", 5, F(3)),  # sampled at 3 s
        ("tank.half", 2, F(0)), ("tank.half", 3, F(1)), ("tank.half", 5, F(3)),  # left at 2 s
        ("tank.mean", 1, F(1, 4)), ("tank.mean", 3, F(6, 4)), ("tank.mean", 5, F(2 + 3 + 4 + 5, 4)),
    ],
)  # fmt: skip
def test_a_signal_at_an_instant(path: str, count: int, value: Fraction) -> None:
    assert read(TANK, path, count) == value


@pytest.mark.parametrize(("count", "value"), [(0, 0), (2, 0), (4, 3), (6, 6), (8, 6)])
def test_the_highest_of_what_was_scraped(count: int, value: int) -> None:
    frames = frames_of(TANK, count=count)
    measured = frames.execution.model.loops[0].measured
    assert measured is not None
    assert number_of(frames.ground(measured, now(frames))) == value


def test_a_window_of_a_window_is_not_written_down() -> None:
    with pytest.raises(NotExactError, match="a window of a window"):
        read(TANK, "tank.nested", 5)


@pytest.mark.parametrize(("time", "level"), [(F(-1), 0), (F(0), 0), (F(1, 2), 1), (F(3), 3), (F(7, 2), 4), (F(9), 6)])
def test_an_earlier_time_is_a_sample_or_what_the_instant_before_left(time: Fraction, level: int) -> None:
    """Five instants have been: after the fifth, at 4 s, the level was left at 5, and nothing is known of later ones."""
    frames = frames_of(TANK, count=5)
    then = frames.then(now(frames), time)
    assert then.past
    assert then.values["tank.level"] == (level if time < 5 else 5)


def test_the_sample_before_and_a_streak_remember_what_was_asked() -> None:
    frames = frames_of(TANK, count=0)
    before, streak = parse("previous(tank.level)"), parse("tank.level >= 1 for 2 s")
    seen = []
    for count in range(5):
        frames.count = count
        seen.append([number_of(frames.ground(tree, now(frames))) for tree in (before, streak)])
    assert [first for first, _ in seen] == [0, 0, 1, 2, 3]
    assert [held for _, held in seen] == [False, False, False, True, True]  # true since 1 s, so at 3 s for 2 s


def test_streaks_of_two_loops_are_apart() -> None:
    frames = frames_of(TANK, count=3)
    before = parse("previous(tank.level)")
    frames.ground(before, now(frames, "one"))
    frames.count = 4
    assert number_of(frames.ground(before, now(frames, "one"))) == 3
    assert number_of(frames.ground(before, now(frames, "other"))) == 4  # its first sample


def test_a_streak_is_not_looked_at_in_the_past() -> None:
    frames = frames_of(TANK, count=5)
    with pytest.raises(NotExactError, match="looked at later"):
        frames.ground(parse("previous(tank.level)"), frames.then(now(frames), F(2)))


def test_arithmetic_beyond_the_limit_is_not_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_frames, "MOST_WORK", 9)
    frames = frames_of(TANK, count=1)
    frames.ground(parse("tank.level + tank.level"), now(frames))  # three nodes each
    frames.ground(parse("tank.level + tank.level"), now(frames))
    frames.ground(parse("tank.level + tank.level"), now(frames))
    with pytest.raises(NotExactError, match="more arithmetic"):
        frames.ground(parse("tank.level"), now(frames))


# -- flowing: 0 to 4 at 2 a second, to 2 at -1, to 6 at 2, to 2 at -1 for 4 s ------------------------


@pytest.mark.parametrize(
    ("path", "count", "value"),
    [
        ("tank.late", 1, F(2)), ("tank.late", 2, F(3)), ("tank.late", 3, F(4)),
        ("tank.mean", 1, F(1)), ("tank.mean", 2, F(5, 2)), ("tank.mean", 3, F(7, 2)), ("tank.mean", 5, F(4)),
    ],
)  # fmt: skip
def test_a_state_that_flows(path: str, count: int, value: Fraction) -> None:
    assert read(FLOW, path, count) == value


def test_a_piece_between_instants_moves_with_the_clock() -> None:
    frames = frames_of(FLOW, count=3)
    piece = frames.along(F(2), F(4))
    assert (piece.values["tank.level"], piece.rates["tank.level"], piece.span) == (4, F(-1), F(2))
    moving = frames.ground(parse("2 * tank.level"), piece)
    assert Name(CLOCK) in walk(moving)
    later = frames.along(F(5, 2), F(4))
    assert (later.values["tank.level"], later.span) == (F(7, 2), F(3, 2))


@pytest.mark.parametrize(
    ("low", "high", "why"),
    [(F(-1), F(1), "the beginning"), (F(1), F(3), "an instant cuts"), (F(0), F(5, 2), "an instant cuts")],
)
def test_a_piece_that_is_cut_is_refused(low: Fraction, high: Fraction, why: str) -> None:
    with pytest.raises(NotExactError, match=why):
        frames_of(FLOW, count=3).along(low, high)


def test_before_the_run_everything_stands_as_at_its_beginning() -> None:
    piece = frames_of(FLOW, count=3).along(F(-2), F(0))
    assert (piece.values["tank.level"], piece.span) == (0, F(2))
    assert not piece.rates


def test_the_motion_after_the_last_instant_is_not_known() -> None:
    frames = frames_of(FLOW, count=7)
    with pytest.raises(NotExactError, match="after the last instant"):
        frames.along(F(12), F(13))


def test_a_curve_is_no_straight_line_and_its_claim_is_refuted() -> None:
    """The mean of a square would be taken for that of a line: the claim that it moves in one is false, and no proof."""
    frames = frames_of(FLOW.replace("mean: mean_over(level, 4 s)", "mean: mean_over(level * level, 4 s)"), count=2)
    frames.ground(Name("tank.mean"), now(frames))
    claims = [claim for claim in frames.claims if CLOCK in claim]
    assert claims
    assert not unsat(script(claims), timeout_ms=5000).unsat
    straight = frames_of(FLOW, count=2)
    straight.ground(Name("tank.mean"), now(straight))
    claims = [claim for claim in straight.claims if CLOCK in claim]
    assert claims
    assert unsat(script(claims), timeout_ms=5000).unsat


def script(claims: list[str]) -> str:
    """Returns the question whether some claim can fail."""
    return f"(declare-const |{CLOCK}| Real)\n(assert (not (and {' '.join(claims)} true)))\n(check-sat)\n"


# -- claims -------------------------------------------------------------------------------------------


def test_what_is_used_of_a_formula_is_claimed_once() -> None:
    frames = frames_of(TANK, count=3)
    assert frames.settled(parse("tank.level * 2 + 1"), now(frames)) == 7
    assert frames.claims == ["(= (+ (* 3.0 2.0) 1.0) 7.0)"]
    assert frames.settled(parse("tank.level"), now(frames)) == 3  # a plain number claims nothing
    assert len(frames.claims) == 1


def test_leaves_and_literals() -> None:
    assert (leaf(F(1, 2)), leaf(True)) == (Number(F(1, 2)), Truth(True))
    assert (literal(True), literal(False), literal(F(-3, 2))) == ("true", "false", "(- (/ 3.0 2.0))")
    assert equal(parse("2 + 3"), F(5)) == "(= (+ 2.0 3.0) 5.0)"
    assert while_moving(F(2), "(= 1.0 1.0)") == f"(=> (and (< 0.0 |{CLOCK}|) (< |{CLOCK}| 2.0)) (= 1.0 1.0))"


def test_an_open_name_has_no_number() -> None:
    with pytest.raises(NotExactError, match=r"tank\.level is open"):
        number_of(parse("tank.level + 1"))
