"""What a design implies: answers to its probes, and what its places have."""

from __future__ import annotations

import pytest

from coherence.language.implied import is_answered_by_default
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity


@pytest.mark.parametrize(
    ("timers", "answer"),
    [
        ("live: {from: web starts, every: 10 s, misses: 3, then: restart web}", "web.load ends"),
        ("live: {from: web starts, every: 10 s, misses: 3, unless: web.pull ends, then: restart web}", "web.pull ends"),
        ("live: {from: web starts, every: 10 s, then: restart web}", ""),  # not a probe: it counts no misses
        ("live: {from: web hangs, every: 10 s, misses: 3, then: restart web}", ""),
        ("live: {from: web.load starts, every: 10 s, misses: 3, then: restart web}", "web.load ends"),
        ("live: {from: web.pull starts, every: 10 s, misses: 3, then: restart web}", "web.load ends"),
        ("live: {from: web.load ends, every: 10 s, misses: 3, then: restart web}", ""),
        ("live: {from: other starts, every: 10 s, misses: 3, then: restart other}", ""),
        (
            (
                "live: {from: web starts, every: 10 s, misses: 3, then: restart web}, "
                "first: {uses: startup_probe, from: web starts, then: restart web}"
            ),
            "",
        ),
    ],
)
def test_a_probe_that_counts_from_a_start_is_answered_at_its_end(timers: str, answer: str) -> None:
    design = read_text(
        f"coherence: 1\ncomponents: {{web: {{takes: {{pull: 5 s, load: 9 s}}}}}}\ntimers: {{{timers}}}\n"
    )
    unless = design.timers["live"].unless
    assert (unless.text if unless is not None else "") == answer
    assert is_answered_by_default(design.timers["live"]) == (answer == "web.load ends")


def test_a_place_has_what_its_component_states_and_somebody_needs() -> None:
    design = read_text(
        "coherence: 1\n"
        "components: {web: {copies: 2, needs: {cpu: 4}}, n1: {cpu: 32, disk: 7}, n2: {cpu: 32}, n3: {copies: 1}}\n"
        "places: {n1: {zone: a}, n2: {zone: b, cpu: 8}, n3: {zone: c}}\n"
        "placement: {web: [spread by zone <= 1]}\n"
    )
    have = {
        name: {k: v.low for k, v in place.items() if isinstance(v, Quantity)} for name, place in design.places.items()
    }
    assert have == {"n1": {"cpu": 32}, "n2": {"cpu": 8}, "n3": {}}


def test_a_design_without_needs_stays_as_it_is() -> None:
    design = read_text("coherence: 1\ncomponents: {web: {copies: 2}, n1: {cpu: 32}}\nplaces: {n1: {zone: a}}\n")
    assert set(design.places["n1"]) == {"zone"}
