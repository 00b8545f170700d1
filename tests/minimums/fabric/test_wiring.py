"""Fabrics: the exact minimum against every cut, trees and routes that attain it, symmetry, designs, bad input."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base import solver
from coherence.base.errors import InputError, UsageError
from coherence.base.places import Place
from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.minimums.bound import Bound
from coherence.minimums.design_floors import DesignFloor, design_floors
from coherence.minimums.fabric import concurrent_flow, max_flow, step_schedules
from coherence.minimums.fabric.cuts import all_gather, broadcast, capacity, cut_of, every_cut
from coherence.minimums.fabric.symmetry import representatives
from coherence.minimums.fabric.trees import Tree, executed, trees
from coherence.minimums.fabric.wiring import Fabric, Wire, both, dgx1, fabric, leaf_spine, ring, torus, turned
from coherence.minimums.floors import at
from coherence.minimums.registry import entry

LAW = settings(max_examples=40, deadline=None)


@st.composite
def fabrics(draw: st.DrawFn, *, members: int = 4, switches: int = 2, alike: bool = False) -> Fabric:
    """Connected; rates are fractions and the same both ways."""
    n, extra = draw(st.integers(2, members)), draw(st.integers(0, switches))
    names = [f"m{k}" for k in range(n)] + [f"s{k}" for k in range(extra)]
    rates = st.sampled_from([Fraction(1), Fraction(2)]) if alike else st.fractions(Fraction(1, 3), 6, max_denominator=3)
    wires: list[Wire] = []
    for k in range(1, len(names)):
        wires += both(names[k], names[draw(st.integers(0, k - 1))], draw(rates))
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda pair: pair[0] != pair[1])
    for one, other in draw(st.lists(pairs, max_size=4)):
        wires += both(one, other, draw(rates))
    shares = {name: 1 if alike else draw(st.integers(1, 3)) for name in names[:n]}
    return fabric(shares, wires)


@pytest.mark.slow
@LAW
@given(fabrics())
def test_the_minimum_is_the_worst_of_all_cuts_and_the_cut_adds_up(made: Fabric) -> None:
    cut = all_gather(made)
    assert cut.time == max(one.time for one in every_cut(made))
    assert cut.holds(made)
    assert cut_of(made, cut.inside) == cut


@pytest.mark.slow
@LAW
@given(fabrics())
def test_trees_attain_the_minimum_and_no_executed_trees_beat_it(made: Fabric) -> None:
    assert executed(made, trees(made)) == all_gather(made).time


@pytest.mark.slow
@LAW
@given(fabrics(alike=True), st.data())
def test_wires_of_one_way_are_met_exactly_too(made: Fabric, data: st.DataObject) -> None:
    """A circle keeps all connected; further wires go one way, also into and out of switches."""
    ends = st.tuples(st.sampled_from(made.nodes), st.sampled_from(made.nodes)).filter(lambda pair: pair[0] != pair[1])
    circle = [Wire(a, b, Fraction(1)) for a, b in zip(made.nodes, (*made.nodes[1:], made.nodes[0]), strict=True)]
    more = [Wire(a, b, Fraction(2)) for a, b in data.draw(st.lists(ends, max_size=6))]
    one_way = fabric(dict(made.members), [*circle, *more])
    worst = max(cut.time for cut in every_cut(one_way))
    assert all_gather(one_way).time == worst
    assert all_gather(one_way, representatives(one_way)).time == worst
    back = turned(one_way)
    assert all_gather(back).time == max(cut.time for cut in every_cut(back))


@pytest.mark.slow
@LAW
@given(fabrics(), st.randoms(use_true_random=False))
def test_random_trees_never_beat_the_minimum(made: Fabric, chance: Any) -> None:
    grown = [_random_tree(made, root, share / 3, chance) for root, share in made.members for _ in range(3)]
    assert executed(made, grown) >= all_gather(made).time


def _random_tree(made: Fabric, root: str, data: Fraction, chance: Any) -> Tree:
    """Breadth first in a random order; paths through switches are kept whole."""
    before, waiting, order = {root: root}, [root], []
    while waiting:
        node = waiting.pop(chance.randrange(len(waiting)))
        after = [wire.target for wire in made.wires if wire.source == node and wire.target not in before]
        for other in dict.fromkeys(after):
            before[other] = node
            waiting.append(other)
            order.append(other)
    paths = []
    for name in order:
        if name in made.names:
            path = [name]
            while len(path) == 1 or path[-1] not in made.names:
                path.append(before[path[-1]])
            paths.append(tuple(reversed(path)))
    return Tree(root, data, tuple(paths))


@pytest.mark.slow
@LAW
@given(fabrics(members=6, switches=3, alike=True))
def test_one_member_of_each_kind_decides(made: Fabric) -> None:
    assert all_gather(made, representatives(made)).time == all_gather(made).time


@LAW
@given(fabrics(alike=True))
def test_members_that_count_as_alike_have_the_same_cut(made: Fabric) -> None:
    """As many kinds at least as there are different flows into members."""
    apart = {capacity(made, set(made.names) - {name}, (name,)).rate for name in made.names}
    assert len(representatives(made)) >= len(apart)


@pytest.mark.slow
@LAW
@given(fabrics(members=3), st.data())
def test_demands_prices_prove_what_routes_take(made: Fabric, data: st.DataObject) -> None:
    demands = concurrent_flow.all_to_all(made)
    found = concurrent_flow.concurrent(made, demands)
    assert found.least <= found.most <= found.least * (1 + Fraction(1, 10**6))
    assert concurrent_flow.executed(made, demands, found.routes) == found.most
    nodes = data.draw(st.sets(st.sampled_from(made.nodes), min_size=1))
    crossing = sum((d for a, b, d in demands if a in nodes and b not in nodes), Fraction(0))
    if crossing:
        rate = sum((w.rate for w in made.wires if w.source in nodes and w.target not in nodes), Fraction(0))
        assert found.most >= crossing / rate


@pytest.mark.slow
@LAW
@given(fabrics(), st.data())
def test_any_prices_are_a_floor(made: Fabric, data: st.DataObject) -> None:
    demands = concurrent_flow.all_to_all(made)
    steps = {(wire.source, wire.target): Fraction(data.draw(st.integers(0, 3))) for wire in made.wires}
    shortest = tuple(
        concurrent_flow.FlowRoute(k, _shortest(made, one, other), amount)
        for k, (one, other, amount) in enumerate(demands)
    )
    assert concurrent_flow.priced(made, demands, steps) <= concurrent_flow.executed(made, demands, shortest)


def _shortest(made: Fabric, source: str, target: str) -> tuple[str, ...]:
    before, waiting = {source: source}, [source]
    for node in waiting:
        for wire in made.wires:
            if wire.source == node and wire.target not in before:
                before[wire.target] = node
                waiting.append(wire.target)
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return tuple(reversed(path))


@LAW
@given(st.integers(2, 9), st.data())
def test_flows_are_those_of_scipy(nodes: int, data: st.DataObject) -> None:
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), st.integers(0, 9))
    arcs = [arc for arc in data.draw(st.lists(pairs, min_size=1, max_size=25)) if arc[0] != arc[1]]
    if not arcs:
        return
    mine, side = max_flow.Residual(nodes, arcs).run(0, nodes - 1)
    theirs, _ = max_flow._scipy(nodes, arcs, 0, nodes - 1)
    assert mine == theirs == sum(c for a, b, c in arcs if a in side and b not in side)


def test_flows_that_pass_32_bits_stay_exact() -> None:
    arcs = [(0, 1, 2**40 + 1), (1, 2, 2**40)] + [(0, 1, 0)] * max_flow.LARGE
    assert max_flow.flow(3, arcs, 0, 2)[0] == 2**40


@pytest.mark.parametrize(
    ("made", "time"),
    [
        (dgx1(), Fraction(7, 6)),
        (ring(6), Fraction(5, 2)),
        (torus((4, 4)), Fraction(15, 4)),
        (leaf_spine(4, 4, 2, 50, 100), Fraction(15, 50)),
        (leaf_spine(4, 4, 2, 50, 10), Fraction(12, 20)),
    ],
    ids=str,
)
def test_known_minimums(made: Fabric, time: Fraction) -> None:
    assert all_gather(made).time == time
    assert all_gather(turned(made)).time == time  # a reduce-scatter, where wires go both ways
    assert all_gather(made, representatives(made)).time == time


def test_broadcasts_and_members_that_are_alike() -> None:
    assert broadcast(leaf_spine(2, 2, 1, 50, 30), "h0.0").rate == 30
    assert [len(representatives(made)) for made in (ring(7), torus((4, 4)), leaf_spine(3, 2, 2, 5, 7))] == [1, 1, 1]
    assert len(representatives(fabric("abc", [*both("a", "b", 1), *both("b", "c", 1)]))) == 2


def test_a_fabric_of_many_alike_members_is_solved_by_one() -> None:
    made = leaf_spine(32, 16, 4, 50, 100)
    kinds = representatives(made)
    assert len(kinds) == 1
    cut = all_gather(made, kinds)
    assert cut.time == Fraction(511, 50)
    assert cut.holds(made)


def test_the_step_solver_finds_schedules_that_run() -> None:
    made = fabric("abcd", [*both("a", "b", 1), *both("b", "c", 1), *both("c", "d", 1)])
    outcomes = [step_schedules.decided(made, steps).outcome for steps in (2, 3)]
    assert outcomes == [solver.Outcome.UNSAT, solver.Outcome.SAT]
    found = step_schedules.schedule(made, step_schedules.decided(made, 3))
    assert step_schedules.executed(made, found) == 3
    with pytest.raises(AssertionError):
        step_schedules.executed(made, found[1:])


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(fabrics(members=4, switches=1, alike=True))
def test_the_fewest_steps_are_no_fewer_than_any_floor(made: Fabric) -> None:
    found = step_schedules.fewest(made)
    assert step_schedules.executed(made, found.sent) == found.steps >= step_schedules.hops(made)
    assert found.steps >= all_gather(made).time  # a link carries one shard in a step
    assert all(solver.unsat(script, timeout_ms=5000).unsat for script in found.below)


@pytest.mark.parametrize(
    ("made", "steps"), [(ring(4), 2), (ring(5), 2), (ring(7), 3), (dgx1(), 2), (torus((3, 3)), 2)], ids=str
)
def test_fewest_steps_of_known_fabrics(made: Fabric, steps: int) -> None:
    assert step_schedules.fewest(made).steps == steps


def test_undecided_steps_are_said() -> None:
    with pytest.raises(UsageError, match="more than 2 steps"):
        step_schedules.fewest(ring(6, 1), most=2)
    with pytest.raises(UsageError, match="whole rates"):
        step_schedules.fewest(ring(3, Fraction(1, 2)))


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "wires", "said"),
    [
        ("ab", (), "is not connected"),
        ("abc", both("a", "b", 1), "no path of wires leads from a to c"),
        ("ab", (Wire("a", "b", Fraction(1)),), "no path of wires leads from b to a"),
        ("ab", both("a", "b", 0), "the bandwidth of a -> b is 0 B/s"),
        ("ab", both("a", "b", -1), "the bandwidth of a -> b is -1 B/s"),
        ("a", both("a", "s", 1), "has 1 member"),
        ("ab", (*both("a", "b", 1), Wire("a", "a", Fraction(1))), "ends where it begins"),
        ({"a": 0, "b": 1}, both("a", "b", 1), "member a of fabric holds 0"),
    ],
)
def test_what_is_wrong_with_a_fabric_is_told(members: Any, wires: tuple[Wire, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        fabric(members, wires)


def test_the_place_of_a_wire_is_told() -> None:
    place = Place("site.yaml", 7, 5, 7, 20)
    with pytest.raises(InputError, match=r"site.yaml:7:5: the bandwidth of a -> b is 0"):
        fabric("ab", both("a", "b", 0, place))
    with pytest.raises(InputError, match=r"site.yaml:7:5: fabric is not connected"):
        fabric("abc", both("a", "b", 1, place))


def test_bounds_refuse_what_is_no_fabric_and_demands_that_move_nothing() -> None:
    with pytest.raises(UsageError, match="fabric is a"):
        at(_bound("fabric_hops"), {"fabric": (1, 2)})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="moves nothing"):
        concurrent_flow.concurrent(ring(3), [("n0", "n0", Fraction(1))])
    with pytest.raises(UsageError, match="no node 'n9'"):
        concurrent_flow.concurrent(ring(3), [("n0", "n9", Fraction(1))])
    with pytest.raises(UsageError, match="no demands"):
        concurrent_flow.concurrent(ring(3), [])


def test_a_fabric_is_written_as_links(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bound", "fabric_hops", "fabric=0>1,1>2,2>3"]) == 0
    assert capsys.readouterr().out.startswith("steps of one all-gather or all-reduce: 3\n")
    assert run(["bound", "all_gather_fabric", "fabric=0>1,1>2,2>0", "size=1 B"]) == 0
    assert capsys.readouterr().out.startswith("time of one all-gather: 1 s\n")
    for links, said in (("0>1,2>3", "is not connected"), ("0>0", "ends where it begins"), ("5", "write links, a>b")):
        assert run(["bound", "fabric_hops", f"fabric={links}"]) == 2
        assert said in capsys.readouterr().err


def _bound(name: str) -> Bound:
    return entry(name).bound


# ---- designs -------------------------------------------------------------------------------------------------------

OWN = """coherence: 1
infrastructure:
  tiers:
    left:  {count: 8, link_bandwidth: 10 GB/s}
    right: {count: 4, link_bandwidth: 20 GB/s .. 40 GB/s}
    alone: {count: 2, link_bandwidth: 5 GB/s}
  links:
    - {ends: [left, leaf], bandwidth: 16 Gbit/s, count: 10}
    - {ends: [leaf, right], bandwidth: 5 GB/s .. 10 GB/s, count: 2}
  boundaries:
    slices: {kind: virtualization, around: [alone], instances: 2, capacity_fraction: 40 % .. 45 %}
    rooms:  {kind: virtualization, around: [left]}
components: {leaf: {}}
"""


def fabric_floors(text: str) -> tuple[DesignFloor, ...]:
    """The floors of a design's fabric and boundaries."""
    bounds = [entry(name).bound for name in ("all_gather_fabric", "tier_exit", "boundary_share")]
    return design_floors(read_text(text, "d.yaml"), bounds)


def test_floors_of_a_design_name_the_links_of_the_cut() -> None:
    found = {(one.bound.name, one.application.thing): one for one in fabric_floors(OWN)}
    gather = found["all_gather_fabric", "an all-gather of 1 GB from each of left, right"]
    assert gather.floor is not None
    assert gather.floor.low == Fraction(11, 10)  # a device of `left` receives 11 GB at 10 GB/s
    assert [(place.line, place.label) for place in gather.application.places] == [
        (4, "in the cut: 1 x 10 GB/s of left")
    ]
    assert gather.floor.high == Fraction(11, 10)
    inside = found["all_gather_fabric", "an all-gather of 1 GB from each of alone"]
    assert inside.floor is not None
    assert inside.floor.low == Fraction(1, 5)
    assert (
        "a link that joins left (d.yaml:4:5) and alone"
        in found["all_gather_fabric", "an all-gather among all tiers"].why
    )
    exits = found["tier_exit", "the links of right"]
    assert exits.floor is not None
    assert (exits.floor.low, exits.floor.high) == (1 - Fraction(20, 80), 1 - Fraction(10, 160))
    behind = found["boundary_share", "compute of alone behind slices"]
    assert behind.floor is not None
    assert (behind.floor.low, behind.floor.high) == (Fraction(1, 10), Fraction(1, 5))
    assert "capacity_fraction of boundary rooms" in found["boundary_share", "compute of left behind rooms"].why


def test_a_design_is_as_the_same_fabric_device_by_device() -> None:
    text = OWN.replace("20 GB/s .. 40 GB/s", "20 GB/s").replace("5 GB/s .. 10 GB/s", "1 GB/s")
    wires = [wire for k in range(8) for wire in both(f"l{k}", "left", 10)]
    wires += [wire for k in range(4) for wire in both(f"r{k}", "right", 20)]
    wires += [*both("left", "leaf", 20), *both("leaf", "right", 2)]
    whole = fabric([f"l{k}" for k in range(8)] + [f"r{k}" for k in range(4)], wires)
    found = {one.application.thing: one for one in fabric_floors(text)}
    gather = found["an all-gather of 1 GB from each of left, right"]
    assert gather.floor is not None
    assert gather.floor.low == all_gather(whole).time == 4
    assert [place.line for place in gather.application.places] == [9]


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ("bandwidth: 0 GB/s", "design.yaml:6:33: bandwidth of link a and b is 0"),
        ("bandwidth: 0 GB/s .. 5 GB/s", "can be 0"),
        ("bandwidth: 5 s", "bandwidth of link a and b is 5 s, bytes per second expected"),
        ("bandwidth: 50", "is 50, bytes per second expected"),
        ("bandwidth: 5 GB/s, count: 0", "the count of link a and b can be 0"),
    ],
)
def test_what_is_wrong_with_a_link_is_told_with_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, links: str, said: str
) -> None:
    file = tmp_path / "design.yaml"
    head = "coherence: 1\ninfrastructure:\n  tiers: {a: {count: 4}, b: {count: 2}}\n  links:\n    #\n"
    file.write_text(f"{head}    - {{ends: [a, b], {links}}}\n")
    assert run(["bound", str(file)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("tiers: {a: {count: 1, link_bandwidth: 5 GB/s}, b: {count: 1}}", ""),
        ("tiers: {a: {count: 1}}, links: [{ends: [a, leaf], bandwidth: 5 GB/s}]", "the count of a is 1 (d.yaml:2:37)"),
        ("tiers: {a: {count: 4}}", "link_bandwidth of tier a (d.yaml:2:26)"),
        ("tiers: {a: {count: 4}, b: {count: 1}}, links: [{ends: [a, b]}]", "bandwidth of link a and b (d.yaml:2:65)"),
        ("tiers: {a: {count: 4}}, links: [{ends: [a, a], bandwidth: 1 GB/s}]", "the link of a with itself"),
        ("tiers: {a: {count: 0 .. 4, link_bandwidth: 1 GB/s}}", "a count of tier a that is never 0"),
        ("tiers: {a: {}, b: {count: 2}}, links: [{ends: [a, b], bandwidth: 1 GB/s}]", "count of tier a"),
    ],
)
def test_what_a_design_lacks_is_asked_for(body: str, said: str) -> None:
    found = fabric_floors(f"coherence: 1\ninfrastructure: {{{body}}}\ncomponents: {{leaf: {{}}}}\n")
    assert all(one.floor is None for one in found)
    told = " | ".join(one.why for one in found)
    assert said in told
    assert bool(told) == bool(said)


def test_a_tier_of_thousands_is_as_fast_as_one_of_two() -> None:
    text = "coherence: 1\ninfrastructure: {tiers: {a: {count: 16384, link_bandwidth: 50 GB/s}}}\n"
    (one,) = fabric_floors(text)
    assert one.floor is not None
    assert one.floor.low == Fraction(16383, 50)


def test_a_boundary_that_leaves_everything_is_not_told() -> None:
    text = """coherence: 1
infrastructure:
  tiers: {a: {count: 2}}
  boundaries: {far: {kind: environment, around: [a], capacity_fraction: 100 %}}
"""
    assert [one.bound.name for one in fabric_floors(text)] == ["all_gather_fabric"]


def test_a_link_of_several_ends_is_a_switch() -> None:
    text = """coherence: 1
infrastructure:
  tiers: {a: {count: 2}, b: {count: 3}, c: {count: 5}}
  links: [{ends: [a, b, c], bandwidth: 1 GB/s}]
"""
    (one,) = fabric_floors(text)
    assert one.floor is not None
    assert one.floor.low == 8  # a receives the 8 shards of the others
