"""Unbounded proofs: the throttle against backfill, other loops, and what must never be proved."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any, TypeAlias

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.solver import Outcome, SolverAnswer, joined, recheck, unsat
from coherence.verify.invariants.proof import InvariantProof, Unproved
from coherence.verify.invariants.prover import prove
from coherence.verify.invariants.smtlib import certificate, obligations
from coherence.verify.systems.piecewise_affine import (
    AffineEdge,
    Constraint,
    LinearForm,
    Polyhedron,
    TransitionSystem,
    after,
    step,
)
from tests.verify.affine_rows import Number, axis, between, linear, row

# --- the power throttle and the scheduler's backfill: p' = 0.8 p + 0.2 (10 + b'), throttle first ---


def _backfill(b: LinearForm) -> tuple[LinearForm, LinearForm]:
    p = LinearForm((Fraction(4, 5) + b.coefficients[0] / 5, b.coefficients[1] / 5), b.constant / 5 + 2)
    return p, b


def power(h: Number, *, bad: Number | None = None) -> TransitionSystem:
    """On at p >= 80, off at p <= 60; off: b += 5 below h; on: b = max(0, b - 20).  Bad: on, or p > `bad`."""
    p, b = (1, 0), (0, 1)
    more, same, less, none = linear(b, 5), linear(b), linear(b, -20), linear((0, 0))
    below, above = row(p, "<", h), row(p, ">=", h)
    edges = [
        AffineEdge("off", "off", (row(p, "<", 80), below), _backfill(more), "admit"),
        AffineEdge("off", "off", (row(p, "<", 80), above), _backfill(same), "wait"),
        AffineEdge("on", "off", (row(p, "<=", 60), below), _backfill(more), "release, admit"),
        AffineEdge("on", "off", (row(p, "<=", 60), above), _backfill(same), "release, wait"),
    ]
    for source, hot in (("off", row(p, ">=", 80)), ("on", row(p, ">", 60))):
        edges.append(AffineEdge(source, "on", (hot, row(b, ">=", 20)), _backfill(less), f"shed from {source}"))
        edges.append(AffineEdge(source, "on", (hot, row(b, "<=", 20)), _backfill(none), f"empty from {source}"))
    start: Polyhedron = (*between(2, 0, 0, 60), row(b, "==", 0))
    hot_states: tuple[tuple[str, Polyhedron], ...] = (("on", ()),)
    if bad is not None:
        hot_states = tuple((mode, (row(p, ">", bad),)) for mode in ("off", "on"))
    return TransitionSystem(("p", "b"), (), (("off", start),), tuple(edges), hot_states)


@pytest.mark.parametrize("h", [30, 54, 55])
def test_a_low_backfill_level_never_meets_the_throttle(h: int) -> None:
    before = time.process_time()
    result = prove(power(h))
    assert time.process_time() - before < 2
    assert isinstance(result, InvariantProof)
    assert result.invariant["on"] == ()


@pytest.mark.parametrize("h", [85, "60.45", "60.43980466"])
def test_a_high_backfill_level_is_not_proved(h: Number) -> None:
    result = prove(power(h))
    assert isinstance(result, Unproved)
    assert result.suspect[0] == "admit"


@pytest.mark.slow
@pytest.mark.parametrize("h", [56, 58, "60.4398"])
def test_a_level_that_only_whole_steps_make_safe_is_left_open(h: Number) -> None:
    """Over the reals backfill may pass b = 70, so a proof here would be of something else."""
    assert isinstance(prove(power(h), time_limit=1), Unproved)


@pytest.mark.slow
def test_the_overshoot_of_the_cycle_is_bounded() -> None:
    for bad in (100, 95, 85):
        assert isinstance(prove(power(85, bad=bad)), InvariantProof)
    assert isinstance(prove(power(85, bad=81)), Unproved)  # the cycle reaches 81.68


def test_the_same_in_watts_with_throttle_and_backfill_half_a_period_apart() -> None:
    """b is handed round unchanged, so its bounds are tied; and p < 85,000 holds only strictly after the throttle."""
    p, b, lag = (1, 0), (0, 1), (linear(("4/5", "1/5"), 2000), linear((0, 1)))
    cool, warm, hot = row(p, "<=", 60_000), row(p, ">", 60_000), row(p, ">=", 80_000)
    edges = (
        AffineEdge("0 off", "1 on", (hot,), lag, "on"),
        AffineEdge("0 off", "1 off", (row(p, "<", 80_000),), lag, "still off"),
        AffineEdge("0 on", "1 off", (cool,), lag, "off"),
        AffineEdge("0 on", "1 on", (warm,), lag, "still on"),
        AffineEdge("1 off", "0 off", (row(p, "<", 85_000),), (linear(p), linear(b, 5000)), "admit"),
        AffineEdge("1 off", "0 off", (row(p, ">=", 85_000),), (linear(p), linear(b)), "wait"),
        AffineEdge("1 on", "0 on", (row(b, ">=", 20_000),), (linear(p), linear(b, -20_000)), "shed"),
        AffineEdge("1 on", "0 on", (row(b, "<=", 20_000),), (linear(p), linear((0, 0))), "empty"),
    )
    start = (*between(2, 0, 0, 60_000), row(b, "==", 0))
    bad = tuple((mode, (row(p, ">", 100_000),)) for mode in ("0 off", "1 off", "0 on", "1 on"))
    result = prove(TransitionSystem(("p", "b"), (), (("0 off", start),), edges, bad))
    assert isinstance(result, InvariantProof)
    assert len(result.tried) <= 4  # one of the first templates, not a lucky late one


def test_no_exact_run_of_the_proved_design_is_bad() -> None:
    assert isinstance(prove(power(54)), InvariantProof)
    for start in (0, 17, 60):
        assert not any(mode == "on" for mode, _ in _run(power(54), ("off", (Fraction(start), Fraction(0))), 200))


def test_the_exact_run_of_the_fighting_design_turns_the_throttle_on_at_step_18() -> None:
    modes = [mode for mode, _ in _run(power(85), ("off", (Fraction(0), Fraction(0))), 60)]
    rises = [k for k in range(1, len(modes)) if modes[k] == "on" and modes[k - 1] == "off"]
    assert rises[:3] == [19, 39, 59]  # the state after steps 18, 38 and 58, counted from 0


# --- what a proof consists of ---


def test_every_initial_set_edge_and_bad_set_has_its_obligation_and_cvc5_agrees() -> None:
    pytest.importorskip("cvc5")
    system = power(85, bad=95)
    result = prove(system)
    assert isinstance(result, InvariantProof)
    names = [claim.name.split()[0] for claim in result.obligations]
    assert names == ["initiation"] + ["consecution"] * len(system.edges) + ["safety"] * len(system.bad)
    assert result.obligations == obligations(system, result.invariant)
    assert result.certificate == certificate(system, result.invariant)
    assert all(recheck(claim.smtlib).unsat for claim in result.obligations)
    assert recheck(result.certificate).unsat


def test_a_certificate_in_parts_stands_in_where_the_whole_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "coherence.verify.invariants.search.unsat", lambda *_, **__: SolverAnswer(Outcome.UNKNOWN, "timeout")
    )
    result = prove(power(54))
    assert isinstance(result, InvariantProof)
    assert result.certificate == joined(claim.smtlib for claim in result.obligations)
    assert unsat(result.certificate, timeout_ms=5000).unsat


def test_a_wrong_invariant_is_seen_by_its_obligations() -> None:
    system = power(54)
    result = prove(system)
    assert isinstance(result, InvariantProof)
    for wrong, failing in (
        ({**result.invariant, "off": ((row((1, 0), "<=", 50),),)}, "initiation"),
        ({**result.invariant, "off": ((row((1, 0), "<=", 79),),)}, "consecution"),
        ({**result.invariant, "off": ((),), "on": ((),)}, "safety"),
    ):
        broken = [o.name for o in obligations(system, wrong) if not unsat(o.smtlib, timeout_ms=5000).unsat]
        assert broken
        assert broken[0].startswith(failing)
        assert not unsat(certificate(system, wrong), timeout_ms=5000).unsat


def test_the_search_is_reproducible() -> None:
    assert prove(power(54)) == prove(power(54))


def test_names_that_look_like_commands_do_no_harm() -> None:
    edge = AffineEdge("(push 1)", "(push 1)", (), (linear(("1/2",)),), "(check-sat)\n)) (assert false) (assert (or")
    start, bad = (("(push 1)", between(1, 0, 0, 1)),), (("(push 1)", (row((1,), ">", 2),)),)
    system = TransitionSystem(("x (pop 1)",), (), start, (edge,), bad)
    assert isinstance(prove(system), InvariantProof)
    worse = TransitionSystem(system.variables, (), system.initial, system.edges, (("(push 1)", (row((1,), "<", 1),)),))
    assert isinstance(prove(worse), Unproved)
    assert not unsat(certificate(worse, {"(push 1)": ((),)}), timeout_ms=5000).unsat


def test_no_time_is_no_proof() -> None:
    result = prove(power(30), time_limit=0)
    assert isinstance(result, Unproved)
    assert "time" in result.reason


# --- other loops ---


def lag(a: Number, gain: Number) -> TransitionSystem:
    """x' = a x + gain u with any input 0 <= u <= 100; bad: x > 100."""
    edge = AffineEdge("run", "run", between(2, 1, 0, 100), (linear((a, gain)),), "lag")
    return TransitionSystem(
        ("x",), ("u",), (("run", between(1, 0, 0, 50)),), (edge,), (("run", (row((1,), ">", 100),)),)
    )


def test_a_varying_input_through_a_lag() -> None:
    assert isinstance(prove(lag("0.9", "0.1")), InvariantProof)
    assert isinstance(prove(lag("0.999", "0.001")), InvariantProof)  # far slower than any sampled run
    assert isinstance(prove(lag("0.9", "0.101")), Unproved)


def test_unknown_constants_are_state_variables_that_stay() -> None:
    update = (linear(("1/2", "1/2")), linear((0, 1)))
    start = (row((1, 0), "==", 0), *between(2, 1, "1/3", "2/3"))
    edge, bad = AffineEdge("m", "m", (), update, "approach"), (("m", (row((1, -1), ">", 0),)),)
    system = TransitionSystem(("x", "k"), (), (("m", start),), (edge,), bad)
    assert isinstance(prove(system), InvariantProof)


def delayed(gain: Number, delay: int, high: Number, bad: Number) -> TransitionSystem:
    """x' = clip(x + gain (100 - x delayed), 0, high): an integrator behind a delay line."""
    n, g = delay + 1, Fraction(gain)
    inner = LinearForm((Fraction(1), *(Fraction(0) for _ in range(delay - 1)), -g), 100 * g)
    shift = tuple(linear(axis(n, i)) for i in range(delay))
    over = Constraint(LinearForm(tuple(-c for c in inner.coefficients), Fraction(high) - inner.constant), "<=")
    under = Constraint(inner, "<=")
    inside = (
        Constraint(LinearForm(inner.coefficients, inner.constant - Fraction(high)), "<="),
        Constraint(LinearForm(tuple(-c for c in inner.coefficients), -inner.constant), "<="),
    )
    edges = (
        AffineEdge("m", "m", inside, (inner, *shift), "move"),
        AffineEdge("m", "m", (over,), (linear((0,) * n, high), *shift), "upper stop"),
        AffineEdge("m", "m", (under,), (linear((0,) * n), *shift), "lower stop"),
    )
    equal = tuple(row(tuple(a - b for a, b in zip(axis(n, i), axis(n, 0), strict=True)), "==", 0) for i in range(1, n))
    start = (*between(n, 0, 80, 90), *equal)
    return TransitionSystem(
        tuple(f"x{i}" for i in range(n)), (), (("m", start),), edges, (("m", (row(axis(n, 0), ">", bad),)),)
    )


@pytest.mark.parametrize(("gain", "delay", "bad"), [("1/5", 1, 120), ("1/5", 2, 110), ("1/20", 8, 120)])
def test_an_integrator_behind_a_delay_line_overshoots_little(gain: str, delay: int, bad: int) -> None:
    assert isinstance(prove(delayed(gain, delay, 1000, bad)), InvariantProof)


@pytest.mark.slow
def test_an_unstable_delay_line_is_bounded_by_its_stop_only() -> None:
    assert isinstance(prove(delayed("1/2", 3, 140, 140)), InvariantProof)
    assert isinstance(prove(delayed("1/2", 3, 1000, 140), time_limit=1), Unproved)


def cooled(*, fan_on: int, limit: int) -> TransitionSystem:
    """The throttle and backfill, heat T behind a lag, and a fan with hysteresis: two loops over four modes."""
    edges = []
    heat = (Fraction(2, 25), Fraction(0), Fraction(9, 10))
    for edge in power(85).edges:
        for fan in ("idle", "fan"):
            level = fan_on if fan == "idle" else fan_on - 10
            for after_fan, side in (("idle", "<" if fan == "idle" else "<="), ("fan", ">=" if fan == "idle" else ">")):
                guard = (*(_wider(c) for c in edge.guard), row((0, 0, 1), side, level))
                update = (
                    *(_widened(u) for u in edge.update),
                    LinearForm(heat, Fraction(2 if after_fan == "idle" else 0)),
                )
                edges.append(
                    AffineEdge(f"{edge.source} {fan}", f"{edge.target} {after_fan}", guard, update, edge.label)
                )
    start = (*between(3, 0, 0, 60), row((0, 1, 0), "==", 0), *between(3, 2, 20, 40))
    modes = [f"{a} {b}" for a in ("off", "on") for b in ("idle", "fan")]
    bad = tuple((mode, (row((0, 0, 1), ">", limit),)) for mode in modes)
    return TransitionSystem(("p", "b", "T"), (), (("off idle", start),), tuple(edges), bad)


def _widened(u: LinearForm) -> LinearForm:
    return LinearForm((*u.coefficients, Fraction(0)), u.constant)


def _wider(c: Constraint) -> Constraint:
    return Constraint(_widened(c.linear), c.relation)


def test_two_loops_and_a_lag_in_three_variables() -> None:
    before = time.process_time()
    assert isinstance(prove(cooled(fan_on=60, limit=88)), InvariantProof)
    assert time.process_time() - before < 3
    assert isinstance(prove(cooled(fan_on=60, limit=60), time_limit=1), Unproved)


def test_scales_from_thousandths_to_hundreds_of_thousands() -> None:
    """Temperature in kelvin, power in watts: heater with hysteresis and a slow actuator."""
    edges = []
    for mode, watts in (("heat", 100_000), ("rest", 0)):
        update = (linear(("0.99", "0.00001"), "2.8"), linear((0, "1/2"), Fraction(watts, 2)))
        keep, change, level, other = ("<", ">=", 300, "rest") if mode == "heat" else (">", "<=", 295, "heat")
        edges.append(AffineEdge(mode, mode, (row((1, 0), keep, level),), update, "stay"))
        edges.append(AffineEdge(mode, other, (row((1, 0), change, level),), update, "switch"))
    start = (*between(2, 0, 296, 299), row((0, 1), "==", 0))
    bad = tuple((mode, (row((1, 0), ">", 303),)) for mode in ("heat", "rest"))
    assert isinstance(prove(TransitionSystem(("T", "P"), (), (("rest", start),), tuple(edges), bad)), InvariantProof)


def test_a_mode_that_no_run_enters_is_false_and_proved_so() -> None:
    system = TransitionSystem(
        ("x",),
        (),
        (("a", between(1, 0, 0, 1)),),
        (
            AffineEdge("a", "a", (), (linear(("1/2",), "1/4"),), "settle"),
            AffineEdge("a", "z", (row((1,), ">=", 2),), (linear((1,)),), "leap"),
            AffineEdge("z", "z", (), (linear((2,), 1),), "grow"),
        ),
        (("z", ()),),
    )
    result = prove(system)
    assert isinstance(result, InvariantProof)
    assert result.invariant["z"] == ()
    assert result.invariant["a"] not in ((), ((),))


def test_a_state_space_with_a_hole_needs_a_union() -> None:
    jump = (
        AffineEdge("m", "m", (row((1,), "<=", 1),), (linear((0,), 10),), "up"),
        AffineEdge("m", "m", (row((1,), ">=", 9),), (linear((0,)),), "down"),
    )
    system = TransitionSystem(("x",), (), (("m", (row((1,), "==", 0),)),), jump, (("m", between(1, 0, 4, 6)),))
    result = prove(system)
    assert isinstance(result, InvariantProof)
    assert len(result.invariant["m"]) > 1


def test_a_limit_that_is_approached_and_never_reached_needs_a_strict_row() -> None:
    edges = (
        AffineEdge("m", "m", (row((1,), "<", 10),), (linear(("1/2",), 5),), "approach"),
        AffineEdge("m", "tripped", (row((1,), ">=", 10),), (linear((1,)),), "trip"),
    )
    start: tuple[tuple[str, Polyhedron], ...] = (("m", between(1, 0, 0, 9)),)
    assert isinstance(prove(TransitionSystem(("x",), (), start, edges, (("tripped", ()),))), InvariantProof)
    at_ten = (("m", between(1, 0, 0, 10)),)
    assert isinstance(prove(TransitionSystem(("x",), (), at_ten, edges, (("tripped", ()),))), Unproved)


def test_a_bad_set_without_a_point_is_avoided() -> None:
    never = (Constraint(LinearForm((), Fraction(1)), "<="),)
    system = TransitionSystem((), (), (("a", ()),), (AffineEdge("a", "b", (), (), "1"),), (("b", never),))
    assert isinstance(prove(system), InvariantProof)


@pytest.mark.parametrize("target", ["c", "b"])
def test_without_variables_it_is_reachability(target: str) -> None:
    edges = (AffineEdge("a", "b", (), (), "1"), AffineEdge("b", "a", (), (), "2"), AffineEdge("c", "c", (), (), "3"))
    result = prove(TransitionSystem((), (), (("a", ()),), edges, ((target, ()),)))
    assert isinstance(result, InvariantProof) is (target == "c")


@pytest.mark.slow
@pytest.mark.parametrize("size", [Fraction(10) ** 400, 1 / Fraction(10) ** 200, 1 / Fraction(10) ** 400])
def test_numbers_that_floats_cannot_hold_are_no_traceback_and_no_wrong_proof(size: Fraction) -> None:
    edge, start = AffineEdge("m", "m", between(2, 1, 0, size), (linear(("1/2", "1/2")),), "lag"), between(1, 0, 0, size)
    for bound, safe in ((2 * size, True), (size / 2, False)):
        system = TransitionSystem(("x",), ("u",), (("m", start),), (edge,), (("m", (row((1,), ">", bound),)),))
        assert safe or isinstance(prove(system, time_limit=1), Unproved)
        assert isinstance(prove(system, time_limit=1), InvariantProof | Unproved)


def test_a_clock_with_a_large_offset() -> None:
    tick = (linear((1, 0), 1), linear((0, 1), 1))
    edges = (
        AffineEdge("m", "m", (row((0, 1), "<=", 5),), tick, "tick"),
        AffineEdge("m", "m", (row((0, 1), ">=", 5),), (tick[0], linear((0, 0))), "reset"),
    )
    start = (row((1, 0), "==", 10**9), row((0, 1), "==", 0))
    system = TransitionSystem(("t", "d"), (), (("m", start),), edges, (("m", (row((0, 1), ">", "6.5"),)),))
    assert isinstance(prove(system), InvariantProof)


def test_empty_corners() -> None:
    nothing = TransitionSystem(("x",), (), (), (), ())
    assert isinstance(prove(nothing), InvariantProof)
    impossible = (row((1,), "<", 0), row((1,), ">", 0))
    assert isinstance(prove(TransitionSystem(("x",), (), (("m", impossible),), (), (("m", ()),))), InvariantProof)
    assert isinstance(prove(TransitionSystem(("x",), (), (("m", ()),), (), (("m", (row((1,), "==", 5),)),))), Unproved)
    free = AffineEdge("m", "m", (), (linear((0, 1)),), "any value")
    unbounded = TransitionSystem(
        ("x",), ("u",), (("m", between(1, 0, 0, 1)),), (free,), (("m", (row((1,), ">", 9**9),)),)
    )
    assert isinstance(prove(unbounded), Unproved)


# --- laws: whatever is proved holds on exact runs, and a second solver agrees ---


Pick: TypeAlias = Callable[[list[Any]], Any]


def _options(system: TransitionSystem, mode: str, point: tuple[Fraction, ...], pick: Pick) -> list[Any]:
    choice = tuple(pick([Fraction(k, 4) for k in (-4, 4, -1, 0, 3)]) for _ in system.choices)
    reached = ((edge.target, step(edge, point, choice)) for edge in system.edges if edge.source == mode)
    return [(target, following) for target, following in reached if following is not None]


def _first(options: list[Any]) -> Any:
    return options[0]


def _run(
    system: TransitionSystem, state: tuple[str, tuple[Fraction, ...]], steps: int, pick: Pick = _first
) -> list[Any]:
    """An exact run; choices lie in [-1, 1]."""
    run = [state]
    while len(run) <= steps and (options := _options(system, *run[-1], pick)):
        run.append(pick(options))
    return run


def _is_bad(system: TransitionSystem, mode: str, point: tuple[Fraction, ...]) -> bool:
    return any(mode == m and all(c.holds(point) for c in rows) for m, rows in system.bad)


@st.composite
def contractions(draw: st.DrawFn) -> TransitionSystem:
    """One or two modes, one or two variables, perhaps an input in [-1, 1]; each guard cuts the plane in two."""
    n, m, modes = draw(st.integers(1, 2)), draw(st.integers(0, 1)), draw(st.integers(1, 2))
    twentieth = st.integers(-20, 20).map(lambda k: Fraction(k, 20))
    edges: list[AffineEdge] = []
    for source in range(modes):
        normal = draw(st.tuples(*[st.integers(-2, 2)] * n).filter(any))
        level = draw(twentieth) * 2
        for side in ("<", ">="):
            matrix = [[draw(twentieth) * Fraction(9, 10) / n for _ in range(n)] for _ in range(n)]
            update = tuple(LinearForm((*r, *(draw(twentieth) for _ in range(m))), draw(twentieth) * 3) for r in matrix)
            guard = (
                row((*normal, *[0] * m), side, level),
                *(c for j in range(m) for c in between(n + m, n + j, -1, 1)),
            )
            edges.append(AffineEdge(str(source), str(draw(st.integers(0, modes - 1))), guard, update, f"e{len(edges)}"))
    start = tuple(c for i in range(n) for c in between(n, i, -1, 1))
    far, direction = draw(st.integers(1, 40)), draw(st.tuples(*[st.integers(-1, 1)] * n).filter(any))
    bad = tuple((str(k), (row(direction, ">=", Fraction(far, 2)),)) for k in range(modes))
    return TransitionSystem(("x", "y")[:n], ("u",)[:m], (("0", start),), tuple(edges), bad)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(contractions(), st.randoms(use_true_random=False))
def test_what_is_proved_holds_on_exact_runs_and_for_cvc5(system: TransitionSystem, rng: Random) -> None:
    pytest.importorskip("cvc5")
    result = prove(system, time_limit=0.7, samples=60, steps=40)
    assume(isinstance(result, InvariantProof))
    assert isinstance(result, InvariantProof)
    assert all(recheck(claim.smtlib).unsat for claim in result.obligations)
    for _ in range(50):  # 50 runs of 40 steps
        start = tuple(Fraction(rng.choice([-8, 8, 5, 0, -3]), 8) for _ in system.variables)
        for mode, point in _run(system, ("0", start), 40, rng.choice):
            assert not _is_bad(system, mode, point)
            alternatives = result.invariant[mode]
            assert any(all(c.holds(point) for c in rows) for rows in alternatives)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(contractions(), st.randoms(use_true_random=False))
def test_a_state_that_an_exact_run_reaches_is_never_proved_unreachable(system: TransitionSystem, rng: Random) -> None:
    """The bad set is moved onto the end of a run: whatever the search guesses, there must be no proof."""
    mode, point = _run(system, ("0", (Fraction(1),) * len(system.variables)), 12, rng.choice)[-1]
    exactly = tuple(row(axis(len(point), i), "==", x) for i, x in enumerate(point))
    caught = TransitionSystem(system.variables, system.choices, system.initial, system.edges, ((mode, exactly),))
    assert isinstance(prove(caught, time_limit=0.5, samples=40, steps=30), Unproved)


@settings(max_examples=50, deadline=None)
@given(contractions(), st.randoms(use_true_random=False))
def test_the_pre_image_of_a_row_is_the_row_after_the_edge(system: TransitionSystem, rng: Random) -> None:
    edge = rng.choice(system.edges)
    width = len(system.variables)
    target = LinearForm(tuple(Fraction(rng.randint(-3, 3)) for _ in range(width)), Fraction(rng.randint(-3, 3)))
    point = tuple(Fraction(rng.randint(-9, 9), 4) for _ in range(width + len(system.choices)))
    following = tuple(u.at(point) for u in edge.update)
    assert after(target, edge.update).at(point) == target.at(following)
