"""A bootstrap that was stopped goes on from its file, bit by bit; one with more draws takes what is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import Grams, grams
from coherence.causal.fitting.jobs import bootstrap
from coherence.causal.fitting.kept_draws import KeptDraws


def products(seed: int = 1) -> Grams:
    values = np.random.default_rng(seed).normal(0, 1, (1000, 2))
    return grams(Series(("x", "y"), values, 1.0), [("x", 0), ("y", 0)])


def strengths(sums: Floats) -> Floats:
    return np.asarray(sums[:, 1:3, 0] / sums[:, :1, 0], np.float64)


def drawn(count: int, file: Path | None = None, statistic: Callable[[Floats], Floats] = strengths) -> Floats:
    kept = None if file is None else KeptDraws(file, products(), ("slope",), 2)
    return bootstrap(products(), statistic, count=count, seed=2, store=kept)


def test_a_bootstrap_that_was_stopped_goes_on_and_gives_the_same(tmp_path: Path) -> None:
    file, left = tmp_path / "draws.jsonl", iter(range(3))

    def interrupted(sums: Floats) -> Floats:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return strengths(sums)

    with pytest.raises(KeyboardInterrupt):
        drawn(130, file, interrupted)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == 4, "a head, and three parts"
    file.write_text("".join([*lines[:3], lines[3][:99]]), encoding="utf-8")  # killed while it wrote
    np.testing.assert_array_equal(drawn(130, file), drawn(130))


def test_more_draws_take_those_that_are_there(tmp_path: Path) -> None:
    file, made = tmp_path / "draws.jsonl", list[int]()

    def counted(sums: Floats) -> Floats:
        made.append(len(sums))
        return strengths(sums)

    drawn(60, file)
    np.testing.assert_array_equal(drawn(100, file, counted), drawn(100))
    assert made == [25, 25], "the last part of 60 has ten draws, and is drawn again"


@pytest.mark.parametrize(
    "row", [{}, {"part": 0, "shape": [25, 2], "draws": [1.0]}, {"part": 0, "shape": [10**9], "draws": []}, {"shape": 3}]
)
def test_a_damaged_part_is_drawn_again(tmp_path: Path, row: dict[str, object]) -> None:
    file = tmp_path / "draws.jsonl"
    drawn(50, file)
    head, _, second = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([head, json.dumps(row), second, ""]), encoding="utf-8")
    np.testing.assert_array_equal(drawn(50, file), drawn(50))


@pytest.mark.parametrize(("seed", "of", "data"), [(3, "slope", 1), (2, "level", 1), (2, "slope", 2)])
def test_draws_of_something_else_are_refused(tmp_path: Path, seed: int, of: str, data: int) -> None:
    file = tmp_path / "draws.jsonl"
    drawn(25, file)
    with pytest.raises(UsageError, match="holds another bootstrap"):
        KeptDraws(file, products(data), (of,), seed)
