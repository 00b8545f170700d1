"""Lists the open ranges of a design of which a run reads one end: times, steps, ranks, rates, bounds, tolerances.

A run at one end is a run of the design, so a conflict stands.  A proof speaks of that end alone, so it
does not: such a fact is named, and what would have been proved is undecided.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base.number_text import render_decimal, render_seconds
from coherence.language.design import Loop
from coherence.language.schema_kinds import Quantity
from coherence.model.boundaries import delays_between
from coherence.model.model import Model, SampledLoop

TIMES = ("phase", "hold_down", "hold_up", "cooldown", "lands", "period")


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
