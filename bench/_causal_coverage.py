"""Coverage of 95 % intervals of a declared influence, by kind of signal, rows and true effect.

`python -m bench._causal_coverage SEEDS [KIND...]` prints every cell; `rows` measures fewer seeds of each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bench.harness import Row
from coherence.causal.data.series import Floats, Series
from coherence.causal.session.context import Context, FitSettings
from coherence.language.reading import read_text

DESIGN = read_text("coherence: 1\ncomponents: {job: {loss: src.a * k, k: -100 .. 100}}\n", "coverage.yaml")
ROWS, EFFECTS, SEEDS = (100, 500, 2_000), (0.0, 2.0), 40
WORST = 8  # of 40 seeds: more come once in 4,000 cells
DAY_OF_ROWS = 288  # rows of five minutes
Pair = tuple[Floats, Floats]


def remembering(rng: np.random.Generator, rows: int, memory: float) -> Floats:
    """A signal with this autocorrelation from a stationary start; at 1 a random walk."""
    from scipy.signal import lfilter

    if memory == 1:
        return np.asarray(rng.normal(size=rows).cumsum(), np.float64)
    return np.asarray(lfilter([1.0], [1.0, -memory], rng.normal(size=rows + 500))[500:], np.float64)


def _both(memory: float) -> Callable[[np.random.Generator, int], Pair]:
    return lambda rng, rows: (remembering(rng, rows, memory), remembering(rng, rows, memory))


def _with(shape: Callable[[int], Floats], size: float) -> Callable[[np.random.Generator, int], Pair]:
    def drawn(rng: np.random.Generator, rows: int) -> Pair:
        return shape(rows) + rng.normal(size=rows), size * shape(rows) + rng.normal(size=rows)

    return drawn


def _day(rows: int) -> Floats:
    return np.asarray(3 * np.sin(2 * np.pi * np.arange(rows) / DAY_OF_ROWS), np.float64)


def _varying(rng: np.random.Generator, rows: int) -> Pair:
    cause = 3 + rng.normal(size=rows)
    return cause, np.abs(cause) * rng.normal(size=rows)


KINDS: Mapping[str, Callable[[np.random.Generator, int], Pair]] = {
    "independent": _both(0.0), "AR .6": _both(0.6), "AR .95": _both(0.95), "AR .99": _both(0.99),
    "random walks": _both(1.0),
    "slow cause": lambda rng, rows: (remembering(rng, rows, 0.95), rng.normal(size=rows)),
    "trend": _with(lambda rows: np.linspace(0, 30, rows), 1.0), "day": _with(_day, 5.0),
    "heavy tails": lambda rng, rows: (rng.standard_t(2, rows), rng.standard_t(2, rows)),
    "changing variance": _varying,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """What the intervals of one kind did: how many were told, missed the truth, excluded 0, and their median width."""

    told: int
    missed: int
    excluding: int
    width: float


def cell(kind: str, rows: int, effect: float, seeds: int) -> Cell:
    """Fits `seeds` records of a kind whose truth is known."""
    missed = excluding = 0
    widths: list[float] = []
    for seed in range(seeds):
        cause, noise = KINDS[kind](np.random.default_rng([seed, rows]), rows)
        step = 300.0 if kind == "day" else 15.0
        series = Series(("src.a", "job.loss"), np.column_stack([cause, effect * cause + noise]), step)
        node = Context(DESIGN, series, FitSettings(loss="job.loss")).fitted.nodes["job.loss"]
        if node.equation.lost:
            continue
        low, high = float(node.low[0]), float(node.high[0])
        widths.append(high - low)
        missed += not low <= effect <= high
        excluding += not low <= 0 <= high
    return Cell(len(widths), missed, excluding, float(np.median(widths)) if widths else float("nan"))


def carried(kind: str, rows: int) -> bool:
    """Decides whether a record can carry the kind: a day wants two of it."""
    return kind != "day" or rows >= 2 * DAY_OF_ROWS


def rows() -> Iterator[Row]:
    """Misses pooled over all cells and in the worst one, and how many records were refused."""
    cells = [
        cell(kind, count, effect, SEEDS)
        for kind in KINDS
        for count in ROWS
        for effect in EFFECTS
        if carried(kind, count)
    ]
    told = sum(one.told for one in cells)
    pooled = 100 * sum(one.missed for one in cells) / told
    yield Row("95 % intervals of influences that miss, pooled", pooled, "<= 6", "%", f"{len(cells)} cells")
    yield Row("the same, at least", pooled, ">= 4", "%", f"{len(cells)} cells")
    worst = max(100 * one.missed / one.told for one in cells)
    yield Row("the same, worst cell", worst, f"<= {100 * WORST / SEEDS:g}", "%", f"{SEEDS} seeds")
    yield Row("records refused", 100 * (1 - told / (SEEDS * len(cells))), "<= 5", "%")


def main() -> None:
    """Prints every cell."""
    seeds = int(sys.argv[1])
    for kind in sys.argv[2:] or KINDS:
        for count in ROWS:
            for effect in EFFECTS:
                found = cell(kind, count, effect, seeds)
                print(
                    f"{kind:18} {count:6} rows, effect {effect:g}: {found.missed} of {found.told} miss, "
                    f"{found.excluding} exclude 0, width {found.width:.4f}", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
