"""task systems: how many times more than hindsight any fixed rule pays that moves between n states as tasks come.

## What
Each task costs something in each state, moves cost their distance, and nobody knows what comes.  Over ever more tasks
some sequence makes every deterministic rule pay 2 n - 1 times the least that was possible; the rule that follows the
work function (least cost of all tasks so far, state by state) pays no more.

## Why it matters
Sizes of a pool, places of a service, versions that are loaded: a rule that promises less than 2 n - 1 knows something
of its tasks, draws lots, or has states that some tasks spare.

## Example
Two states: 3.  Ten: 19.

## Source
A. Borodin, N. Linial and M. Saks, "An optimal on-line algorithm for metrical task system", J. ACM 39(4), 1992.
"""

from __future__ import annotations

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend
from coherence.minimums.bounds._inductions import refuted


def weighted_ways() -> Checked:
    """Weighs the work function once where the rule is and twice elsewhere: 2 n - 1 ways to serve in all.

    Tasks of at most `most` charge the state of the rule alone.  Staying adds to the sum no more than is paid; a move
    adds no more than its distance and one task, however small: a state's work function exceeds another's by no more
    than the way between them.
    """
    charged = ("(>= added 0.0)", "(<= added most)")
    stays = (*charged, "(= after (+ before added))", "(> after (+ before most))")
    moves = (*charged, "(<= (- (+ here added) there) way)", "(= before (+ here (+ (* 2.0 there) others)))",
             "(= after (+ there (+ (* 2.0 (+ here added)) others)))", "(> after (+ before (+ way most)))")  # fmt: skip
    least = ("(>= n 1.0)", "(>= sum (* (- (* 2.0 n) 1.0) best))", "(<= sum paid)",
             "(< paid (* (- (* 2.0 n) 1.0) best))")  # fmt: skip
    names = ("added", "most", "before", "after", "here", "there", "way", "others", "n", "sum", "best", "paid")
    return refuted("what each task adds to 2 n - 1 ways of serving is paid for", "QF_NRA", names, stays, moves, least)


BOUND = Bound(
    name="task_system_ratio",
    group="online decisions",
    quantity="worst ratio, over ever more tasks, of what is paid to what hindsight pays",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="economics",
    symbols=(Symbol("states", "1", "states to be in", Trend.RISES, least=1, most=1e6, whole=True, sign="n"),),
    formula="2 * states - 1",
    assumptions=(
        "deterministic_policy",
        "offline_optimum",
        "no_forecast",
        "any_task",
        "symmetric_moves",
    ),
    source="Borodin, Linial and Saks 1992",
    examples=(
        Example({"states": 2}, 3.0, "published"),
        Example({"states": 1}, 1.0, "nowhere to move"),
    ),
    proofs=(Recheck("smt", "what each task adds to 2 n - 1 ways of serving", weighted_ways, ProofGrade.UNIVERSAL),),
    telemetry=(),
    unread="no key states what each task costs in each state",
)
