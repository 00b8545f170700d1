"""Finds limits on what loops write that do not state what becomes of what is beyond them, where a run passes one."""

from __future__ import annotations

from collections.abc import Sequence

from coherence.language.design import Design, Limit
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Tree
from coherence.language.schema_kinds import Word
from coherence.model.caps import TURNS_AWAY, counting_limits
from coherence.model.model import Model
from coherence.simulate.execute.slices import influences


def within_limits(design: Design, model: Model, condition: Tree) -> tuple[Design, Sequence[Limit]] | None:
    """Returns the design in which limits without `when_full` on what a condition depends on turn away, with these.

    None where there is no such limit.
    """
    causes = influences(model, names_of(condition))
    open_limits = [
        limit
        for path, limits in counting_limits(design).items()
        if path in model.commands and path in causes
        for limit in limits
        if limit.when_full is None
    ]
    stated = {limit.name: limit.replace(when_full=Word(TURNS_AWAY[0], limit.place)) for limit in open_limits}
    return (design.replace(limits={**design.limits, **stated}), open_limits) if stated else None
