"""The section on energy: a swing of known amplitude and period is found, and power that settles has none."""

from __future__ import annotations

import math
import re

from coherence.assessment.sections import energy
from tests.assessment.run_assessments import assessed, curve, rendered


def test_a_swing_of_known_amplitude_and_period_is_found() -> None:
    power = [(k / 10, 500 + 40 * math.sin(2 * math.pi * k / 10 / 5)) for k in range(1001)]
    row = rendered(energy.section(assessed([curve("rack.power", "signal", power, "W")]))).split("<tr>")[2]
    period, amplitude = (float(number) for number in re.findall(r">([\d.]+) (?:s|W)<", row))
    assert math.isclose(period, 5.0, rel_tol=0.02)
    assert math.isclose(amplitude, 40.0, rel_tol=0.05)


def test_power_that_settles_has_no_resonance() -> None:
    settled = [(0.0, 100.0), (10.0, 300.0), (100.0, 300.0)]
    text = rendered(energy.section(assessed([curve("rack.power", "signal", settled, "W")])))
    assert "no signal in watts moves in the second half" in text
    assert "in watts" in rendered(energy.section(assessed()))
