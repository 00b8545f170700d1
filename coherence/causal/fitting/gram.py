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
ROWS = 64  # of the finest batch while streaming; batches merge by pairs when there are 2 * BATCHES


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

    def of(self, columns: Iterable[Column]) -> Grams:
        """The sums of products of some of the columns."""
        chosen = tuple(columns)
        places = [0, *self.index(chosen)]
        scaled = np.array(places[1:], int) - 1
        return Grams(
            chosen, self.offset[scaled], self.scale[scaled], block(self.batches, places, places), self.rows, self.lost,
            self.starts, self.stages,
        )  # fmt: skip

    @property
    def stacked(self) -> Floats:
        """(1 + B, q+1, q+1): everything, then everything but each batch in turn."""
        sums = np.empty((1 + len(self.batches), *self.whole.shape))
        sums[0] = self.whole
        np.subtract(self.whole, self.batches, out=sums[1:])  # sums are large: no copy of them is made
        return sums

    def resampled(self, count: int, seed: int) -> Floats:
        """(count, q+1, q+1): sums over batches drawn with replacement (block bootstrap)."""
        number = len(self.batches)
        drawn = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), size=count)
        flat = self.batches.reshape(number, -1)
        return np.asarray((drawn @ flat).reshape(count, *self.batches.shape[1:]), np.float64)


def lagged(series: Series, columns: Sequence[Column]) -> Floats:
    """Z without its constant: shape (times - largest lag, columns)."""
    stretches, _ = _stretches(series, columns)
    matrix = np.empty((len(columns), _times(series, columns))).T  # a column at a time is written and read
    for number, values in enumerate(stretches):
        matrix[:, number] = values
    return matrix


def _stretches(series: Series, columns: Sequence[Column]) -> tuple[list[Floats], npt.NDArray[np.bool_]]:
    """Returns the columns of Z without its constant, and which times have a value in every one of them.

    Those of one signal are parts of one copy of it.
    """
    deepest, length = max((lag for _, lag in columns), default=0), _times(series, columns)
    signals = {name: np.ascontiguousarray(series[name]) for name in dict.fromkeys(name for name, _ in columns)}
    known = {name: np.isfinite(values) for name, values in signals.items()}
    gaps = {name for name, values in known.items() if not values.all()}
    whole = np.ones(length, np.bool_)
    for name, lag in columns:
        if name in gaps:
            whole &= known[name][deepest - lag : deepest - lag + length]
    return [signals[name][deepest - lag : deepest - lag + length] for name, lag in columns], whole


def _complete(series: Series, columns: Sequence[Column]) -> list[Floats]:
    """Returns the columns of Z without its constant at the times that have a value in every one of them."""
    stretches, whole = _stretches(series, columns)
    return stretches if whole.all() else [values[whole] for values in stretches]


def _times(series: Series, columns: Sequence[Column]) -> int:
    return max(len(series) - max((lag for _, lag in columns), default=0), 0)


def grams(series: Series, columns: Sequence[Column], *, count: int = BATCHES) -> Grams:
    """Grams of one table in `count` batches (fewer where there are few rows)."""
    from coherence.causal.answers.intervals import batches

    stretches = _complete(series, columns)
    length = len(stretches[0]) if stretches else _times(series, columns)
    offset, scale = _location(stretches)
    parts = batches(length, max(min(count, length // ROWS_IN_BATCH), FEWEST))
    products = np.stack(
        [_product([values[part] for values in stretches], part.stop - part.start, offset, scale) for part in parts]
    )
    sizes = np.array([part.stop - part.start for part in parts], float)
    return Grams(tuple(columns), offset, scale, products, sizes, _times(series, columns) - length)


def streamed(chunks: Iterable[Series], columns: Sequence[Column], *, count: int = BATCHES) -> Grams:
    """Grams of chunks that follow each other in time, in constant memory; offsets are those of the first chunk."""
    deepest = max((lag for _, lag in columns), default=0)
    tail: Series | None = None
    place: tuple[Floats, Floats] | None = None
    sums = _Stream(len(columns) + 1, count)
    lost = 0
    for chunk in chunks:
        joined = chunk if tail is None else following(tail, chunk)
        tail = joined.between(joined.times[-deepest], np.inf) if deepest and len(joined) >= deepest else None
        stretches = _complete(joined, columns)
        length = len(stretches[0]) if stretches else _times(joined, columns)
        lost += _times(joined, columns) - length
        place = place or _location(stretches)
        sums.add(stretches, length, place)
    place = place or _location(np.empty((len(columns), 0)))
    products, sizes = sums.batches()
    return Grams(tuple(columns), *place, products, sizes, lost)


class _Stream:
    """Sums of products of rows that come in stretches of any length, in batches that grow with the stream."""

    def __init__(self, size: int, count: int) -> None:
        self.count, self.width = count, ROWS
        self.closed: list[Floats] = []
        self.open, self.rows = np.zeros((size, size)), 0  # the batch that is not full yet

    def add(self, columns: Sequence[Floats], length: int, place: tuple[Floats, Floats]) -> None:
        """Adds a stretch of complete rows."""
        start = 0
        while start < length:
            end = min(start + self.width - self.rows, length)
            self.open += _product([values[start:end] for values in columns], end - start, *place)
            self.rows += end - start
            start = end
            if self.rows == self.width:
                self._close()

    def _close(self) -> None:
        self.closed.append(self.open)
        self.open, self.rows = np.zeros_like(self.open), 0
        if len(self.closed) == 2 * self.count:
            self.closed = _paired(self.closed)
            self.width *= 2

    def batches(self) -> tuple[Floats, Floats]:
        """Returns the batches and their rows; the last rows are a batch of their own if they are half of one."""
        products, sizes = list(self.closed), [self.width] * len(self.closed)
        if products and self.rows < self.width / 2:
            products[-1] = products[-1] + self.open
            sizes[-1] += self.rows
        elif self.rows:
            products.append(self.open)
            sizes.append(self.rows)
        return np.stack(products) if products else np.zeros((0, *self.open.shape)), np.array(sizes, float)


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
    return [one + other for one, other in zip(fine[::2], fine[1::2], strict=True)]


def block(sums: Floats, rows: Sequence[int], columns: Sequence[int]) -> Floats:
    """Returns these rows and columns of each matrix."""
    return np.asarray(sums[:, np.array(rows, int)[:, None], np.array(columns, int)], np.float64)


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
