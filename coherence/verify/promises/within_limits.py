"""Bounds what loops write by the limits that count it, where a run passes one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coherence.language.design import Design, Limit
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Name, Tree
from coherence.language.loops import Loop
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Model
from coherence.simulate.execute.slices import influences
from coherence.verify.facts.limits import caps_at_all_times


def within_limits(
    design: Design, model: Model, condition: Tree
) -> tuple[Design, Sequence[Limit], Sequence[str]] | None:
    """Returns the design whose loops write no more than limits let through of it, with these limits and loops.

    None where no limit counts what the condition depends on and a loop may write beyond it.
    """
    causes = influences(model, names_of(condition))
    changed: dict[str, Loop] = {}
    binding: list[Limit] = []
    for limit in design.limits.values():
        counted = model.resolve(limit.counts.tree.path) if limit.counts and isinstance(limit.counts.tree, Name) else ""
        most = most_allowed(design, limit)
        if counted not in model.commands or counted not in causes or most is None or not _turns_away(limit):
            continue
        writers = [loop for loop in model.loops if loop.signal == counted and loop.name in design.loops]
        within = {loop.name: _bounded(changed.get(loop.name, design.loops[loop.name]), most) for loop in writers}
        narrower = {name: loop for name, loop in within.items() if loop is not None}
        changed |= narrower
        binding += [limit] if narrower else []
    return (design.replace(loops={**design.loops, **changed}), binding, tuple(changed)) if changed else None


def _turns_away(limit: Limit) -> bool:
    stops = limit.when_full is not None and limit.when_full.text in ("reject", "wait")
    return stops and caps_at_all_times(limit)


def _bounded(loop: Loop, most: Quantity) -> Loop | None:
    """Returns the loop with its upper bound at most so large; None where that changes nothing, or is not plain."""
    actuation = loop.actuation
    if actuation is None or len(actuation.bounds) != 2:
        return None
    low, high = actuation.bounds
    if not isinstance(low, Quantity) or not isinstance(high, Quantity) or not most.exact:
        return None
    begins = actuation.initial
    beyond = isinstance(begins, Quantity) and begins.high > most.low
    if beyond or not low.high <= most.low < high.high:
        return None
    return loop.replace(actuation=actuation.replace(bounds=(low, replace(high, low=most.low, high=most.low))))
