"""Fills in what a design implies: what answers its probes, what its places have, numbers of constants.

`from` and `bounds` of loops, what one member serves (`rate_per_copy`), resources that somebody needs, and what links,
tiers, boundaries, workloads, jobs, places and prices state, may be expressions of constants (`a.k`, `2 * a.k`,
`min(a.k, 9)`) that no loop writes.  Of a constant that is a
range they have a range too, where each name stands once and nothing but + - * /, min, max, floor and ceil is made of
it: then every value lies between those at its ends.  Any other expression stays as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from coherence.base.number_text import render_seconds
from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.base.units import ONE, SECOND
from coherence.language import names
from coherence.language.design import Actuation, Component, Design, Job, Loop, Timer, needed
from coherence.language.expressions.evaluate import Constants, NotExactError, evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Name, Number, Tree, walk
from coherence.language.roles import in_role
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.sentences import Event, event_of

KUBELET_PROBES = ("liveness_probe", "readiness_probe", "startup_probe")
MONOTONE = ("min", "max", "floor", "ceil")
MOST_RANGES = 8
EACH = ("rate_per_", "service_rate")  # keys of what one member serves


def with_implied(design: Design) -> Design:
    """Returns the design with what it implies."""
    return _with_resources(_behind_startup_probes(_with_delays_from_the_start(_with_replies(design))))


def is_answered_by_default(timer: Timer) -> bool:
    """Decides whether `unless` of a probe is not stated but follows from the start that it counts from."""
    return timer.unless is not None and timer.start is not None and timer.unless.place == timer.start.place


def may_be_over(timer: Timer) -> bool:
    """Decides whether the first delay of a probe, which counts from the start of its thing, may be over by then."""
    return timer.first is not None and timer.start is not None and timer.first.place == timer.start.place


def _with_replies(design: Design) -> Design:
    """Returns the design in which each probe that counts from the start of a thing is answered once that is over."""
    answered = {timer.name: event for timer in design.timers.values() if (event := _reply(design, timer)) is not None}
    if not answered:
        return design
    timers = {
        name: timer.replace(unless=answered[name]) if name in answered else timer
        for name, timer in design.timers.items()
    }
    return design.replace(timers=timers)


def _reply(design: Design, timer: Timer) -> Event | None:
    """Returns the end of the start of what a probe looks at; None where it is stated, or another probe waits for it."""
    start = timer.start
    if timer.unless is not None or timer.every is None or timer.misses is None or start is None:
        return None
    component = design.components.get(start.thing) if start.kind == "starts" else None
    begins = [name for name, _ in in_role(component, "start")] if component is not None else []
    counts = begins and (not start.activity or start.activity in begins)
    if not counts or is_held_back(design, timer):
        return None
    return event_of(f"{start.thing}.{begins[-1]} ends", start.place)


def _behind_startup_probes(design: Design) -> Design:
    """Returns the design in which a probe that states what answers it counts from the end of its startup probe."""
    held = {
        timer.name: _held(timer, probe)
        for timer in design.timers.values()
        if timer.unless is not None and (probe := startup_probe(design, timer)) is not None and probe.unless is not None
    }
    return design.replace(timers={**design.timers, **held}) if held else design


def _held(timer: Timer, probe: Timer) -> Timer:
    """Returns a probe that looks for the first time after a startup probe has been answered, at its own or next tick.

    Its first delay counts from the start of the thing, so that it may be over by then.
    """
    assert probe.unless is not None
    assert timer.start is not None
    start = event_of(probe.unless.text, timer.start.place)
    return timer.replace(start=start, first=_at_most(timer, probe.every, probe.reply_within), after=None)


def _at_most(timer: Timer, *more: object) -> Quantity:
    """Returns the first delay of a probe as what may be left of it, and at most as much more."""
    assert timer.start is not None
    delays = [span for span in (timer.first or timer.after, *more) if isinstance(span, Quantity)]
    latest = sum((span.high for span in delays), Fraction(0))
    return Quantity(Fraction(0), latest, SECOND, f"0 s .. {render_seconds(latest)}", timer.start.place)


def _with_delays_from_the_start(design: Design) -> Design:
    """Returns the design in which the first delay of a kubelet's probe may be over where its event comes later.

    It counts from the start of the container; what makes a probe fail (`from: web slow`) may come at any time after it.
    """
    late = {
        timer.name: timer.replace(first=_at_most(timer), after=None)
        for timer in design.timers.values()
        if timer.part is not None
        and timer.part.text in KUBELET_PROBES
        and timer.start is not None
        and timer.start.kind != "starts"
        and isinstance(delay := timer.first or timer.after, Quantity)
        and delay.high > 0
    }
    return design.replace(timers={**design.timers, **late}) if late else design


def startup_probe(design: Design, timer: Timer) -> Timer | None:
    """Returns the startup probe that holds this probe back until the start of their thing is over."""
    if timer.every is None or timer.misses is None:
        return None
    probes = (
        probe for probe in design.timers.values() if probe.part is not None and probe.part.text == "startup_probe"
    )
    return next((probe for probe in probes if probe.name != timer.name and _starts_with(probe, timer)), None)


def _starts_with(probe: Timer, timer: Timer) -> bool:
    """Decides whether two probes count from the start of one thing, or from one other event."""
    start, other = probe.start, timer.start
    if start is None or other is None:
        return start == other
    return start == other or (start.kind == other.kind == "starts" and start.thing == other.thing)


def is_held_back(design: Design, timer: Timer) -> bool:
    """Decides whether a startup probe of the same thing holds this probe back until the start is over."""
    return startup_probe(design, timer) is not None


def _with_resources(design: Design) -> Design:
    """Returns the design whose places have what their components state of a resource that somebody needs."""
    owners: tuple[Component | Job, ...] = (*design.components.values(), *design.jobs.values())
    wanted = {resource for owner in owners for resource in needed(owner)} if design.places else set()
    given = {name: _stated(design.components.get(name), wanted) for name in design.places}
    if not any(given.values()):
        return design
    return design.replace(places={name: given[name] | place for name, place in design.places.items()})


def _stated(component: Component | None, wanted: set[str]) -> dict[str, Quantity]:
    constants = component.constants if component is not None else {}
    return {word: value for word in wanted if isinstance(value := constants.get(word), Quantity)}


def with_named_numbers(design: Design) -> Design:
    """Returns the design with numbers where expressions of constants stand and answers need them."""
    if not any(isinstance(each, Formula) for each in _stated_numbers(design)):
        return design
    index = dict(names.bare_names(design))
    resources = _needed_resources(design)
    components = {name: _with_rates(design, index, each, resources) for name, each in design.components.items()}
    loops = {name: _with_numbers(design, index, loop) for name, loop in design.loops.items()}

    def table(constants: Mapping[str, Any]) -> dict[str, Any]:
        return {key: _number_or_word(design, index, stated) for key, stated in constants.items()}

    def entry(record: Any) -> Any:
        return record.replace(constants=table(record.constants))

    infrastructure = design.infrastructure
    if infrastructure is not None:
        infrastructure = infrastructure.replace(
            tiers={name: entry(tier) for name, tier in design.tiers.items()} if infrastructure.tiers else None,
            links=tuple(map(entry, infrastructure.links)),
            boundaries={n: entry(b) for n, b in design.boundaries.items()} if infrastructure.boundaries else None,
        )
    return design.replace(
        components=components, loops=loops, infrastructure=infrastructure, prices=table(design.prices),
        workload={name: entry(workload) for name, workload in design.workload.items()},
        jobs={name: entry(job) for name, job in design.jobs.items()},
        places={name: table(place) for name, place in design.places.items()},
    )  # fmt: skip


@cached
@unnoted()
def takes_names(design: Design) -> bool:
    """Returns whether a number is stated by an expression: an edit elsewhere may change it."""
    from coherence.language.shared_rates import ComputedQuantity, ScaledRate

    written = (each.stated if isinstance(each, ScaledRate) else each for each in _stated_numbers(design))
    return any(
        isinstance(each, ComputedQuantity) or (isinstance(each, Formula) and not each.is_word) for each in written
    ) or any(isinstance(each, Formula) for each in (*_numbers_of_loops(design), *_rates_of(design)))


def takes_part(design: Design, entry: object) -> bool:
    """Decides whether something of a design is implied by an entry together with others: a probe and what it looks at,
    a startup probe and those that it holds back, a place and the component of its name.
    """
    if isinstance(entry, Component):
        looked_at = (t for t in design.timers.values() if t.start is not None and t.start.thing == entry.name)
        stands = bool(design.places) and (entry.name in design.places or bool(needed(entry)))
        return stands or any(_is_probe(timer) and _may_be_implied(design, timer) for timer in looked_at)
    if isinstance(entry, Timer) and _is_probe(entry):
        return _may_be_implied(design, entry) or (entry.part is not None and entry.part.text == "startup_probe")
    return isinstance(entry, Job) and bool(design.places)


def _is_probe(timer: Timer) -> bool:
    return timer.every is not None and timer.misses is not None and timer.start is not None


def _may_be_implied(design: Design, timer: Timer) -> bool:
    """Decides whether what a probe counts from, or what answers it, may follow from other entries."""
    return timer.unless is None or is_answered_by_default(timer) or may_be_over(timer) or is_held_back(design, timer)


def computed_from(design: Design, path: str) -> Quantity | None:
    """Returns a number that was computed of a constant when the design was read; None where there is none."""
    from coherence.language.shared_rates import ComputedQuantity, ScaledRate

    thing, _, key = path.partition(".")
    component = design.components.get(thing)
    constant = component.constants.get(key) if component is not None else None
    if not isinstance(constant, Quantity):
        return None
    stated = (*_stated_numbers(design), *_numbers_of_loops(design), *_rates_of(design))
    numbers = (number for each in stated for number in (each, each.stated if isinstance(each, ScaledRate) else each))
    computed = (number for number in numbers if isinstance(number, ComputedQuantity))
    return next((number for number in computed if constant.place in number.also), None)


def _stated_numbers(design: Design) -> Iterator[object]:
    """Yields what is stated where an expression of constants is a number."""
    yield from _numbers_of_loops(design)
    yield from _rates_of(design)
    infrastructure = design.infrastructure
    links = infrastructure.links if infrastructure is not None else ()
    owners: tuple[Any, ...] = (
        *design.tiers.values(), *links, *design.boundaries.values(), *design.workload.values(), *design.jobs.values(),
    )  # fmt: skip
    for owner in owners:
        yield from owner.constants.values()
    for place in design.places.values():
        yield from place.values()
    yield from design.prices.values()


def _numbers_of_loops(design: Design) -> Iterator[object]:
    for loop in design.loops.values():
        yield from _numbers_of(loop)


def _numbers_of(loop: Loop) -> tuple[object, ...]:
    """Returns what a loop states of its start and its bounds; what it writes is what it reads then."""
    return (loop.actuation.initial, *loop.actuation.bounds) if loop.actuation is not None else ()


def _needed_resources(design: Design) -> frozenset[str]:
    """Returns the names of what members and jobs hold."""
    owners: tuple[Component | Job, ...] = (*design.components.values(), *design.jobs.values())
    return frozenset(resource for owner in owners for resource in needed(owner))


def _rates_of(design: Design) -> Iterator[object]:
    """Yields what is stated of the rate of one member, and of a resource that somebody needs."""
    resources = _needed_resources(design)
    for component in design.components.values():
        stated = component.constants.items()
        yield from (given for key, given in stated if key.startswith(EACH) or key in resources)


def _with_rates(design: Design, index: Mapping[str, str], component: Component, resources: frozenset[str]) -> Component:
    """Returns a component with numbers for the rates of a member, whose expressions may use its bare names."""
    stated = component.constants.items()
    formulas = {k: v for k, v in stated if (k.startswith(EACH) or k in resources) and isinstance(v, Formula)}
    inside = {**index, **names.scope(component, design)} if formulas else index
    numbers = {key: _number(design, inside, given) for key, given in formulas.items()}
    rates = {k: rate for k, rate in numbers.items() if rate is not None and (rate.dimension != ONE or k in resources)}
    return component.replace(constants={**component.constants, **rates}) if rates else component


def _with_numbers(design: Design, index: Mapping[str, str], loop: Loop) -> Loop:
    if not any(isinstance(stated, Formula) for stated in _numbers_of(loop)):
        return loop

    def number(stated: Any) -> Any:
        return _number(design, index, stated) or stated if isinstance(stated, Formula) else stated

    actuation = loop.actuation
    assert actuation is not None
    bounds = tuple(map(number, actuation.bounds))
    return loop.replace(actuation=actuation.replace(initial=number(actuation.initial), bounds=bounds))


def _number_or_word(design: Design, index: Mapping[str, str], stated: Any) -> Any:
    """Returns the number of an expression, a word, or anything that is stated otherwise, as it is."""
    if not isinstance(stated, Formula) or (stated.is_word and "-" in stated.text):
        return stated
    return _number(design, index, stated) or stated


def number_of(design: Design, stated: Formula) -> Quantity | None:
    """Returns the number that an expression of constants is, by their full names or bare ones; None for others."""
    return _number(design, names.bare_names(design), stated)


def _number(design: Design, index: Mapping[str, str], stated: Formula) -> Quantity | None:
    """Returns the number that an expression of constants is, at its place; None for anything else."""
    from coherence.language.dimensions import Known, dimension_of, known
    from coherence.language.shared_rates import ComputedQuantity

    used = [node.path for node in walk(stated.tree) if isinstance(node, Name)]
    constants = {path: constant for path in used if (constant := _constant(design, index, path)) is not None}
    values = _values(stated.tree, constants) if len(constants) == len(set(used)) else ()
    if not values or (len(values) > 1 and not (len(used) == len(constants) and _is_monotone(stated.tree))):
        return None
    dimension = dimension_of(stated, Known(known(design).signals, dict(index))) or ONE
    varies = any(constant.varies for constant in constants.values())
    also = tuple(constant.place for constant in constants.values())
    return ComputedQuantity(min(values), max(values), dimension, stated.text, stated.place, varies, also)


def _constant(design: Design, index: Mapping[str, str], path: str) -> Quantity | None:
    """Returns the constant of a component that a name stands for; None where it is none, or a loop writes it."""
    full = index.get(path, path)
    if any(loop.actuation is not None and _writes(index, loop.actuation, full) for loop in design.loops.values()):
        return None
    thing, _, key = full.partition(".")
    component = design.components.get(thing)
    constant = component.constants.get(key) if component is not None else None
    return constant if isinstance(constant, Quantity) else None


def _writes(index: Mapping[str, str], actuation: Actuation, path: str) -> bool:
    return actuation.signal is not None and index.get(actuation.signal.text, actuation.signal.text) == path


def _values(tree: Tree, constants: Mapping[str, Quantity]) -> tuple[Fraction, ...]:
    """Returns the values at all ends of the constants; none where one has no exact value."""
    ends = [[(path, end) for end in dict.fromkeys((q.low, q.high))] for path, q in constants.items()]
    if sum(len(pair) > 1 for pair in ends) > MOST_RANGES:
        return ()
    try:
        values = [evaluate(tree, Constants(dict(corner))) for corner in itertools.product(*ends)]
    except NotExactError:
        return ()
    return tuple(map(Fraction, values)) if all(map(_is_number, values)) else ()


def _is_number(value: object) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _is_monotone(tree: Tree) -> bool:
    """Decides whether the expression rises or falls in each of its names: it divides by plain numbers alone."""
    return all(map(_keeps_order, walk(tree)))


def _keeps_order(node: Tree) -> bool:
    match node:
        case Number() | Name():
            return True
        case Arithmetic(op="/", right=right):
            return isinstance(right, Number)
        case Arithmetic():
            return True
        case Call(function=function):
            return function in MONOTONE
    return False
