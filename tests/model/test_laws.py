"""The law of an autoscaler as one expression, laid against two second opinions, and lowered in every way."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.solver import unsat
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.lower_smt import lower_smt, real, symbol
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.laws import (
    CURRENT,
    READ,
    above,
    below,
    counts_members,
    inside,
    law_of,
    of_either_sign,
    outside,
    recommended,
    rounded_back,
    rounded_below,
    scaled,
    scaled_share,
    stays_whole,
)
from coherence.model.model import SampledLoop
from coherence.simulate.execute.certificates.run_followed import Follower
from coherence.simulate.execute.exact import Choices, Execution, execute
from coherence.simulate.execute.orbits import LongRun
from coherence.simulate.testbed.autoscaler_law import Behaviour, Controller, Policy, recommendation
from coherence.verify.systems.cases import Symbols, exactly, numbers
from coherence.verify.systems.terms import constant

F = Fraction
TOLERANCES = (F(0), F(1, 10), F(1, 5), F(1, 2), F(1), F(3, 2))
tolerances = st.sampled_from(TOLERANCES)
numbers_between = st.fractions(-4, 40, max_denominator=60)
positive = st.fractions(F(1, 60), 40, max_denominator=60)


@st.composite
def readings(draw: st.DrawFn) -> tuple[Fraction, Fraction, Fraction]:
    """(tolerance, setpoint, reading); the reading often on an edge of the dead band, or next to it."""
    tolerance, setpoint = draw(tolerances), draw(positive)
    edge = setpoint * (1 + draw(st.sampled_from((-1, 0, 1))) * tolerance)
    near = draw(st.sampled_from((F(0), F(1, 10**9), F(-1, 10**9))))
    return tolerance, setpoint, draw(st.just(edge + near) | positive)


# --- examples


@pytest.mark.parametrize(
    ("current", "read", "wanted"),
    [
        (10, F(1), 10),
        (10, F(11, 10), 10),  # on the edge: nothing moves
        (10, F(9, 10), 10),
        (10, F(111, 100), 12),  # 11.1, rounded up
        (10, F(12, 10), 12),  # whole already
        (10, F(1, 2), 5),
        (0, F(3), 0),
        (10, F(-1), -10),
    ],
)
def test_the_formula_by_hand(current: int, read: Fraction, wanted: int) -> None:
    assert recommended(scaled(F(1, 10), whole=True), F(current), read) == wanted


def test_without_members_nothing_is_rounded() -> None:
    assert recommended(scaled(F(1, 10), whole=False), F(10), F(111, 100)) == F(111, 10)


@pytest.mark.parametrize(("read", "wanted"), [(1.2, 12), (1.2 + 1e-15, 12), (1.2 + 1e-6, 13)])
def test_a_float_that_is_whole_but_for_its_rounding_is_that_number(read: float, wanted: int) -> None:
    assert recommended(scaled(F(1, 10), whole=True), 10.0, read) == wanted


# --- the formula against its definition and against itself without a product


@pytest.mark.slow
@given(readings(), numbers_between, st.booleans())
def test_a_number_of_the_formula_is_its_definition(
    drawn: tuple[Fraction, Fraction, Fraction], current: Fraction, whole: bool
) -> None:
    tolerance, setpoint, reading = drawn
    ratio = reading / setpoint
    moved = math.ceil(current * ratio) if whole else current * ratio
    wanted = current if abs(ratio - 1) <= tolerance else moved
    assert recommended(scaled(tolerance, whole=whole), current, ratio) == wanted


@given(tolerances, positive, numbers_between, numbers_between, st.booleans())
def test_a_share_of_a_total_is_the_same_law(
    tolerance: Fraction, setpoint: Fraction, total: Fraction, current: Fraction, whole: bool
) -> None:
    """The metric is total / current."""
    assume(current)
    plain = recommended(scaled(tolerance, whole=whole), current, total / current / setpoint)
    assert recommended(scaled_share(tolerance, whole=whole), current, total / setpoint) == plain


@given(tolerances, st.integers(-9, 9).filter(bool), st.sampled_from((-1, 0, 1)), st.booleans())
def test_a_share_on_the_edge_of_the_dead_band(tolerance: Fraction, current: int, side: int, whole: bool) -> None:
    read = current * (1 + side * tolerance)
    assert recommended(scaled_share(tolerance, whole=whole), F(current), read) == current


@given(readings(), st.integers(1, 60))
def test_conditions_say_where_the_law_moves(drawn: tuple[Fraction, Fraction, Fraction], current: int) -> None:
    tolerance, setpoint, reading = drawn
    level, read, here = Number(setpoint), Number(reading), Number(F(current))
    wanted = recommended(scaled(tolerance, whole=True), F(current), reading / setpoint)
    up, down = (truth(tree) for tree in (above(read, level, tolerance), below(read, level, tolerance)))
    assert truth(outside(read, level, tolerance)) == (up or down) != truth(inside(read, level, tolerance))
    assert up == (wanted > current)
    assert (down and truth(rounded_below(here, read, level))) == (wanted < current)
    assert (truth(inside(read, level, tolerance)) or truth(rounded_back(here, read, level))) == (wanted == current)


@given(readings(), st.integers(-60, 60).filter(bool), st.booleans(), st.booleans())
def test_conditions_hold_for_setpoints_of_either_sign(
    drawn: tuple[Fraction, Fraction, Fraction], current: int, negative: bool, named: bool
) -> None:
    """As a number, and as an expression whose sign is not known."""
    tolerance, setpoint, reading = drawn
    setpoint = -setpoint if negative else setpoint
    level: Tree = Arithmetic("+", Number(setpoint), Number(F(0))) if named else Number(setpoint)
    ratio = reading / setpoint
    for condition, expected in ((above, ratio > 1 + tolerance), (below, ratio < 1 - tolerance)):
        assert truth(of_either_sign(partial(condition, tolerance=tolerance), Number(reading), level)) == expected
    wanted = recommended(scaled(tolerance, whole=False), F(current), ratio)
    over, under = (
        truth(of_either_sign(partial(condition, tolerance=tolerance), Number(reading), level))
        for condition in (above, below)
    )
    assert (over, under) == (
        (wanted > current, wanted < current) if current > 0 else (wanted < current, wanted > current)
    )


def truth(tree: Tree) -> bool:
    """The value of a condition without names."""
    return bool(evaluate(tree, Constants({})))


# --- every lowering gives the same number

DYADIC = st.integers(-80, 80).map(lambda n: F(n, 8))
DYADIC_TOLERANCES = st.sampled_from((F(0), F(1, 8), F(1, 4), F(1)))


def rounded(_: str, term: Any) -> list[Any]:
    assert term.known
    return exactly(constant(math.ceil(term.constant)))


@settings(deadline=None)  # the first example imports numpy
@given(DYADIC_TOLERANCES, DYADIC, DYADIC, st.booleans(), st.booleans())
def test_all_lowerings_agree(tolerance: Fraction, current: Fraction, read: Fraction, whole: bool, share: bool) -> None:
    """Numbers, arrays, guarded cases and SMT-LIB; dyadic numbers, so that floats are exact."""
    formula = (scaled_share if share else scaled)(tolerance, whole=whole)
    wanted = recommended(formula, current, read)
    assert recommended(formula, float(current), float(read)) == wanted
    assert lower_numpy(formula, {CURRENT.path: float(current), READ.path: float(read)}) == float(wanted)
    known = {CURRENT.path: exactly(constant(current)), READ.path: exactly(constant(read))}
    cases = numbers(formula, Symbols(known.__getitem__, lambda _: [], whole=rounded))
    assert [case.value.constant for case in cases] == [wanted]


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("read", [F(9, 10), F(89, 100), F(11, 10), F(111, 100)])
def test_the_solver_reads_the_same_law(read: Fraction, share: bool) -> None:
    """No other value fits, by the solver."""
    formula, seen = (scaled_share, read * 10) if share else (scaled, read)
    tree = formula(F(1, 10), whole=True)
    wanted = recommended(tree, F(10), seen)
    lines = [f"(declare-const {symbol(name.path)} Real)" for name in (CURRENT, READ)]
    lines += [f"(assert (= {symbol(CURRENT.path)} 10.0))", f"(assert (= {symbol(READ.path)} {real(seen)}))"]
    lines += [f"(assert (distinct {lower_smt(tree)} {real(wanted)}))", "(check-sat)"]
    assert unsat("\n".join(lines) + "\n", timeout_ms=2000).unsat


# --- the second opinions


@given(readings(), st.integers(0, 200))
def test_the_documented_algorithm_recommends_the_same(drawn: tuple[Fraction, Fraction, Fraction], current: int) -> None:
    tolerance, setpoint, reading = drawn
    behaviour = Behaviour(setpoint, tolerance, 0, 1000)
    wanted = recommended(scaled(tolerance, whole=True), F(current), reading / setpoint)
    assert recommendation(behaviour, current, reading) == wanted


TEXT = """
coherence: 1
components: {{pool: {{load: {load}, n: 1}}}}
loops:
  hpa:
    timescale: {{period: 15 s{timescale}}}
    target: {{signal: {signal}, setpoint: {setpoint}, tolerance: {tolerance}}}
    actuation: {{signal: pool.n, from: {start}, bounds: [{low}, {high}]{count}{rate}}}
"""
RATES = (
    "",
    ", rate: [{by: 4, per: 30 s, way: up}, {percent: 100 %, per: 30 s, way: up}]",
    ", rate: [{percent: 30 %, per: 60 s, way: down}, {by: 1, per: 15 s, way: up}]",
)
POLICIES: tuple[tuple[Policy, ...], ...] = (
    (),
    (Policy("up", 4, F(0), F(30)), Policy("up", 0, F(1), F(30))),
    (Policy("down", 0, F(3, 10), F(60)), Policy("up", 1, F(0), F(15))),
)


@st.composite
def designs(draw: st.DrawFn) -> dict[str, Any]:
    low = draw(st.integers(1, 5))
    return {
        "load": draw(st.integers(1, 60)), "setpoint": draw(st.integers(1, 8)),
        "tolerance": draw(st.sampled_from(("0", "0.1", "0.25"))),
        "start": draw(st.integers(1, 20)), "low": low, "high": low + draw(st.integers(0, 20)),
        "signal": draw(st.sampled_from(("pool.load / pool.n", "pool.load"))),
        "hold": draw(st.sampled_from((0, 30, 45))), "rate": draw(st.integers(0, 2)),
    }  # fmt: skip


def written(drawn: dict[str, Any]) -> str:
    timescale = f", hold_down: {drawn['hold']} s" if drawn["hold"] else ""
    return TEXT.format(**{**drawn, "rate": RATES[drawn["rate"]]}, timescale=timescale, count="")


@pytest.mark.slow
@given(designs())
def test_runs_are_those_of_the_documented_algorithm_and_are_followed(drawn: dict[str, Any]) -> None:
    """Windows, rates and bounds included: the executor, the testbed's controller and the follower agree."""
    model = elaborate(read_text(written(drawn)))
    instants = execute(model, Choices({}), instants=12)
    follower = Follower(model, LongRun(Choices({}), tuple(instants), None))
    for number in range(len(instants)):
        follower.follow(number)  # raises where a number is not what the law gives
    tolerance = F(drawn["tolerance"])
    behaviour = Behaviour(
        F(drawn["setpoint"]), tolerance, drawn["low"], drawn["high"], F(drawn["hold"]), F(0), POLICIES[drawn["rate"]]
    )
    controller, current = Controller(behaviour), drawn["start"]
    for instant in instants:
        measured = F(drawn["load"], current if "/" in drawn["signal"] else 1)
        current = controller.decide(instant.time, current, measured)
        assert instant.after["pool.n"] == current


@pytest.mark.parametrize(
    ("count", "commands"),
    [
        ("landed", [20, 20, 20, 40, 40]),  # twice what has landed: 10, and 20 from 40 s on
        ("commanded", [20, 40, 80, 160, 320]),  # twice what was commanded last
    ],
)
def test_a_law_counts_from_what_landed_or_from_what_was_commanded(count: str, commands: list[int]) -> None:
    """The reading asks for twice as many at each sample; a command lands 40 s after it was given."""
    text = TEXT.format(
        load=4, signal="pool.load", setpoint=2, tolerance="0", start=10, low=1, high=1000,
        timescale=", lands: 40 s", count=f", count: {count}", rate="",
    )  # fmt: skip
    model = elaborate(read_text(text))
    run = Execution(model, Choices({}))
    given: list[Fraction] = []
    while len(given) < len(commands):
        if run.advance().time % 15 == 0:
            given.append(run.commanded["pool.n"])
    assert given == commands


# --- which law, and whole numbers

LOOP = """
coherence: 1
components: {{a: {{n: 1, m: 3}}}}
loops: {{l: {{timescale: {{period: 1 s}}{more}, actuation: {{signal: a.n{keys}}}}}}}
"""
TARGET = ", target: {signal: a.m, setpoint: 2}"


@pytest.mark.parametrize(
    ("keys", "more", "law", "members", "stays"),
    [
        (", bounds: [1, 9]", TARGET, "proportional", True, True),
        (", bounds: [1, 9], from: 2.5", TARGET, "proportional", True, False),
        (", bounds: [1, 9], rate: {by: 0.5, per: 1 s}", TARGET, "proportional", True, False),
        (", bounds: [0.5, 9]", TARGET, "proportional", False, False),
        (", by: 1, bounds: [1, 9]", "", "step", True, True),
        (", law: step, by: 1, bounds: [1, 9]", "", "step", True, True),
        (", by: 0.5, bounds: [1, 9]", "", "step", False, False),
        (", by: 1 .. 2, bounds: [1, 9]", "", "step", False, False),
        (", to: a.m * 0.5, bounds: [1, 9]", "", "set", False, False),
        (", to: ceil(a.m * 0.5), bounds: [1, 9]", "", "set", True, True),
        (", law: step, to: 4, bounds: [1, 9]", "", "set", True, True),
        (", law: ignore", "", "ignore", True, True),
        (", to: unset", "", "unset", False, False),
    ],
)
def test_the_law_and_whole_numbers_are_what_the_keys_say(
    keys: str, more: str, law: str, members: bool, stays: bool
) -> None:
    loop = read_text(LOOP.format(keys=keys, more=more)).loops["l"]
    assert (law_of(loop), counts_members(loop), stays_whole(loop)) == (law, members, stays)


def test_rules_are_a_law_of_their_own() -> None:
    more = ', rules: [{when: "a.m > 2", by: 1}, {when: "a.m < 1", to: 4}]'
    loop = elaborate(read_text(LOOP.format(keys="", more=more))).loops[0]
    assert loop.law == "rules"
    assert [recommended(one.formula, F(7), F(1)) for one in loop.recommendations] == [8, 1]


def test_a_changed_loop_recommends_by_its_changed_law() -> None:
    loop: SampledLoop = elaborate(read_text(LOOP.format(keys=", bounds: [1, 9]", more=TARGET))).loops[0]
    assert loop.recommendations[0].formula == scaled(F(0), whole=True)
    assert replace(loop, tolerance=F(1, 2)).recommendations[0].formula == scaled(F(1, 2), whole=True)
    assert replace(loop, law="set", to=Name("a.m")).recommendations[0].read == Name("a.m")
