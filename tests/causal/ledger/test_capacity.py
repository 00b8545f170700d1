"""C_nom: against closed forms, another solver, and duality in exact numbers."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.causal.ledger import capacity_program
from coherence.causal.ledger.capacity import Fleet, capacity, fleet
from coherence.causal.ledger.capacity_face import extremes, value_of
from coherence.causal.ledger.capacity_program import CapacityProgram, NoOptimum, Optimum, optimum
from tests.causal.ledger.fleets import random_fleet


def test_one_kind_of_device_takes_turns_between_classes() -> None:
    found = capacity(fleet({"h100": 8}, {"h100": {"chat": 10, "train": 2}}, {"chat": 0.75, "train": 0.25}))
    assert found.value == pytest.approx(8 / (0.75 / 10 + 0.25 / 2), rel=1e-15)
    assert found.unique
    assert found.y[0] * 8 == pytest.approx(found.value, rel=1e-15)


def test_each_class_goes_where_it_is_relatively_fast() -> None:
    """h100 runs chat twice and train 4 times as fast as a100, so h100 trains first."""
    given = fleet(
        {"h100": 10, "a100": 10}, {"h100": {"chat": 20, "train": 8}, "a100": {"chat": 10, "train": 2}},
        {"chat": 1, "train": 1},
    )  # fmt: skip
    found = capacity(given)
    assert given.mix.tolist() == [0.5, 0.5]
    # h100 trains: 80; a100 gives a devices to train so that 80 + 2 a = 10 (10 - a): a = 5/3
    assert found.x.ravel().tolist() == pytest.approx([0, 10, 10 - 5 / 3, 5 / 3])
    assert found.value == pytest.approx(2 * (80 + 10 / 3), rel=1e-15)
    assert found.y[1] == pytest.approx(10 * found.z[0]) == pytest.approx(2 * found.z[1])


def test_exact_duality_on_random_fleets() -> None:
    from scipy.optimize import linprog

    random = np.random.default_rng(5)
    for _ in range(30):
        given = random_fleet(random)
        found = capacity(given)
        program = _program(given)
        other = linprog(-program.gain, A_ub=program.rows, b_ub=program.limit, method="highs")
        assert found.value == pytest.approx(-other.fun, rel=1e-9)
        assert float(given.count @ found.y) == pytest.approx(found.value, rel=1e-12)
        assert float(given.mix @ found.z) == pytest.approx(1, rel=1e-12)
        assert found.reduced.min() >= -1e-15 * found.value
        assert np.abs(found.x * found.reduced).max() <= 1e-12 * found.value
        assert (found.x.sum(axis=1) <= given.count * (1 + 1e-15)).all()


def _program(given: Fleet) -> CapacityProgram:
    from coherence.causal.ledger.capacity import _program as made

    return made(given)


def test_the_solver_only_saves_pivots(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the basis of slacks, and from a basis that is wrong, the exact pivots reach the same optimum."""
    random = np.random.default_rng(6)
    fleets = [random_fleet(random) for _ in range(15)]
    before = [capacity(one).value for one in fleets]
    monkeypatch.setattr(
        capacity_program, "_warm", lambda program: [program.rows.shape[1] + i for i in range(len(program.rows))]
    )
    assert [capacity(one).value for one in fleets] == before


def test_programmes_with_equations() -> None:
    """max a with a + b = 1, a - b <= 0.5: (0.75, 0.25); a basis that is infeasible is repaired by the dual method."""
    found = optimum(
        CapacityProgram(np.array([1.0, 0]), np.array([[1.0, 1], [1, -1]]), np.array([1.0, 0.5]), (True, False))
    )
    assert isinstance(found, Optimum)
    assert [float(x) for x in found.point] == [0.75, 0.25]
    assert [float(x) for x in found.prices] == [0.5, 0.5]
    infeasible = optimum(CapacityProgram(np.array([1.0]), np.array([[1.0], [1.0]]), np.array([1.0, 2.0]), (True, True)))
    unbounded = optimum(CapacityProgram(np.array([1.0]), np.array([[-1.0]]), np.array([1.0])))
    assert infeasible == NoOptimum("infeasible")
    assert unbounded == NoOptimum("unbounded")


def test_prices_that_are_not_unique_have_a_range() -> None:
    """Two kinds that each run one class alone, both just enough: any split of the worth is optimal."""
    given = fleet({"a": 10, "b": 10}, {"a": {"p": 1}, "b": {"q": 1}}, {"p": 1, "q": 1})
    found = capacity(given)
    worth_of_a = np.array([10.0, 0, 0, 0])
    assert not found.unique
    assert found.value == 20
    assert extremes(found, worth_of_a, value_of(found)) == pytest.approx((0, 20))
    whole = np.array([10.0, 10, 0, 0])
    assert extremes(found, whole, value_of(found)) == pytest.approx((20, 20))


def test_every_problem_of_a_fleet_at_once() -> None:
    with pytest.raises(InputError) as caught:
        fleet({"h100": -1}, {"h100": {"chat": float("nan"), "x": 1}, "a100": {}}, {"chat": 1, "train": 1})
    text = str(caught.value)
    for words in ("count[h100] = -1", "rate[h100][chat] = nan", "'a100', which has no count", "class 'x'", "'train'"):
        assert words in text
    with pytest.raises(InputError, match="mix of work is empty"):
        fleet({"h100": 1}, {"h100": {"chat": 1}}, {"chat": 0})
