"""Lowers the noise of boundaries: what is added to a reading that crosses one, anew at each sample.

    seen = reading_gain x value + noise

`noise` is a range around 0 of one unit.  Readings of that unit get it, and those whose unit the design does not say;
one of another unit has none.  Each reading has a noise of its own, an input that takes any value of the range at any
sample.  Noise that no reading gets, or that is no such range, is not read, and takes back the proofs that it touches.
"""

from __future__ import annotations

from dataclasses import replace

from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.base.units import Dimension
from coherence.language.design import Design, Loop
from coherence.language.dimensions import Known, dimension_of, known
from coherence.language.expressions.tree import Arithmetic, Name, Tree
from coherence.language.names import scope
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.boundaries import between
from coherence.model.draft import ModelDraft

NOISE = ".noise."


def noise_at(draft: ModelDraft, loop: Loop, path: str) -> Tree | None:
    """Returns what boundaries add to a reading of a name; None where nothing is."""
    tree: Tree | None = None
    for boundary, lies in between(draft.design, loop, path.partition(".")[0]) if loop.inside else ():
        stated = boundary.constants.get("noise")
        if isinstance(stated, Quantity) and lies and _is_of(draft.design, stated, path):
            own = f"{boundary.name}{NOISE}{path}"
            draft.constant(own, replace(stated, varies=True))
            tree = Name(own) if tree is None else Arithmetic("+", tree, Name(own))
    return tree


@unnoted()
def _is_of(design: Design, noise: Quantity, path: str) -> bool:
    """Decides whether noise is of the unit of a signal, as far as that is known, and a range around 0."""
    own = _dimension(design, path)
    if own is not None and not own.fits(noise.dimension):
        return False
    return noise.low < noise.high and noise.low <= 0 <= noise.high


def _dimension(design: Design, path: str) -> Dimension | None:
    world = _world(design)
    if (stated := world.of(path)) is not None:
        return stated
    thing, _, key = path.partition(".")
    component = design.components.get(thing)
    formula = component.constants.get(key) if component is not None else None
    if component is None or not isinstance(formula, Formula):
        return None
    return dimension_of(formula, Known(world.signals, scope(component, design)))


@cached
@unnoted()
def _world(design: Design) -> Known:
    return known(design)
