"""square-root staffing: the share that waits when c = a + beta sqrt(a) servers meet a large load of a Erlang.

## What
1 / (1 + beta Phi(beta) / phi(beta)), in the limit of many servers.

## Why it matters
The reserve above the load that keeps waiting rare grows only like its square root: what many small pools hold beyond
that is friction.  It is a limit and a rule, so it is told as the cost of a class.

## Example
beta = 1: 22.3 % wait.

## Source
S. Halfin and W. Whitt, Operations Research 29, 1981.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.formulas import number
from coherence.minimums.functions import erlang_c

FORMULA = "1 / (1 + beta * normal_cdf(beta) / normal_density(beta))"


def limit() -> Checked:
    """Erlang's C at c = a + beta sqrt(a) approaches it like 1/sqrt(a)."""
    worst = 0.0
    for beta in (0.25, 1.0, 2.0):
        errors = []
        for load in (400, 1600, 6400):
            servers = round(load + beta * load**0.5)
            exact = (servers - load) / load**0.5
            errors.append(abs(erlang_c(servers, load) - float(number(FORMULA, {"beta": exact}))) * load**0.5)
        worst = max(worst, *errors)
    return Checked(worst < 0.5, f"the error times sqrt(a) stays below {worst:.2f} from 400 to 6,400 Erlang")


BOUND = Bound(
    name="square_root_staffing",
    group="queues",
    quantity="share of requests that wait",
    unit="1",
    kind=Status.CLASS_COST,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("beta", "1", "servers above the load, in square roots of it", Trend.FALLS, open_=True, sign=r"\beta"),
    ),
    formula=FORMULA,
    assumptions=("poisson", "exponential", "one_queue", "work_conserving", "patient", "fcfs", "iid"),
    source="Halfin and Whitt 1981",
    examples=(Example({"beta": Fraction(1)}, 0.22336127479826076, "published limit", 1e-9),),
    proofs=(Recheck("enumeration", "Erlang's C for large loads", limit),),
    telemetry=("offered load",),
    unread="erlang_wait and wait_beyond are told of a design's queues",
)
