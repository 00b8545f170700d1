"""The solver: honest about unsat, sat and unknown, for z3 and for cvc5."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base import solver
from coherence.base.errors import InternalError, MissingExtraError
from coherence.base.solver import Outcome, SolverAnswer, confirmed, joined, recheck, unsat, unsat_each, version
from tests.draws import few

REFUTED = """; two rows that exclude each other
(set-logic QF_LRA)
(declare-const |x y| Real)
(assert (<= |x y| (/ 1.0 3.0)))
(assert (> |x y| (/ 1.0 3.0)))
(check-sat)
"""
SATISFIED = REFUTED.replace("(> ", "(>= ")
HARD = """(set-logic QF_NIA)
(declare-const x Int) (declare-const y Int) (declare-const z Int)
(assert (> x 1)) (assert (> y 1))
(assert (= (+ (* x x x) (* y y y) (* z z z)) 42))
(check-sat)
"""


@pytest.fixture(autouse=True)
def forgotten() -> None:
    solver._DECIDED.clear()


def ask(script: str) -> SolverAnswer:
    return unsat(script, timeout_ms=5000)


def test_the_two_answers() -> None:
    assert ask(REFUTED) == SolverAnswer(Outcome.UNSAT)
    assert ask(REFUTED).unsat
    assert ask(SATISFIED) == SolverAnswer(Outcome.SAT, "", "x y = 1/3")
    assert not ask(SATISFIED).unsat


def test_a_model_shows_declared_constants_only() -> None:
    script = """(set-logic QF_LRA)
(declare-const b Real) (declare-const a Real)
(define-fun inside ((v Real)) Bool (<= v 2.0))
(define-fun twice () Real (* 2.0 a))
(assert (and (inside b) (= twice 3.0) (= b (- 1.0))))
(check-sat)
"""
    assert ask(script).model == "a = 3/2\nb = -1"


def test_a_timeout_is_unknown() -> None:
    before = time.monotonic()
    answer = unsat(HARD, timeout_ms=100)
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.reason
    assert time.monotonic() - before < 10


@pytest.mark.parametrize(
    "script",
    [
        "",
        "(assert false)",  # nothing is asked
        "(assert false) ; (check-sat)",
        "(declare-const |(check-sat)| Bool) (assert false)",
        REFUTED + "(check-sat)\n",
        "(check-sat) (assert false)",  # asserted after the question
        "(push 1) (assert false) (pop 1) (check-sat)",
        "(assert false) (reset) (check-sat)",
        "(assert (foo)) (check-sat)",
        "(assert (<= x 1.0)) (check-sat)",
        "(assert false (check-sat)",
        "not a script (check-sat)",
    ],
)
def test_a_script_that_asks_something_else_is_never_unsat(script: str) -> None:
    assert ask(script).outcome is Outcome.UNKNOWN
    assert ask(script).reason
    pytest.importorskip("cvc5")
    assert recheck(script).outcome is Outcome.UNKNOWN


def test_no_assertion_is_satisfiable() -> None:
    assert ask("(set-logic QF_LRA)\n(check-sat)").outcome is Outcome.SAT


def test_words_in_comments_and_symbols_are_not_commands() -> None:
    script = "; (push 1) (check-sat)\n(declare-const |(pop 1) ; (check-sat)| Bool)\n(assert false)\n(check-sat)\n"
    assert ask(script).unsat


def test_parts_joined_by_reset_are_refuted_when_each_is() -> None:
    assert ask(joined([REFUTED, REFUTED])).unsat
    assert joined([REFUTED]) == REFUTED
    for script in (REFUTED + "(reset)\n" + SATISFIED, SATISFIED + "(reset)\n" + REFUTED):
        assert ask(script).outcome is Outcome.SAT
    assert ask(REFUTED + "(reset)\n").outcome is Outcome.UNKNOWN


def test_answers_come_one_by_one_and_do_not_share_assertions() -> None:
    def scripts() -> Iterator[str]:
        yield REFUTED
        yield SATISFIED
        pytest.fail("asked for more than was needed")

    answers = unsat_each(scripts(), timeout_ms=5000)
    assert [next(answers).outcome, next(answers).outcome] == [Outcome.UNSAT, Outcome.SAT]


@pytest.mark.parametrize("known", [True, False])
def test_the_same_script_has_the_same_answer(known: bool) -> None:
    free = "(set-logic QF_LRA)\n(declare-const a Real)\n(declare-const b Real)\n(assert (< a b))\n(check-sat)\n"
    answers = set()
    for before in ([], [REFUTED], [SATISFIED, REFUTED], [SATISFIED.replace("x y", "a")]):
        *_, answer = unsat_each([*before, free], timeout_ms=5000)
        answers.add(answer)
        if not known:
            solver._DECIDED.clear()
    assert len(answers) == 1
    assert answers.pop().outcome is Outcome.SAT


def test_what_was_decided_is_not_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [ask(script) for script in (REFUTED, SATISFIED)]
    monkeypatch.setattr(solver, "_ask_z3", lambda *_asked: SolverAnswer(Outcome.UNKNOWN, "asked again"))
    assert [ask(script) for script in (REFUTED, SATISFIED)] == first
    assert ask(HARD).reason == "asked again"


def test_what_is_known_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "KEPT", 2)
    for n in range(7):
        assert ask(f"(assert (< {n} 0)) (check-sat)").unsat
        assert 0 < len(solver._DECIDED) <= 2
    solver._DECIDED.clear()
    assert ask(REFUTED + ";" * solver.LONGEST).unsat
    assert not solver._DECIDED


def test_cvc5_agrees_and_is_honest() -> None:
    pytest.importorskip("cvc5")
    assert recheck(REFUTED).unsat
    assert recheck(SATISFIED).outcome is Outcome.SAT
    assert recheck(REFUTED + "(reset)\n" + REFUTED).unsat
    assert recheck(HARD, timeout_ms=100).outcome is Outcome.UNKNOWN


def test_without_cvc5_the_reader_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvc5", None)
    with pytest.raises(MissingExtraError, match="certify"):
        recheck(REFUTED)


def test_the_version_names_the_solver() -> None:
    name, number = version().split()
    assert name == "z3"
    assert number[0].isdigit()


def test_importing_the_module_imports_no_solver() -> None:
    code = "import sys, coherence.base.solver; assert not {'z3', 'cvc5', 'numpy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


small = st.integers(-3, 3).map(lambda k: Fraction(k, 2))


def real(x: Fraction) -> str:
    text = f"(/ {abs(x.numerator)}.0 {x.denominator}.0)"
    return text if x >= 0 else f"(- {text})"


@settings(max_examples=few(60), deadline=None)
@given(st.lists(st.tuples(small, small, small, st.sampled_from(["<=", "<", "="])), min_size=1, max_size=6))
def test_z3_and_cvc5_agree_and_models_satisfy(rows: list[tuple[Fraction, Fraction, Fraction, str]]) -> None:
    pytest.importorskip("cvc5")
    asserts = [f"(assert ({rel} (+ (* {real(a)} x) (* {real(b)} y)) {real(c)}))" for a, b, c, rel in rows]
    declared = ["(set-logic QF_LRA)", "(declare-const x Real)", "(declare-const y Real)"]
    script = "\n".join([*declared, *asserts, "(check-sat)", ""])
    answer = ask(script)
    assert recheck(script).outcome is answer.outcome
    if answer.outcome is Outcome.SAT:
        values = {"x": Fraction(0), "y": Fraction(0)} | {
            name: Fraction(value) for name, value in (line.split(" = ") for line in answer.model.splitlines())
        }
        for a, b, c, rel in rows:
            left = a * values["x"] + b * values["y"]
            assert left == c if rel == "=" else left < c if rel == "<" else left <= c


def test_a_certificate_is_confirmed_refuted_or_malformed() -> None:
    assert confirmed(REFUTED, timeout_ms=5000)
    assert not confirmed(SATISFIED, timeout_ms=5000)
    for script, reason in (("(assert (< nobody 0))(check-sat)", "unknown constant nobody"), ("(check-sat", "0 times")):
        with pytest.raises(InternalError, match=f"its certificate is malformed: .*{reason}"):
            confirmed(script, timeout_ms=5000)


def test_the_order_of_scripts_does_not_change_answers() -> None:
    forward = [a.outcome for a in unsat_each([REFUTED, SATISFIED, REFUTED], timeout_ms=5000)]
    assert forward == [Outcome.UNSAT, Outcome.SAT, Outcome.UNSAT]
    assert solver.SEED == 0
