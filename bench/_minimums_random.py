"""Random fabrics beside linear programs that know nothing of cuts or partitions."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bench.harness import Row
from coherence.minimums.fabric.cuts import all_gather, every_cut
from coherence.minimums.fabric.reductions import all_reduce, schedule
from coherence.minimums.fabric.wiring import Fabric, Wire, both, fabric

COUNT = 500
NEAR = 1e-9


def rows() -> Iterator[Row]:
    """All-gather beside flows to each sink; all-reduce beside the best shares over every cut, and beside its trees."""
    made = [drawn(seed) for seed in range(COUNT)]
    gathers = sum(abs(float(all_gather(one).time) / by_flows(one) - 1) <= NEAR for one in made)
    yield Row("random fabrics: all-gather equal to flows by HiGHS", gathers, f"== {COUNT}", "fabrics")
    floors = [float(all_reduce(one).time) for one in made]
    programs = [by_shares(one) for one in made]
    above = sum(floor > program * (1 + NEAR) for floor, program in zip(floors, programs, strict=True))
    yield Row("random fabrics: all-reduce above shares over every cut", above, "== 0", "fabrics")
    gaps = [float(schedule(one).time) / floor for floor, one in zip(floors, made, strict=True)]
    yield Row(
        "random fabrics: trees of an all-reduce below the floor", sum(g < 1 - NEAR for g in gaps), "== 0", "fabrics"
    )
    attained = sum(gap <= 1 + NEAR for gap in gaps)
    yield Row(
        "random fabrics: trees that attain it", attained, f">= {COUNT * 9 // 10}", "fabrics", f"worst {max(gaps):.4f}"
    )


def drawn(seed: int) -> Fabric:
    """Two to six members and up to three switches; every wire has one rate both ways."""
    draw = random.Random(1000 + seed)  # noqa: S311  (graphs, not secrets)
    members, switches = draw.randint(2, 6), draw.randint(0, 3)
    names = [f"m{k}" for k in range(members)] + [f"s{k}" for k in range(switches)]
    wires: list[Wire] = []
    for k, name in enumerate(names[1:], 1):
        wires += both(name, names[draw.randrange(k)], draw.randint(1, 9))
    for _ in range(draw.randint(0, len(names))):
        near, far = draw.sample(names, 2)
        wires += both(near, far, draw.randint(1, 9))
    return fabric(names[:members], wires, name=f"drawn {seed}")


def by_flows(made: Fabric) -> float:
    """The least time in which all shards can flow to the worst sink: one program a sink."""
    import numpy as np
    from scipy.optimize import linprog

    index, count = {node: k for k, node in enumerate(made.nodes)}, len(made.wires)
    worst = 0.0
    for sink in made.names:
        keep = [k for node, k in index.items() if node != sink]
        balance = np.zeros((len(index), count + 1))
        for column, wire in enumerate(made.wires):
            balance[index[wire.source], column] += 1
            balance[index[wire.target], column] -= 1
        supply = np.array([float(dict(made.members).get(node, 0)) for node in made.nodes])
        room = np.hstack([np.eye(count), [[-float(wire.rate)] for wire in made.wires]])
        answer = linprog([0.0] * count + [1.0], A_ub=room, b_ub=np.zeros(count), A_eq=balance[keep], b_eq=supply[keep])
        worst = max(worst, float(answer.fun))
    return worst


def by_shares(made: Fabric) -> float:
    """Twice the best all-gather over free shares, with every cut in the program; or the narrowest cut."""
    from scipy.optimize import linprog

    cuts = list(every_cut(made))
    held = [[float(name in cut.inside) for name in made.names] + [-float(cut.rate)] for cut in cuts]
    answer = linprog([0.0] * len(made.members) + [1.0], A_ub=held, b_ub=[0.0] * len(cuts),
                     A_eq=[[1.0] * len(made.members) + [0.0]], b_eq=[1.0])  # fmt: skip
    return max(2 * float(answer.fun), 1 / float(min(cut.rate for cut in cuts)))
