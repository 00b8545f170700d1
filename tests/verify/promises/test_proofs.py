"""Proofs of `always` and `never`: which margin they have, when the time is over, what they could not do."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.clock import now
from coherence.base.solver import unsat
from coherence.language.expressions import parse
from coherence.language.expressions.tree import Compare, Number, rename
from coherence.verify.promises.proofs import LATE, ConditionProof, ProofFailure, needs_open_end, proof_of
from coherence.verify.promises.provable_limit import advice, nearest
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.piecewise_affine import AffineEdge, Constraint, LinearForm, TransitionSystem
from tests.verify.promises.plants import model_of, relay

TWO_ORDERS = relay("always x < 99", phase="").replace("step: 1 s", "step: 2 s")


def proof(text: str, condition: str, *, wanted: bool = True, seconds: float = 10.0) -> ConditionProof | ProofFailure:
    model = model_of(text)
    return proof_of(model, rename(parse(condition), model.resolve), wanted=wanted, deadline=now() + seconds)


@pytest.mark.parametrize(
    ("condition", "wanted", "touching"),
    [
        # below 6 x becomes x / 2 + 4 < 7; from 6 on x / 2 + 1 >= 4: so x stays in [0, 7)
        ("x <= 8", True, False),
        ("x < 7", True, True),
        ("x >= 7", False, True),
        ("x >= 7.5", False, False),
    ],
)
def test_a_proof_says_whether_it_stands_on_an_excluded_end(condition: str, wanted: bool, touching: bool) -> None:
    shown = proof(relay("always x < 99"), condition, wanted=wanted)
    assert isinstance(shown, ConditionProof)
    assert shown.touching is touching
    assert shown.orders == len(shown.certificates) == 1
    for claim in shown.certificates[0].split("(reset)\n"):
        assert unsat(claim, timeout_ms=5000).unsat


def test_each_order_of_the_instants_has_its_certificate() -> None:
    shown = proof(TWO_ORDERS, "x <= 8")
    assert isinstance(shown, ConditionProof)
    assert shown.orders == 2  # with the step, and before it
    assert len(shown.readings) == 1


@pytest.mark.slow
def test_what_is_not_so_is_not_proved() -> None:
    for condition, wanted in (("x < 6", True), ("x >= 6", False)):
        failed = proof(relay("always x < 99"), condition, wanted=wanted, seconds=0.3)
        assert isinstance(failed, ProofFailure)
        assert failed.phases == {"act": 0}
        assert failed.proved == 0
        assert failed.reason


def test_a_deadline_that_is_over_is_said() -> None:
    late = proof(relay("always x < 99"), "x <= 8", seconds=-1)
    assert isinstance(late, ProofFailure)
    assert (late.reason, late.late, late.proved) == (LATE, True, 0)


def test_a_condition_that_changes_between_instants_is_refused() -> None:
    flowing = relay("always x < 99").replace("x' = 0.5 * x + job.v\", step: 1 s", "x' = job.v / 1 s\"")
    with pytest.raises(NotLinearError, match="between the instants"):
        proof(flowing, "x != 3")


def row(coefficient: int, constant: int, relation: str) -> Constraint:
    return Constraint(LinearForm((Fraction(coefficient),), Fraction(constant)), relation)  # type: ignore[arg-type]


def system(limit: int) -> TransitionSystem:
    """x becomes x / 2 + 4 below 6, and is bad from the limit on."""
    grow = AffineEdge("m", "m", (row(1, -6, "<"),), (LinearForm((Fraction(1, 2),), Fraction(4)),), "grow")
    return TransitionSystem(("x",), (), (("m", (row(1, 0, "=="),)),), (grow,), (("m", (row(-1, limit, "<="),)),))


def test_no_excluded_end_is_needed_where_the_closed_ends_prove_it_too() -> None:
    for ends in (("<", "<="), ("<=", "<=")):
        invariant = {"m": ((row(1, -7, ends[0]), row(-1, 0, ends[1])),)}
        assert not needs_open_end(system(8), invariant, 3.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "wanted", "expected"),
    [
        # x is 6 at the most: what is 2, 10, 30 or 100 % wider than these is at least that
        ("x <= 5.9", True, "a limit 2 % wider is proved"),
        ("x <= 5.5", True, "a limit 10 % wider is proved"),
        ("x < 4.8", True, "a limit 30 % wider is proved"),
        ("x <= 3.2", True, "a limit 100 % wider is proved"),
        ("x <= 6.9", False, ""),
        ("x == 6.9", True, ""),
        ("x <= job.v", True, ""),
        ("x <= 6.9 and x >= 0", True, ""),
    ],
)
def test_the_nearest_wider_limit_that_is_proved_is_told(condition: str, wanted: bool, expected: str) -> None:
    model = model_of(relay("always x < 99"))
    tree = rename(parse(condition), model.resolve)
    told = nearest(model, tree, wanted=wanted, seconds=10)
    assert told == expected


def test_a_lower_limit_is_made_wider_downward() -> None:
    model = model_of(relay("always x < 99", start="4"))
    tree = rename(parse("x >= 4.2"), model.resolve)
    assert isinstance(tree, Compare)
    assert isinstance(tree.right, Number)
    assert nearest(model, tree, wanted=True, seconds=10) == "a limit 10 % wider is proved"
    assert nearest(model, tree, wanted=True, seconds=-1) == ""


def test_a_limit_of_zero_is_made_wider_by_shares_of_one() -> None:
    model = model_of(relay("always x < 99", high="-0.05", low="-0.05", bounds="[-1, 10]"))  # x comes to -0.1
    tree = rename(parse("x >= 0"), model.resolve)
    assert nearest(model, tree, wanted=True, seconds=10) == "a limit 10 % wider is proved"


def test_advice_says_what_would_decide_it() -> None:
    one, two = (
        model_of(relay("always x < 99", phase="")),
        model_of(
            relay("always x < 99", phase="").replace(
                "promises", "  two: {timescale: {period: 1 s}, actuation: {}}\npromises"
            )
        ),
    )
    late, stuck = ProofFailure({}, "", 0, late=True), ProofFailure({}, "", 0)
    assert advice(one, stuck) == advice(two, stuck) == "a limit with more room may decide it"
    assert advice(one, late) == "more time may decide it"
    assert advice(two, late) == "more time, or a stated `phase` of act, two may decide it"
