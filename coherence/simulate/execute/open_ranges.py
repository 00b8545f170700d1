"""Lists the open ranges of a design of which a run reads one end: times, steps, ranks, rates, bounds, tolerances.

A run at one end is a run of the design, so a conflict stands.  A proof speaks of that end alone, so it
does not: such a fact is named, and what would have been proved is undecided.  Phases and orders that nothing states
are open as well; proofs ask about all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from coherence.base.number_text import render_decimal, render_quantity, render_seconds
from coherence.base.reads import unnoted
from coherence.language.design import Loop
from coherence.language.schema_kinds import Quantity
from coherence.model.boundaries import delays_between
from coherence.model.model import Constant, Model, SampledLoop

TIMES = ("phase", "hold_down", "hold_up", "cooldown", "lands", "period")


@unnoted()
def lower_ends(model: Model, given: Collection[str]) -> tuple[str, ...]:
    """Returns what a run takes of each open constant that is not given, and of loops and plants, in words."""
    constants = (
        f"{path} = {render_quantity(constant.range.low, constant.dimension)}, the lower end of {_range(constant)}"
        for path, constant in model.constants.items()
        if path not in given and constant.range.low is not None and not constant.range.exact
    )
    ends = ends_taken(model)
    known = {text.partition(" = ")[0] for text in ends}
    others = (f"one end of {fact}" for fact in one_ended(model) if fact.replace("`", "") not in known)
    return (*constants, *ends, *others, *_clocks(model))


def _clocks(model: Model) -> Iterator[str]:
    """Yields when loops first act, and in which order, where the design does not say it."""
    free = [loop.name for loop in model.loops if loop.phase is None]
    if free:
        yield f"phase of {', '.join(free)} = 0 s, since none is stated"
    for first, second in pairwise(model.loops):
        if (first.signal, first.rank) == (second.signal, second.rank):
            yield f"{first.name} acts before {second.name} where both act at one instant, since no rank says otherwise"


def _range(constant: Constant) -> str:
    low, high = (
        "" if end is None else render_quantity(end, constant.dimension)
        for end in (constant.range.low, constant.range.high)
    )
    return f"{low} .. {high}".rstrip() + (", which varies" if constant.varies else "")


def ends_taken(model: Model) -> tuple[str, ...]:
    """Returns the value that a run takes of each open time and tolerance of a loop, in words."""
    return tuple(text for loop in model.loops for text in (*_taken(loop), *_on_the_way(model, loop)))


def _taken(sampled: SampledLoop) -> Iterator[str]:
    loop = sampled.source
    facts = [(key, value, render_seconds) for key, value in _times(loop)]
    facts += [("tolerance", loop.target.tolerance, render_decimal)] if loop.target is not None else []
    for key, value, render in facts:
        if _open(value):
            yield f"{key} of {loop.name} = {render(getattr(sampled, key))}"


def _on_the_way(model: Model, loop: SampledLoop) -> Iterator[str]:
    """Yields the value that a run takes of each open delay of the boundaries that a loop acts or looks across."""
    for (boundary, key), delay in delays_between(model.design, loop.source).items():
        if _open(delay):
            yield f"{key} of {boundary} = {render_seconds(delay.high)}"


def one_ended(model: Model) -> tuple[str, ...]:
    """Returns the facts of loops and plants of which a run reads one end, in words; none where all are exact."""
    facts = [text for loop in model.loops for text in _of_loop(loop)]
    facts += [f"`{text.partition(' = ')[0]}`" for loop in model.loops for text in _on_the_way(model, loop)]
    things = dict.fromkeys(path.split(".")[0] for path in model.states)
    components = (model.design.components.get(name) for name in things)
    facts += [f"`step` of {c.name}" for c in components if c is not None and _open(c.step)]
    return tuple(dict.fromkeys(facts))


def _open(value: object) -> bool:
    return isinstance(value, Quantity) and not value.exact


def _of_loop(sampled: SampledLoop) -> Iterator[str]:
    loop = sampled.source
    facts = [*_times(loop), *_actuation(loop), ("rank", loop.rank)]
    if loop.target is not None:
        facts += [("tolerance", loop.target.tolerance), *(("sensor", link.duration) for link in loop.target.sensor)]
    yield from (f"`{key}` of {loop.name}" for key, value in facts if _open(value))


def _times(loop: Loop) -> list[tuple[str, object]]:
    return [(key, getattr(loop.timescale, key)) for key in TIMES] if loop.timescale is not None else []


def _actuation(loop: Loop) -> list[tuple[str, object]]:
    if loop.actuation is None:
        return []
    rates = [("rate", value) for rate in loop.actuation.rate for value in (rate.by, rate.percent, rate.per)]
    return [*rates, *(("bounds", bound) for bound in loop.actuation.bounds)]
