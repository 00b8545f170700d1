"""Many small linear programs at once, against HiGHS one by one; and simple numbers out of intervals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.verify.invariants.linear_program import Sparse, minimise
from coherence.verify.invariants.numeric import Floats
from coherence.verify.invariants.rationals import roundest, simplest, striking
from coherence.verify.invariants.support import BOX, maximise, vertices
from tests.draws import few


def by_highs(normal: Floats, bound: Floats, objective: Floats) -> Floats | None:
    """An optimal x of the same program within the box, or None when it is empty."""
    rows, width = normal.shape
    k = np.arange(rows)
    program = Sparse(np.repeat(k, width), np.tile(np.arange(width), rows), -normal.ravel(), -bound)
    box = np.full(width, BOX)
    return minimise(-objective, -box, box, program, group=k, point=np.zeros(width), seconds=5.0)


@pytest.mark.parametrize(("width", "rows"), [(1, 3), (2, 8), (3, 20), (6, 40)])
def test_optima_are_those_of_highs_and_are_taken_at_their_vertices(width: int, rows: int) -> None:
    rng = np.random.default_rng(width)
    normal = rng.normal(size=(8, rows, width))
    normal /= np.linalg.norm(normal, axis=2, keepdims=True)
    normal[:, 1] = -normal[:, 0]  # a slab: opposite rows
    bound = rng.uniform(-0.3, 1.0, size=(8, rows))
    objective = rng.normal(size=(8, 5, width))
    objective[:, 0] = np.eye(width)[0]
    optima = maximise(normal, bound, objective)
    points = vertices(normal, bound, optima)
    for e in range(8):
        for r in range(5):
            best = by_highs(normal[e], bound[e], objective[e, r])
            if best is None:
                assert optima.value[e, r] == -np.inf
            elif np.isinf(optima.value[e, r]):
                assert np.abs(best).max() > BOX / 2
            else:
                assert optima.value[e, r] == pytest.approx(objective[e, r] @ best, abs=1e-6)
                assert objective[e, r] @ points[e, r] == pytest.approx(optima.value[e, r], abs=1e-6)
                assert (normal[e] @ points[e, r] <= bound[e] + 1e-7).all()


def test_a_warm_start_finds_the_same_optima() -> None:
    rng = np.random.default_rng(0)
    normal, objective = rng.normal(size=(6, 15, 3)), rng.normal(size=(6, 4, 3))
    bound = rng.uniform(0.2, 1.0, size=(6, 15))
    moved = bound + rng.uniform(0, 0.3, size=bound.shape)
    moved[:, 3] = np.inf  # a row that is dropped, perhaps out of the basis
    warm = maximise(normal, moved, objective, maximise(normal, bound, objective).basis)
    assert warm.value == pytest.approx(maximise(normal, moved, objective).value, abs=1e-7)


def test_multipliers_bound_the_optimum_for_any_bounds() -> None:
    """Weak duality, on which policy iteration rests."""
    rng = np.random.default_rng(1)
    normal, objective = rng.normal(size=(5, 12, 2)), rng.normal(size=(5, 3, 2))
    bound, other = rng.uniform(0.2, 1.0, size=(5, 12)), rng.uniform(0.2, 1.0, size=(5, 12))
    policy, value = maximise(normal, bound, objective), maximise(normal, other, objective).value
    box = np.concatenate([other, np.full((5, 4), BOX)], axis=1)
    estimate = (policy.multiplier * box[np.arange(5)[:, None, None], policy.basis]).sum(axis=2)
    assert (policy.multiplier >= 0).all()
    assert (value <= estimate + 1e-7).all()


def test_degenerate_corners_do_not_cycle() -> None:
    """Thirty rows through one point."""
    angle = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    normal = np.stack([np.cos(angle), np.sin(angle), np.zeros(30)], axis=1)[None]
    objective = np.concatenate([np.eye(3), -np.eye(3)])[None]
    value = maximise(normal, np.zeros((1, 30)), objective).value[0]
    assert value[[0, 1, 3, 4]] == pytest.approx(0.0, abs=1e-7)
    assert np.isinf(value[[2, 5]]).all()


def test_a_linear_program_in_turns_is_the_whole_program() -> None:
    """900 rows, of which few bind: the tangents of a ball."""
    rng = np.random.default_rng(2)
    normal = rng.normal(size=(900, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    best = by_highs(normal, np.ones(900), np.array([1.0, 0.5, 0.0]))
    assert best is not None
    assert (normal @ best <= 1 + 1e-8).all()
    few = by_highs(normal[:500], np.ones(500), np.array([1.0, 0.5, 0.0]))
    assert few is not None
    assert best @ [1.0, 0.5, 0.0] <= few @ [1.0, 0.5, 0.0] + 1e-9
    assert by_highs(np.array([[1.0], [-1.0]]), np.array([0.0, -1.0]), np.array([1.0])) is None


@pytest.mark.parametrize(
    ("low", "high", "simple", "rounded"),
    [
        ("1/3", "1/3", "1/3", "1/3"),
        ("0.333", "0.334", "1/3", "0.333"),
        ("45.2", "45.9", "91/2", "45.5"),
        ("45000.3", "47000", "45001", "46000"),
        ("-2.7", "-2.2", "-5/2", "-2.5"),
        ("-1", "3", "0", "0"),
        ("79.999999", "80", "80", "80"),
    ],
)
def test_simple_numbers(low: str, high: str, simple: str, rounded: str) -> None:
    assert simplest(Fraction(low), Fraction(high)) == Fraction(simple)
    assert roundest(Fraction(low), Fraction(high)) == Fraction(rounded)


@pytest.mark.parametrize(
    ("value", "width", "expected"),
    [("85000", 0.4, True), ("84999", 0.4, False), ("1/3", 0.001, True), ("22/70", 0.001, False), ("0.5", 0.001, True)],
)
def test_striking_numbers(value: str, width: float, expected: bool) -> None:
    number = Fraction(value)
    assert striking(number, number - Fraction(width) / 2, number + Fraction(width) / 2) is expected


def test_an_empty_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        simplest(Fraction(2), Fraction(1))


fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=200)


@settings(max_examples=few(100), deadline=None)
@given(fractions, fractions, fractions)
def test_no_fraction_of_the_interval_has_a_smaller_denominator(a: Fraction, b: Fraction, inside: Fraction) -> None:
    low, high = min(a, b), max(a, b)
    found = simplest(low, high)
    assert low <= found <= high
    assert low <= roundest(low, high) <= high
    assume(low <= inside <= high)
    assert found.denominator <= inside.denominator
