"""repeated lookup share: the part of the lookups of a request beyond those that it needs.

## What
1 - needed / lookups: a request that asks a store 3 to 5 times where one question would do repeats 67 to 80 %.  Of a
design, the lookups are those of one request of a workload: where no try fails at least, where every try fails at most.

## Why it matters
Retrieval that rewrites its query, asks again for each agent, or tries again, multiplies the load of the store and the
passages of the prompt; lookups / needed is that factor.

## Example
5 lookups for one question: 80 %, a factor of 5.

## Source
Counting; the factor of 3 to 5 is an indicative band of "Structural efficiency recovery", section 6.2.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._agents import lookups
from coherence.minimums.bounds._inductions import refuted


def asked_in_turn(inputs: Inputs) -> Fraction | float:
    """Asks the questions in turn, again and again, and counts those that were answered before."""
    sent, needed = int(inputs["lookups"]), int(inputs["needed"])
    answered: set[int] = set()
    again = 0
    for lookup in range(sent):
        again += lookup % needed in answered
        answered.add(lookup % needed)
    return Fraction(again, sent)


def one_more() -> Checked:
    """With as many lookups as are needed none repeats, and each further one repeats one: by induction over them."""
    given = ("(>= needed 1.0)", "(>= lookups needed)")
    begin = (*given, "(= lookups needed)", "(= again 0.0)", "(not (= (/ again lookups) (- 1.0 (/ needed lookups))))")
    share = "(= (/ again lookups) (- 1.0 (/ needed lookups)))"
    after = "(not (= (/ (+ again 1.0) (+ lookups 1.0)) (- 1.0 (/ needed (+ lookups 1.0)))))"
    return refuted("lookup by lookup", "QF_NRA", ("needed", "lookups", "again"), begin, (*given, share, after))


BOUND = Bound(
    name="repeated_lookup_share",
    group="agents",
    quantity="share of the lookups beyond those that a request needs",
    unit="1",
    kind=Status.CLASS_COST,
    loss="D",
    symbols=(
        Symbol("lookups", "1", "lookups of one request", Trend.RISES, least=1, whole=True, sign="l"),
        Symbol("needed", "1", "lookups that it needs", Trend.FALLS, least=1, whole=True, sign="n"),
    ),
    formula="1 - needed / lookups",
    valid="lookups >= needed",
    assumptions=("lookups_answered",),
    source="counting",
    examples=(
        Example({"lookups": Fraction(5), "needed": Fraction(1)}, 0.8, "the upper end of the band"),
        Example({"lookups": Fraction(3), "needed": Fraction(1)}, 2 / 3, "its lower end"),
    ),
    proofs=(Recheck("smt", "each further lookup repeats one", one_more, ProofGrade.UNIVERSAL),),
    witness=Witness("lookups asked in turn", asked_in_turn),
    telemetry=("lookups of a request", "different queries of a request"),
    applies=lookups,
)
