"""The registry of lower bounds: how many, how many proved and attained, and how long proving all of them takes."""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.harness import Row
from coherence.minimums.bound import Bound
from coherence.minimums.floors import at
from coherence.minimums.registry import bounds


def rows() -> Iterator[Row]:
    """All rows of this part."""
    every = bounds()
    yield Row("bounds in the registry", len(every), ">= 45", "bounds")
    start = time.process_time()
    checked = {bound.name: [proof.run().holds for proof in bound.proofs] for bound in every if bound.proofs}
    spent = time.process_time() - start
    failed = [name for name, holds in checked.items() if not all(holds)]
    yield Row("bounds proved by machine", len(checked) - len(failed), ">= 25", "bounds", f"{len(failed)} proofs fail")
    yield Row("proving the whole registry again", spent, "<= 60", "s of processor time")
    gaps = {bound.name: largest_gap(bound) for bound in every if bound.witness is not None}
    attained = [name for name, gap in gaps.items() if gap <= 1 + 1e-6]
    worst = max(gaps.items(), key=lambda one: one[1])
    yield Row(
        "bounds that an executed witness attains",
        len(attained),
        ">= 15",
        "bounds",
        f"largest gap {worst[1]:.4f} of {worst[0]}",
    )
    broken = [bound.name for bound in every if any(_off(bound, k) for k in range(len(bound.examples)))]
    yield Row(
        "bounds off their known values", len(broken), "== 0", "bounds", "published values and independent methods"
    )


def largest_gap(bound: Bound) -> float:
    """The witness over the bound at its examples; below one it would beat it."""
    assert bound.witness is not None
    ratios = [
        float(bound.witness.attained(example.inputs)) / float(at(bound, example.inputs))
        for example in bound.examples
        if at(bound, example.inputs)
    ]
    return max((max(ratio, 1 / ratio) if ratio < 1 - 1e-6 else ratio for ratio in ratios), default=1.0)


def _off(bound: Bound, index: int) -> bool:
    example = bound.examples[index]
    return abs(float(at(bound, example.inputs)) - example.value) > max(example.rtol, 1e-12) * abs(example.value)
