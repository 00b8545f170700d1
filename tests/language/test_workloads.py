"""Workloads: their rate, how it varies, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload


def users(text: str) -> Workload:
    return read_text(f"coherence: 1\nworkload: {{users: {{{text}}}}}\n").workload["users"]


def test_a_rate_is_a_number_for_each_second() -> None:
    rate = users("rate: 600 req/min").rate
    assert isinstance(rate, Quantity)
    assert (rate.low, rate.high) == (Fraction(10), Fraction(10))


def test_a_burst_has_its_own_rate_and_length() -> None:
    burst = users("rate: 5 req/s, burst: {rate: 50 req/s, lasts: 2 min, every: 1 h}").burst
    assert burst is not None
    assert burst.lasts is not None
    assert burst.every is not None
    assert (burst.lasts.low, burst.every.low) == (Fraction(120), Fraction(3600))


@pytest.mark.parametrize(
    "text", ["burst: {lasts: 1 s}", "rate: 5 req/s, burst: {rate: 9 req/s, lasts: 1}", "rate: 5 req/s, switches: {}"]
)
def test_what_says_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        users(text)
