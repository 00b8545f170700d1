"""Models of tests: rules that look at tosses of a coin until they decide, and alarms on normal readings."""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.base.bisection import halved
from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.detection import ratio_of
from coherence.minimums.floors import Number

DEEPEST = 3  # tosses at most
CELLS = 60  # of the sum that an alarm looks at
NONE, CHANGE, MORE = 0, 1, 2


def tossed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """After each toss a rule says that there is a change, or none, or looks again."""
    assert bound
    assert not dropped
    odds = ratio_of(float(inputs["information"]))
    heads = odds / (1 + odds)  # with a change; without one the same of tails

    def rule(depth: int, with_change: float, without: float) -> tuple[float, float, float]:
        """Returns (mean tosses with a change, wrong alarms, misses) of what begins here."""
        verdict = choose((NONE, CHANGE, MORE) if depth < DEEPEST else (NONE, CHANGE))
        if verdict != MORE:
            return 0.0, without if verdict == CHANGE else 0.0, with_change if verdict == NONE else 0.0
        up = rule(depth + 1, with_change * heads, without * (1 - heads))
        down = rule(depth + 1, with_change * (1 - heads), without * heads)
        return with_change + up[0] + down[0], up[1] + down[1], up[2] + down[2]

    tosses, wrong, missed = rule(0, 1.0, 1.0)
    if wrong > float(inputs["false_alarm"]) * (1 + 1e-9) or missed > float(inputs["miss"]) * (1 + 1e-9):
        raise HopelessError
    return tosses


def alarmed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """An alarm looks at single readings, or at a sum that is held at 0, of what each one says for a change.

    Its height gives the false alarms that are allowed; its delay is that of a change at its worst moment.
    """
    assert bound
    assert not dropped
    information, quiet = float(inputs["information"]), float(inputs["false_alarms"])
    single, reference = choose((True, False)), choose((0.5, 0.8, 1.0, 1.25))
    shift = math.sqrt(2 * information)

    def mean_time(height: float, drift: float) -> float:
        if single:
            return 2 / math.erfc((height - drift) / math.sqrt(2))
        return _held(height, drift - shift * reference / 2)

    height = halved(lambda h: mean_time(h, 0.0) >= quiet, 30.0, 0.0, steps=24)[0]
    return mean_time(height, shift) * (1 + 1e-2)


def _held(height: float, drift: float) -> float:
    """Returns the mean number of normal steps until a sum that is held at 0 passes the height, cell by cell."""
    import numpy as np
    from scipy.special import ndtr

    width = height / (CELLS - 0.5)
    middles = np.arange(CELLS) * width
    upper = ndtr((middles[None, :] + width / 2 - middles[:, None]) - drift)
    moves = np.diff(upper, axis=1, prepend=0.0)
    return float(np.linalg.solve(np.eye(CELLS) - moves, np.ones(CELLS))[0])


def _given(**values: float) -> Inputs:
    return {name: Fraction(str(value)) for name, value in values.items()}


def _worth(odds: float) -> float:
    """Returns the divergence of a coin of these odds from the one of the opposite odds, in nats."""
    return (odds - 1) / (odds + 1) * math.log(odds)


ADVERSARIES = (
    Adversary(
        "rules that look at tosses",
        {
            "detection_samples": tuple(
                {"false_alarm": 1 / (1 + odds), "miss": 1 / (1 + odds), "information": _worth(odds)}
                for odds in (2, 3, 9)
            )
        },
        tossed,
    ),
    Adversary(
        "alarms on normal readings",
        {"detection_delay": tuple(_given(information=d, false_alarms=g) for d, g in ((0.5, 50), (0.5, 500), (2, 100)))},
        alarmed,
    ),
)
