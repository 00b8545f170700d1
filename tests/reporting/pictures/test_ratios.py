"""Ratios after a change: equal factors are equal lengths, and figures that were or became 0 are on no such axis."""

from __future__ import annotations

import re

import pytest

from coherence.reporting.pictures.ratios import ChangeRatio, ratios_drawing


def test_equal_factors_are_equal_lengths_and_one_is_marked() -> None:
    rows = [
        ChangeRatio("less", 0.5, 0.4, 0.6, "2 → 1"),
        ChangeRatio("same", 1.0, 1.0, 1.0, ""),
        ChangeRatio("more", 2.0, 1.9, 2.1, ""),
    ]
    drawn = ratios_drawing("x", rows)
    assert drawn is not None
    text = drawn.render()
    less, same, more = (float(x) for x in re.findall(r'<circle cx="([\d.]+)"', text))
    assert same - less == pytest.approx(more - same, abs=0.02)
    assert f'<path d="M{same:.1f} 22V' in text
    assert ">2 → 1<" in text


def test_what_became_nothing_is_not_drawn() -> None:
    assert ratios_drawing("x", [ChangeRatio("gone", 0.0, 0.0, 0.0, "")]) is None
    assert ratios_drawing("x", []) is None
