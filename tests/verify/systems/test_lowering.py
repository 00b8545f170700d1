"""Steps over names become edges with coefficients: columns, unknowns that guards fix, modes that are bad."""

from __future__ import annotations

from fractions import Fraction

from coherence.verify.systems.lowering import NamedEdge, Vocabulary, lowered
from coherence.verify.systems.piecewise_affine import TransitionSystem, step
from coherence.verify.systems.terms import TRUE, Guard, Term, add, constant, guard, scaled, unit

X, Y, W, ANY, OTHER = (unit(name) for name in ("x", "y", "w", "any 1", "any 2"))
WORDS = Vocabulary(("x", "y"), ("w",), frozenset({"any 1", "any 2", "any 3"}))


def minus(left: Term, right: Term | int) -> Term:
    return add(left, constant(right) if isinstance(right, int) else right, Fraction(-1))


def rows(*pairs: tuple[Term, str]) -> Guard:
    held = guard(pairs)
    assert held is not None
    return held


def system(*steps: NamedEdge, broken: str | None = None) -> TransitionSystem:
    return lowered(WORDS, [("a", rows((minus(X, 1), "==")))], steps, [("b", rows((minus(Y, 9), "<=")))], broken=broken)


def test_a_step_writes_its_cells_and_keeps_the_other_variables() -> None:
    both = add(scaled(X, Fraction(2)), add(W, constant(5)))
    built = system(NamedEdge("a", "b", rows((minus(X, 3), "<=")), {"y": both}, "go"))
    assert built.variables == ("x", "y")
    assert built.choices == ("w",)
    (edge,) = built.edges
    assert (edge.source, edge.target, edge.label) == ("a", "b", "go")
    assert step(edge, (Fraction(3), Fraction(7)), (Fraction(10),)) == (3, 21)
    assert step(edge, (Fraction(4), Fraction(7)), (Fraction(10),)) is None


def test_starts_and_bad_states_are_rows_over_the_variables_alone() -> None:
    built = system()
    ((mode, start),) = built.initial
    assert mode == "a"
    assert [(row.linear.coefficients, row.linear.constant, row.relation) for row in start] == [((1, 0), -1, "==")]
    ((mode, bad),) = built.bad
    assert mode == "b"
    assert [(row.linear.coefficients, row.linear.constant, row.relation) for row in bad] == [((0, 1), -9, "<=")]
    assert built.choices == ("w",)


def test_a_broken_mode_is_bad_whatever_its_state_is() -> None:
    assert system(broken="broken").bad[-1] == ("broken", ())
    assert len(system(broken="broken").bad) == 2


def test_each_edge_uses_the_first_columns_for_its_unknowns() -> None:
    one = NamedEdge("a", "a", rows((minus(OTHER, X), "<=")), {"x": OTHER}, "one")
    two = NamedEdge("a", "a", rows((minus(ANY, X), "<="), (minus(OTHER, ANY), "<=")), {"y": add(ANY, OTHER)}, "two")
    built = system(one, two)
    assert built.choices == ("w", "any 1", "any 2")
    first, second = built.edges
    assert step(first, (Fraction(3), Fraction(0)), (Fraction(0), Fraction(2), Fraction(99))) == (2, 0)
    assert step(first, (Fraction(3), Fraction(0)), (Fraction(0), Fraction(4), Fraction(0))) is None
    assert step(second, (Fraction(3), Fraction(0)), (Fraction(0), Fraction(2), Fraction(1))) == (3, 3)
    assert step(second, (Fraction(3), Fraction(0)), (Fraction(0), Fraction(1), Fraction(2))) is None


def test_an_unknown_that_the_guard_fixes_is_no_choice() -> None:
    fixed = rows((minus(ANY, 4), "=="), (minus(X, ANY), "<="))
    built = system(NamedEdge("a", "a", fixed, {"x": add(ANY, constant(1))}, "go"))
    assert built.choices == ("w",)
    (edge,) = built.edges
    assert step(edge, (Fraction(4), Fraction(0)), (Fraction(0),)) == (5, 0)
    assert step(edge, (Fraction(5), Fraction(0)), (Fraction(0),)) is None


def test_a_variable_or_an_input_that_a_guard_fixes_keeps_its_row() -> None:
    built = system(NamedEdge("a", "a", rows((minus(X, 4), "=="), (minus(W, 2), "==")), {"y": X}, "go"))
    (edge,) = built.edges
    assert len(edge.guard) == 2
    assert step(edge, (Fraction(4), Fraction(0)), (Fraction(2),)) == (4, 4)
    assert step(edge, (Fraction(4), Fraction(0)), (Fraction(3),)) is None


def test_an_edge_whose_fixed_unknowns_contradict_its_guard_is_never_taken() -> None:
    apart = rows((minus(ANY, 4), "=="), (minus(OTHER, 5), "=="), (minus(OTHER, ANY), "<="))
    (edge,) = system(NamedEdge("a", "a", apart, {}, "go")).edges
    assert step(edge, (Fraction(0), Fraction(0)), (Fraction(0),)) is None


def test_no_steps_need_no_unknowns() -> None:
    assert system().edges == ()
    assert TRUE.fixed() == {}
