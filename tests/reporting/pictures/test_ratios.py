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


def test_what_lies_beyond_the_axis_is_an_arrow_and_no_dot() -> None:
    drawn = ratios_drawing("x", [ChangeRatio("far", 1e-4, 0.0, 5e-4, ""), ChangeRatio("near", 0.5, 0.4, 0.6, "")])
    assert drawn is not None
    far, near = re.findall(r'<path d="([^"]*)" class="span"', drawn.render())
    assert drawn.render().count("<circle") == 1
    (left, _), *_ = re.findall(r"M([\d.]+) ([\d.]+)H", far)
    assert f"L{left} " in far
    assert f"M{float(left) + 6:.1f} " in far  # the arms of an arrow to the left
    assert re.findall(r"M([\d.]+) [\d.]+L([\d.]+) [\d.]+L([\d.]+) ", near) == [
        (x, x, x) for x in re.findall(r"L([\d.]+) [\d.]+L\1 ", near)
    ]  # caps


def test_what_became_nothing_is_not_drawn() -> None:
    assert ratios_drawing("x", [ChangeRatio("gone", 0.0, 0.0, 0.0, "")]) is None
    assert ratios_drawing("x", []) is None
