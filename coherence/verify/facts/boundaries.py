"""Reads what the boundaries around things do to commands and to how many members there can be.

A command that crosses a boundary takes effect `gain` times, later; whether it crosses one is not said, so that both are
possible.  `instances` is how many slices there are of each device, `quota` how many devices of a kind can be had.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.schema_kinds import Quantity
from coherence.language.shared_rates import around
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import Values, hull, with_ranges


@dataclass(frozen=True)
class BoundedRoom:
    """How much there can be behind a boundary: members at its slices, or devices within its quota."""

    boundary: str
    text: str
    members: bool
    most: Fraction
    place: Place


def effects(facts: DesignFacts, paths: tuple[str, ...]) -> Values:
    """Returns the facts, with what holds for what loops write wherever they run: inside or outside of boundaries."""
    behind = {path: _effect(facts, path) for path in paths if path in facts.written and path in facts.values}
    return with_ranges(facts.values, {path: effect for path, effect in behind.items() if effect is not None})


def _effect(facts: DesignFacts, path: str) -> Interval | None:
    command, gains = facts.values[path], [Fraction(1)]
    for boundary in around(facts.design, path.partition(".")[0]):
        gain = boundary.constants.get("gain")
        if isinstance(gain, Quantity):
            gains += [known * end for known in gains for end in (gain.low, gain.high)]
    if len(gains) == 1 or command.low is None or command.high is None:
        return None if len(gains) == 1 else Interval(None, None)
    return hull(Interval(end * gain, end * gain) for gain in set(gains) for end in (command.low, command.high))


def rooms(facts: DesignFacts, tier: str) -> Iterator[BoundedRoom]:
    """Yields how much there can be of a tier behind each boundary around it."""
    count = facts.values[f"{tier}.count"].low or Fraction(0)
    for boundary in around(facts.design, tier):
        slices, quota = boundary.constants.get("instances"), boundary.constants.get("quota")
        if isinstance(slices, Quantity):
            text = f"{slices} of each of {count} {tier}"
            yield BoundedRoom(boundary.name, text, members=True, most=slices.low * count, place=slices.place)
        if isinstance(quota, Quantity):
            yield BoundedRoom(boundary.name, f"{quota} of {tier}", members=False, most=quota.low, place=quota.place)
