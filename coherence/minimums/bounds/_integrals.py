"""Proofs about integrals and least values without calculus, so that solvers can check them.

Between a and b the integral of f lies between (b - a) times what f is at least and at most there.  What is added
over every part of every partition, and lies within these ends each time, is the integral, for their gap closes with
the parts.  Of the exponential function only exp(x) >= 1 + x is used, and exp(x) > 1 + x apart from x = 0: with
e = exp(-k a), f = exp(-k b) it says f >= e (1 - k (b - a)) and e >= f (1 + k (b - a)).
"""

from __future__ import annotations

from coherence.minimums.bound import Checked
from coherence.minimums.bounds._inductions import refuted

PART = ("(>= a 0.0)", "(> b a)")
FALLING = ("(> k 0.0)", "(> e 0.0)", "(> f 0.0)", "(>= f (* e (- 1.0 (* k (- b a)))))",
           "(>= e (* f (+ 1.0 (* k (- b a)))))")  # fmt: skip


def ramp() -> Checked:
    """The integral of t/T: b^2/(2 T) - a^2/(2 T) over each part, T/2 over a period; the mean of a sum is a sum."""
    given = (*PART, "(> T 0.0)", "(= (* i T) 1.0)", "(= s (* i (- (* b b) (* a a))))")
    return refuted(
        "parts of a period, and all of it", "QF_NRA", ("a", "b", "T", "i", "s"),
        (*given, "(> (* 2.0 (* (* i a) (- b a))) s)"), (*given, "(> s (* 2.0 (* (* i b) (- b a))))"),
        (*given, "(= a 0.0)", "(= b T)", "(not (= s T))"),
    )  # fmt: skip


def falling_tail() -> Checked:
    """The integral of exp(-k t): (exp(-k a) - exp(-k b))/k over each part, and 1/k over all, as 0 < f <= 1/(1 + k b).

    For n members that each last M in the mean, k = n/M, so 1/k = M/n.
    """
    given = (*PART, *FALLING)
    whole = ("(> b 0.0)", "(> k 0.0)", "(> f 0.0)", "(<= (* f (+ 1.0 (* k b))) 1.0)")
    return refuted(
        "parts of the tail, all of it, and n of M", "QF_NRA", ("a", "b", "k", "e", "f", "n", "M", "m"),
        (*given, "(> (* k (* f (- b a))) (- e f))"), (*given, "(> (- e f) (* k (* e (- b a))))"),
        (*whole, "(not (and (< (- 1.0 f) 1.0) (>= (* (- 1.0 f) (+ 1.0 (* k b))) (* k b))))"),
        ("(> M 0.0)", "(>= n 1.0)", "(= (* k M) n)", "(= (* m k) 1.0)", "(not (= (* m n) M))"),
    )  # fmt: skip


def falling_moment() -> Checked:
    """The integral of t exp(-k t): ((1 + k a) exp(-k a) - (1 + k b) exp(-k b))/k^2 over each part, 1/k^2 over all.

    With it the areas under the age: a gap of rate b and the wait behind it, of rate a = 1 - b, have b/(a (a + b)^2) +
    1/b and 1/b^2.
    """
    given = (*PART, *FALLING, "(= w (- (* (+ 1.0 (* k a)) e) (* (+ 1.0 (* k b)) f)))")
    late = ("(> b 0.0)", "(> k 0.0)", "(> h 0.0)", "(<= (* h (+ 1.0 (* (/ k 2.0) b))) 1.0)", "(= f (* h h))")
    area = ("(> r 0.0)", "(< r 1.0)", "(= (* p r) 1.0)", "(= (* q (- 1.0 r)) 1.0)", "(= j (+ (* r q) p))")
    return refuted(
        "parts of the moment, all of it, and the areas", "QF_NRA",
        ("a", "b", "k", "e", "f", "h", "w", "r", "p", "q", "j"),
        (*given, "(> (* (* k k) (* (* a f) (- b a))) w)"), (*given, "(> w (* (* k k) (* (* b e) (- b a))))"),
        (*late, "(> (* (* (+ 1.0 (* k b)) f) (+ 1.0 (* (/ k 2.0) b))) 2.0)"),
        (*area, "(not (= (* r (+ j (* p p))) (+ 1.0 (+ p (* (* r r) q)))))"),
    )  # fmt: skip


def counted_calls() -> Checked:
    """The sum of c + a i over the first k calls is k c + a k (k - 1)/2, by induction over k."""
    names, step = ("k", "c", "a", "s", "t"), "(= t (+ s (+ c (* a k))))"
    summed = "(= (* 2 s) (+ (* 2 (* k c)) (* a (* k (- k 1)))))"
    begin = ("(= k 1)", "(= s c)", f"(not {summed})")
    more = ("(>= k 1)", summed, step, "(not (= (* 2 t) (+ (* 2 (* (+ k 1) c)) (* a (* (+ k 1) k)))))")
    return refuted("call after call", "QF_NIA", names, begin, more, whole=True)


def least_overhead() -> Checked:
    """(E - 1)/t with E = exp(t + d) is least where E (1 - t) = 1, and there alone: E' >= E (1 + t' - t) everywhere."""
    best = ("(> t 0.0)", "(> d 0.0)", "(> E 1.0)", "(= (* E (- 1.0 t)) 1.0)")
    other = (*best, "(> u 0.0)", "(> F 1.0)", "(not (= u t))", "(> F (* E (+ 1.0 (- u t))))")
    point = ("(= (* w E) (- 1.0))", "(= t (+ 1.0 w))", "(not (= (* E (- 1.0 t)) 1.0))")
    return refuted(
        "no interval does as well as the stationary one, which is 1 + w with w E = -1", "QF_NRA",
        ("t", "d", "E", "u", "F", "w"), (*other, "(<= (* (- F 1.0) t) (* (- E 1.0) u))"), point,
    )  # fmt: skip


def least_age() -> Checked:
    """1/x and 1/(1 - x) lie above their tangents at r; so their sum less x is least where its slope is 0."""
    at = ("(> r 0.0)", "(< r 1.0)", "(> x 0.0)", "(< x 1.0)", "(= (* p r) 1.0)", "(= (* q (- 1.0 r)) 1.0)",
          "(= (* a x) 1.0)", "(= (* b (- 1.0 x)) 1.0)")  # fmt: skip
    tangents = ("(>= a (- p (* (* p p) (- x r))))", "(>= b (+ q (* (* q q) (- x r))))")
    level = "(= (- (* q q) (* p p)) 1.0)"
    return refuted(
        "tangents, what they say where the slope is 0, and the same age", "QF_NRA", ("r", "x", "p", "q", "a", "b"),
        (*at, f"(not {tangents[0]})"), (*at, f"(not {tangents[1]})"),
        (*tangents, level, "(< (- (+ a b) x) (- (+ p q) r))"),
        (*at, "(not (= (+ 1.0 (+ p (* (* r r) q))) (- (+ p q) r)))"),
    )  # fmt: skip
