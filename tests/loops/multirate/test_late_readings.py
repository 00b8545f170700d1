"""Delays that are put into readings."""

from __future__ import annotations

from fractions import Fraction

from coherence.loops.multirate.late_readings import read_late
from coherence.loops.networks.network import Coupling


def test_each_source_that_is_read_late_passes_one_delay() -> None:
    couplings = [Coupling("a", "law", 2.0), Coupling("a", "law", 3.0), Coupling("b", "law"), Coupling("a", "other")]
    blocks, joined = read_late(couplings, lambda coupling: coupling.target == "law", Fraction(1, 3))
    assert [block.name for block in blocks] == ["later 1", "later 2"]
    assert all(Fraction(block.delay) == Fraction(1, 3) and not block.order for block in blocks)
    assert joined == [
        Coupling("later 1", "law", 2.0), Coupling("later 1", "law", 3.0), Coupling("later 2", "law"),
        Coupling("a", "other"), Coupling("a", "later 1"), Coupling("b", "later 2"),
    ]  # fmt: skip
