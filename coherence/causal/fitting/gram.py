"""Sums products of lagged signals in one pass over the data, apart for contiguous batches.

Z = [1, z_1 .. z_q] has one column for each (signal, lag); a batch b keeps G_b = Z_b' Z_b, (q+1) x (q+1).  Every least
squares fit on any subset of columns, over any set of batches, is a solve with a sum of G_b: fits, jackknife and
bootstrap never see the data again.  Batches merge by addition, so data larger than memory come in chunks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from coherence.causal.data.series import Floats, Series

Column: TypeAlias = tuple[str, int]  # a signal, and how many steps before

BATCHES = 40
ROWS_IN_BATCH, FEWEST = 50, 10  # a batch must outlast the memory of the signals; ten still give an interval
ROWS = 64  # of the finest batch while streaming; batches merge by pairs when there are more than 2 * BATCHES


@dataclass(frozen=True)
class Grams:
    """`batches[b]` = Z_b' Z_b with Z = [1, (x - offset) / scale]; `rows[b]` its number of rows.

    `lost`: rows left out because a column had no value there.  `starts`: cached by whoever searches, by equation: where
    the search for all rows ended, from which the searches of resampled batches start.  `stages`: cached likewise, the
    weights of the instruments in all rows.
    """

    columns: tuple[Column, ...]
    offset: Floats  # (q,)
    scale: Floats  # (q,)
    batches: Floats  # (B, q+1, q+1)
    rows: Floats  # (B,)
    lost: int = 0
    starts: dict[Hashable, tuple[Floats, Floats]] = field(default_factory=dict, compare=False, repr=False)
    stages: dict[Hashable, Floats] = field(default_factory=dict, compare=False, repr=False)

    def index(self, columns: Iterable[Column]) -> list[int]:
        """Where columns stand in Z (the constant is 0)."""
        return [self._places[column] for column in columns]

    @cached_property
    def _places(self) -> Mapping[Column, int]:
        return {column: number for number, column in enumerate(self.columns, start=1)}

    @cached_property
    def whole(self) -> Floats:
        """Z'Z over everything."""
        return np.asarray(self.batches.sum(axis=0), np.float64)

    @property
    def without(self) -> Floats:
        """(B, q+1, q+1): everything but one batch."""
        return np.asarray(self.whole - self.batches, np.float64)

    @property
    def stacked(self) -> Floats:
        """(1 + B, q+1, q+1): everything, then everything but each batch in turn."""
        return np.concatenate([self.whole[None], self.without])

    def resampled(self, count: int, seed: int) -> Floats:
        """(count, q+1, q+1): sums over batches drawn with replacement (block bootstrap)."""
        number = len(self.batches)
        drawn = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), size=count)
        flat = self.batches.reshape(number, -1)
        return np.asarray((drawn @ flat).reshape(count, *self.batches.shape[1:]), np.float64)


def lagged(series: Series, columns: Sequence[Column]) -> Floats:
    """Z without its constant: shape (times - largest lag, columns)."""
    stretches = _stretches(series, columns)
    matrix = np.empty((len(columns), _times(series, columns))).T  # a column at a time is written and read
    for number, values in enumerate(stretches):
        matrix[:, number] = values
    return matrix


def _stretches(series: Series, columns: Sequence[Column]) -> list[Floats]:
    """Returns the columns of Z without its constant; those of one signal are parts of one copy of it."""
    deepest, length = max((lag for _, lag in columns), default=0), _times(series, columns)
    signals = {name: np.ascontiguousarray(series[name]) for name in dict.fromkeys(name for name, _ in columns)}
    return [signals[name][deepest - lag : deepest - lag + length] for name, lag in columns]


def _complete(series: Series, columns: Sequence[Column]) -> npt.NDArray[np.bool_]:
    """Returns which times have a value in every column."""
    deepest, length = max((lag for _, lag in columns), default=0), _times(series, columns)
    known = {name: np.isfinite(series[name]) for name in dict.fromkeys(name for name, _ in columns)}
    whole = np.ones(length, np.bool_)
    for name, lag in columns:
        whole &= known[name][deepest - lag : deepest - lag + length]
    return whole


def _times(series: Series, columns: Sequence[Column]) -> int:
    return max(len(series) - max((lag for _, lag in columns), default=0), 0)


def grams(series: Series, columns: Sequence[Column], *, count: int = BATCHES) -> Grams:
    """Grams of one table in `count` batches (fewer where there are few rows)."""
    from coherence.causal.answers.intervals import batches

    stretches, whole = _stretches(series, columns), _complete(series, columns)
    length = int(whole.sum())
    if length < len(whole):
        stretches = [values[whole] for values in stretches]
    offset, scale = _location(stretches)
    parts = batches(length, max(min(count, length // ROWS_IN_BATCH), FEWEST))
    products = np.stack(
        [_product([values[part] for values in stretches], part.stop - part.start, offset, scale) for part in parts]
    )
    sizes = np.array([part.stop - part.start for part in parts], float)
    return Grams(tuple(columns), offset, scale, products, sizes, len(whole) - length)


def streamed(chunks: Iterable[Series], columns: Sequence[Column], *, count: int = BATCHES) -> Grams:
    """Grams of chunks that follow each other in time, in constant memory; offsets are those of the first chunk."""
    deepest = max((lag for _, lag in columns), default=0)
    tail: Series | None = None
    waiting: list[Floats] = []
    fine: list[Floats] = []
    sizes: list[int] = []
    lost, width, place = 0, ROWS, None
    for chunk in chunks:
        joined = chunk if tail is None else following(tail, chunk)
        rows = lagged(joined, columns)
        tail = joined.between(joined.times[-deepest], np.inf) if deepest and len(joined) >= deepest else None
        whole = np.isfinite(rows).all(axis=1)
        lost += int((~whole).sum())
        complete = rows[whole]
        place = place or _location(complete.T)
        waiting.append(complete)
        ready = np.concatenate(waiting)
        while len(ready) >= width:
            fine.append(_product(ready[:width].T, width, *place))
            sizes.append(width)
            ready = ready[width:]
            if len(fine) > 2 * count:
                fine, sizes = _paired(fine), _summed(sizes)
                width *= 2
        waiting = [ready]
    place = place or _location(np.empty((len(columns), 0)))
    rest = np.concatenate(waiting) if waiting else np.empty((0, len(columns)))
    if len(rest):
        _close(fine, sizes, _product(rest.T, len(rest), *place), len(rest), width)
    products = np.stack(fine) if fine else np.zeros((0, len(columns) + 1, len(columns) + 1))
    return Grams(tuple(columns), *place, products, np.array(sizes, float), lost)


def _close(fine: list[Floats], sizes: list[int], last: Floats, rows: int, width: int) -> None:
    """The rest becomes a batch of its own if it is long enough, else a part of the last one."""
    if fine and rows < width / 2:
        fine[-1] = fine[-1] + last
        sizes[-1] += rows
    else:
        fine.append(last)
        sizes.append(rows)


def following(tail: Series, chunk: Series) -> Series:
    """Returns two stretches as one; the times between them have no values."""
    gap = round((chunk.start - tail.start) / tail.step) - len(tail)
    between = np.full((max(gap, 0), len(tail.names)), np.nan)
    values = np.concatenate([tail.values, between, chunk.of(tail.names).values])
    return Series(tail.names, values, tail.step, tail.start, tail.units, tail.excluded)


def _location(columns: Sequence[Floats] | Floats) -> tuple[Floats, Floats]:
    """Mean and spread of each column: numbers near one keep the sums of products exact to rounding."""
    if not len(columns) or not len(columns[0]):
        return np.zeros(len(columns)), np.ones(len(columns))
    places = [(column.mean(), column.std()) for column in columns]  # a column at a time stays near the processor
    middle, spread = np.array(places, np.float64).reshape(-1, 2).T
    return middle, np.where(spread > 0, spread, 1.0)


def _product(columns: Sequence[Floats] | Floats, rows: int, offset: Floats, scale: Floats) -> Floats:
    scaled = np.empty((len(columns) + 1, rows))
    scaled[0] = 1.0
    for number, values in enumerate(columns):
        np.subtract(values, offset[number], out=scaled[number + 1])
    scaled[1:] /= scale[:, None]
    return scaled @ scaled.T


def _paired(fine: Sequence[Floats]) -> list[Floats]:
    return [sum(fine[number : number + 2], np.zeros_like(fine[0])) for number in range(0, len(fine), 2)]


def _summed(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[number : number + 2]) for number in range(0, len(sizes), 2)]


def means(found: Grams, sums: Floats) -> Mapping[Column, Floats]:
    """Mean of each column for each sum of products (stacked along the first axis), in the signal's own unit."""
    with np.errstate(divide="ignore", invalid="ignore"):  # without a row there is no mean: it is not a number
        level = sums[:, 0, 1:] / sums[:, :1, 0] * found.scale + found.offset
    return {column: level[:, number] for number, column in enumerate(found.columns)}


def solutions(left: Floats, right: Floats, least: float) -> Floats | None:
    """(n, k): solutions of symmetric `left` (n, k, k) for `right` (n, k); None where an eigenvalue is `least` or below.

    The norm of the inverse bounds the smallest eigenvalue, and is had with the solution.
    """
    identity = np.broadcast_to(np.eye(left.shape[-1]), left.shape)
    try:
        both = np.linalg.solve(left, np.concatenate([right[..., None], identity], axis=2))
    except np.linalg.LinAlgError:
        return None
    inverse = both[..., 1:].reshape(len(left), -1)
    if not (np.einsum("ni,ni->n", inverse, inverse) * least**2 < 1).all() and not (
        np.isfinite(left).all() and np.linalg.eigvalsh(left).min(initial=np.inf) > least
    ):
        return None
    return np.asarray(both[..., 0], np.float64)


def unexplained(whole: Floats, held: Sequence[int], asked: Sequence[int]) -> Floats:
    """Sums of products of the columns `asked` after what the columns `held` explain is taken away."""
    inner = np.linalg.pinv(whole[np.ix_(held, held)], rcond=1e-10, hermitian=True)
    across = whole[np.ix_(held, asked)]
    return np.asarray(whole[np.ix_(asked, asked)] - across.T @ inner @ across, np.float64)
