"""Exact fabric minimums: time at size, beside networkx, against every cut, attained by trees.

All times are of the processor.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from bench.harness import Row
from coherence.minimums.fabric.concurrent_flow import all_to_all, concurrent
from coherence.minimums.fabric.cuts import FabricCut, all_gather, every_cut
from coherence.minimums.fabric.latencies import gathered
from coherence.minimums.fabric.symmetry import representatives
from coherence.minimums.fabric.trees import executed, trees
from coherence.minimums.fabric.wiring import Fabric, Wire, both, dgx1, fabric, leaf_spine, ring, torus

GB = 10**9
RANDOM = 60  # small fabrics that are compared with every cut


def rows() -> Iterator[Row]:
    """All rows of this part."""
    yield from irregular_rows()
    yield from alike_rows()
    yield from exact_rows()
    yield demands_row()


def irregular(members: int = 64, *, seed: int = 1) -> Fabric:
    """Members of unlike rates at switches of eight, which are joined at random."""
    chance = random.Random(seed)  # noqa: S311  (graphs, not secrets)
    wires: list[Wire] = []
    names = [f"g{k}" for k in range(members)]
    for k, name in enumerate(names):
        wires += both(name, f"leaf{k // 8}", chance.randint(20, 60) * GB)
    for leaf in range(members // 8):
        for spine in range(12):
            if spine == 0 or chance.random() < 0.6:
                wires += both(f"leaf{leaf}", f"spine{spine}", chance.randint(5, 40) * GB)
    return fabric(names, wires, name="irregular")


def by_networkx(made: Fabric) -> Fraction:
    """The same minimum with networkx: the same steps on the ratio, its flows with whole numbers."""
    import networkx as nx  # type: ignore[import-untyped,unused-ignore]

    cut_time = max((made.total - share) / _into(made, name) for name, share in made.members)
    for name in made.names:
        while True:
            graph = nx.DiGraph()
            for one, share in made.members:
                graph.add_edge("source", one, capacity=int(share * cut_time.denominator))
            for wire in made.wires:
                graph.add_edge(wire.source, wire.target, capacity=int(wire.rate * cut_time.numerator))
            value, (inside, _) = nx.minimum_cut(graph, "source", name)
            if value == made.total * cut_time.denominator:
                break
            data = sum((share for one, share in made.members if one in inside), Fraction(0))
            out = sum((w.rate for w in made.wires if w.source in inside and w.target not in inside), Fraction(0))
            cut_time = data / out
    return cut_time


def _into(made: Fabric, name: str) -> Fraction:
    return sum((wire.rate for wire in made.wires if wire.target == name), Fraction(0))


def _timed(made: Fabric, sinks: tuple[str, ...] | None = None) -> tuple[FabricCut, float]:
    start = time.process_time()
    cut = all_gather(made, sinks)
    return cut, time.process_time() - start


def irregular_rows() -> Iterator[Row]:
    """64 members that are all unlike."""
    made = irregular()
    cut, spent = _timed(made)
    start = time.process_time()
    theirs = by_networkx(made)
    peer = time.process_time() - start
    same = "the same fraction" if theirs == cut.time else f"ANOTHER: {theirs}"
    yield Row(
        "64 irregular GPUs: exact minimum", spent, "<= 1", "s of processor time", f"networkx {peer:.2f} s, {same}"
    )
    yield Row("64 irregular GPUs: cut adds up again", float(cut.holds(made)), "== 1", "")


def alike_rows() -> Iterator[Row]:
    """16,384 members at 512 leaves; networkx on an eighth of them."""
    all_gather(leaf_spine(64, 8, 4, 50 * GB, 50 * GB), ("h0.0",))  # scipy is loaded before the clock runs
    made = leaf_spine(512, 32, 16, 50 * GB, 50 * GB)
    start = time.process_time()
    kinds = representatives(made)
    found = time.process_time() - start
    cut, spent = _timed(made, kinds)
    flow = _seconds_of_flow(made, kinds[0], cut)
    smaller = leaf_spine(64, 32, 16, 50 * GB, 50 * GB)
    _, ours = _timed(smaller, ("h0.0",))
    start = time.process_time()
    theirs = _networkx_once(smaller)
    peer = time.process_time() - start
    told = f"2,048 of them: {ours:.2f} s, networkx {peer:.2f} s (one flow, {'as much' if theirs else 'ANOTHER'})"
    yield Row("16,384 alike GPUs: one flow by scipy", flow, "<= 0.5", "s of processor time", told)
    yield Row(
        "16,384 alike GPUs: exact minimum with its cut", spent, "<= 1", "s of processor time", "network built anew"
    )
    yield Row(
        "16,384 alike GPUs: symmetries found and checked", found, "<= 5", "s of processor time", f"{len(kinds)} kind"
    )
    micro = Fraction(1, 10**6)
    far = replace(made, wires=tuple(replace(wire, latency=micro) for wire in made.wires))
    start = time.process_time()
    late = gathered(far, Fraction(10**6))
    spent = time.process_time() - start
    told = (
        f"1 us a wire, 1 MB a shard: {float(late.time) * 1e3:.2f} ms, {float(late.away) * 1e6:.0f} us of it on the way"
    )
    yield Row("16,384 alike GPUs with latencies, from the fabric alone", spent, "<= 1", "s of processor time", told)


def _seconds_of_flow(made: Fabric, sink: str, cut: FabricCut) -> float:
    """Scipy's flow at the minimum, on a network that stands already."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_flow

    nodes = made.nodes
    index = {name: k for k, name in enumerate(nodes)}
    rates = np.array([int(wire.rate * cut.time) for wire in made.wires], dtype=np.int32)
    one = np.array([index[wire.source] for wire in made.wires] + [len(nodes)] * len(made.members))
    other = np.array([index[wire.target] for wire in made.wires] + [index[name] for name in made.names])
    flows = np.concatenate([rates, np.ones(len(made.members), dtype=np.int32)])
    graph = csr_matrix((flows, (one, other)), shape=(len(nodes) + 1,) * 2)
    start = time.process_time()
    found = maximum_flow(graph, len(nodes), index[sink])
    spent = time.process_time() - start
    if found.flow_value != len(made.members):
        raise AssertionError("the flow does not carry all data at the minimum")
    return spent


def _networkx_once(made: Fabric) -> bool:
    import networkx as nx  # type: ignore[import-untyped,unused-ignore]

    cut = all_gather(made, ("h0.0",))
    graph = nx.DiGraph()
    graph.add_edges_from(("source", name, {"capacity": cut.time.denominator}) for name in made.names)
    for wire in made.wires:
        graph.add_edge(wire.source, wire.target, capacity=int(wire.rate) * cut.time.numerator)
    return bool(nx.maximum_flow_value(graph, "source", "h0.0") == len(made.members) * cut.time.denominator)


def exact_rows() -> Iterator[Row]:
    """Against every cut, and attained by executed trees."""
    chance = random.Random(5)  # noqa: S311  (graphs, not secrets)
    wrong = beaten = apart = 0
    for _ in range(RANDOM):
        made = _small(chance)
        cut = all_gather(made)
        wrong += cut.time != max(one.time for one in every_cut(made))
        taken = executed(made, trees(made))
        beaten += taken < cut.time
        apart += taken != cut.time
    yield Row(f"{RANDOM} random fabrics: minimum is not the worst of all cuts", wrong, "== 0", "fabrics", "every cut")
    yield Row(f"{RANDOM} random fabrics: floor beaten by executed trees", beaten, "== 0", "fabrics")
    yield Row(f"{RANDOM} random fabrics: floor not attained by them", apart, "== 0", "fabrics")
    shapes = (dgx1(), ring(7), torus((3, 3)), leaf_spine(4, 2, 2, 50, 30))
    worst = max(executed(made, trees(made)) / all_gather(made).time for made in shapes)
    yield Row("usual shapes: executed trees over the floor", float(worst), "== 1", "times")


def demands_row() -> Row:
    """All-to-all on a torus of 64: exact prices against exact routes."""
    made = torus((4, 4, 4))
    start = time.process_time()
    found = concurrent(made, all_to_all(made))
    spent = time.process_time() - start
    told = f"{found.least} s proved, {len(found.routes)} routes, {spent:.1f} s of processor time"
    return Row(
        "64 GPUs, 4,032 demands: routes over what prices prove", float(found.most / found.least), "== 1", "times", told
    )


def _small(chance: random.Random) -> Fabric:
    members, switches = chance.randint(2, 5), chance.randint(0, 3)
    names = [f"m{k}" for k in range(members)] + [f"s{k}" for k in range(switches)]
    wires: list[Wire] = []
    for k in range(1, len(names)):
        wires += both(names[k], names[chance.randrange(k)], Fraction(chance.randint(1, 6), chance.randint(1, 3)))
    for _ in range(chance.randint(0, 4)):
        one, other = chance.sample(names, 2)
        wires += both(one, other, chance.randint(1, 6))
    return fabric({name: chance.randint(1, 3) for name in names[:members]}, wires)
