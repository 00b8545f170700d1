"""The fabrics of a design: which tiers hang together, how devices become members, and which rates are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.minimums.fabric.design_fabrics import (
    devices_of,
    least,
    link_text,
    most,
    parts,
    places_of,
    unconnected,
)

TIERS = "a: {count: 4, link_bandwidth: 10 GB/s}, b: {count: 1, link_bandwidth: 20 GB/s}, c: {count: 2 .. 3}"
LINK = "{ends: [a, b], bandwidth: 5 GB/s .. 6 GB/s, count: 2}"


def design(tiers: str = TIERS, links: str = LINK) -> Design:
    return read_text(f"coherence: 1\ninfrastructure:\n  tiers: {{{tiers}}}\n  links: [{links}]\n", "f.yaml")


def test_tiers_that_a_link_joins_are_one_part() -> None:
    joined, alone = parts(design())
    assert (joined.name, alone.name) == ("a, b", "c")
    assert (joined.devices, alone.devices) == (5, 2)
    assert not joined.missing
    assert "joins a (f.yaml" in unconnected((joined, alone))
    assert len(parts(design(links=f"{LINK}, {{ends: [b, c], bandwidth: 1 GB/s}}"))) == 1


def test_one_device_stands_beside_the_rest_of_its_tier() -> None:
    tiers = design().tiers
    assert devices_of(tiers["a"]) == {"one a": 1, "the other a": 3}
    assert devices_of(tiers["b"]) == {"b": 1}
    assert (devices_of(tiers["c"]), devices_of(tiers["c"], high=True)) == ({"c": 2}, {"c": 3})


@pytest.mark.parametrize(("end", "rate"), [(least, 10), (most, 12)])
def test_parallel_links_add_up_at_either_end_of_the_range(end: object, rate: int) -> None:
    fabric = parts(design())[0].fabric(end)  # type: ignore[arg-type]
    rates = {wire.rate for wire in fabric.wires if "2 x 5 GB/s .. 6 GB/s between a and b" in str(wire.place)}
    rates |= {w.rate for w in fabric.wires if w.place is not None and "between a and b" in w.place.label}
    assert rates == {Fraction(rate) * 10**9}
    assert len(places_of(fabric.wires, "passes")) == len({w.place for w in fabric.wires if w.place is not None})


def test_a_link_is_named_by_its_ends() -> None:
    infrastructure = design(links="{ends: [a, b, c], bandwidth: 1 GB/s}").infrastructure
    assert infrastructure is not None
    assert link_text(infrastructure.links[0]) == "a and b and c"


@pytest.mark.parametrize(
    ("tiers", "links", "words"),
    [
        (TIERS, "{ends: [a, b], bandwidth: 0 GB/s}", "nothing over it ever arrives"),
        (TIERS, "{ends: [a, b], bandwidth: 5 s}", "bytes per second expected"),
        (TIERS, "{ends: [a, b], bandwidth: 1 GB/s, count: 0 .. 2}", "the count of link a and b can be 0"),
        ("a: {count: 1, link_bandwidth: 3 req/s}", "", "link_bandwidth of a is 3 req/s"),
    ],
)
def test_rates_that_are_none_are_refused(tiers: str, links: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parts(design(tiers, links))


def test_what_a_part_needs_is_named() -> None:
    (part,) = parts(design("a: {link_bandwidth: 10 GB/s}, b: {count: 0 .. 2}", "{ends: [a, b]}"))
    assert [text.split(" (")[0] for text in part.missing] == [
        "count of tier a", "a count of tier b that is never 0", "bandwidth of link a and b",
    ]  # fmt: skip
