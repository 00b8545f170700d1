"""The circle: shipped designs are not contradicted by the telemetry of their own runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench._causal_circle import circle, designs

# Those whose run and fit take about a second; `python -m bench._causal_circle 1 2 3 4 5` runs all.
SHORT = ("blind-autoscaler-repaired", "loss-attribution", "ordering-tiers", "wrong-sign-repaired")
REQUESTS = ("full-link-repaired", "retry-storm", "serving-hpc")  # calls within calls, over a link, and tried again


@pytest.mark.parametrize("design", SHORT)
def test_a_design_is_not_contradicted_by_what_its_run_shows(design: str) -> None:
    result = circle(design, 1)
    assert not result.refused
    assert result.messages == ()


@pytest.mark.slow
@pytest.mark.parametrize("design", REQUESTS)
def test_a_design_of_requests_is_not_contradicted_by_what_its_run_shows(design: str) -> None:
    assert circle(design, 2).messages == ()


def test_every_design_takes_part_and_what_does_not_run_says_why() -> None:
    folders = {path.parent.name for path in Path("specs").glob("*/design.yaml")}
    assert set(designs()) == folders
    assert "nothing happens" in circle("evict-place", 1).refused
