"""A loop whose phase is open begins at once: from every value that its states have at the first sample of any phase."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.verify.promises.any_phase import begun_at_once
from coherence.verify.promises.decisions import condition_of, part_of

DESIGN = """coherence: 1
components:
  disk: {{state: "used' = {inflow} GB/s - cleaner.rate", from: {low} GB .. {high} GB}}
loops:
  cleaner:
    timescale: {{period: {period} s{phase}}}
    rules: [{{when: disk.used > 9 GB, to: 9 GB/s}}, {{when: disk.used < 3 GB, to: 0 GB/s}}]
    actuation: {{signal: cleaner.rate, bounds: [0 GB/s, 9 GB/s], from: 0 GB/s}}
promises: {{room: {promise}}}
"""
NUMBERS = {"inflow": 2, "period": 5, "low": 0, "high": 4, "phase": "", "promise": "always disk.used <= 24 GB"}


def begun(**numbers: object) -> Model | None:
    model = elaborate(read_text(DESIGN.format(**NUMBERS | numbers), "t.yaml"))
    part = part_of(model, model.promises["room"])
    condition = condition_of(part, part.promises["room"])
    return begun_at_once(part, condition, wanted=part.promises["room"].kind == "always")


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.integers(-3, 3), st.integers(1, 9), st.integers(0, 4), st.integers(0, 4), st.fractions(0, 1), st.fractions(0, 1)
)
def test_what_a_state_is_at_the_first_sample_is_where_it_begins(
    inflow: int, period: int, low: int, more: int, phase: Fraction, between: Fraction
) -> None:
    model = begun(inflow=inflow, period=period, low=low, high=low + more, promise="always disk.used <= 99 GB")
    assert model is not None
    (state,), (loop,) = model.states.values(), model.loops
    level = Fraction(low) + between * more + inflow * phase * period
    assert state.initial.clip(level * 10**9) == level * 10**9
    assert loop.phase == 0


@pytest.mark.parametrize(
    "numbers",
    [
        {"phase": ", phase: 0 s"},
        {"promise": "always disk.used <= 13 GB"},  # broken before the first sample
        {"promise": "never disk.used > 24 GB for 3 s"},
    ],
)
def test_nothing_is_begun_at_once_where_that_says_nothing_of_other_phases(numbers: dict[str, object]) -> None:
    assert begun(**numbers) is None
