"""Steps over names become edges with coefficients: columns, unknowns that guards fix, modes that are bad."""

from __future__ import annotations

from fractions import Fraction

from coherence.verify.systems.lowering import NamedEdge, Vocabulary, lowered
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, TransitionSystem, step
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


def after(edge: AffineEdge, state: tuple[int, ...], choice: tuple[int, ...]) -> list[float] | None:
    reached = step(edge, tuple(map(Fraction, state)), tuple(map(Fraction, choice)))
    return None if reached is None else [float(value) for value in reached]


def written(row: Constraint) -> str:
    x, y = row.linear.coefficients
    return f"{x} x + {y} y + {row.linear.constant} {row.relation} 0"


def test_a_step_writes_its_cells_and_keeps_the_other_variables() -> None:
    both = add(scaled(X, Fraction(2)), add(W, constant(5)))
    built = system(NamedEdge("a", "b", rows((minus(X, 3), "<=")), {"y": both}, "go"))
    assert built.variables == ("x", "y")
    assert built.choices == ("w",)
    (edge,) = built.edges
    assert (edge.source, edge.target, edge.label) == ("a", "b", "go")
    assert after(edge, (3, 7), (10,)) == [3, 21]
    assert after(edge, (4, 7), (10,)) is None


def test_starts_and_bad_states_are_rows_over_the_variables_alone() -> None:
    built = system()
    ((mode, start),) = built.initial
    assert mode == "a"
    assert [written(row) for row in start] == ["1 x + 0 y + -1 == 0"]
    ((mode, bad),) = built.bad
    assert mode == "b"
    assert [written(row) for row in bad] == ["0 x + 1 y + -9 <= 0"]
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
    assert after(
        first,
        (3, 0),
        (
            0,
            2,
            99,
        ),
    ) == [2, 0]
    assert (
        after(
            first,
            (3, 0),
            (
                0,
                4,
                0,
            ),
        )
        is None
    )
    assert after(
        second,
        (3, 0),
        (
            0,
            2,
            1,
        ),
    ) == [3, 3]
    assert (
        after(
            second,
            (3, 0),
            (
                0,
                1,
                2,
            ),
        )
        is None
    )


def test_an_unknown_that_the_guard_fixes_is_no_choice() -> None:
    fixed = rows((minus(ANY, 4), "=="), (minus(X, ANY), "<="))
    built = system(NamedEdge("a", "a", fixed, {"x": add(ANY, constant(1))}, "go"))
    assert built.choices == ("w",)
    (edge,) = built.edges
    assert after(edge, (4, 0), (0,)) == [5, 0]
    assert after(edge, (5, 0), (0,)) is None


def test_a_variable_or_an_input_that_a_guard_fixes_keeps_its_row() -> None:
    built = system(NamedEdge("a", "a", rows((minus(X, 4), "=="), (minus(W, 2), "==")), {"y": X}, "go"))
    (edge,) = built.edges
    assert len(edge.guard) == 2
    assert after(edge, (4, 0), (2,)) == [4, 4]
    assert after(edge, (4, 0), (3,)) is None


def test_an_edge_whose_fixed_unknowns_contradict_its_guard_is_never_taken() -> None:
    apart = rows((minus(ANY, 4), "=="), (minus(OTHER, 5), "=="), (minus(OTHER, ANY), "<="))
    (edge,) = system(NamedEdge("a", "a", apart, {}, "go")).edges
    assert after(edge, (0, 0), (0,)) is None


def test_no_steps_need_no_unknowns() -> None:
    assert system().edges == ()
    assert TRUE.fixed() == {}
