"""The infrastructure of a design: tiers, links and boundaries with their keys."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.language.infrastructure import Boundary, Tier
from coherence.language.reading import read_text

TEXT = """\
coherence: 1
infrastructure:
  tiers:
    pod: {count: 8, bandwidth: 300 GB/s}
  links:
    - {ends: [pod, store], count: 2}
  boundaries:
    tenant: {kind: virtualization, around: [pod]}
"""


def test_tiers_links_and_boundaries_are_read_with_their_numbers() -> None:
    design = read_text(TEXT, "d.yaml")
    assert design.infrastructure is not None
    tier, boundary = design.tiers["pod"], design.boundaries["tenant"]
    assert isinstance(tier, Tier)
    assert isinstance(boundary, Boundary)
    assert tier.count is not None
    assert tier.count.low == 8
    assert str(tier.constants["bandwidth"]) == "300 GB/s"
    assert [word.text for word in boundary.around] == ["pod"]
    (link,) = design.infrastructure.links
    assert [end.text for end in link.ends] == ["pod", "store"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ends: [pod, store], ", "", "the key 'ends' is missing"),
        ("virtualization", "wall", "'wall' is not one of virtualization, environment"),
        ("[pod]}", "[pod], hides: pot.power}", "'pot.power' is no signal that a boundary hides"),
        ("count: 8", "count: -8", "'-8' is below 0"),
    ],
)
def test_a_wrong_key_is_refused_with_its_line(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_text(TEXT.replace(old, new), "d.yaml")
    (problem,) = error.value.problems
    assert problem.message == message
    assert TEXT.split("\n")[problem.place.line - 1].count(old.strip(", ")) == 1


def test_a_design_without_infrastructure_has_no_tiers() -> None:
    design = read_text("coherence: 1\n", "d.yaml")
    assert design.tiers == {}
    assert design.boundaries == {}


def test_a_host_without_its_tier_is_one_problem() -> None:
    with pytest.raises(InputError) as error:
        read_text("coherence: 1\ncomponents: {pool: {runs_on: {devices: 1}}}\n", "d.yaml")
    assert [problem.message for problem in error.value.problems] == ["the key 'tier' is missing"]
