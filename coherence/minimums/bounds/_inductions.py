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


def crossing() -> Checked:
    """Wires that each carry at most r T bytes in T seconds carry R T together, by induction over them; D cross them."""
    one_more = ("(>= T 0.0)", "(<= carried (* R T))", "(<= more (* r T))", "(> (+ carried more) (* (+ R r) T))")
    crossed = ("(<= carried (* R T))", "(>= carried D)", "(< (* R T) D)")
    return refuted("wire after wire of a cut, and what has to cross it", "QF_NRA",
                   ("R", "r", "T", "carried", "more", "D"), one_more, crossed)  # fmt: skip


def crossing_late() -> Checked:
    """The same of a cut whose wires are of use for T - L seconds: what crosses left L1 after the root, and L2 before
    it is there, with L1 + L2 at least the shortest way L.
    """
    one_more = ("(<= carried (* R (- T L)))", "(<= more (* r (- T L)))",
                "(> (+ carried more) (* (+ R r) (- T L)))")  # fmt: skip
    window = ("(>= begins L1)", "(<= ends (- T L2))", "(>= (+ L1 L2) L)", "(> (- ends begins) (- T L))")
    crossed = ("(> R 0.0)", "(<= carried (* R (- T L)))", "(>= carried S)", "(< T (+ L (/ S R)))")
    names = ("R", "r", "T", "L", "L1", "L2", "begins", "ends", "carried", "more", "S")
    return refuted("wire after wire of a cut, for the time in which it is of use", "QF_NRA", names, one_more, window,
                   crossed)  # fmt: skip


def blocks_told() -> Checked:
    """Of each number 2 (t - 1) partial sums enter blocks before all t have the whole.  A wire into them is of use from
    the time l on that the way from another block takes; those that are used carry R T - W, with W their sum of r l.
    """
    joined = ("(>= parts (- t k))", "(>= after (- parts 1.0))", "(< after (- t (+ k 1.0)))")
    spread = ("(<= told (+ 1.0 k))", "(<= after (+ told 1.0))", "(> after (+ 1.0 (+ k 1.0)))")
    one_more = ("(>= T l)", "(<= carried (- (* R T) W))", "(<= more (* r (- T l)))",
                "(> (+ carried more) (- (* (+ R r) T) (+ W (* r l))))")  # fmt: skip
    entered = ("(> R 0.0)", "(<= carried (- (* R T) W))", "(>= carried (* 2.0 (* (- t 1.0) S)))",
               "(< (* R T) (+ W (* 2.0 (* (- t 1.0) S))))")  # fmt: skip
    names = ("t", "k", "parts", "after", "told", "S", "R", "r", "T", "l", "W", "carried", "more")
    return refuted("both steps of the count, and the wires into the blocks", "QF_NRA", names, joined, spread, one_more,
                   entered)  # fmt: skip
