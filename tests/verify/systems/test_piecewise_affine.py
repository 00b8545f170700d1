"""The systems that the prover is given: exact steps, and refusal of rows that were cut short."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InternalError
from coherence.verify.invariants.smtlib import number, obligations
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, LinearForm, TransitionSystem, after, step

ONE, ZERO = Fraction(1), Fraction(0)
X = LinearForm((ONE,), ZERO)
STAY = AffineEdge("m", "m", (), (X,), "stay")


def system(**changes: object) -> TransitionSystem:
    parts: dict[str, object] = {
        "variables": ("x",),
        "choices": (),
        "initial": (("m", (Constraint(X, "=="),)),),
        "edges": (STAY,),
        "bad": (("m", (Constraint(LinearForm((-ONE,), ONE), "<="),)),),
    }
    return TransitionSystem(**{**parts, **changes})  # type: ignore[arg-type]


def test_a_step_is_exact_and_needs_its_guard() -> None:
    third = LinearForm((Fraction(1, 3), ONE), ZERO)
    edge = AffineEdge("a", "b", (Constraint(LinearForm((ONE, ZERO), -ONE), "<"),), (third,), "third")
    assert step(edge, (Fraction(1, 2),), (ONE,)) == (Fraction(7, 6),)
    assert step(edge, (ONE,), (ONE,)) is None


@pytest.mark.parametrize(
    ("relation", "holds"), [("<=", [True, True, False]), ("<", [True, False, False]), ("==", [False, True, False])]
)
def test_relations(relation: str, holds: list[bool]) -> None:
    row = Constraint(X, relation)  # type: ignore[arg-type]
    assert [row.holds((Fraction(v),)) for v in (-1, 0, 1)] == holds


def test_modes_are_all_that_are_named_in_order() -> None:
    assert system(
        edges=(AffineEdge("m", "b", (), (X,), ""), AffineEdge("c", "m", (), (X,), "")), bad=(("d", ()),)
    ).modes == tuple("mbcd")


def test_a_pre_image_ranges_over_states_and_choices() -> None:
    update = (LinearForm((ONE, ZERO, Fraction(2)), ONE), LinearForm((ZERO, ONE, ZERO), ZERO))
    assert after(LinearForm((Fraction(3), -ONE), ONE), update) == LinearForm(
        (Fraction(3), -ONE, Fraction(6)), Fraction(4)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"variables": ("x", "x")},
        {"choices": ("x",)},
        {"choices": ("u",)},  # then the edge's rows are too short
        {"edges": (AffineEdge("m", "m", (), (), "no update"),)},
        {"edges": (AffineEdge("m", "m", (Constraint(LinearForm((), ZERO), "<="),), (X,), "short guard"),)},
        {"initial": (("m", (Constraint(LinearForm((ONE, ONE), ZERO), "<="),)),)},
        {"bad": (("m", (Constraint(LinearForm((), ZERO), "<="),)),)},
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
