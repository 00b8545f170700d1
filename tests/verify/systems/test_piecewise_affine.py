"""The systems that the prover is given: exact steps, and refusal of rows that were cut short."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InternalError
from coherence.verify.invariants.smtlib import number, obligations
from coherence.verify.systems.piecewise_affine import Constraint, Edge, Linear, System, after, step

ONE, ZERO = Fraction(1), Fraction(0)
X = Linear((ONE,), ZERO)
STAY = Edge("m", "m", (), (X,), "stay")


def system(**changes: object) -> System:
    parts: dict[str, object] = {
        "variables": ("x",),
        "choices": (),
        "initial": (("m", (Constraint(X, "=="),)),),
        "edges": (STAY,),
        "bad": (("m", (Constraint(Linear((-ONE,), ONE), "<="),)),),
    }
    return System(**{**parts, **changes})  # type: ignore[arg-type]


def test_a_step_is_exact_and_needs_its_guard() -> None:
    third = Linear((Fraction(1, 3), ONE), ZERO)
    edge = Edge("a", "b", (Constraint(Linear((ONE, ZERO), -ONE), "<"),), (third,), "third")
    assert step(edge, (Fraction(1, 2),), (ONE,)) == (Fraction(7, 6),)
    assert step(edge, (ONE,), (ONE,)) is None


@pytest.mark.parametrize(
    ("relation", "holds"), [("<=", [True, True, False]), ("<", [True, False, False]), ("==", [False, True, False])]
)
def test_relations(relation: str, holds: list[bool]) -> None:
    row = Constraint(X, relation)  # type: ignore[arg-type]
    assert [row.holds((Fraction(v),)) for v in (-1, 0, 1)] == holds


def test_modes_are_all_that_are_named_in_order() -> None:
    assert system(edges=(Edge("m", "b", (), (X,), ""), Edge("c", "m", (), (X,), "")), bad=(("d", ()),)).modes == tuple(
        "mbcd"
    )


def test_a_pre_image_ranges_over_states_and_choices() -> None:
    update = (Linear((ONE, ZERO, Fraction(2)), ONE), Linear((ZERO, ONE, ZERO), ZERO))
    assert after(Linear((Fraction(3), -ONE), ONE), update) == Linear((Fraction(3), -ONE, Fraction(6)), Fraction(4))


@pytest.mark.parametrize(
    "changes",
    [
        {"variables": ("x", "x")},
        {"choices": ("x",)},
        {"choices": ("u",)},  # then the edge's rows are too short
        {"edges": (Edge("m", "m", (), (), "no update"),)},
        {"edges": (Edge("m", "m", (Constraint(Linear((), ZERO), "<="),), (X,), "short guard"),)},
        {"initial": (("m", (Constraint(Linear((ONE, ONE), ZERO), "<="),)),)},
        {"bad": (("m", (Constraint(Linear((), ZERO), "<="),)),)},
    ],
)
def test_rows_of_the_wrong_length_and_names_used_twice_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InternalError):
        system(**changes)


@pytest.mark.parametrize(
    ("value", "text"), [(5, "5.0"), (-2, "(- 2.0)"), (Fraction(-2, 3), "(- (/ 2.0 3.0))"), (0, "0.0")]
)
def test_numbers_in_smt_lib(value: Fraction | int, text: str) -> None:
    assert number(Fraction(value)) == text


@pytest.mark.parametrize("name", ["a|b", "a\\b"])
def test_names_that_smt_lib_cannot_quote_are_refused(name: str) -> None:
    with pytest.raises(InternalError):
        obligations(system(variables=(name,)), {"m": ((),)})


def test_a_variable_named_like_a_predicate_is_refused() -> None:
    with pytest.raises(InternalError):
        obligations(system(variables=("inside m",)), {"m": ((),)})
