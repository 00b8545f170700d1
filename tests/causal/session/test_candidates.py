"""What an expression reads: each name with its delays and the sign of its influence."""

from __future__ import annotations

import pytest

from coherence.causal.session.candidates import reads
from coherence.language.expressions import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("web.load", [(0, 0, 1)]),
        ("web.load - delayed(web.load, 5 s)", [(0, 0, 1), (5, 5, -1)]),
        ("mean_over(web.load, 5 s) + delayed(web.load, 5 s)", [(0, 5, 1)]),  # a window that ends where the delay is
        ("mean_over(web.load, 5 s) + delayed(web.load, 6 s)", [(0, 5, 1), (6, 6, 1)]),
        ("web.load - web.load", [(0, 0, 0)]),  # either sign
        ("-2 * delayed(web.load, 3 s)", [(3, 3, -1)]),
        ("delayed(mean_over(web.load, 5 s), 2 s)", [(2, 7, 1)]),
    ],
)
def test_delays_that_meet_are_one_range_and_others_stand_alone(text: str, expected: list[tuple[int, int, int]]) -> None:
    looked = reads(parse(text), set())
    assert {read.path for read in looked} == {"web.load"}
    assert [(int(read.low), int(read.high), read.sign) for read in looked] == expected
