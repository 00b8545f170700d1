"""Keeps the draws of a bootstrap in a file, so that one that was stopped, or is to have more draws, goes on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coherence.base.kept_results import KeptResults
from coherence.base.version import VERSION
from coherence.causal.data.series import Floats
from coherence.causal.fitting.gram import Grams

MOST_NUMBERS = 10**8  # of one part in a file


class KeptDraws:
    """Parts of a bootstrap by their number.  `of`: what the statistic depends on beside the products, as text."""

    def __init__(self, file: Path, products: Grams, of: Iterable[object], seed: int) -> None:
        digest = hashlib.sha256(repr((products.columns, products.lost, *of)).encode())
        for table in (products.offset, products.scale, products.batches, products.rows):
            digest.update(np.ascontiguousarray(table).tobytes())
        head = {"coherence_fit_bootstrap": 1, "version": VERSION, "of_sha256": digest.hexdigest(), "seed": seed}
        self._file = KeptResults(file, head, "bootstrap")
        parts = (_from_row(row) for row in self._file.rows)
        self._parts = dict(filter(None, parts))

    def parts(self, sizes: Sequence[int]) -> dict[int, Floats]:
        """Returns the parts that are there and have as many draws as they are to have."""
        return {n: self._parts[n] for n, size in enumerate(sizes) if n in self._parts and len(self._parts[n]) == size}

    def add(self, number: int, draws: Floats) -> None:
        """Appends a part."""
        self._file.add({"part": number, "shape": draws.shape, "draws": draws.reshape(-1).tolist()})


def _from_row(row: Mapping[str, Any]) -> tuple[int, Floats] | None:
    """Returns a part from JSON; None where a line was damaged, and it is drawn again."""
    try:
        shape = tuple(int(size) for size in row["shape"])
        if not 0 < math.prod(shape) <= MOST_NUMBERS or len(row["draws"]) != math.prod(shape):
            return None
        return int(row["part"]), np.array(row["draws"], dtype=np.float64).reshape(shape)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
