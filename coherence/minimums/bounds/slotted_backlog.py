"""backlog of slotted queues: how much work waits on average before servers that keep a reserve, however it is sent.

## What
(a + c + e^2)/(2 e) - m/2 at least, where in a slot e more could be served on average than comes, a and c are the
variances of what comes and of what could be served by all servers together, and m is the most that could be.  One queue
for all of it holds no more than several do together, and its mean is that number plus what its unused service spares.
With at most one a slot it is exact for one queue; as the reserve shrinks, joining the shortest queue comes to it.

## Why it matters
Near saturation no rule of dispatch, whatever it knows, holds less than variance over twice the reserve: only less
variance or more reserve helps.

## Example
Pairs come in 3 of 8 slots, one is served in each (reserve 1/4, variance 15/16): 1.5 wait at the end of a slot.

## Source
A. Eryilmaz and R. Srikant, "Asymptotically tight steady-state queue length bounds implied by drift conditions",
Queueing Systems 72, 2012 (arXiv 1104.0327).
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def drift() -> Checked:
    """Shows that queues hold together what one would at least, slot by slot, and what one holds in the mean.

    With d what comes less what could be served, and u what is unused, next = queue + d + u and next u = 0: so
    next^2 = (queue + d)^2 - u^2.  In the mean next^2 is queue^2, and u is e, so that of u^2 the mean is m e at most.
    """
    together = ("(>= all queue)", "(>= after 0.0)", "(>= after (+ all d))",
                "(or (= next 0.0) (= next (+ queue d)))", "(< after next)")  # fmt: skip
    square = ("(= next (+ queue (+ d u)))", "(= (* next u) 0.0)",
              "(not (= (+ (* next next) (* u u)) (* (+ queue d) (+ queue d))))")  # fmt: skip
    mean = ("(> e 0.0)", "(>= unused 0.0)", "(<= unused (* m e))", "(= 0.0 (- (- v (* 2.0 (* e held))) unused))",
            "(< (* 2.0 (* e held)) (- v (* m e)))")  # fmt: skip
    names = ("all", "queue", "after", "next", "d", "u", "e", "m", "v", "held", "unused")
    return refuted("one queue for all, and its squares from slot to slot", "QF_NRA", names, together, square, mean)


BOUND = Bound(
    name="slotted_backlog",
    group="queues",
    quantity="mean work that waits at the end of a slot, in all queues together",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("reserve", "1", "what could be served in a slot beyond what comes", Trend.NEITHER, open_=True, sign="e"),
        Symbol("arrival_variance", "1", "variance of what comes in a slot", Trend.RISES, sign="a"),
        Symbol("service_variance", "1", "variance of what could be served in a slot", Trend.RISES, sign="c"),
        Symbol("most_served", "1", "the most that could be served in a slot", Trend.FALLS, sign="m"),
    ),
    formula="max(0, (arrival_variance + service_variance + reserve * reserve) / (2 * reserve) - most_served / 2)",
    assumptions=("independent_slots", "patient"),
    source="Eryilmaz and Srikant 2012",
    examples=(
        Example(
            {"reserve": Fraction(1, 4), "arrival_variance": Fraction(15, 16), "service_variance": 0, "most_served": 1},
            1.5,
            "generating function of the queue",
        ),
        Example(
            {"reserve": Fraction(1, 100), "arrival_variance": 1, "service_variance": 1, "most_served": 2},
            99.005,
            "by hand",
        ),
    ),
    proofs=(Recheck("smt", "drift of one queue for all", drift, ProofGrade.UNIVERSAL),),
    telemetry=("arrivals of each slot", "served in each slot", "queues"),
    unread="no key states slots, and the variance of what comes and is served in one",
)
