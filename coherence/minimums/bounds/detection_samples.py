"""samples to decide: the mean number of readings that any test needs to tell two laws apart.

## What
With a chance `false_alarm` to see a change that is not there and `miss` to overlook one that is, each reading worth
`information` nats (the divergence of the law after the change from the law before it), at least
d(1 - miss || false_alarm)/information readings are taken on average when there is a change.  d is the divergence of
two coins.

## Why it matters
An alarm that is both quick and quiet needs readings that carry more; no threshold gives it.

## Example
1 % false alarms, 5 % misses, a shift of one standard deviation (0.5 nat): 8.3 readings.

## Source
A. Wald, "Sequential tests of statistical hypotheses", Ann. Math. Stat. 16, 1945; A. Wald and J. Wolfowitz 1948.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.detection import binary_divergence, ratio_of, rules, wald_walk

LONGEST = 3


def every_rule() -> Checked:
    """All 1,446 stopping rules of up to three tosses, for two pairs of coins, in exact fractions."""
    tried = 0
    for first, second in ((Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 10), Fraction(1, 2))):
        information = binary_divergence(float(second), float(first))
        for mean, false, miss in rules(LONGEST, first, second):
            tried += 1
            if false in (0, 1):
                fewer = miss != 1 - false  # it decides without a look, or never errs
            else:
                needed = binary_divergence(1 - float(miss), float(false))
                fewer = float(mean) * information < needed - 1e-12
            if fewer:
                return Checked(False, f"{float(mean)} tosses, {false}, {miss}")
    return Checked(True, f"none of {tried} stopping rules takes fewer readings")


def walk(inputs: Inputs) -> float:
    """Wald's test on coins that carry as much, from the equations of its walk; at lattice errors it meets them."""
    odds = ratio_of(float(inputs["information"]))
    false, miss = float(inputs["false_alarm"]), float(inputs["miss"])
    up = math.ceil(math.log((1 - miss) / false) / math.log(odds) - 1e-9)
    down = math.ceil(math.log((1 - false) / miss) / math.log(odds) - 1e-9)
    return wald_walk(up, down, odds)


BOUND = Bound(
    name="detection_samples",
    group="detection",
    quantity="mean readings until a decision",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("false_alarm", "1", "probability to see a change that is not there", Trend.FALLS, most=0.5, open_=True),
        Symbol("miss", "1", "probability to overlook a change", Trend.FALLS, most=0.5, open_=True),
        Symbol("information", "1", "divergence of one reading, nats", Trend.FALLS, open_=True, sign="D"),
    ),
    formula="((1 - miss) * log((1 - miss) / false_alarm) + miss * log(miss / (1 - false_alarm))) / information",
    valid="false_alarm + miss <= 1",
    assumptions=("iid", "known_laws"),
    source="Wald 1945; Wald and Wolfowitz 1948",
    examples=(
        Example(
            {"false_alarm": Fraction(1, 9), "miss": Fraction(1, 9), "information": math.log(2) / 3},
            7.0,
            "the walk of a 2 : 1 coin to 3 ahead: 3 (1 - 2/9) 3",
        ),
        Example(
            {"false_alarm": Fraction(1, 1025), "miss": Fraction(1, 1025), "information": math.log(2) / 3},
            30 * (1 - 2 / 1025),
            "the walk to 10 ahead",
        ),
    ),
    proofs=(Recheck("enumeration", "every stopping rule of few readings", every_rule),),
    witness=Witness("Wald's test on coins, by its linear equations", walk, 1 + 1e-9),
    telemetry=("law of readings before and after a change",),
    unread="no key states by how much a change moves a reading",
)
