"""Cycles of modes near a rest: the map once round, the rest at each mode, and what is no cycle."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.verify.convergence.mode_cycles import ModeCycle, begun_at, mode_cycles
from coherence.verify.systems.piecewise_affine import AffineEdge
from tests.verify.affine_rows import linear

F = Fraction
HALF = AffineEdge("a", "b", (), (linear(("1/2",)),), "halve")
MORE = AffineEdge("b", "a", (), (linear((1,), 1),), "add one")
MODES = {"a": (), "b": ()}


def cycle() -> ModeCycle:
    cycles = mode_cycles([HALF, MORE], MODES, 1)
    assert isinstance(cycles, list)
    assert len(cycles) == 1
    return cycles[0]


def test_once_round_the_matrices_multiply_and_each_mode_has_its_rest() -> None:
    assert cycle().modes == ("a", "b")
    assert cycle().matrices == ([[F(1)]], [[F(1, 2)]], [[F(1, 2)]])
    assert cycle().rests == ([F(2)], [F(1)])  # x = x / 2 + 1 at a; its half at b


def test_the_order_of_maps_matters_once_round() -> None:
    turn = AffineEdge("a", "b", (), (linear((0, 1)), linear((-1, 0))), "turn")
    shear = AffineEdge("b", "a", (), (linear((1, 3)), linear((0, "1/2"), 1)), "shear")
    cycles = mode_cycles([turn, shear], MODES, 2)
    assert isinstance(cycles, list)
    assert cycles[0].matrices[-1] == [[F(-3), F(1)], [F(-1, 2), F(0)]]  # shear * turn


def test_a_cycle_can_be_begun_at_each_of_its_modes() -> None:
    turned = begun_at(cycle(), 1)
    assert (turned.modes, turned.rests) == (("b", "a"), ([F(1)], [F(2)]))
    assert begun_at(cycle(), 0) is cycle() or begun_at(cycle(), 0) == cycle()
    assert begun_at(turned, 1) == cycle()


@pytest.mark.parametrize(
    ("edges", "modes", "reason"),
    [
        ([HALF], MODES, "0 ways out of b"),
        ([HALF, MORE, AffineEdge("a", "a", (), (linear((1,)),), "stay")], MODES, "2 ways out of a"),
        ([AffineEdge("a", "a", (), (linear((1,), 1),), "drift")], {"a": ()}, "there is no one place of rest"),
        ([AffineEdge("a", "a", (), (linear((1, 1)),), "any")], {"a": ()}, "what follows a is not determined"),
        ([HALF, AffineEdge("b", "b", (), (linear(("1/2",)),), "stay")], MODES, "a is not come back to"),
        ([HALF], {"a": ()}, "a is not come back to"),
    ],
)
def test_what_is_no_cycle_says_why(edges: list[AffineEdge], modes: dict[str, tuple[()]], reason: str) -> None:
    assert mode_cycles(edges, modes, 1) == reason


def test_edges_alike_into_one_mode_are_one_way_out() -> None:
    cycles = mode_cycles([HALF, AffineEdge("a", "b", (), HALF.update, "again"), MORE], MODES, 1)
    assert isinstance(cycles, list)
    assert [len(edges) for edges in cycles[0].edges] == [2, 1]
