"""Hybrid execution: against scipy's solve_ivp with events where flows are smooth, against the exact run elsewhere."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, Model
from coherence.simulate.execute import exact, hybrid
from coherence.simulate.execute.exact import Choices, Execution, ZenoError
from coherence.simulate.execute.hybrid import Trajectory
from coherence.simulate.execute.motion import SlidingError
from coherence.simulate.execute.ode import LinearIntegral
from tests.draws import few

CLOSE = 1e-6
Rates = Callable[[float, Any], Sequence[float]]
Phase = tuple[Rates, Callable[[float, Any], float] | None, int]  # until the function passes 0 in this direction


def model(components: str, loops: str = "") -> Model:
    rows = "".join(f"  {line.strip()}\n" for line in components.strip().splitlines())
    return elaborate(read_text(f"coherence: 1\ncomponents:\n{rows}" + (f"loops:\n{loops}" if loops else "")))


def limited(made: Model, path: str, low: int | None, high: int | None) -> Model:
    """The model with a range for one state."""
    ends = Interval(None if low is None else Fraction(low), None if high is None else Fraction(high))
    return replace(made, states={**made.states, path: replace(made.states[path], range=ends)})


def ran(made: Model, until: int, **values: Any) -> Trajectory:
    given_values = {path.replace("_", "."): Fraction(level) for path, level in values.items()}
    return hybrid.execute(made, Choices(given_values), until=Fraction(until))


def followed(start: Sequence[float], phases: Iterable[Phase], until: float) -> Callable[[float], Any]:
    """The reference: scipy, each phase up to its event, then the next; they must reach `until`."""
    pieces, time, state = [], 0.0, np.array(start, float)
    for rates, event, direction in phases:
        terminal: Any = None
        if event is not None:

            def terminal(t: float, y: Any, event: Callable[[float, Any], float] = event) -> float:
                return event(t, y)

            terminal.terminal, terminal.direction = True, direction
        done = solve_ivp(
            rates, (time, until), state, method="DOP853", events=terminal, rtol=1e-11, atol=1e-12, dense_output=True
        )
        pieces.append((time, done.t[-1], done.sol))
        time, state = done.t[-1], done.y[:, -1]
        if time >= until:
            break
    assert time >= until, f"the phases end at {time} s"
    return lambda t: next(sol(t) for low, high, sol in pieces if low <= t <= high)


def agrees(run: Trajectory, reference: Callable[[float], Any], paths: Sequence[str], until: float) -> None:
    for time in np.linspace(0, until, 41):
        values = run.at(float(time))
        assert [values[path] for path in paths] == pytest.approx(list(reference(float(time))), rel=CLOSE, abs=CLOSE)


def test_a_lag_with_a_clamp_stops_where_the_logarithm_says() -> None:
    made = limited(model('a: {state: "x\' = (10 - a.x) / 2 s", from: 0}'), "a.x", None, 6)
    run = ran(made, 5)
    assert [float(i.time) for i in run.instants] == pytest.approx([0, 2 * math.log(10 / 4), 5], abs=1e-9)
    assert run.value("a.x", 1.0) == pytest.approx(10 * (1 - math.exp(-0.5)), abs=1e-9)
    assert run.value("a.x", 4.0) == 6


def test_the_exact_executor_refuses_a_lag_and_does_not_guess() -> None:
    with pytest.raises(NotExactError, match=r"a\.x is not constant"):
        Execution(model('a: {state: "x\' = (10 - a.x) / 2 s", from: 0}'))


def test_a_stop_is_left_when_the_push_turns() -> None:
    # x stands at 0 while y < 1; y = t / 2, so x leaves at t = 2 and is (t - 2)^2 / 4 afterwards
    made = model('a: {state: "x\' = (b.y - 1) / 1 s", from: 0}\nb: {state: "y\' = 0.5 / 1 s", from: 0}')
    run = ran(limited(made, "a.x", 0, None), 6)
    assert [float(i.time) for i in run.instants] == pytest.approx([0, 2, 6], abs=1e-9)
    assert run.value("a.x", 1.9) == 0
    assert run.value("a.x", 5.0) == pytest.approx(9 / 4, abs=1e-9)


TANKS = """
up: {state: "h' = ((2 if down.h < 1 else 0.25) - (up.h - down.h)) / 1 s", from: 0}
down: {state: "h' = ((up.h - down.h) - 0.3 * down.h) / 1 s", from: 0}
"""


def test_two_tanks_with_overflow_and_a_float_valve() -> None:
    def rates(inflow: float) -> Rates:
        return lambda _, y: [inflow - (y[0] - y[1]), (y[0] - y[1]) - 0.3 * y[1]]

    def full(_: float, y: Any) -> Sequence[float]:
        return [0.0, (y[0] - y[1]) - 0.3 * y[1]]

    run = ran(limited(model(TANKS), "up.h", 0, 2), 4)
    phases: list[Phase] = [
        (rates(2), lambda _, y: y[0] - 2, 1),
        (full, lambda _, y: y[1] - 1, 1),
        (rates(0.25), lambda _, y: y[1] - 1, -1),
    ]
    kinks = [float(i.time) for i in run.instants]
    assert len(kinks) >= 4
    agrees(run, followed([0, 0], phases, kinks[3] - 1e-9), ["up.h", "down.h"], kinks[3] - 1e-9)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.floats(0.1, 0.9), st.floats(0, 20))
def test_a_nonlinear_queue_relaxes_as_scipy_says(load: float, start: float) -> None:
    made = model('q: {load: 0 .. 1, state: "n\' = (q.load - q.n / (1 + q.n)) / 1 s", from: 0 .. 100}')
    run = ran(made, 20, q_load=load, q_n=start)
    agrees(run, followed([start], [(lambda _, y: [load - y[0] / (1 + y[0])], None, 0)], 20), ["q.n"], 20)


def test_van_der_pol() -> None:
    made = model(
        'a: {state: "x\' = b.y / 1 s", from: 2}\nb: {state: "y\' = ((1 - a.x * a.x) * b.y - a.x) / 1 s", from: 0}'
    )
    reference = followed([2, 0], [(lambda _, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]], None, 0)], 15)
    agrees(ran(made, 15), reference, ["a.x", "b.y"], 15)


@settings(max_examples=few(12), deadline=None)
@given(st.floats(-3, 3), st.floats(-3, 3), st.integers(1, 3), st.integers(1, 3))
@example(x=0.0, y=0.03125, up=1, down=1)  # thirteen crossings
def test_switched_lags_agree_with_solve_ivp_and_its_events(x: float, y: float, up: int, down: int) -> None:
    """x leads y across the threshold 0 and back: every crossing of a kink is located."""
    made = model(
        f'a: {{state: "x\' = (-{up} if b.y > 0 else {down}) / 1 s", from: -3 .. 3}}\n'
        'b: {state: "y\' = (a.x - 0.1 * b.y) / 1 s", from: -3 .. 3}'
    )
    sides: list[Phase] = [
        (lambda _, s: [-up, s[0] - 0.1 * s[1]], lambda _, s: s[1], -1),
        (lambda _, s: [down, s[0] - 0.1 * s[1]], lambda _, s: s[1], 1),
    ]
    assume(abs(y) > 1e-6 and abs(x) + abs(y) > 0.01)  # smaller ones cross hundreds of times
    turns = itertools.cycle(sides if y > 0 else reversed(sides))
    agrees(ran(made, 6, a_x=x, b_y=y), followed([x, y], turns, 6), ["a.x", "b.y"], 6)


THERMOSTAT = """
  thermostat:
    timescale: {period: 100 ms}
    rules: [{when: room.x > 18, to: 0}, {when: room.x < 16, to: 20}]
    actuation: {signal: room.heat, bounds: [0, 20], from: 20}
"""


def test_a_sampled_thermostat_on_a_lag_follows_the_exponential_between_samples() -> None:
    run = ran(model('room: {heat: 20, state: "x\' = (room.heat - room.x) / 1 s", from: 15}', THERMOSTAT), 10)
    level, heat, seen = 15.0, 20.0, []
    for k in range(101):
        level = level if k == 0 else heat + (level - heat) * math.exp(-0.1)
        heat = 0.0 if level > 18 else 20.0 if level < 16 else heat
        seen.append((level, heat))
    assert [(i.after["room.x"], i.after["room.heat"]) for i in run.instants] == [
        (pytest.approx(level, abs=1e-9), heat) for level, heat in seen
    ]
    assert len({heat for _, heat in seen[50:]}) == 2


def test_a_delayed_flow_by_the_method_of_steps() -> None:
    """z' = -z(t - 1), z = 1 before 0: a polynomial of degree k on [k - 1, k]."""
    run = ran(model('d: {state: "z\' = -delayed(d.z, 1 s) / 1 s", from: 1}'), 6)
    for time in (0.5, 1.5, 2.25, 3.75, 5.5, 6.0):
        wanted = sum((-1) ** k * (time - (k - 1)) ** k / math.factorial(k) for k in range(int(time) + 2))
        assert run.value("d.z", time) == pytest.approx(wanted, abs=1e-12)


def test_what_a_delay_has_smoothed_is_no_instant_any_more() -> None:
    """z' = -z(t - 1) again: six delays after the first curve no more instants, and the polynomials hold."""
    run = ran(model('d: {state: "z\' = -delayed(d.z, 1 s) / 1 s", from: 1}'), 25)
    assert [instant.time for instant in run.instants] == [*range(8), 25]
    for time in (Fraction(17, 2), Fraction(15), Fraction(25)):
        wanted = sum((-1) ** k * (time - (k - 1)) ** k / math.factorial(k) for k in range(int(time) + 2))
        assert run.value("d.z", time) == pytest.approx(float(wanted), abs=1e-9)


def test_a_jump_that_meets_an_echo_is_echoed_again() -> None:
    """A loop that writes at each echo: the delayed flow jumps at all of them."""
    text = 'd: {u: 0, state: "z\' = (delayed(d.u, 1 s) - d.z) / 1 s", from: 0}'
    loop = (
        "  l: {timescale: {period: 1 s, phase: 0 s}, actuation: {signal: d.u, to: 1 - d.u, bounds: [0, 1], from: 0}}\n"
    )
    run, z, u, before = ran(model(text, loop), 20), 0.0, 0, 0
    for second in range(1, 20):
        u, before = 1 - u, u
        z = before + (z - before) * math.exp(-1)
        assert run.value("d.z", second) == pytest.approx(z, abs=1e-9)


def test_a_landing_is_an_event_of_the_flow() -> None:
    loops = (
        "  l: {timescale: {period: 10 s, lands: 2500 ms}, actuation: {signal: a.u, to: 3, bounds: [0, 9], from: 1}}\n"
    )
    run = ran(model('a: {u: 1, state: "x\' = (a.u - a.x) / 1 s", from: 1}', loops), 5)
    assert run.value("a.x", 2.5) == pytest.approx(1, abs=1e-12)
    assert run.value("a.x", 5.0) == pytest.approx(3 - 2 * math.exp(-2.5), abs=1e-9)


def test_a_window_over_a_curve_is_its_integral() -> None:
    loops = (
        "  l:\n    timescale: {period: 2 s}\n"
        '    actuation: {signal: a.u, to: "mean_over(a.x, 2 s)", bounds: [-9, 9], from: 0}\n'
    )
    run = ran(model('a: {u: 0, state: "x\' = -a.x / 1 s", from: 1}', loops), 4)
    assert run.at(2.0)["a.u"] == pytest.approx((1 - math.exp(-2)) / 2, abs=1e-9)
    assert run.at(4.0)["a.u"] == pytest.approx((math.exp(-2) - math.exp(-4)) / 2, abs=1e-9)


def test_a_relay_that_pushes_back_from_both_sides_is_named() -> None:
    made = model('a: {state: "x\' = (-1 if a.x > 0 else 1) / 1 s", from: 1}')
    with pytest.raises(SlidingError, match=r"a\.x"):
        ran(made, 5)
    with pytest.raises(SlidingError, match=r"a\.x"):
        exact.execute(made, until=Fraction(5))


SPIRAL = """
a: {state: "x' = ((-1 if a.x > 0 else 1) + (2 if b.y > 0 else -2)) / 1 s", from: 1}
b: {state: "y' = ((-2 if a.x > 0 else 2) + (-1 if b.y > 0 else 1)) / 1 s", from: 1}
"""


def test_infinitely_many_events_in_finite_time_are_an_error_that_names_the_signals() -> None:
    """Filippov's spiral reaches the origin through ever faster switchings."""
    with pytest.raises((ZenoError, SlidingError), match=r"a\.x"):
        ran(model(SPIRAL), 10)


WAVES = """
a: {{state: "x' = ({up} if b.y > {at} else -{down}) / 1 s", from: {x}}}
b: {{state: "y' = min({top}, max(-{top}, -1 * {slope} if a.x > 0 else {slope})) / 1 s", from: {y}}}
c: {{state: "z' = (2 if abs(a.x - b.y) > 3 else floor({at} / 2)) / 1 s", from: 0}}
"""


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(*(st.integers(1, 5) for _ in range(4)), st.integers(-4, 4), st.integers(-4, 4), st.integers(-2, 2))
def test_piecewise_linear_runs_are_the_exact_ones(
    up: int, down: int, slope: int, top: int, x: int, y: int, at: int
) -> None:
    text = WAVES.format(up=up, down=down, slope=slope, top=top, x=x, y=y, at=at)
    made = limited(model(text), "a.x", -5, 5)
    try:
        wanted = exact.execute(made, until=Fraction(20))
    except NotExactError as error:
        with pytest.raises(type(error)):
            ran(made, 20)
        return
    run = ran(made, 20)
    for instant in wanted:
        values = run.at(instant.time)
        for path in made.states:
            assert values[path] == pytest.approx(float(instant.after[path]), rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("spec", ["serving-hpc", "serving-hpc-repaired"])
def test_a_whole_design_runs_as_exactly(spec: str, request: pytest.FixtureRequest) -> None:
    text = (request.config.rootpath / "specs" / spec / "design.yaml").read_text()
    made = elaborate(read_text(text))
    wanted = exact.execute(made, until=Fraction(900))
    run = hybrid.execute(made, until=Fraction(900))
    assert [i.time for i in run.instants] == pytest.approx([i.time for i in wanted], abs=1e-9)
    for mine, theirs in zip(run.instants, wanted, strict=True):
        for path, level in theirs.after.items():
            assert mine.after[path] == pytest.approx(float(level), rel=1e-12, abs=1e-9)


def test_a_flow_without_value_is_an_answer() -> None:
    with pytest.raises(NotExactError, match="division by zero"):
        ran(model('a: {state: "x\' = 1 / a.x / 1 s", from: 0}'), 1)


@pytest.mark.parametrize(
    ("components", "linear"),
    [
        (
            'a: {state: "x\' = (b.y - 2 * a.x + a.z) / 1 s", from: 1, z: 3}\nb: {state: "y\' = -a.x / 2 s", from: 4}',
            True,
        ),
        ('a: {state: "x\' = -a.x * b.y / 1 s", from: 1}\nb: {state: "y\' = -b.y / 2 s", from: 4}', False),
        ('a: {state: "x\' = 1 / (1 + a.x) / 1 s", from: 1}', False),
        ('a: {state: "x\' = max(-a.x, -0.5) / 1 s", from: 1}', False),
        ('a: {state: "x\' = -delayed(a.x, 0.3 s) / 1 s", from: 1}', False),
    ],
)
def test_only_sums_of_what_flows_are_in_closed_form(components: str, linear: bool) -> None:
    made = model(components)
    run = ran(made, 3)
    curves = [entry.course for entry in run.entries if isinstance(entry.course, hybrid.Curve)]
    assert curves
    assert all(isinstance(curve.integral, LinearIntegral) is linear for curve in curves)
