"""Proofs for all inputs: what crosses a link, what a step adds, what one message can tell."""

from __future__ import annotations

from collections.abc import Sequence

from coherence.base import solver
from coherence.minimums.bound import Checked

CROSSES = "no time below the bytes over the rate: unsat for all numbers"


def refuted(says: str, logic: str, names: Sequence[str], *claims: Sequence[str], whole: bool = False) -> Checked:
    """Returns whether each list of claims about these numbers contradicts itself."""
    sort = "Int" if whole else "Real"
    head = [f"(set-logic {logic})", *(f"(declare-const {name} {sort})" for name in names)]
    scripts = ["\n".join([*head, *(f"(assert {claim})" for claim in each), "(check-sat)"]) + "\n" for each in claims]
    script = solver.joined(scripts)
    return Checked(solver.unsat(script, timeout_ms=5000).unsat, says, script)


def received() -> Checked:
    """A member misses (n - 1)/n of S bytes, and T seconds at rate B carry no more than B T."""
    missing = ("(>= n 1.0)", "(> B 0.0)", "(= (* n missed) (* (- n 1.0) S))")
    return refuted(
        CROSSES, "QF_NRA", ("n", "S", "B", "T", "missed"),
        (*missing, "(>= (* T B) missed)", "(< (* n (* T B)) (* (- n 1.0) S))"),
    )  # fmt: skip


def reduced_and_spread() -> Checked:
    """Of each number: a transfer joins at most two partial sums and tells one more member of the whole, so that n - 1
    transfers precede the first whole sum and n - 1 follow it; and n links carry n B T bytes."""
    joined = ("(>= parts (- n k))", "(>= after (- parts 1.0))", "(< after (- n (+ k 1.0)))")
    spread = ("(<= told (+ 1.0 k))", "(<= after (+ told 1.0))", "(> after (+ 1.0 (+ k 1.0)))")
    carried = ("(>= n 1.0)", "(> B 0.0)", "(>= (* n (* B T)) (* 2.0 (* (- n 1.0) S)))",
               "(< (* n (* T B)) (* 2.0 (* (- n 1.0) S)))")  # fmt: skip
    names = ("n", "k", "parts", "after", "told", "S", "B", "T")
    return refuted("both steps of the count, and the bytes of n links", "QF_NRA", names, joined, spread, carried)


def told_in_rounds() -> Checked:
    """After a round a member knows what it knew and what one sender knew: at most twice the most that anyone knew."""
    step = ("(<= mine most)", "(<= sender most)", "(<= after (+ mine sender))", "(> after (* 2 most))")
    return refuted("one round at most doubles what anyone knows", "QF_LIA", ("mine", "sender", "most", "after"), step,
                   whole=True)  # fmt: skip


def each_step_adds(says: str) -> Checked:
    """What is spent after k steps is at least first + (k - 1) step, by induction over k."""
    names = ("k", "first", "step", "spent", "after")
    begin = ("(>= spent first)", "(= k 1.0)", "(< spent (+ first (* (- k 1.0) step)))")
    more = ("(>= spent (+ first (* (- k 1.0) step)))", "(>= after (+ spent step))", "(< after (+ first (* k step)))")
    return refuted(says, "QF_NRA", names, begin, more)


def shared_work() -> Checked:
    """Units that each do at most R T in T seconds do n R T together, by induction over them; F is no more than that."""
    one_more = ("(<= done (* k (* R T)))", "(<= more (* R T))", "(> (+ done more) (* (+ k 1.0) (* R T)))")
    all_done = ("(<= done (* k (* R T)))", "(>= done F)", "(< (* k (* R T)) F)")
    return refuted("units one by one, and the work of all", "QF_NRA", ("k", "R", "T", "done", "more", "F"),
                   one_more, all_done)  # fmt: skip
