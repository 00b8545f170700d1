"""The fabrics of a design: which tiers hang together, how devices become members, and which rates are refused."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.minimums.design_floors import design_floors
from coherence.minimums.fabric.design_fabrics import devices_of, least, link_text, most, parts, places_of, unconnected
from coherence.minimums.registry import entry

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


PODS = """coherence: 1
components: {{spine: {{copies: 1{adds}}}}}
infrastructure:
  tiers:
    left: {{count: 4, link_bandwidth: 50 GB/s, message_size: 4 GB{port}}}
    right: {{count: 2, link_bandwidth: 50 GB/s, message_size: 4 GB{port}}}
  links:
    - {{ends: [left, spine], bandwidth: {uplink} GB/s, latency: 2 us .. 6 us{jitter}}}
    - {{ends: [right, spine], bandwidth: {uplink} GB/s, latency: 3 us}}
"""


def pods(*, adds: str = "", port: str = "", uplink: int = 10, jitter: str = "") -> Mapping[tuple[str, str], Fraction]:
    """The least values of a design of two pods, by bound and thing."""
    made = read_text(PODS.format(adds=adds, port=port, uplink=uplink, jitter=jitter))
    assert [one.why for one in design_floors(made) if one.floor is None and one.bound.group == "fabric"] == []
    floors = [(one, one.floor) for one in design_floors(made)]
    return {(each.bound.name, each.application.thing): Fraction(floor.low) for each, floor in floors if floor}


def one(found: Mapping[tuple[str, str], Fraction], bound: str, thing: str = "") -> Fraction:
    (value,) = [value for (name, about), value in found.items() if name == bound and about.endswith(thing)]
    return value


def test_a_reduce_scatter_of_a_design_wants_its_shares_over_the_uplinks() -> None:
    """4 of the 6 shares of 4 GB are wanted in the left pod, over 10 GB/s and two links of 2 us and 3 us.

    Inside a pod no link lies between the devices, so what is nearest has no latency.
    """
    assert one(pods(), "reduce_scatter_fabric") == Fraction(5, 10**6) + Fraction(4, 6) * 4 / 10
    assert one(pods(uplink=10**3), "reduce_scatter_fabric") == Fraction(5, 6) * 4 / 50


@pytest.mark.slow
def test_a_broadcast_of_a_design_goes_over_its_narrowest_cut_after_its_latency() -> None:
    found = pods()
    assert one(found, "broadcast_fabric", "one of left") == Fraction(5, 10**6) + Fraction(4, 10)
    assert one(found, "broadcast_fabric", "one of right") == Fraction(5, 10**6) + Fraction(4, 10)
    assert one(pods(uplink=10**3), "broadcast_fabric", "one of left") == Fraction(5, 10**6) + Fraction(4, 50)


def test_a_range_of_latencies_is_that_of_the_floor() -> None:
    made = read_text(PODS.format(adds="", port="", uplink=10, jitter=""))
    floors = [each.floor for each in design_floors(made) if each.bound.name == "broadcast_fabric"]
    assert {(floor.low, floor.high) for floor in floors if floor} == {
        (Fraction(400_005, 10**6), Fraction(400_009, 10**6))
    }


@pytest.mark.slow
def test_a_switch_that_adds_lowers_an_all_reduce() -> None:
    """Without it each pod is told 2 x 1/2 over its uplink; with it the pod's own sum comes over it once."""
    plain = one(pods(uplink=25), "all_reduce_fabric")
    adding = one(pods(uplink=25, adds=", adds: 1"), "all_reduce_fabric")
    assert adding == Fraction(5, 10**6) + Fraction(4, 25)
    assert plain >= adding
    both_ways = {side: one(pods(uplink=10**3, adds=text), "all_reduce_fabric") for side, text in
                 (("ends", ""), ("switch", ", adds: 1"))}  # fmt: skip
    assert both_ways["ends"] == 2 * Fraction(5, 6) * 4 / 50
    assert both_ways["switch"] < both_ways["ends"]


def test_a_port_of_its_own_is_a_second_attachment() -> None:
    """Each device has 50 GB/s inside its pod and 25 GB/s to the spine; the two on the right are told 4 shards there."""
    found = pods(port=", port_bandwidth: 25 GB/s", uplink=10**3)
    assert one(found, "all_gather_fabric") == Fraction(5, 10**6) + Fraction(4 * 4, 2 * 25)
    assert one(found, "all_gather", "left") == Fraction(3 * 4, 75)
    assert one(found, "tier_exit", "right") == 1 - Fraction(25, 75)


def test_clocks_are_as_far_apart_as_the_links_between_them_are_uncertain() -> None:
    """A latency of 2 us .. 6 us may always be 3 us; with a jitter of 4 us it is not."""
    assert one(pods(), "clock_skew_path") == 0
    assert one(pods(jitter=", jitter: 4 us"), "clock_skew_path") == Fraction(4, 10**6) / 2


CHAIN = """coherence: 1
components: {{a: {{copies: 1}}, b: {{copies: 1}}, c: {{copies: 1}}, d: {{copies: 1}}, e: {{copies: 1}}}}
infrastructure:
  links: [{{ends: [a, b], {key}: {first}}}, {{ends: [b, c], {key}: {second}}}{more}]
"""
JITTERS, RANGES = ("jitter", "2 ms", "1 ms"), ("latency", "1 ms .. 3 ms", "1 ms .. 2 ms")


@pytest.mark.parametrize(
    ("stated", "more", "low", "high"),
    [
        (JITTERS, "", 3, 3),  # 2 ms and 1 ms in a row
        (RANGES, "", 0, 3),
        (JITTERS, ", {ends: [a, c], jitter: 1 ms}", 2, 2),  # a to b is the worst: by c it is as uncertain
        (JITTERS, ", {ends: [a, c], latency: 5 ms}", 1, 1),  # b is 1 ms from both
        (JITTERS, ", {ends: [a, c]}", 1, 1),  # nothing is known of the link: it may be certain
        (JITTERS, ", {ends: [a, c], latency: 4 ms .. 9 ms}", 1, 1),  # surely 1 ms, as above
        (JITTERS, ", {ends: [d, e], jitter: 9 ms}", 3, 3),  # another part
    ],
)
def test_the_least_uncertain_way_between_two_clocks_counts(
    stated: tuple[str, str, str], more: str, low: int, high: int
) -> None:
    design = read_text(CHAIN.format(key=stated[0], first=stated[1], second=stated[2], more=more))
    floors = [each.floor for each in design_floors(design, [entry("clock_skew_path").bound]) if each.floor]
    assert floors[0].low == Fraction(low, 2000)
    assert floors[0].high >= Fraction(high, 2000)
    assert len(floors) == 1 + ("d, e" in more)
