"""Resolves the names of a design: near misses are errors, all other unknown names are outside things.

A name before a dot that no section declares is an outside thing: its signals take any value of their
dimension, and it is listed as an assumption.  A bare name must be a state, a loop or a constant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from coherence.base.places import Place
from coherence.base.queries import cached, carried
from coherence.base.reads import unnoted
from coherence.base.records import Record
from coherence.base.units import UNITS, shorten
from coherence.language.design import Component, Design, Limit, Relay
from coherence.language.expressions import ExpressionError, parse
from coherence.language.expressions.parse import PER
from coherence.language.expressions.tree import Call as Function
from coherence.language.expressions.tree import Name, Number, Tree, children, walk
from coherence.language.schema_kinds import Formula, Reading, Word
from coherence.language.sentences import Event

R = TypeVar("R", bound=Record)
BUILT_IN = frozenset({"time"})
LONGEST = 64  # characters of a name of which near misses are looked for


@carried
@cached
@unnoted()
def things(design: Design) -> frozenset[str]:
    """Returns every declared name that may stand before a dot; gathered once."""
    names: set[str] = set(design.components) | set(design.workload) | set(design.loops) | set(design.timers)
    names |= set(design.limits) | set(design.jobs) | set(design.places) | set(design.tiers) | set(design.boundaries)
    for call in design.calls:
        names |= {end.text for end in (call.caller, call.callee) if end}
    return frozenset(names)


def state_variable(component: Component) -> str | None:
    """Returns `p` of an inline plant `p' = expr`."""
    if component.state is None or "'" not in component.state.text:
        return None
    return component.state.text.split("'")[0].strip()


PLANT = re.compile(r"\s*([a-z][a-z0-9_]*)\s*'\s*=(.*)", re.DOTALL)


def state_formula(component: Component) -> Formula | None:
    """Returns the right-hand side of an inline plant; None where there is none, or none that can be read."""
    match = PLANT.fullmatch(component.state.text) if component.state else None
    try:
        return Formula(parse(match[2]), match[2], component.state.place) if match and component.state else None
    except ExpressionError:
        return None


@carried
@cached
def written(design: Design) -> dict[str, tuple[str, ...]]:
    """Returns for each thing the signals of it that loops write."""
    signals: dict[str, dict[str, None]] = {}
    for loop in design.loops.values():
        if loop.actuation and loop.actuation.signal:
            thing, _, signal = loop.actuation.signal.text.partition(".")
            signals.setdefault(thing, {})[signal] = None
    return {thing: tuple(filter(None, own)) for thing, own in signals.items()}


def members(component: Component, design: Design) -> tuple[str, ...]:
    """Signals of a component: its constants and outputs, its inline state, its activities, what loops write."""
    variable = state_variable(component)
    own = (*component.constants, *([variable] if variable else []), *(component.takes or ()))
    own += tuple(f"cases.{case}" for case in component.cases or ())
    return tuple(dict.fromkeys((*own, *written(design).get(component.name, ()))))


@carried
@cached
@unnoted()
def bare_names(design: Design) -> dict[str, str]:
    """Returns for each bare name its full signal path, where one component alone has it and no loop is called so."""
    paths = paths_of_names(design)
    return {name: own[0] for name, own in paths.items() if len(own) == 1 and name not in design.loops}


def paths_of_names(design: Design) -> dict[str, list[str]]:
    """Returns for each bare name the full paths of all signals that are called so."""
    paths: dict[str, list[str]] = {}
    for component in design.components.values():
        for name in members(component, design):
            paths.setdefault(name, []).append(f"{component.name}.{name}")
    return paths


def scope(component: Component, design: Design) -> dict[str, str]:
    """Returns the bare names inside a component's own expressions: its own members first."""
    return {**bare_names(design), **{name: f"{component.name}.{name}" for name in members(component, design)}}


def resolve(path: str, design: Design) -> str:
    """Returns the full path of a name: `p` -> `power.p`; a dotted path or a loop's name is itself."""
    return path if "." in path else bare_names(design).get(path, path)


def formulas(design: Design) -> Iterator[Formula]:
    """Yields every expression that a run evaluates, except those of components (see `component_formulas`)."""
    yield from design.claims.values()
    for loop in design.loops.values():
        yield from loop_formulas(loop)
    for limit in design.limits.values():
        yield from limit_formulas(limit)
    yield from promise_formulas(design)


def limit_formulas(limit: Limit) -> Iterator[Formula]:
    """Yields the expressions of one limit."""
    yield from (f for f in (limit.counts, limit.at_most, limit.at_least, limit.but_at_least) if isinstance(f, Formula))


def promise_formulas(design: Design) -> Iterator[Formula]:
    """Yields the conditions of all promises."""
    for promise in design.promises.values():
        yield from promise.conditions


def conditions(design: Design) -> Iterator[Formula]:
    """Yields those of the formulas that must be true or false."""
    for loop in design.loops.values():
        relay = loop.trigger if isinstance(loop.trigger, Relay) else None
        parts = [loop.trigger, *((relay.enter, relay.leave) if relay else ()), *(rule.when for rule in loop.rules)]
        yield from (f for f in parts if isinstance(f, Formula) and f.text != "always")
    for promise in design.promises.values():
        yield from promise.conditions


@carried
@cached
def used_names(design: Design) -> frozenset[str]:
    """Returns the names that a formula or an event of the design reads, as they are written."""
    components = design.components.values()
    own = [formula for component in components for formula in component_formulas(component)]
    own += [plant for component in components if (plant := state_formula(component)) is not None]
    read = (node.path for formula in (*formulas(design), *own) for node in _plain_names(formula.tree))
    return frozenset({*read, *(event.subject for event in events(design))})


def component_formulas(component: Component) -> Iterator[Formula]:
    """Yields the output expressions of a component."""
    yield from (value for value in component.constants.values() if isinstance(value, Formula))


def loop_formulas(loop: object) -> Iterator[Formula]:
    """Yields the expressions of one loop."""
    target, actuation = getattr(loop, "target", None), getattr(loop, "actuation", None)
    trigger = getattr(loop, "trigger", None)
    parts: list[object] = [trigger] if isinstance(trigger, Formula) else []
    if isinstance(trigger, Relay):
        parts += [trigger.enter, trigger.leave]
    parts += [target.signal, target.setpoint] if target else []
    parts += [actuation.by, actuation.to, actuation.initial, *actuation.bounds] if actuation else []
    for rule in getattr(loop, "rules", ()):
        parts += [rule.when, rule.by, rule.to]
    yield from (f for f in parts if isinstance(f, Formula) and f.text != "always")


MOST_COMPARISONS = 100_000  # pairs of names in one design; beyond them near misses are no longer looked for


class _Checker:
    """Looks up the names of one design and reports those that cannot be meant."""

    def __init__(self, design: Design, reading: Reading) -> None:
        self.design, self.reading = design, reading
        self.known = sorted(things(design))
        self.declared = frozenset(self.known)
        self.near: dict[str, str | None] = {}
        self.left = MOST_COMPARISONS

    def name(self, name: Name, formula: Formula, bare: dict[str, str]) -> None:
        """Reports a name in a formula that cannot be meant."""
        place = formula.at(name.span)
        head, _, rest = name.path.partition(".")
        if rest:
            self.thing(head, place)
            self.signal(head, rest, place)
        elif not (head in self.declared or head in bare or head in BUILT_IN):
            self.nothing(head, place, bare)

    def nothing(self, head: str, place: Place, bare: dict[str, str]) -> None:
        """Reports a bare name that is neither a thing nor the signal of one component."""
        ambiguous = [c.name for c in self.design.components.values() if head in members(c, self.design)]
        if ambiguous:
            self.reading.problem(place, f"'{head}' is in {' and '.join(ambiguous)}", f"write {ambiguous[0]}.{head}")
            return
        near = self.nearest(head, sorted({*self.known, *bare}))
        remedy = (
            f"did you mean '{near}'?" if near else "declare it, or write thing.signal for something outside the design"
        )
        remedy = f"a unit stands behind a number: 1 {head}" if head in UNITS and not near else remedy
        self.reading.problem(place, f"'{head}' names nothing in this design", remedy)

    def units(self, formula: Formula, bare: dict[str, str]) -> None:
        """Reports units behind a blank (`5 MB / s`) that are names too."""
        for node in walk(formula.tree) if PER.search(formula.text) else ():
            written = formula.text[slice(*node.span)] if isinstance(node, Number) else ""
            before, _, after = written.rpartition("/")
            head, is_apart = after.strip(), before != before.rstrip() or after != after.lstrip()
            if is_apart and (head in self.declared or head in bare):
                remedy = f"write {bare.get(head, head)}, or no blank before /"
                self.reading.problem(formula.at(node.span), f"'{head}' is a unit and a name here", remedy)

    def thing(self, head: str, place: Place) -> None:
        """Reports a word before a dot that is not declared, and near to what is."""
        if head in self.declared:
            return
        if head not in self.near:
            self.near[head] = self.nearest(head, self.known)
        if near := self.near[head]:
            self.reading.problem(place, f"'{head}' is not declared", f"did you mean '{near}'?")

    def subject(self, event: Event, own: str) -> None:
        """Reports the subject of an event like a word before a dot; no timer runs from its own start."""
        near = self.nearest(event.thing, [own]) if own and event.thing not in self.declared else None
        if near is None or self.nearest(event.thing, [name for name in self.known if name != own]):
            self.thing(event.thing, event.place)

    def signal(self, head: str, signal: str, place: Place) -> None:
        """Reports a word after a dot that is near to a signal of its component."""
        component = self.design.components.get(head)
        if component is None or signal in members(component, self.design):
            return
        near = self.nearest(signal, sorted(component.constants))
        if near:
            self.reading.problem(place, f"'{head}' has no signal '{signal}'", f"did you mean '{head}.{near}'?")

    def nearest(self, word: str, known: Sequence[str]) -> str | None:
        """Returns the nearest known name, while comparisons are left."""
        self.left -= len(known)
        return nearest(word, known) if self.left >= 0 else None


def check(design: Design, reading: Reading, *, whole: Design | None = None) -> None:
    """Reports near misses of declared names, and bare names that refer to nothing in the design (or the `whole`)."""
    world = whole or design
    checker, bare = _Checker(world, reading), bare_names(world)
    for formula in formulas(design):
        for name in _plain_names(formula.tree):
            checker.name(name, formula, bare)
        checker.units(formula, bare)
    for component in design.components.values():
        own = list(component_formulas(component))
        if component.state is not None:
            own += _plant_or_problem(component, reading)
        local = scope(component, world) if own else {}
        for formula in own:
            for name in _plain_names(formula.tree):
                checker.name(name, formula, local)
            checker.units(formula, local)
    for loop in design.loops.values():
        signal = loop.actuation.signal if loop.actuation else None
        if isinstance(signal, Word):
            checker.thing(signal.text.split(".")[0], signal.place)
    runs = {timer.start: timer.name for timer in design.timers.values() if timer.start is not None}
    for event in events(design):
        if event.kind != "outside":
            checker.subject(event, runs.get(event, ""))


def _plant_or_problem(component: Component, reading: Reading) -> list[Formula]:
    assert component.state is not None
    text, place = component.state.text, component.state.place
    match = PLANT.fullmatch(text)
    if not match:
        reading.problem(place, f"'{shorten(text)}' is not a plant", "write `p' = expression`")
        return []
    try:
        return [Formula(parse(match[2]), match[2], place)]
    except ExpressionError as error:
        reading.problem(place, f"{error} in '{shorten(match[2])}'", error.remedy)
        return []


def events(design: Design) -> Iterator[Event]:
    """Yields every event named in timers and promises."""
    for timer in design.timers.values():
        yield from (e for e in (timer.start, timer.unless, timer.then, timer.renew) if isinstance(e, Event))
    for promise in design.promises.values():
        yield from (e for e in (promise.first, promise.second) if e is not None)


def events_of(design: Design, thing: str) -> Sequence[Event]:
    """Returns the events that speak of a thing; looking them up reads none."""
    return _events_by_thing(design).get(thing, ())


@cached
@unnoted()
def _events_by_thing(design: Design) -> dict[str, list[Event]]:
    speaking: dict[str, list[Event]] = {}
    for event in events(design):
        speaking.setdefault(event.thing, []).append(event)
    return speaking


def _plain_names(tree: Tree) -> Iterator[Name]:
    """Yields names that must refer to a signal: not those counted by kind (`in flight`, `count by`)."""
    if isinstance(tree, Name):
        yield tree
    elif not (isinstance(tree, Function) and tree.function in ("in flight", "count by")):
        for child in children(tree):
            yield from _plain_names(child)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Returns a known name one slip away (two for long names); singular, plural and numbering are not slips."""
    if len(word) > LONGEST:
        return None
    for name in sorted(known):
        limit = 2 if min(len(word), len(name)) >= 8 else 1
        if min(len(word), len(name)) >= 4 and not related(word, name) and distance(word, name, limit) <= limit:
            return name
    return None


def related(word: str, other: str) -> bool:
    """Decides whether two names differ by a plural or a number alone, which is no slip."""
    plural = word.rstrip("s") == other.rstrip("s")
    numbered = word.rstrip("0123456789") == other.rstrip("0123456789")
    return plural or numbered


def distance(word: str, other: str, limit: int) -> int:
    """Returns the optimal string alignment distance, or `limit` + 1 where it is more."""
    if abs(len(word) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(word, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == word[i - 2]:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and min(before) >= limit:
            return limit + 1
    return min(row[-1], limit + 1)


def _cached_heads(record: R, own: Callable[[R], Iterable[Formula]]) -> tuple[str, ...]:
    """Returns the words before dots in the expressions of a record; kept with it."""
    return record.queries.get(_heads, lambda: tuple(_heads(own(record))))


def _heads(formulas_of: Iterable[Formula]) -> Iterator[str]:
    for formula in formulas_of:
        for name in _plain_names(formula.tree):
            head, _, rest = name.path.partition(".")
            if rest:
                yield head


def outside(design: Design) -> tuple[str, ...]:
    """Returns the outside things, in order of first use: assumptions of every answer about them."""
    known = things(design)
    heads = [*_heads(design.claims.values())]
    for loop in design.loops.values():
        heads += _cached_heads(loop, loop_formulas)
    for limit in design.limits.values():
        heads += _cached_heads(limit, limit_formulas)
    heads += _heads(promise_formulas(design))
    for component in design.components.values():
        heads += _cached_heads(component, component_formulas)
    signals = (loop.actuation.signal for loop in design.loops.values() if loop.actuation)
    heads += (signal.text.split(".")[0] for signal in signals if isinstance(signal, Word))
    return tuple(dict.fromkeys(head for head in heads if head not in known))
