"""Lowers the noise of boundaries: what is added to a reading that crosses one, anew at each sample.

    seen = reading_gain x value + noise

`noise` is a range around 0 of one unit.  Readings of that unit get it, and those whose unit the design does not say;
one of another unit has none.  Each loop's reading of a name has a noise of its own, and so has one of an older value of
it: an input that takes any value of the range at any sample, so that delays change nothing of it.  Noise that no
reading gets, that is no such range, or that lies beside a gain in no order is not read, and takes back the proofs that
it touches.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.base.units import Dimension
from coherence.language.design import Design, Loop
from coherence.language.dimensions import Known, dimension_of, known
from coherence.language.expressions.tree import Name, Tree
from coherence.language.infrastructure import Boundary
from coherence.language.names import scope
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.draft import ModelDraft

NOISE = ".noise."


def noise_of(draft: ModelDraft, loop: Loop, boundary: Boundary, path: str, age: Fraction) -> Tree | None:
    """Returns what a boundary adds to a loop's reading of a name of some age (s); None where it adds nothing."""
    stated = boundary.constants.get("noise")
    if not isinstance(stated, Quantity) or not _is_of(draft.design, stated, path):
        return None
    own = f"{boundary.name}{NOISE}{loop.name}.{path}" + (f".{age}_s_ago" if age else "")
    draft.constant(own, replace(stated, varies=True))
    return Name(own)


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
