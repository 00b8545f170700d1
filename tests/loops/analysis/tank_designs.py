"""A tank whose valve is set from its level, late: the designs of tests of delay margins."""

from __future__ import annotations

from fractions import Fraction

TANK = """
coherence: 1
components:
  tank: {{state: "level' = (1 - 0.5 * valve.open - {leak} * (tank.level - 5)) / 1 s", from: {start}}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: 0 s, lands: {lands:.12f} s}}
    trigger: always
    actuation:
      signal: valve.open
      law: {law}
      {key}: "{rest} + {gain} * ({read} - 5)"
      bounds: [-100, 100.5]
      from: 2
"""


def tank(
    read: str, gain: str, *, law: str = "set", lands: Fraction = Fraction(0), leak: str = "0.05", start: int = 5
) -> str:
    """Returns the text of the design: what the loop reads of the level, its gain, and the delay of its commands."""
    key, rest = ("to", "2") if law == "set" else ("by", "0")
    return TANK.format(law=law, key=key, rest=rest, read=read, gain=gain, lands=float(lands), leak=leak, start=start)
