"""What switching loops do, by runs that know nothing of their cycles: fixed steps, or a design's own execution."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.cycles.relay import Array, Pieces, Staircase, System
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute import hybrid
from coherence.simulate.execute.exact import Choices

STEPS, MOST_STEPS, LAPS = 2_500, 100_000, 24  # per period; of a run; periods that a run lasts
ROWS, EXECUTED = 1_000, 12  # per period, of an executed run; periods that it lasts


class Lap(NamedTuple):
    """Period in s, lowest and highest value."""

    period: float
    low: float
    high: float


Seen = Lap | str | None  # a lap, "undecided", or None: at rest


def simulated(loop: System, x: Array, period: float, slow: float) -> Seen:
    """The first output after a run in steps of a fixed length: Heun's method, second order over switches too.

    A switch inside a step is placed by linear interpolation, and its step gets the mean of both outputs.
    """
    until = max(LAPS * period, slow)
    step = max(period / STEPS, until / MOST_STEPS)
    a, b, c, drift = loop.matrices
    count = int(until / step)
    outputs = np.empty((count + 1, len(c)))
    level = [e.level(float(y)) for e, y in zip(loop.elements, c @ x, strict=True)]
    lags = [(up / step, down / step) for up, down in zip(loop.rise, loop.fall, strict=True)]
    acting = np.zeros((count + 3 + int(max(map(max, lags))), len(c)))
    for e, element in enumerate(loop.elements):
        acting[:, e] = element.levels[level[e]] if isinstance(element, Staircase) else 0.0
    for k in range(count):
        outputs[k] = c @ x
        for e, element in enumerate(loop.elements):
            if isinstance(element, Staircase):
                level[e] = _switched(element, level[e], outputs, k, e, lags[e], acting)
            else:
                acting[k, e] = _sloped(element, outputs, k, e, lags[e][0])
        first = a @ x + b @ acting[k] + drift
        ahead = [
            acting[k, e] if isinstance(element, Staircase) else _sloped(element, outputs, k + 1, e, lags[e][0])
            for e, element in enumerate(loop.elements)
        ]
        second = a @ (x + step * first) + b @ ahead + drift
        x = x + step / 2 * (first + second)
    return lap_of(outputs[:count, 0], step)


def _switched(
    element: Staircase, level: int, outputs: Array, k: int, e: int, lags: tuple[float, float], acting: Array
) -> int:
    """The level that is seen at step k; what it does later is written to `acting`."""
    low, high = element.bounds(level)
    y = float(outputs[k, e])
    while not low <= y <= high:
        up = y > high
        before = float(outputs[max(k - 1, 0), e])
        share = ((high if up else low) - before) / (y - before) if y != before else 1.0
        due = max(k - 1, 0) + share + lags[0 if up else 1]
        old, new = element.levels[level], element.levels[level + (1 if up else -1)]
        first = max(int(due), k)
        acting[first + 1 :, e] = new
        acting[first, e] += (new - old) * (first + 1 - due)
        level += 1 if up else -1
        low, high = element.bounds(level)
    return level


def _sloped(element: Pieces, outputs: Array, k: int, e: int, lag: float) -> float:
    """The output of a sloped element for its input `lag` steps ago, linear between steps."""
    place = max(k - lag, 0.0)
    before = min(int(place), k - 1) if k else 0
    y = float(outputs[before, e] + (place - before) * (outputs[min(before + 1, max(k - 1, 0)), e] - outputs[before, e]))
    level = element.level(y)
    return element.slopes[level] * y + element.intercepts[level]


def lap_of(y: Array, step: float) -> Seen:
    """The lap at the end of a sampled run: None at rest, "undecided" where it neither repeats nor rests."""
    quarter = len(y) // 4
    late, later = y[2 * quarter : 3 * quarter], y[3 * quarter :]
    swing, before = float(np.ptp(later)), float(np.ptp(late))
    if swing <= 1e-6 * (1 + float(np.max(np.abs(y)))) or swing < 0.8 * before:
        return None
    later = y[2 * quarter :]
    middle = (later.max() + later.min()) / 2
    ups = np.flatnonzero((later[:-1] < middle) & (later[1:] >= middle))
    times = ups + (middle - later[ups]) / (later[ups + 1] - later[ups])
    for laps in range(1, 9):
        if len(times) < 2 * laps + 1:
            break
        one, other = later[ups[-1 - laps] : ups[-1]], later[ups[-1 - 2 * laps] : ups[-1 - laps]]
        size = min(len(one), len(other))
        apart = float(np.max(np.abs(one[:size] - other[:size])))
        if abs(len(one) - len(other)) <= 2 + size // 500 and apart <= 0.02 * swing:
            many = (len(times) - 1) // laps * laps
            return Lap(float(times[-1] - times[-1 - many]) * step / (many // laps), float(one.min()), float(one.max()))
    return "undecided"


def flowing(flows: dict[str, str], start: float) -> Model:
    """A design whose components have one state x each."""
    rows = "".join(f'  {name}: {{state: "x\' = {flow}", from: {start}}}\n' for name, flow in flows.items())
    return elaborate(read_text(f"coherence: 1\ncomponents:\n{rows}"))


def executed(model: Model, path: str, period: float | None, slow: float) -> Seen:
    """A state's lap at the end of a hybrid run of the design."""
    until = Fraction(max(EXECUTED * (period or 0.0), slow)).limit_denominator(1000)
    try:
        run = hybrid.execute(model, Choices(), until=until)
    except NotExactError:
        return "undecided"
    count = ROWS * EXECUTED
    step = until / count
    values = np.array([float(run.at(step * k)[path]) for k in range(count // 2, count)])
    return lap_of(np.concatenate([values[:1].repeat(count // 2), values]), float(step))
