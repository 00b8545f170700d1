"""pipeline bubble, flush: the share of device time that p stages idle while m micro-batches fill and drain them.

## What
Each stage holds one contiguous block of layers and every micro-batch passes all stages.  The last stage begins after
p - 1 forward passes, the first ends p - 1 backward passes after it: (p - 1)/(m + p - 1) of all device time is idle, by
no schedule less (one forward then one backward attains it).

## Why it matters
It is the cost of synchronous training in this class of schedules; interleaving or split backward passes leave it.

## Example
8 stages, 32 micro-batches: 17.95 %.

## Source
Y. Huang et al., "GPipe", NeurIPS 2019; D. Narayanan et al., SC 2021.
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
from coherence.minimums.bounds._inductions import refuted
from coherence.minimums.bounds._training import piped
from coherence.minimums.pipeline_runs import makespan, one_by_one, shortest


def run(inputs: Inputs) -> Fraction:
    """Runs one forward, one backward, pass by pass; backward passes take twice a forward pass."""
    stages, batches = int(inputs["p"]), int(inputs["m"])
    length = makespan(one_by_one(stages, batches), {"F": (Fraction(1),) * stages, "B": (Fraction(2),) * stages})
    assert length is not None
    return 1 - 3 * batches / length


def enumerated() -> Checked:
    """Every order of forward and backward passes at every stage of small pipelines: none is done before m + p - 1."""
    for stages, batches in ((1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (3, 2)):
        for backward in (Fraction(1), Fraction(2)):
            times = {"F": (Fraction(1),) * stages, "B": (backward,) * stages}
            best = shortest(stages, batches, times)
            if best != (batches + stages - 1) * (1 + backward):
                return Checked(False, f"{stages} stages, {batches} micro-batches: {best}")
    return Checked(True, "all orders of small pipelines take at least m + p - 1 forward and backward passes")


def filled_and_drained() -> Checked:
    """Stage k begins no sooner than k forward passes (induction), the last one works m passes each way after that, and
    what it did last goes back through k stages (induction); so w (m + p - 1) passes, and of these the share that idles.
    """
    begins = ("(>= begun (* k f))", "(>= after (+ begun f))", "(< after (* (+ k 1.0) f))")
    drains = ("(>= spent (+ last (* k b)))", "(>= after (+ spent b))", "(< after (+ last (* (+ k 1.0) b)))")
    whole = ("(>= begun (* (- p 1.0) f))", "(>= last (+ begun (* m (+ f b))))", "(>= spent (+ last (* (- p 1.0) b)))",
             "(< spent (* (+ m (- p 1.0)) (+ f b)))")  # fmt: skip
    idle = ("(>= p 1.0)", "(>= m 1.0)", "(> w 0.0)", "(>= spent (* (+ m (- p 1.0)) w))",
            "(= (* idle spent) (- spent (* m w)))",
            "(< (* idle (+ m (- p 1.0))) (- p 1.0))")  # fmt: skip
    names = ("p", "m", "k", "f", "b", "w", "begun", "after", "last", "spent", "idle")
    return refuted("fill, work and drain, stage after stage", "QF_NRA", names, begins, drains, whole, idle)


BOUND = Bound(
    name="pipeline_bubble_share",
    group="pipelines",
    quantity="share of device time that idles",
    unit="1",
    kind=Status.TIGHT,
    loss="A",
    symbols=(
        Symbol("p", "1", "stages", Trend.RISES, least=1, whole=True),
        Symbol("m", "1", "micro-batches of a step", Trend.FALLS, least=1, whole=True),
    ),
    formula="(p - 1) / (m + p - 1)",
    assumptions=("flush", "no_interleave", "unsplit_backward", "balanced", "equal_batches"),
    without={"flush": "pipeline_no_flush", "unsplit_backward": "pipeline_bubble_split"},
    source="Huang et al. 2019; Narayanan et al. 2021",
    examples=(Example({"p": Fraction(8), "m": Fraction(32)}, 0.1794871794871795, "event simulation"),),
    proofs=(
        Recheck("enumeration", "all orders of small pipelines", enumerated),
        Recheck("smt", "stage after stage", filled_and_drained, ProofGrade.UNIVERSAL),
    ),
    witness=Witness("one forward, one backward, event by event", run),
    telemetry=("stages", "micro-batches"),
    applies=piped,
)
