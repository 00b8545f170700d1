"""The number up to which a limit lets through: the larger of its cap and of what the cap is never below."""

from __future__ import annotations

import pytest

from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.reading import read_text


@pytest.mark.parametrize(
    ("stated", "ends"),
    [
        ("at_most: 2 req", (2, 2)),
        ("at_most: 2 req, but_at_least: 10 req", (10, 10)),
        ("at_most: 12 req, but_at_least: 10 req", (12, 12)),
        ("at_most: 2 .. 12, but_at_least: 5 .. 9", (5, 12)),
        ("at_most: 2 * a.k, but_at_least: 5", (6, 6)),
        ("at_most: 2 * 4 req", (8, 8)),
        ("at_most: 2 req, but_at_least: a.moves", None),
        ("at_most: 20 % of a in flight", None),
        ("at_least: 3 req", None),
        ("at_most: unlimited", None),
    ],
)
def test_the_larger_number_is_allowed(stated: str, ends: tuple[int, int] | None) -> None:
    loop = "loops: {w: {timescale: {period: 1 s}, trigger: always, actuation: {signal: a.moves, by: 1}}}"
    limit = f"limits: {{l: {{counts: a in flight, {stated}}}}}"
    text = f"coherence: 1\ncomponents: {{a: {{k: 3, moves: 4}}}}\n{loop}\n{limit}\n"
    design = read_text(text, "d.yaml")
    most = most_allowed(design, design.limits["l"])
    assert (None if most is None else (int(most.low), int(most.high))) == ends
