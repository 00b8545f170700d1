"""Defaults of parts that follow another value of the instance."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.design import Pause
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity


def pause(stated: str) -> object:
    call = f"{{uses: envoy_retry, from: a, to: b, retry_when: [unavailable]{stated}}}"
    return read_text(f"coherence: 1\ncalls: [{call}]\n").calls[0].pause


@pytest.mark.parametrize(
    ("stated", "low", "high"),
    [
        ("", "1/4", "1/4"),
        (", pause: {base: 100 ms}", "1", "1"),
        (", pause: {base: 0.5 s}", "5", "5"),
        (", pause: {base: 2e-3 s .. 10 ms}", "1/50", "1/10"),
        (", pause: {base: 100 ms, cap: 300 ms}", "3/10", "3/10"),
    ],
)
def test_the_longest_pause_of_envoy_is_ten_times_the_base_unless_stated(stated: str, low: str, high: str) -> None:
    made = pause(stated)
    assert isinstance(made, Pause)
    assert isinstance(made.cap, Quantity)
    assert (made.cap.low, made.cap.high) == (Fraction(low), Fraction(high))


def test_a_constant_pause_has_no_cap() -> None:
    assert isinstance(pause(", pause: 2 s"), Quantity)
