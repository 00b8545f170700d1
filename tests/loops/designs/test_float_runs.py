"""Swings measured on runs in floats whose course is known."""

from __future__ import annotations

import math

import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.float_runs import FloatRun, float_run
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices


def run_of(rate: float, damping: float) -> FloatRun:
    """Returns the run of x'' = -x - 2 damping x' from (1, 0)."""
    text = f"""
coherence: 1
components:
  a: {{state: "x' = b.x / 1 s", from: 1}}
  b: {{state: "x' = (0 - a.x - {2 * damping} * b.x) / 1 s", from: 0}}
"""
    model = elaborate(read_text(text, "design.yaml"))
    return float_run(model, Choices(), ["a.x", "b.x"], period=math.tau, rate=rate, check=bool)


def test_a_swing_without_damping_goes_on_with_its_ends() -> None:
    run = run_of(0.0, 0.0)
    assert run.verdict == "swings"
    assert run.ranges["a.x"] == pytest.approx((-1, 1), rel=5e-3)


def test_a_damped_swing_comes_to_rest() -> None:
    assert run_of(-0.05, 0.05).verdict == "rests"


def test_a_run_of_what_grows_fast_is_short() -> None:
    assert run_of(0.5, -0.5).seconds == pytest.approx(12 * math.tau, rel=1e-4)
    assert run_of(0.0, 0.0).seconds == pytest.approx(15 * math.tau, rel=1e-4)
