"""Writes what bends at an operating point by absolute values, and takes its network apart into what feeds back.

    max(a, b) = (a + b) / 2 + |a - b| / 2,    min(a, b) = (a + b) / 2 - |a - b| / 2

So near the point a design is a linear network that some absolute values close.  Parts of it that do not feed back on
each other are judged one by one: what decays alone decays under what decays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.graphs import components
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Name, Number, Tree
from coherence.loops.designs.bridged_laps import bridged_lap
from coherence.loops.designs.design_network import DesignNetwork, network_of
from coherence.loops.designs.kinks import mapped, substituted, ties, written
from coherence.loops.designs.lap_matrices import Lap, Row, Table, by_state
from coherence.loops.designs.signal_gradients import Gradients, multiple
from coherence.loops.multirate.bent_laps import BentLap, reduced
from coherence.model.model import Model

Array = Any

TWO = Number(Fraction(2))


@dataclass(frozen=True)
class BentModel:
    """A model that reads `bends` by name: the absolute value of an expression each."""

    model: Model
    bends: Mapping[str, Tree]


def bent_network(model: Model, point: Mapping[str, Fraction]) -> DesignNetwork:
    """Returns the network of a model with its bends at a point.  Raises NotExactError, MissingValueError."""
    bent = bent_model(model, dict(point))
    return network_of(bent.model, point, bent.bends)


def bent_model(model: Model, point: dict[str, Fraction]) -> BentModel:
    """Returns the model with each kink of which several sides meet written by absolute values.

    Raises NotExactError where a choice jumps beside the point.
    """
    plain = Gradients(model, point)
    taken: dict[Tree, Tree] = {}
    bends: dict[str, Tree] = {}
    for tree, sides in ties(model, point):
        taken[tree] = _by_choice(tree, plain, bends) if isinstance(tree, Choose) else _by_sides(tree, sides, bends)

    def change(tree: Tree) -> Tree | None:
        return taken.get(tree)

    return BentModel(mapped(model, change), {name: substituted(tree, change) for name, tree in bends.items()})


def _by_sides(tree: Call, sides: Sequence[Tree], bends: dict[str, Tree]) -> Tree:
    """Returns the least or the largest of some sides, two by two."""
    first, *others = sides
    for other in others:
        first = _joined(first, other, "-" if tree.function == "min" else "+", bends)
    return first


def _joined(one: Tree, other: Tree, op: str, bends: dict[str, Tree]) -> Tree:
    name = f"kink {len(bends) + 1}"
    bends[name] = Arithmetic("-", one, other)
    return Arithmetic("/", Arithmetic(op, Arithmetic("+", one, other), Name(name)), TWO)


def _by_choice(tree: Choose, plain: Gradients, bends: dict[str, Tree]) -> Tree:
    """Returns a choice whose sides differ by a multiple of what its condition compares."""
    condition = tree.condition
    assert isinstance(condition, Compare)
    compared = plain.of(Arithmetic("-", condition.left, condition.right))
    apart = plain.of(Arithmetic("-", tree.then, tree.otherwise))
    c = multiple(apart, compared)
    if c is None or condition.op not in ("<", "<=", ">", ">="):
        raise NotExactError(f"{written(tree)} jumps beside its operating point")
    if not c:
        return tree.then
    return _joined(tree.then, tree.otherwise, "+" if (c > 0) is (condition.op in (">", ">=")) else "-", bends)


def feedbacks(design: DesignNetwork, paths: Collection[str] | None = None) -> Iterator[DesignNetwork]:
    """Yields the parts of a network that feed back on each other or remember something; of those that hold one of
    `paths`, where these are given.
    """
    owner = {sampler.name: sampler.writes or sampler.name for sampler in design.samplers}
    after: dict[str, list[str]] = {name: [] for name in (*(b.name for b in design.blocks), *owner)}
    for name, writes in owner.items():
        if name != writes:
            after[name].append(writes)
            after[writes].append(name)
    for coupling in design.couplings:
        after[coupling.source].append(coupling.target)
    for names in components(after):
        part = _part(design, set(names))
        shown = {*names, *(owner.get(name, name) for name in names)}
        if _remembers(part) and (paths is None or not shown.isdisjoint(paths)):
            yield part


def _part(design: DesignNetwork, names: set[str]) -> DesignNetwork:
    return replace(
        design,
        blocks=tuple(block for block in design.blocks if block.name in names),
        samplers=tuple(sampler for sampler in design.samplers if sampler.name in names),
        couplings=tuple(c for c in design.couplings if {c.source, c.target} <= names),
        laws={name: law for name, law in design.laws.items() if name in names},
        bends=design.bends & names,
        landed=design.landed & names,
    )


def _remembers(part: DesignNetwork) -> bool:
    return bool(part.couplings) or any(block.order for block in part.blocks) or any(x.own for x in part.laws.values())


def bent_lap(design: DesignNetwork) -> BentLap:
    """Returns the lap of a network in which everything that bends is sampled.  Raises LapError, NotExactError."""
    lap = bridged_lap(design)
    end, bends = _closed(lap, design)
    names, inputs = list(end), [name for name, _ in bends]
    whole = BentLap(
        float(lap.length),
        _table(list(end.values()), names), _table(list(end.values()), inputs),
        _table([row for _, row in bends], names), _table([row for _, row in bends], inputs),
    )  # fmt: skip
    return reduced(whole)


def _closed(lap: Lap, design: DesignNetwork) -> tuple[Table, list[tuple[str, Row]]]:
    """Returns the end of the lap and what bends compare, over what is remembered and the bends before."""
    inputs: Table = {}
    bends: list[tuple[str, Row]] = []
    for number, cut in enumerate(lap.cuts):
        row = by_state(cut.law, inputs)
        if cut.loop in design.bends:
            bends.append((f"input {number}", row))
        else:
            inputs[f"input {number}"] = row
    return {name: by_state(row, inputs) for name, row in lap.end.items()}, bends


def _table(rows: list[Row], names: list[str]) -> Array:
    import numpy as np

    return np.array([[float(row.get(name, 0)) for name in names] for row in rows]).reshape(len(rows), len(names))
