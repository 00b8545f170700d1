"""What boundaries do to commands and to how many members there can be."""

from __future__ import annotations

from fractions import Fraction

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.language.shared_rates import around
from coherence.model.model import Interval
from coherence.verify.facts.boundaries import effects, rooms
from coherence.verify.facts.design_facts import DesignFacts, known

DESIGN = """coherence: 1
components: {pool: {runs_on: h100}, lone: {size: 3}}
loops:
  scale: {trigger: q.length > 3, actuation: {signal: pool.desired, law: step, by: 1, bounds: [2, 8]}}
infrastructure:
  tiers: {h100: {count: 4}}
  boundaries:
    vm: {around: [h100], gain: 50 % .. 150 %, instances: 7}
    cloud: {around: [vm], gain: 50 %, quota: 3}
"""


def facts() -> DesignFacts:
    return known(Subject(read_text(DESIGN, "d"), {"d": DESIGN}))


def test_a_thing_is_inside_the_boundaries_around_it_its_tier_and_those() -> None:
    design = read_text(DESIGN)
    assert [boundary.name for boundary in around(design, "pool")] == ["vm", "cloud"]
    assert around(design, "lone") == ()


def test_a_command_takes_effect_as_it_is_or_by_any_gain_on_its_way() -> None:
    values = effects(facts(), ("pool.desired", "lone.size"))
    assert values["pool.desired"] == Interval(Fraction(1, 2), Fraction(12))
    assert values["lone.size"] == Interval(Fraction(3), Fraction(3))


def test_slices_have_room_for_members_and_a_quota_for_devices() -> None:
    room = {(r.boundary, r.members): r.most for r in rooms(facts(), "h100")}
    assert room == {("vm", True): 28, ("cloud", False): 3}
