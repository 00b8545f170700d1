"""Moments in options: seconds, ISO 8601, relative to now."""

from __future__ import annotations

import math
import time

import pytest

from coherence.base.errors import UsageError
from coherence.cli._moments import moment, window


def test_moments_are_seconds_iso_or_relative() -> None:
    assert moment("--from", "12.5") == 12.5
    assert moment("--from", "2024-05-01T12:00:00Z") == 1_714_564_800
    assert moment("--from", "2024-05-01T14:00:00+02:00") == 1_714_564_800
    assert moment("--from", "2024-05-01") == 1_714_521_600
    assert moment("--from", "now-1h") == pytest.approx(time.time() - 3600, abs=60)
    assert moment("--from", "-2d") == pytest.approx(time.time() - 172_800, abs=60)
    assert moment("--to", "now") == pytest.approx(time.time(), abs=60)


@pytest.mark.parametrize("text", ["", "soon", "1h", "nan", "inf", "now-", "2024-13-01"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        moment("--from", text)


def test_a_stretch_may_lack_an_end() -> None:
    assert window("--window", None) is None
    assert window("--window", "..5") == (-math.inf, 5.0)
    assert window("--window", "2024-05-01..2024-05-02") == (1_714_521_600, 1_714_608_000)
    for text in ("5", "5..5", "6..5"):
        with pytest.raises(UsageError, match="two times"):
            window("--window", text)
