"""skew over a path: how far the clocks at the ends of a path of links can be apart, whatever they send each other.

## What
D u/2 for D links in a row whose delays are each uncertain by u: all clocks may be shifted against each other, link by
link, with nobody noticing.  So two neighbours are u/2 apart in some run, and what is added to keep neighbours closer
cannot stop the ends.

## Why it matters
Leases, timestamps and traces compare clocks that are several hops apart: their error grows with the distance.

## Example
4 links, each uncertain by 1 ms: 2 ms.

## Source
J. Lundelius and N. Lynch 1984 (one link); S. Biaz and J. Welch, "Closed form bounds for clock synchronization under
simple uncertainty assumptions", IPL 80(3), 2001 (half the diameter, links weighted by their uncertainties).  Neighbours
alone, with clocks that drift: neighbour_skew.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._far_clocks import farthest
from coherence.minimums.bounds._inductions import refuted


def shifted() -> Checked:
    """Two runs that nobody can tell apart differ by D u at the ends, so one correction errs by half: less is unsat."""
    return refuted("one correction for two runs whose ends are D u apart", "QF_NRA", ("D", "u", "error", "skew"),
                   ("(>= D 0.0)", "(>= u 0.0)", "(<= error skew)", "(<= (- error) skew)",
                    "(<= (- error (* D u)) skew)", "(<= (- (* D u) error) skew)",
                    "(< (* 2.0 skew) (* D u))"))  # fmt: skip


BOUND = Bound(
    name="clock_skew_path",
    group="consistency",
    quantity="least skew of the ends that can be guaranteed",
    unit="s",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="none",
    symbols=(
        Symbol(
            "links", "1", "links of the shortest way between the two ends", Trend.RISES, least=1, whole=True, sign="D"
        ),
        Symbol("uncertainty", "s", "how far the delay of a message over one link is uncertain", Trend.RISES, sign="u"),
    ),
    formula="links * uncertainty / 2",
    assumptions=("messages_only", "unicast", "unrelated_delays"),
    source="Lundelius and Lynch 1984; Biaz and Welch 2001",
    examples=(Example({"links": 4, "uncertainty": Fraction(1, 1000)}, 0.002, "arithmetic"),),
    proofs=(Recheck("smt", "runs that nobody can tell apart", shifted, ProofGrade.UNIVERSAL),),
    telemetry=("clock skew", "delays of messages"),
    applies=farthest,
)
