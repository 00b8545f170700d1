"""Shares of devices behind boundaries: what the language takes as one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from coherence.language.shared_rates import SHARES

TEXT = """\
coherence: 1
components: {engine: {blocks: 360 block, rate_per_replica: 8 req/s}}
infrastructure: {boundaries: {slices: {around: [engine], SHARE}}}
"""


@pytest.mark.parametrize("key", SHARES)
@pytest.mark.parametrize(
    "value", ["200 %", "5 GB", "3 s", "10 block", "-1", "0", "0 % .. 50 %", "50 % .. 101 %", "2/1", "half", "unlimited"]
)
def test_what_is_no_share_is_refused_at_its_line(key: str, value: str) -> None:
    with pytest.raises(InputError) as refused:
        read_text(TEXT.replace("SHARE", f"{key}: {value}"), "d.yaml")
    (problem,) = refused.value.problems
    assert problem.message == f"'{value}' is no share of a device: {key}"
    assert problem.remedy.startswith("write a share above 0 and of at most 1")
    assert problem.place.line == 3


@pytest.mark.parametrize(("value", "blocks"), [("1/8", 45), ("12.5 %", 45), ("0.5", 180), ("100 %", 360), ("1", 360)])
def test_a_share_scales_the_blocks(value: str, blocks: int) -> None:
    design = read_text(TEXT.replace("SHARE", f"memory_fraction: {value}"), "d.yaml")
    scaled = design.components["engine"].constants["blocks"]
    assert isinstance(scaled, Quantity)
    assert scaled.low == scaled.high == blocks


def test_a_range_of_shares_scales_both_ends() -> None:
    design = read_text(TEXT.replace("SHARE", "capacity_fraction: 1/8, memory_fraction: 10 % .. 50 %"), "d.yaml")
    rate, blocks = (design.components["engine"].constants[key] for key in ("rate_per_replica", "blocks"))
    assert isinstance(rate, Quantity)
    assert isinstance(blocks, Quantity)
    assert rate.low == rate.high == Fraction(1)
    assert [blocks.low, blocks.high] == [Fraction(36), Fraction(180)]
