"""Follows runs whose values grow or fall by as much in each lap up to the next value at which something changes.

A disk that fills in hours under a loop that looks every half minute needs a thousand laps until anything happens.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base.clock import is_over
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Held, Tree, walk
from coherence.model.model import Model
from coherence.simulate.execute.affine import Affine
from coherence.simulate.execute.exact import Choices, Execution, Instant, MissingValueError, View
from coherence.simulate.execute.lookback import LOOK_BACK
from coherence.simulate.execute.orbits import FollowedRun, LongRun, hyperperiod
from coherence.verify.promises.drifting_runs import with_drift

LAPS, MOST_INSTANTS = 120, 6_000
MOST_DRIFTING = 20_000  # instants of a run that nears the edge of a promise evenly
PAST = (*LOOK_BACK, "previous")
KINKED = ("min", "max")


def followed_run(
    model: Model,
    choices: Choices,
    watched: Sequence[Tree],
    promised: tuple[str, Tree],
    *,
    most: int = MOST_INSTANTS,
    deadline: float = math.inf,
) -> LongRun:
    """Returns a run until it recurs, or drifts in a way that decides the promise (its kind and condition).

    It goes on over LAPS laps after the last change from outside and after each edge ahead.
    """
    followed, lap = FollowedRun(model, choices, watched), hyperperiod(model)
    laps = LAPS + int(max((at for at, *_ in choices.schedule), default=Fraction(0)) / lap)
    run = followed.until(laps, most, lambda: is_over(deadline))
    kind, condition = promised
    while run.orbit is None and not is_over(deadline):
        run = with_drift(model, run, condition, kind)
        goes_on = run.drift is None and most >= MOST_INSTANTS
        more = laps_to_an_edge(followed.run, run.instants, watched) if goes_on else 0
        if not more:
            break
        laps += more
        run = followed.until(laps, most, lambda: is_over(deadline))
    return run


def laps_to_an_edge(run: Execution, instants: Sequence[Instant], conditions: Sequence[Tree]) -> int:
    """Returns in how many laps two sides of a condition meet, or of a comparison of the model, and a run of the usual
    length after that, if each lap goes on as the last two; 0: not in reach.
    """
    if not instants:
        return 0
    lap, last = hyperperiod(run.model), instants[-1].time
    recent = list(itertools.takewhile(lambda instant: last - instant.time <= 2 * lap, reversed(instants)))
    ends = {instant.time: instant.after for instant in recent if last - instant.time in (0, lap, 2 * lap)}
    if len(ends) < 3:
        return 0
    in_a_lap = sum(last - instant.time < lap for instant in recent)
    views = [View(run, time, dict(values)) for time, values in sorted(ends.items())]
    promised = [laps for tree in conditions if (laps := _until_equal(tree, views))]
    if promised and len(instants) + min(promised) * in_a_lap <= MOST_DRIFTING:
        return min(promised)
    reached = [laps for edge in _edges(run.model) if (laps := _until_equal(edge, views))]
    laps = min(reached) + LAPS if reached else 0
    return laps if len(instants) + laps * in_a_lap <= MOST_INSTANTS else 0


def _edges(model: Model) -> Iterator[Compare]:
    """Yields what a model decides by: comparisons of its loops, states and outputs, and those of `min` and `max`."""
    trees = [*model.outputs.values(), *(tree for state in model.states.values() for tree in state.trees)]
    trees += [tree for loop in model.loops for tree in loop.trees]
    for node in (node for tree in trees for node in walk(tree)):
        if isinstance(node, Compare):
            yield node
        elif isinstance(node, Call) and node.function in KINKED:
            yield from (Compare("<", a, b) for a, b in itertools.combinations(node.arguments, 2))


def _until_equal(compared: Tree, views: Sequence[View]) -> int:
    """Returns in how many laps both sides are equal, if they near each other as in the last two; 0: they do not."""
    past = any(isinstance(n, Held) or (isinstance(n, Call) and n.function in PAST) for n in walk(compared))
    if past or not isinstance(compared, Compare):
        return 0
    apart = Arithmetic("-", compared.left, compared.right)
    try:
        older, old, now_ = (evaluate(apart, view) for view in views)
    except (NotExactError, MissingValueError):
        return 0
    change = now_ - old
    if isinstance(change, Affine) or change != old - older or change * now_ >= 0:
        return 0
    return int(-now_ / change) + 2
