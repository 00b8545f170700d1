"""What holds of a plant whatever its loops command holds under commands that are chosen to break it."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from coherence.base.clock import now
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.promises.contracts import within_bounds
from coherence.verify.promises.decisions import condition_of, part_of
from tests.draws import seeds

DESIGN = """coherence: 1
components:
  tank: {{state: "level' = {keep} * level + {gain} * pump.rate", step: 2 s, from: {start}}}
  pump: {{note: what the loop writes}}
loops:
  fill:
    timescale: {{period: {period} s}}
    rules: [{{when: level < 3, by: 2}}, {{when: level >= 3, by: -1}}]
    actuation: {{signal: pump.rate, bounds: [{low}, {high}], from: {low}}}
promises: {{room: always level <= {most}}}
"""


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_no_command_within_bounds_breaks_what_is_proved(seed: int) -> None:
    draw = Random(seed)  # noqa: S311
    proved = 0
    for _ in range(6):
        keep, gain = Fraction(draw.randint(-9, 9), 10), Fraction(draw.randint(-6, 6), 2)
        low = draw.randint(0, 3)
        high, start, most = low + draw.randint(1, 4), draw.randint(0, 5), draw.randint(4, 30)
        text = DESIGN.format(
            keep=float(keep), gain=float(gain), start=start, period=draw.randint(1, 5), low=low, high=high, most=most
        )
        model = elaborate(read_text(text))
        promise = model.promises["room"]
        part = part_of(model, promise)
        held = within_bounds(part, condition_of(part, promise), wanted=True, deadline=now() + 4)
        worst = _worst(keep, gain, start, (low, high))
        proved += held is not None
        assert held is None or worst <= most, text
        assert held is not None or worst >= most - Fraction(most, 10), text
    assert proved


def _worst(keep: Fraction, gain: Fraction, start: int, ends: tuple[int, int]) -> Fraction:
    """Returns the highest level in 60 steps: each command chosen for the level or against it, each first time round."""
    worst = Fraction(start)
    for steps in range(1, 60):
        level = Fraction(start)
        for step in range(steps):  # the effect of a command at the end: keep ** (steps - 1 - step) * gain
            effect = keep ** (steps - 1 - step) * gain
            level = keep * level + gain * max(ends, key=lambda end: effect * end)
        worst = max(worst, level)
    return worst


def test_what_is_said_of_commands_or_has_no_bounds_is_not_taken() -> None:
    text = DESIGN.format(keep=0.5, gain=1, start=0, period=3, low=0, high=4, most=9)
    for other in (text.replace("always level <= 9", "always pump.rate <= 9"), text.replace("bounds: [0, 4], ", "")):
        model = elaborate(read_text(other))
        promise = model.promises["room"]
        part = part_of(model, promise)
        assert within_bounds(part, condition_of(part, promise), wanted=True, deadline=now() + 4) is None
