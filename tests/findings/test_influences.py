"""What the entries of a design may change, value by value, and what a proof is about."""

from __future__ import annotations

import pytest

from coherence.findings.influences import influences
from coherence.findings.proof_words import words_of_entry
from coherence.language.reading import read_text

DESIGN = """coherence: 1
components:
  web: {runs_on: near, takes: {serve: 1 s, start: 5 s, end: 9 s}}
  db: {runs_on: far}
calls: [{from: web, to: db, deadline: 2 s}]
loops:
  up: {trigger: web.load > 3, actuation: {signal: web.desired, law: step, by: 1, bounds: [1, 9]}}
  tune: {trigger: web.load > 3, actuation: {signal: web.batch, law: step, by: 1, bounds: [1, 9]}}
  out: {trigger: web.load > 3, actuation: {evict: web}}
infrastructure:
  tiers: {near: {count: 1}, far: {count: 1}}
  links: [{ends: [near, far], latency: 1 ms, bandwidth: 10 Gbit/s}]
  boundaries:
    vm: {around: [near], added_delay: 1 s, gain: 100 %, capacity_fraction: 50 %, instances: 2}
    cell: {around: [vm], added_delay: 0 s .. 1 s}
"""


def kinds_on(word: str) -> dict[str, str]:
    """The paths of what may change something named by a word, and their kinds."""
    return {influence.path: influence.kind for influence in influences(read_text(DESIGN)).get(word, ())}


def test_each_value_of_a_boundary_is_an_influence_and_a_neutral_one_is_none() -> None:
    own = {path.removeprefix("boundaries."): kind for path, kind in kinds_on("near").items() if "boundaries" in path}
    inside = {"vm.added_delay": "time", "vm.capacity_fraction": "rate", "vm.instances": "room"}
    assert own == {**inside, "cell.added_delay": "time"}


def test_a_link_touches_what_is_about_both_of_its_ends() -> None:
    link = next(influence for influence in influences(read_text(DESIGN))["near"] if influence.section == "links")
    design = read_text(DESIGN)
    assert link.touches(words_of_entry(design, "web -> db"))
    assert not link.touches(words_of_entry(design, "up"))


@pytest.mark.parametrize(("loop", "times"), [("up", {"start"}), ("tune", set()), ("out", {"end"})])
def test_times_of_members_touch_whoever_chooses_how_many_there_are_or_evicts_one(loop: str, times: set[str]) -> None:
    design = read_text(DESIGN)
    words = words_of_entry(design, loop)
    touching = {i.key for word in words for i in influences(design).get(word, ()) if i.section == "components"}
    assert touching == {f"takes.{activity}" for activity in times}


@pytest.mark.parametrize(("inside", "touched"), [("none", True), ("vm", False), ("", True)])
def test_what_a_boundary_hides_touches_the_loops_that_read_it_from_the_other_side(inside: str, touched: bool) -> None:
    design = read_text(f"""coherence: 1
infrastructure: {{boundaries: {{vm: {{around: [web], hides: [web.load]}}}}}}
components: {{web: {{load: 3, heat: 4, size: 1}}}}
loops:
  a: {{{f"inside: {inside}, " if inside else ""}trigger: web.load > 3, actuation: {{signal: size, law: step, by: 1}}}}
  b: {{inside: none, trigger: web.heat > 3, actuation: {{signal: web.count, law: step, by: 1}}}}
""")
    blind = {word for word, own in influences(design).items() if any(i.key == "hides" for i in own)}
    assert blind == ({"a", "web.size"} if touched else set())
