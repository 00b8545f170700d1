"""Loops that switch: linear plants under staircases with hysteresis, saturations and dead bands, with delays.

    x' = A x + B u + drift,    y = C x,    u_e(t) = N_e(y_e(t - delay_e))

Each element N_e is a `Staircase` (relay, thresholds, integer replicas) or made of straight `Pieces`
(saturation, dead band).  An element may take effect later upwards than downwards.

    >>> system = feedback([0.05], [1, 0], relay(1.0), delay=30)    # x' = -0.05 sgn(x(t - 30))
    >>> system.size
    1
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coherence.base.errors import UsageError

Array = NDArray[np.float64]
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Staircase:
    """A piecewise-constant output with memory: from levels[i] to levels[i + 1] where y rises through up[i],
    and back where it falls through down[i] <= up[i].

    `endless`: the staircase stands for one without end; a run that reaches its outermost level runs away.
    """

    levels: tuple[float, ...]
    up: tuple[float, ...]
    down: tuple[float, ...]
    endless: bool = False

    def bounds(self, level: int) -> tuple[float, float]:
        """Returns the open interval of y in which the output stays at a level."""
        low = self.down[level - 1] if level else -math.inf
        return low, self.up[level] if level < len(self.up) else math.inf

    def level(self, y: float, *, above: bool = False) -> int:
        """Returns the level that a constant y holds; inside a hysteresis the upper one if `above`."""
        passed = self.down if above else self.up
        return sum(1 for threshold in passed if y > threshold)


@dataclass(frozen=True)
class Pieces:
    """An output without memory: slopes[i] * y + intercepts[i] between knots[i - 1] and knots[i]; it may jump."""

    knots: tuple[float, ...]
    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]
    endless: bool = False

    def bounds(self, piece: int) -> tuple[float, float]:
        """Returns the interval of y that a piece covers."""
        low = self.knots[piece - 1] if piece else -math.inf
        return low, self.knots[piece] if piece < len(self.knots) else math.inf

    def level(self, y: float, *, above: bool = False) -> int:
        """Returns the piece that y lies on; on a knot the upper one if `above`."""
        return sum(1 for knot in self.knots if (y >= knot if above else y > knot))

    def at(self, y: Array) -> Array:
        """Returns the output for many y."""
        piece = np.searchsorted(np.asarray(self.knots), y)
        made: Array = np.asarray(self.slopes)[piece] * y + np.asarray(self.intercepts)[piece]
        return made


Element = Staircase | Pieces


@dataclass(frozen=True)
class System:
    """A linear plant and its elements.  `rise[e]` and `fall[e]`: seconds until a larger or smaller output acts."""

    a: Rows
    b: Rows
    c: Rows
    elements: tuple[Element, ...]
    rise: tuple[float, ...]
    fall: tuple[float, ...]
    drift: tuple[float, ...]

    @property
    def size(self) -> int:
        return len(self.a)

    @cached_property
    def matrices(self) -> tuple[Array, Array, Array, Array]:
        """Returns A, B, C and the drift."""
        return np.array(self.a), np.array(self.b), np.array(self.c), np.array(self.drift)

    @property
    def delayed_pieces(self) -> bool:
        """Decides whether a sloped element looks back: then pieces of a run are no sums of exponentials of fixed
        size.
        """
        return any(
            isinstance(e, Pieces) and max(up, down) > 0
            for e, up, down in zip(self.elements, self.rise, self.fall, strict=True)
        )


def relay(height: float, hysteresis: float = 0.0, *, centre: float = 0.0) -> Staircase:
    """Returns +height above centre + hysteresis, -height below centre - hysteresis."""
    return on_off(centre + hysteresis, centre - hysteresis, on=height, off=-height)


def on_off(enter: float, leave: float, *, on: float = 1.0, off: float = 0.0) -> Staircase:
    """Returns `on` once y rises through enter, `off` once it falls through leave <= enter."""
    return staircase((off, on), (enter,), (leave,))


def rounding(step: float = 1.0, *, most: int = 100, offset: float = 0.5, hysteresis: float = 0.0) -> Staircase:
    """Returns step * round(y / step) for up to `most` steps either way; `offset` 0: ceil, 1: floor, 0.5:
    to the nearest.
    """
    numbers = np.arange(-most, most, dtype=float) + offset
    levels = tuple(float(k) * step for k in range(-most, most + 1))
    up, down = (numbers * step + hysteresis).tolist(), (numbers * step - hysteresis).tolist()
    return staircase(levels, up, down, endless=True)


def ceiling(step: float = 1.0, *, most: int = 100, hysteresis: float = 0.0) -> Staircase:
    """Returns step * ceil(y / step): whole replicas that carry a load."""
    return rounding(step, most=most, offset=0.0, hysteresis=hysteresis)


def staircase(
    levels: Sequence[float], up: Sequence[float], down: Sequence[float], *, endless: bool = False
) -> Staircase:
    """Returns a checked staircase.  Raises UsageError for thresholds out of order."""
    stairs = Staircase(tuple(map(float, levels)), tuple(map(float, up)), tuple(map(float, down)), endless)
    if len(stairs.up) != len(stairs.levels) - 1 or len(stairs.down) != len(stairs.up):
        raise UsageError(f"{len(stairs.levels)} levels need {len(stairs.levels) - 1} thresholds each way")
    ordered = all(a <= b for row in (stairs.up, stairs.down) for a, b in itertools.pairwise(row))
    empty = any(low >= high for low, high in map(stairs.bounds, range(len(stairs.levels))))
    if not ordered or empty or any(low > high for low, high in zip(stairs.down, stairs.up, strict=True)):
        raise UsageError("thresholds of a staircase must rise from level to level, with down <= up")
    return stairs


def saturation(slope: float = 1.0, limit: float = 1.0) -> Pieces:
    """Returns slope * y, cut off at +-limit."""
    knot = limit / abs(slope)
    end = math.copysign(limit, slope)
    return Pieces((-knot, knot), (0.0, slope, 0.0), (-end, 0.0, end))


def system(
    a: Sequence[Sequence[float]],
    b: Sequence[Sequence[float]],
    c: Sequence[Sequence[float]],
    elements: Sequence[Element],
    *,
    delays: Sequence[float | tuple[float, float]] = (),
    drift: Sequence[float] = (),
) -> System:
    """Returns a checked system.  A delay is one number, or (upwards, downwards).  Raises UsageError."""
    size, count = len(a), len(elements)
    pairs = [d if isinstance(d, tuple) else (d, d) for d in delays] or [(0.0, 0.0)] * count
    shapes = [(np.shape(a), (size, size), "A"), (np.shape(b), (size, count), "B"), (np.shape(c), (count, size), "C")]
    for got, wanted, name in shapes:
        if got != wanted:
            raise UsageError(f"{name} has the shape {got}, not {wanted}")
    if len(pairs) != count or len(drift) not in {0, size}:
        raise UsageError("each element needs one delay, each state one drift")
    if not all(0 <= d < math.inf for pair in pairs for d in pair):
        raise UsageError("a delay must be a number >= 0")
    rows = [tuple(tuple(float(x) for x in row) for row in matrix) for matrix in (a, b, c)]
    still = tuple(float(d) for d in drift) or (0.0,) * size
    rise, fall = tuple(float(p[0]) for p in pairs), tuple(float(p[1]) for p in pairs)
    return System(rows[0], rows[1], rows[2], tuple(elements), rise, fall, still)


def feedback(
    numerator: Sequence[float],
    denominator: Sequence[float],
    element: Element,
    *,
    delay: float | tuple[float, float] = 0.0,
    load: float = 0.0,
) -> System:
    """Returns negative feedback: the plant numerator / denominator * exp(-s delay) gets load - N(y).

    Raises UsageError for a plant that is not strictly proper: its output would jump with the element.
    """
    top = np.trim_zeros(np.asarray(numerator, float), "f")
    bottom = np.trim_zeros(np.asarray(denominator, float), "f")
    if len(top) >= len(bottom) or not len(top):
        raise UsageError("the plant must be strictly proper (numerator of lower degree) and not zero")
    a, b, c = _companion(top / bottom[0], bottom / bottom[0])
    return system(a.tolist(), (-b).tolist(), c.tolist(), [element], delays=[delay], drift=(b[:, 0] * load).tolist())


def _companion(top: Array, bottom: Array) -> tuple[Array, Array, Array]:
    """Returns a realisation whose states are scaled to the plant's own speed, so that its entries are of one size."""
    size = len(bottom) - 1
    speed = float(np.max(np.abs(np.roots(bottom)))) if np.any(bottom[1:]) else 1.0
    scale = speed ** np.arange(size)
    a = np.zeros((size, size))
    a[:-1, 1:] = np.eye(size - 1) * speed
    a[-1] = -bottom[:0:-1] * scale / scale[-1]
    padded = np.concatenate([np.zeros(size - len(top)), top])
    c = padded[::-1] * scale / scale[-1]
    return a, np.eye(size)[:, -1:], c[None, :]
