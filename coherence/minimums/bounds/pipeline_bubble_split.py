"""pipeline bubble, flush and split backward: idle share that remains when weight gradients fill the drain.

## What
Of a step with a flush the last stage can begin only after p - 1 forward passes, and then has m of each kind of pass to
do: (p - 1) T_F of (p - 1) T_F + m (T_F + T_B + T_W) is idle there, whatever order the passes take.

## Why it matters
It is what the flush alone costs: between it and `pipeline_bubble_share` lies what splitting the backward pass buys.

## Example
8 stages, 32 micro-batches, T_F = T_B = T_W: 6.8 % (unsplit 17.9 %).

## Source
P. Qi et al., "Zero bubble pipeline parallelism", ICLR 2024: schedule ZB-H1 attains it where T_B = T_W and m >= p.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness
from coherence.minimums.pipeline_runs import makespan, split


def run(inputs: Inputs) -> Fraction:
    """Weight gradients put off at stage s until s of them wait, pass by pass; the idle share of the whole step."""
    stages, batches = int(inputs["p"]), int(inputs["m"])
    names = {"F": "forward", "B": "input_gradient", "W": "weight_gradient"}
    given = {kind: (Fraction(inputs[name]),) * stages for kind, name in names.items()}
    length = makespan(split(stages, batches), given)
    assert length is not None
    return 1 - batches * sum((row[0] for row in given.values()), Fraction(0)) / length


def chain() -> Checked:
    """Checks that a last stage that begins after p - 1 forward passes and has all its work is not done sooner (unsat),
    p to 6.
    """
    scripts = []
    for stages in range(1, 7):
        lines = ["(set-logic QF_NRA)", *(f"(declare-const {name} Real)" for name in ("f", "b", "w", "m", "end"))]
        lines += [f"(declare-const s{stage} Real)" for stage in range(stages)]
        lines += [f"(assert (> {name} 0))" for name in ("f", "b", "w")]
        lines += ["(assert (>= m 1))", "(assert (>= s0 0))"]
        lines += [f"(assert (>= s{stage} (+ s{stage - 1} f)))" for stage in range(1, stages)]
        lines += [f"(assert (>= end (+ s{stages - 1} (* m (+ f b w)))))"]
        lines += [f"(assert (< end (+ (* {stages - 1} f) (* m (+ f b w)))))", "(check-sat)"]
        scripts.append("\n".join(lines) + "\n")
    answer = solver.unsat(solver.joined(scripts), timeout_ms=3000)
    return Checked(answer.unsat, f"a step that ends sooner, 1 to 6 stages: {answer.outcome}", solver.joined(scripts))


THIRDS = {"forward": Fraction(1), "input_gradient": Fraction(1), "weight_gradient": Fraction(1)}

BOUND = Bound(
    name="pipeline_bubble_split",
    group="pipelines",
    quantity="share of device time that idles",
    unit="1",
    kind=Status.THEOREM,
    loss="A",
    symbols=(
        Symbol("p", "1", "stages", Trend.RISES, least=1, whole=True),
        Symbol("m", "1", "micro-batches of a step", Trend.FALLS, least=1, whole=True),
        Symbol("forward", "s", "forward pass of a stage", Trend.RISES, open_=True, sign="T_F"),
        Symbol("input_gradient", "s", "backward pass for inputs", Trend.FALLS, open_=True, sign="T_B"),
        Symbol("weight_gradient", "s", "backward pass for weights", Trend.FALLS, open_=True, sign="T_W"),
    ),
    formula="(p - 1) * forward / ((p - 1) * forward + m * (forward + input_gradient + weight_gradient))",
    assumptions=("flush", "no_interleave", "balanced", "equal_batches"),
    without={"flush": "pipeline_no_flush"},
    source="Qi et al. 2024",
    examples=(
        Example({"p": Fraction(8), "m": Fraction(32), **THIRDS}, 7 / 103, "executed: 103 of which 96 are work"),
        Example({"p": Fraction(1), "m": Fraction(4), **THIRDS}, 0.0, "one stage only works"),
    ),
    proofs=(Recheck("smt", "the last stage's chain", chain),),
    witness=Witness("weight gradients put off to fill the drain, pass by pass", run),
    telemetry=("stages", "micro-batches", "times of the three passes"),
    unread="no key states the times of the two parts of a backward pass",
)
