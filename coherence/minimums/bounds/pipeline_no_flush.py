"""pipeline without a flush: nothing has to idle when steps may overlap.

## What
Where a stage may begin the next step's micro-batches before all stages have ended this one, no fill and drain is left:
the floor of the bubble is zero.

## Why it matters
It is the last rung below the bubble of a flush: all of it is bought by the synchronous update, none by the pipeline.
What it costs instead are several versions of the weights, and gradients of older ones.

## Example
8 equal stages, one forward one backward without end: between fill and drain no device idles.

## Source
D. Narayanan et al., "PipeDream", SOSP 2019.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Witness
from coherence.minimums.pipeline_runs import ended, one_by_one

STAGES, BATCHES = 8, 48


def idle(stages: int, batches: int, forward: Fraction, backward: Fraction) -> Fraction:
    """Idle device time between the last stage's first pass and the first stage's last forward pass, executed."""
    given = {"F": (forward,) * stages, "B": (backward,) * stages}
    ends = ended(one_by_one(stages, batches), given)
    assert ends is not None
    begin, end = ends["B", 0, 0][1], ends["F", 0, batches - 1][0]
    busy = sum((max(min(b, end) - max(a, begin), Fraction(0)) for b, a in ends.values()), Fraction(0))
    return 1 - busy / (stages * (end - begin))


def run(inputs: Inputs) -> Fraction:
    """Eight stages, a backward pass of twice a forward one."""
    del inputs
    return idle(STAGES, BATCHES, Fraction(1), Fraction(2))


def small() -> Checked:
    """Executed for 1 to 6 stages and three ratios of the passes: idle share exactly zero."""
    for stages in range(1, 7):
        for backward in (Fraction(1), Fraction(2), Fraction(5, 3)):
            idle_time = idle(stages, 4 * stages + 4, Fraction(1), backward)
            if idle_time:
                return Checked(False, f"{stages} stages, backward {backward}: {idle_time} idle")
    return Checked(True, "1 to 6 stages, three ratios of the passes: no device idles between fill and drain")


BOUND = Bound(
    name="pipeline_no_flush",
    group="pipelines",
    quantity="share of device time that idles",
    unit="1",
    kind=Status.TIGHT,
    loss="A",
    symbols=(),
    formula="0",
    assumptions=(),
    source="Narayanan et al. 2019",
    examples=(Example({}, 0.0, "executed"),),
    proofs=(Recheck("enumeration", "small pipelines, executed", small),),
    witness=Witness("one forward, one backward between fill and drain, pass by pass", run),
    telemetry=(),
    unread="it is 0 whatever a design states",
)
