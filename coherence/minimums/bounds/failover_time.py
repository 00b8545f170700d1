"""failover: how long the failure of a process goes unnoticed and unreplaced if nobody that runs may be suspected.

## What
A process that sends a sign of life every P and fails just after one is told from a slow message only P plus the longest
delay later; then the successor takes its own time.

## Why it matters
Shorter leases buy a faster takeover with false suspicions, never without them.

## Example
Every 10 s, delay up to 1 s, takeover 5 s: 16 s.

## Source
T. Chandra and S. Toueg, JACM 43, 1996 (perfect detectors); indistinguishable runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base import solver
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import (
    Application,
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.facts import Gathered


def leases(design: Design) -> Iterator[Application]:
    """Yields every timer that signs of life start anew; of each the longest delay and the takeover are asked for."""
    for timer in design.timers.values():
        if isinstance(timer.renew, Quantity):
            gathered = Gathered(timer.name).quantity("period", timer.renew, "")
            gathered.needs("delay", f"the longest delay of what renews {timer.name}")
            yield gathered.needs(
                "takeover", f"the least time from the end of {timer.name} to a successor"
            ).application()


def alike() -> Checked:
    """Checks that a suspicion at t < P + d, counted from the last sign of life sent, is also made where the next one
    only is late.

    The runs agree until the sign sent at P arrives; a delay `late` <= d exists with P + late > t.
    """
    script = (
        "(set-logic LRA)\n" + "".join(f"(declare-const {x} Real)\n" for x in ("P", "d", "t")) + "(assert (> P 0.0))\n"
        "(assert (>= d 0.0))\n(assert (>= t 0.0))\n(assert (< t (+ P d)))\n"
        "(assert (forall ((late Real)) (=> (and (>= late 0.0) (<= late d)) (<= (+ P late) t))))\n(check-sat)\n"
    )
    return Checked(solver.unsat(script, timeout_ms=2000).unsat, "a suspicion that no running process refutes", script)


def waiting(inputs: Inputs) -> Fraction | float:
    """The detector that waits for the last moment at which a sign of life can come, then the successor."""
    sent_next = inputs["period"]
    given_up = sent_next + inputs["delay"]
    return given_up + inputs["takeover"]


BOUND = Bound(
    name="failover_time",
    group="consistency",
    quantity="longest time until a failed process is replaced",
    unit="s",
    kind=Status.TIGHT,
    quantifier=Quantifier.WORST,
    loss="R",
    symbols=(
        Symbol("period", "s", "period of signs of life", Trend.RISES, open_=True, sign="P"),
        Symbol("delay", "s", "longest delay of a message", Trend.RISES, sign="d"),
        Symbol("takeover", "s", "least time in which the successor is ready", Trend.RISES),
    ),
    formula="period + delay + takeover",
    assumptions=("crash_faults", "silent_crash", "no_false_suspicion", "reliable_messages"),
    source="Chandra and Toueg 1996",
    examples=(Example({"period": Fraction(10), "delay": Fraction(1), "takeover": Fraction(5)}, 16.0, "arithmetic"),),
    proofs=(Recheck("smt", "runs that look alike", alike, ProofGrade.UNIVERSAL),),
    witness=Witness("a detector that waits for the last possible sign of life", waiting),
    telemetry=("period of signs of life", "longest delay", "takeover time"),
    applies=leases,
)
