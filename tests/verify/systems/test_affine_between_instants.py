"""Conditions that may be checked at instants alone: convex ones over straight lines."""

from __future__ import annotations

import pytest

from coherence.language.expressions import parse
from coherence.language.expressions.tree import rename
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.systems.affine_between_instants import decided_at_instants

MODEL = elaborate(
    read_text("""
coherence: 1
components:
  tank: {state: "level' = (pump.rate - 2) / 1 s", from: 0, size: 5}
  vat: {state: "depth' = 1 / 1 s", from: 0}
  plant: {state: "x' = 0.5 * x", step: 1 s, from: 3}
loops:
  fill:
    timescale: {period: 1 s, phase: 0 s}
    trigger: {enter: tank.level <= 3, leave: tank.level >= 9}
    actuation: {signal: pump.rate, law: set, to: "5", bounds: [0, 5], from: 0}
""")
)
BOTH = ("always", "never", "eventually", "eventually_always")
KEPT, AVOIDED = ("always", "eventually_always"), ("never", "eventually")


@pytest.mark.parametrize(
    ("condition", "kinds"),
    [
        # nothing that flows is read: constant between the instants
        ("plant.x < 3", BOTH),
        ("plant.x * plant.x != 3 or fill", BOTH),
        # straight lines: a segment keeps what both of its ends keep
        ("level < 3", BOTH),
        ("level + 2 * depth <= tank.size", BOTH),
        ("level * 2 - depth / 4 > 3", BOTH),
        ("level == 3", KEPT),
        ("level != 3", AVOIDED),
        ("level < 3 and depth > 1", KEPT),
        ("level < 3 or depth > 1", AVOIDED),
        ("level < 3 and depth > 1 and level == depth", KEPT),
        # nothing straight, or what may change in between beside it
        ("level * depth < 3", ()),
        ("level / depth < 3", ()),
        ("1 / level < 3", ()),
        ("3 < 2 / depth", ()),
        ("max(level, 2) < 3", ()),
        ("level < plant.x", ()),
        ("not level < 3", ()),
        ("level < 3 and (depth > 1 or level > 2)", ()),
        ("level * tank.size < 3", ()),
        ("level < 3 or fill", ()),
    ],
)
def test_a_condition_is_decided_at_the_instants_where_it_is_convex(condition: str, kinds: tuple[str, ...]) -> None:
    tree = rename(parse(condition), MODEL.resolve)
    assert tuple(kind for kind in BOTH if decided_at_instants(MODEL, tree, kind)) == kinds
