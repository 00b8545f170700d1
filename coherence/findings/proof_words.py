"""Tells what a proof is about: signals, events and things, and those from which its signals are computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from coherence.base.graphs import reached
from coherence.findings.finding import Finding
from coherence.language import names
from coherence.language.design import Component, Design, Loop, needed
from coherence.language.expressions import names as names_in
from coherence.language.infrastructure import Tier
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.sentences import Event
from coherence.language.words import MEMBERS as MEMBER_COUNTS
from coherence.model.measured_signals import derived_outputs

RATE_WORDS = ("rate", "attempts")


def words_of(design: Design, finding: Finding) -> frozenset[str]:
    """Returns the signals, events and things that a proof is about, and those that its signals are computed from."""
    return frozenset(word for name in finding.of for word in words_of_entry(design, name))


def words_of_entry(design: Design, name: str) -> frozenset[str]:
    """Returns what a proof is about that names an entry; gathered once."""
    return design.queries.get((words_of_entry, name), lambda: _entry_with_things(design, name))


def _entry_with_things(design: Design, name: str) -> frozenset[str]:
    signals = frozenset(_entry_words(design, name))
    things = frozenset(word.split(".")[0] for word in signals)
    components = (design.components[thing] for thing in things if thing in design.components)
    return signals | things | {host.runs_on.text for host in components if host.runs_on is not None}


def _entry_words(design: Design, name: str) -> Iterator[str]:
    yield name
    yield from ends_of_calls(design).get(name, ())
    if name in design.loops:
        yield from _loop_words(design, design.loops[name])
    limit, promise, timer = design.limits.get(name), design.promises.get(name), design.timers.get(name)
    if limit is not None:
        stated = (limit.counts, limit.at_most, limit.at_least)
        yield from _behind(design, signals_in(design, [text for text in stated if isinstance(text, Formula)]))
    if name in design.claims:
        yield from _behind(design, signals_in(design, [design.claims[name]]))
    if name in design.components:
        yield from _behind(design, [f"{name}.{word}" for word in design.components[name].constants])
    if name in design.jobs:
        yield from _holding(design, needed(design.jobs[name]))
    if name in design.workload:
        yield from (f"{name}.{word}" for word in RATE_WORDS)
    if promise is not None:
        yield from _behind(design, signals_in(design, promise.conditions))
        yield from _texts((promise.first, promise.second))
    if timer is not None:
        yield from (text for text in _texts((timer.start, timer.unless)) if not _starts_an_activity(design, text))


def _holding(design: Design, resources: Collection[str]) -> Iterator[str]:
    """Yields some resources, and the components and tiers that have one of them."""
    yield from resources
    holders: list[Component | Tier] = [*design.components.values(), *design.tiers.values()]
    yield from (holder.name for holder in holders if not holder.constants.keys().isdisjoint(resources))


def _loop_words(design: Design, loop: Loop) -> Iterator[str]:
    own = list(written(design, loop.name))
    yield from _behind(design, [*signals_in(design, names.loop_formulas(loop)), *own])
    for path in own:
        thing, _, signal = path.partition(".")
        if signal in MEMBER_COUNTS:
            yield from [] if _moves_only(design, loop, path, up=False) else [coming(thing)]
            yield from [] if _moves_only(design, loop, path, up=True) else [leaving(thing)]
    yield from [going(loop.evicted)] if loop.evicted else []


def _moves_only(design: Design, loop: Loop, path: str, *, up: bool) -> bool:
    """Decides whether a loop, the only one to write a signal, steps it one way, from inside its bound."""
    actuation = loop.actuation
    writers = [name for name in design.loops if path in written(design, name)]
    steps: list[tuple[object, object]] = [(rule.by, rule.to) for rule in loop.rules]
    steps += [(actuation.by, actuation.to)] if actuation is not None and not steps else []
    stepping = all(isinstance(by, Quantity) and to is None and (by.low > 0 if up else by.high < 0) for by, to in steps)
    return len(writers) == 1 and bool(steps) and stepping and _begins_inside(design, loop, path, up=up)


def _begins_inside(design: Design, loop: Loop, path: str, *, up: bool) -> bool:
    """Decides whether a signal begins inside the bound at the far side of a loop, so that no step leads back to it."""
    thing, _, signal = path.partition(".")
    component, actuation = design.components.get(thing), loop.actuation
    bounds = actuation.bounds if actuation is not None else ()
    begins: object = actuation.initial if actuation is not None else None
    if begins is None and component is not None:
        if component.part is not None:
            return False  # it may say where the signal begins
        begins = component.copies if signal == "copies" else component.constants.get(signal)
    if not bounds or begins is None:
        return True
    bound = bounds[-1 if up else 0]
    if not isinstance(begins, Quantity) or not isinstance(bound, Quantity):
        return False
    inner = (bound.high if len(bounds) == 1 else bound.low) if up else (bound.low if len(bounds) == 1 else bound.high)
    return begins.high <= inner if up else begins.low >= inner


def coming(thing: str) -> str:
    """Returns the word that stands for how many more members of a thing there are to be."""
    return f"more members of {thing}"


def leaving(thing: str) -> str:
    """Returns the word that stands for how many fewer members of a thing there are to be."""
    return f"fewer members of {thing}"


def going(thing: str) -> str:
    """Returns the word that stands for the eviction of a member of a thing."""
    return f"eviction of {thing}"


def written(design: Design, name: str) -> Iterator[str]:
    """Yields the signal that a loop writes."""
    if signal := design.loops[name].written:
        yield names.resolve(signal, design)


def ends_of_calls(design: Design) -> dict[str, tuple[str, ...]]:
    """Returns caller and callee of each call, by its name; gathered once."""

    def gathered() -> dict[str, tuple[str, ...]]:
        return {call.name: tuple(end.text for end in (call.caller, call.callee) if end) for call in design.calls}

    return design.queries.get(ends_of_calls, gathered)


def _starts_an_activity(design: Design, event: str) -> bool:
    """Returns whether an event is the start of an activity: it may come at any time, whoever else starts it."""
    thing, _, activity = event.removesuffix(" starts").partition(".")
    component = design.components.get(thing)
    return event.endswith(" starts") and component is not None and activity in (component.takes or {})


def _texts(events: Iterable[object]) -> Iterator[str]:
    yield from (event.text for event in events if isinstance(event, Event))


def signals_in(design: Design, formulas: Iterable[Formula]) -> Iterator[str]:
    """Yields the signals that formulas read."""
    yield from (names.resolve(path, design) for formula in formulas for path in names_in(formula.tree))


def _behind(design: Design, signals: Iterable[str]) -> Iterator[str]:
    """Yields signals with all from which they are computed."""
    derived = derived_outputs(design)

    def made_of(path: str) -> Iterator[str]:
        yield from signals_in(design, _formulas(design, path))
        yield from names_in(derived[path]()) if path in derived else ()

    yield from reached(signals, made_of)


def _formulas(design: Design, path: str) -> Iterator[Formula]:
    """Yields the formulas that compute a signal of a component."""
    thing, _, signal = path.partition(".")
    component: Component | None = design.components.get(thing)
    if component is not None:
        own: Mapping[str, object] = component.constants
        state = names.state_formula(component) if signal == names.state_variable(component) else None
        yield from (formula for formula in (own.get(signal), state) if isinstance(formula, Formula))
