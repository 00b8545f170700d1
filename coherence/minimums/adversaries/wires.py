"""Models of fabrics: chunks over wires, members that hear and pass on, and shards through the ports of a member."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.fabric.wiring import Fabric, Wire, both, fabric
from coherence.minimums.floors import Number

Parts = dict[int, frozenset[str]]  # chunk -> members whose parts are added in it


def carried(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """In each step every wire carries one chunk that its source has, and is there after the wire's latency (in steps);
    end points, and switches that may, add parts.
    """
    wired, kind = cast("Fabric", inputs["fabric"]), bound.removesuffix("_fabric")
    held, time = _begun(kind, wired), Fraction(0)
    flying: list[tuple[Fraction, str, int, frozenset[str]]] = []  # there when, where, which chunk, whose parts
    step = Fraction(1, 2) if "uncompressed" in dropped else Fraction(1)
    for _ in range(12):
        if _ended(kind, wired, held):
            return time
        time += step
        choose.passed(time)
        for wire in wired.wires:
            chunk = choose([None, *held[wire.source]])
            if chunk is not None:
                flying.append((time + wire.latency, wire.target, chunk, held[wire.source][chunk]))
        for _, node, chunk, came in [one for one in flying if one[0] <= time]:
            mine = held[node].get(chunk, frozenset[str]())
            adds = (node in wired.names or "end_point_reduction" in dropped) and not mine & came
            held[node][chunk] = mine | came if adds else max(mine, came, key=len)
        flying = [one for one in flying if one[0] > time]
    raise HopelessError


def _begun(kind: str, wired: Fabric) -> dict[str, Parts]:
    everyone = frozenset(wired.names)
    held: dict[str, Parts] = {node: {} for node in wired.nodes}
    for number, name in enumerate(wired.names):
        if kind == "all_gather":
            held[name] = {number: everyone}
        elif kind == "broadcast":
            held[name] = dict.fromkeys(range(2), everyone) if not number else {}
        else:
            held[name] = dict.fromkeys(range(len(everyone)), frozenset({name}))
    return held


def _ended(kind: str, wired: Fabric, held: dict[str, Parts]) -> bool:
    chunks = range(2 if kind == "broadcast" else len(wired.members))
    return all(
        len(held[name].get(chunk, ())) == len(wired.members)
        for number, name in enumerate(wired.names)
        for chunk in ([number] if kind == "reduce_scatter" else chunks)
    )


def heard(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each node passes on all that it has, over any of its wires, once a step."""
    assert bound
    assert not dropped
    wired = cast("Fabric", inputs["fabric"])
    known = {node: {node} & set(wired.names) for node in wired.nodes}
    for steps in range(len(wired.nodes)):
        if all(len(known[name]) == len(wired.names) for name in wired.names):
            return steps
        choose.passed(steps)
        before = {node: set(names) for node, names in known.items()}
        for wire in wired.wires:
            if choose((True, False)):
                known[wire.target] |= before[wire.source]
    raise HopelessError


def through_ports(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """In each step a member gets one shard through each of its ports, from anybody who has it."""
    assert bound
    n, ports = int(inputs["n"]), int(inputs["ports"]) * (2 if "uncompressed" in dropped else 1)
    held = [{member} if "balanced" not in dropped or not member else set() for member in range(n)]
    if "balanced" in dropped:
        held[0] = set(range(n)) if choose((False, True)) else held[0]
        return 1 if len(held[0]) == n else 0  # all lies with one already, or nobody lacks anything
    for steps in range(n):
        if all(len(have) == n for have in held):
            return steps
        choose.passed(steps + 1)
        before = [set(have) for have in held]
        for member, have in enumerate(held):
            for _ in range(ports):
                some = set().union(*(before[other] for other in range(n) if other != member)) - have
                have.add(choose(sorted(some))) if some else None
    raise HopelessError


def left_behind(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Bytes leave the devices one by one, over any wires that have rate left, to anybody else."""
    assert bound
    wired, own = cast("Fabric", inputs["fabric"]), cast("tuple[str, ...]", inputs["devices"])
    rates = {k: wire.rate for k, wire in enumerate(wired.wires)}
    nominal = sum((wire.rate for wire in wired.wires if wire.source in own), Fraction(0))
    gone = nominal / 4 if "one_attachment" in dropped else Fraction(0)  # through ports of their own
    for _ in range(int(nominal)):
        at = choose([*own, None])
        if at is None:
            break
        while at in own or at not in wired.names:
            ways = [k for k, wire in enumerate(wired.wires) if wire.source == at and rates[k] >= 1]
            taken = choose(ways)
            rates[taken] -= 1
            at = wired.wires[taken].target
        gone += 1
    return max(Fraction(0), 1 - gone / nominal)


def _unit(*pairs: str, members: str) -> Fabric:
    wires = [wire for pair in pairs for wire in both(pair[0], pair[1], 1)]
    return fabric(members, wires, name=", ".join(pairs))


def _given(wired: Fabric, **more: int) -> Inputs:
    return {"fabric": cast("Any", wired), **{name: Fraction(value) for name, value in more.items()}}


PAIR, LINE, HUB = _unit("ab", members="ab"), _unit("ab", "bc", members="abc"), _unit("as", "bs", members="ab")
ONE_WAY = fabric("abc", [Wire(x, y, Fraction(1)) for x, y in ("ab", "bc", "ca")], name="circle, one way")
TIERS = (
    fabric("abc", [*both("a", "s", 2), *both("b", "s", 2), *both("s", "c", 1)], name="one way out"),
    fabric("abc", [*both("a", "s", 2), *both("b", "s", 1), *both("s", "c", 1), *both("b", "c", 1)], name="two ways"),
)
SMALL = (PAIR, LINE, HUB, ONE_WAY)
LATE = tuple(fabric(w.names, [replace(wire, latency=Fraction(1)) for wire in w.wires], name=f"{w.name}, late")
             for w in (PAIR, LINE, ONE_WAY))  # fmt: skip
ADVERSARIES = (
    Adversary(
        "chunks over wires",
        {
            **dict.fromkeys(
                ("all_gather_fabric", "reduce_scatter_fabric"),
                tuple(_given(m, size=1) for m in (PAIR, LINE, ONE_WAY, *LATE)),
            ),
            "all_reduce_fabric": tuple(_given(wired, size=len(wired.members)) for wired in (*SMALL, *LATE)),
            "broadcast_fabric": tuple(_given(wired, size=2, latency=0) for wired in (*SMALL, *LATE)),
        },
        carried,
        ("uncompressed",),
    ),
    Adversary(
        "bytes that leave a tier",
        {"tier_exit": tuple({"fabric": cast("Any", wired), "devices": cast("Any", ("a", "b"))} for wired in TIERS)},
        left_behind,
        ("one_attachment",),
    ),
    Adversary("what nodes pass on", {"fabric_hops": tuple(_given(wired) for wired in SMALL)}, heard),
    Adversary(
        "shards through ports",
        dict.fromkeys(
            ("all_gather_steps", "all_gather_ports"),
            tuple({"n": Fraction(n), "ports": Fraction(ports)} for n, ports in ((2, 1), (3, 1), (3, 2), (4, 3))),
        ),
        through_ports,
        ("uncompressed", "balanced"),
    ),
)
