"""pipeline step, unlike stages: the least time of a step with a flush when stages take different times.

## What
Nothing reaches stage s before one micro-batch has passed the stages before it, and after the last pass on s, a backward
one, the backward passes of those stages are left.  In between s has all its own passes; or, all its backward passes
after the first gradient is back; or, all its forward passes and the way of the last one to the end and back.  The
largest of these over all stages is a floor.

## Why it matters
A step is held up by its slowest stage and by the way through all others; moving layers between stages changes both.

## Example
Forward 1, 2, 1 s and backward 2, 4, 2 s with 8 micro-batches: 51 s (48 s of the second stage, 1 s in, 2 s out).

## Source
The same argument as for equal stages (Huang et al., NeurIPS 2019), stage by stage.
"""

from __future__ import annotations

import random
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness, several
from coherence.minimums.pipeline_runs import makespan, one_by_one, shortest, stage_floor


def times(inputs: Inputs) -> dict[str, tuple[Fraction, ...]]:
    """Returns seconds of a forward and of a backward pass at each stage.  Raises UsageError."""
    try:
        rows = {"F": several(inputs, "forward"), "B": several(inputs, "backward")}
        times_of = {kind: tuple(Fraction(one) for one in row) for kind, row in rows.items()}
    except (TypeError, ValueError, OverflowError):
        raise UsageError("forward and backward of pipeline_makespan are numbers, one for each stage") from None
    if (
        not times_of["F"]
        or len(times_of["F"]) != len(times_of["B"])
        or any(one < 0 for row in times_of.values() for one in row)
    ):
        raise UsageError("pipeline_makespan needs a forward and a backward time >= 0 of every stage")
    return times_of


def least(inputs: Inputs) -> Fraction:
    """Returns the floor."""
    return stage_floor(int(inputs["m"]), times(inputs))


def run(inputs: Inputs) -> Fraction:
    """Runs one forward, one backward, pass by pass."""
    given = times(inputs)
    length = makespan(one_by_one(len(given["F"]), int(inputs["m"])), given)
    assert length is not None
    return length


def enumerated() -> Checked:
    """Every order at every stage of small pipelines with several times: the shortest is the floor or above it."""
    draw, met, seen = random.Random(7), 0, 0  # noqa: S311  (instances of a proof, the same each time)
    for stages, batches in ((1, 2), (2, 1), (2, 2), (2, 2), (3, 2), (3, 1)):
        for _ in range(2):
            given = {k: tuple(Fraction(draw.randint(1, 5)) for _ in range(stages)) for k in ("F", "B")}
            best, floor = shortest(stages, batches, given), stage_floor(batches, given)
            if best < floor:
                return Checked(False, f"{stages} stages, {batches} micro-batches, {given}: {best} below {floor}")
            met, seen = met + (best == floor), seen + 1
    return Checked(True, f"all orders of {seen} small pipelines: none below, {met} attained")


BOUND = Bound(
    name="pipeline_makespan",
    group="pipelines",
    quantity="time of one step",
    unit="s",
    kind=Status.THEOREM,
    loss="A",
    symbols=(
        Symbol("forward", "s", "forward pass of one micro-batch at each stage", Trend.LIST, sign="f"),
        Symbol("backward", "s", "backward pass of one micro-batch at each stage", Trend.LIST, sign="b"),
        Symbol("m", "1", "micro-batches of a step", Trend.RISES, least=1, whole=True),
    ),
    compute=least,
    assumptions=("flush", "no_interleave", "unsplit_backward", "equal_batches"),
    source="Huang et al. 2019, stage by stage",
    examples=(
        Example({"forward": (1, 2, 1), "backward": (2, 4, 2), "m": 8}, 51.0, "executed: one forward, one backward"),
        Example({"forward": (1,) * 8, "backward": (2,) * 8, "m": 32}, 117.0, "equal stages: 3 (m + p - 1)"),
        Example({"forward": (3,), "backward": (5,), "m": 4}, 32.0, "one stage only works"),
    ),
    proofs=(Recheck("enumeration", "every order of small pipelines", enumerated),),
    witness=Witness("one forward, one backward, pass by pass", run, 52 / 51),
    telemetry=("times of the passes at each stage", "micro-batches"),
    display=(
        r"\max_s \left( \sum_{i < s} f_i + \max\left( m (f_s + b_s), \; f_s + \sum_{i > s} (f_i + b_i) + "
        r"m b_s, \; m f_s + \sum_{i > s} (f_i + b_i) + b_s \right) + \sum_{i < s} b_i \right)"
    ),
    unread="no key states the times of each stage",
)
