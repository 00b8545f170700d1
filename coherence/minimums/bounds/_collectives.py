"""What bounds of collectives share: their symbols, and the proof that knowledge at most doubles in a step."""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import Checked, Inputs, Symbol, Trend

UP_TO = 33
MEMBERS = Symbol("n", "1", "members", Trend.RISES, least=1, whole=True)
HELD = Symbol("size", "B", "bytes that each member holds", Trend.RISES, sign="S")
LINK = Symbol("bandwidth", "B/s", "rate of one member's link, each way", Trend.FALLS, open_=True, sign="B")
MESSAGE = Symbol("alpha", "s", "least time of one message", Trend.RISES, sign=r"\alpha")


def given(n: int, size: int, bandwidth: int, *, alpha: Fraction | None = None) -> Inputs:
    """Returns the numbers of an example."""
    numbers = {"n": Fraction(n), "size": Fraction(size), "bandwidth": Fraction(bandwidth)}
    return numbers if alpha is None else {**numbers, "alpha": alpha}


def doubling() -> Checked:
    """known(t + 1) <= 2 known(t), known(0) = 1: n is not reached in fewer than ceil(log2 n) rounds (unsat), and is
    then (sat), for every n up to 33."""
    scripts = []
    for n in range(2, UP_TO + 1):
        rounds = (n - 1).bit_length()
        below, at = _script(n, rounds - 1), _script(n, rounds)
        if solver.unsat(at, timeout_ms=1000).outcome is not solver.Outcome.SAT:
            return Checked(False, f"{n} members do not reach {rounds} rounds")
        scripts.append(below)
    joined = solver.joined(scripts)
    return Checked(solver.unsat(joined, timeout_ms=1000).unsat, f"2 to {UP_TO} members: unsat a round earlier", joined)


def _script(n: int, rounds: int) -> str:
    lines = ["(set-logic QF_LIA)"] + [f"(declare-const k{t} Int)" for t in range(rounds + 1)] + ["(assert (= k0 1))"]
    lines += [f"(assert (<= k{t + 1} (* 2 k{t})))" for t in range(rounds)]
    return "\n".join([*lines, f"(assert (>= k{rounds} {n}))", "(check-sat)"]) + "\n"
