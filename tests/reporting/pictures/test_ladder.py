"""The ladder of timescales: equal ratios are equal lengths, and a time of 0 is on no logarithmic scale."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from coherence.reporting.pictures.ladder import ladder

SVG = "{http://www.w3.org/2000/svg}"


def test_equal_ratios_are_equal_lengths() -> None:
    drawn = ladder(
        "x", {"a": [("period", 1.0, 1.0), ("hold", 10.0, 10.0), ("zero", 0.0, 0.0)], "b": [("every", 60.0, 600.0)]}
    )
    assert drawn is not None
    root = ET.fromstring(drawn.render())  # noqa: S314  (our own text)
    one, ten, most = (float(c.attrib["cx"]) for c in root.iter(f"{SVG}circle"))
    assert (most - one) / (ten - one) == pytest.approx(2.778, abs=0.01)  # the logarithm of 600


def test_without_a_time_there_is_no_ladder() -> None:
    assert ladder("x", {"a": [("zero", 0.0, 0.0)]}) is None
