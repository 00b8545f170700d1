"""Confirms a predicted cycle by the executor: the design is run from its start, and its last laps are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError
from coherence.model.model import Model
from coherence.simulate.execute import exact, hybrid
from coherence.simulate.execute.exact import Choices, MissingValueError

UNKNOWN, MOST_LAPS = 12, 200  # periods that a run is given to come to the cycle: where no multiplier is known; most
LEFT = 1e-3  # of a deviation after that
MOST_INSTANTS, MOST_CURVED = 20_000, 2_000
POINTS = 400  # per period at which a curved run is read
PERIOD, RANGE = 1e-3, 5e-3  # of the period and of the swing: largest difference that agrees


@dataclass(frozen=True)
class Observed:
    """One lap of an executed run: (lowest, highest) by signal, and how far the lap before was, in swings."""

    ranges: Mapping[str, tuple[float, float]]
    apart: float


def confirmed(
    model: Model,
    choices: Choices,
    period: Fraction,
    ranges: Mapping[str, tuple[float, float]],
    *,
    start: Fraction = Fraction(0),
    multiplier: float | None = None,
) -> tuple[bool | None, str]:
    """Returns (whether the run of these choices goes through this cycle, why not); None where it could not be executed.

    `start`: when it first repeats its word (s); `multiplier`: what a lap leaves of its distance from the cycle.
    """
    settled = start + period * _laps(multiplier)
    try:
        seen = observed(model, choices, period, settled + 2 * period, list(ranges))
    except (NotExactError, MissingValueError) as error:
        return None, f"not executed: {error}"
    if seen.apart > RANGE:
        return False, f"the executed run has another period (laps differ by {100 * seen.apart:.2g} % of the swing)"
    for path, (low, high) in ranges.items():
        swing = max(high - low, 1e-9 * (1 + abs(high)))
        below, above = seen.ranges[path]
        if max(abs(low - below), abs(high - above)) > RANGE * swing:
            return False, f"the executed run moves {path} from {below:.6g} to {above:.6g}"
    return True, ""


def _laps(multiplier: float | None) -> int:
    """Returns periods after which little of a deviation is left."""
    if multiplier is None or multiplier >= 1 - 1e-9:
        return UNKNOWN
    return min(max(2, math.ceil(math.log(LEFT) / math.log(max(multiplier, 1e-9)))), MOST_LAPS)


def observed(model: Model, choices: Choices, period: Fraction, until: Fraction, paths: list[str]) -> Observed:
    """Returns the last lap of a run, and the one before.  Raises NotExactError, MissingValueError."""
    rows = _exactly(model, choices, period, until, paths) or _hybrid(model, choices, period, until, paths)
    now, before = rows
    ranges = {path: (min(row), max(row)) for path, row in now.items()}
    apart = max((_apart(now[path], before[path]) for path in paths), default=0.0)
    return Observed(ranges, apart)


def _apart(now: list[float], before: list[float]) -> float:
    swing = max(now) - min(now)
    if swing <= 1e-9 * (1 + max(map(abs, now))):
        return 0.0
    return max(abs(max(now) - max(before)), abs(min(now) - min(before)), *_differences(now, before)) / swing


def _differences(now: list[float], before: list[float]) -> list[float]:
    return [abs(a - b) for a, b in zip(now, before, strict=True)] if len(now) == len(before) else [0.0]


Rows = tuple[dict[str, list[float]], dict[str, list[float]]]


def _exactly(model: Model, choices: Choices, period: Fraction, until: Fraction, paths: list[str]) -> Rows | None:
    """Returns the laps at the instants of an exact run; None where rates are not constant or numbers not rational."""
    laps: Rows = {path: [] for path in paths}, {path: [] for path in paths}
    try:
        run = exact.Execution(model, choices)
        while run.next_time() < until and run.count <= MOST_INSTANTS:
            instant = run.advance()
            back = 0 if instant.time >= until - period else 1 if instant.time >= until - 2 * period else 2
            for path in paths if back < 2 else ():
                laps[back][path] += [float(instant.sampled[path]), float(instant.after[path])]
    except exact.ZenoError:
        raise
    except NotExactError:
        return None
    if run.count > MOST_INSTANTS:
        raise NotExactError(f"more than {MOST_INSTANTS} instants until the cycle")
    return laps if all(laps[0].values()) and all(laps[1].values()) else None


def _hybrid(model: Model, choices: Choices, period: Fraction, until: Fraction, paths: list[str]) -> Rows:
    """Returns the laps at equal distances, and at the instants, of a run in floats."""
    ticks = sum((float(until / loop.period) for loop in model.loops), float(until / period))
    if ticks > MOST_CURVED:
        raise NotExactError(f"about {ticks:.0f} instants until the cycle are more than {MOST_CURVED}")
    run = hybrid.execute(model, choices, until=until, most=MOST_CURVED)
    laps: list[dict[str, list[float]]] = []
    for begin in (until - period, until - 2 * period):
        times: list[Any] = [begin + period * k / POINTS for k in range(POINTS)]
        rows = [run.at(time) for time in times]
        laps.append({path: [float(row[path]) for row in rows] for path in paths})
    for instant in run.instants:
        if instant.time >= until - period:
            for path in paths:
                laps[0][path].append(float(instant.sampled[path]))
    size = len(laps[0][paths[0]]) if paths else 0
    for path in paths:
        laps[1][path] += laps[0][path][len(laps[1][path]) : size]
    return laps[0], laps[1]
