"""A place and the component of its name are one thing."""

from __future__ import annotations

from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity


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
