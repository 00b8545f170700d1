"""Collects the design facts about numbers: intervals of constants, of members, and of what loops write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from coherence.base.places import Place
from coherence.base.queries import QueryTable
from coherence.base.reads import ReadTable, unnoted
from coherence.findings.question_input import Subject
from coherence.language import names
from coherence.language.design import Component, Design, Limit
from coherence.language.entries.repeated_sends import sends_again
from coherence.language.expressions.tree import Name, Tree, rename
from coherence.language.infrastructure import Hosting
from coherence.language.jobs import needed
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.words import STATES
from coherence.language.workloads import Randomness, Workload
from coherence.model.caps import capped, has_caps
from coherence.model.measured_signals import derived_outputs, is_direct
from coherence.model.model import EVERYTHING, Interval, interval
from coherence.verify.facts.ranges import enclosure, hull, point, unknown
from coherence.verify.facts.writers import TRANSIENT, Writer, initial, interval_of, writers, writers_by_thing

COPIES = STATES["wanted"]  # what an autoscaler writes to choose how many members a thing has


@dataclass(frozen=True)
class DesignFacts:
    """`values`: path -> range; `places`: where it stands; `quantities`: the one quantity behind it, for repairs.

    `outputs` are the paths that stand for an expression, `written` those that loops write, `counted`
    those that limits count as they are; `whole` the paths that count members.
    """

    design: Design
    values: ReadTable[Interval] = field(default_factory=ReadTable)
    places: dict[str, Place] = field(default_factory=dict)
    quantities: dict[str, Quantity] = field(default_factory=dict)
    outputs: ReadTable[Tree] = field(default_factory=ReadTable)
    written: dict[str, list[Writer]] = field(default_factory=dict)
    counted: dict[str, list[Limit]] = field(default_factory=dict)
    bare: Mapping[str, str] = field(default_factory=dict)

    @property
    def queries(self) -> QueryTable:
        """The table of what was computed from the design."""
        return self.design.queries

    def put(self, path: str, value: Quantity) -> None:
        self.values.put(path, lambda: interval(value))
        self.places[path], self.quantities[path] = value.place, value

    @property
    def whole(self) -> frozenset[str]:
        """Returns paths whose values are whole numbers: members, and what integer laws write."""
        integer = {path for path, found in self.written.items() if all(writer.whole for writer in found)}
        return frozenset(integer | {path for path in self.values if path.endswith(".copies")})

    def tree(self, tree: Tree, inside: frozenset[str] = frozenset()) -> Tree:
        """Returns the tree over constants and commands alone: every output replaced by its expression.

        An output that reads its own past (`inside` are those being replaced) stays a name without a range.
        """

        def inner(path: str) -> str | Tree:
            path = self.bare.get(path, path)
            if path not in self.outputs or path in inside:
                return path
            return self.tree(self.outputs[path], inside | {path})

        return rename(tree, inner)

    def missing(self, tree: Tree) -> tuple[str, ...]:
        """Returns the names of the expanded tree without a range."""
        return unknown(self.tree(tree), self.values)

    def range(self, tree: Tree) -> Interval:
        """Returns an interval that contains every value of the tree."""
        return enclosure(self.tree(tree), self.values)

    def place_of(self, tree: Tree) -> Place | None:
        """Returns the place of the first value that the tree is made of."""
        from coherence.language.expressions import names as used

        return next((self.places[path] for path in used(self.tree(tree)) if path in self.places), None)


def known(subject: Subject) -> DesignFacts:
    """Returns everything that the design states about its numbers; gathered once."""
    return subject.queries.get(known, lambda: _gathered(subject))


def _gathered(subject: Subject) -> DesignFacts:
    design = subject.design
    facts = DesignFacts(design, written=writers(design), bare=names.bare_names(design))
    with unnoted():
        _gather(facts, subject)
    return facts


def _gather(facts: DesignFacts, subject: Subject) -> None:
    """Gathers the facts; who takes one of them reads what it was computed from."""
    design = facts.design
    for component in design.components.values():
        _component(facts, component)
    for workload in design.workload.values():
        _constants(facts, workload.name, {"rate": workload.rate, **workload.constants})
    _attempts(facts, design.workload)
    for tier in design.tiers.values():
        _constants(facts, tier.name, {"count": tier.count, **tier.constants})
    for name, given in design.places.items():
        if "count" not in given:  # what each of several places has is nothing that its members share
            _constants(facts, name, {key: value for key, value in given.items() if f"{name}.{key}" not in facts.values})
    for path, path_writers in facts.written.items():
        _written(facts, path, path_writers)
    _attempts(facts, [name for name in design.workload if f"{name}.rate" in facts.written])
    by_thing = writers_by_thing(design)
    for thing in dict.fromkeys(path.partition(".")[0] for path in (*facts.written, *facts.values)):
        _copies(facts, thing, by_thing.get(thing, {}))
    if any(component.part for component in design.components.values()):
        outputs = subject.model.outputs
        for path in outputs:
            if path not in facts.values and path not in facts.outputs:
                facts.outputs.put(path, partial(outputs.__getitem__, path))
    for path, tree in derived_outputs(design).items():
        if is_direct(design, path):
            facts.outputs.put(path, tree)
    for limit in design.limits.values():
        counts = facts.tree(limit.counts.tree) if limit.counts is not None else None
        if isinstance(counts, Name):
            facts.counted.setdefault(counts.path, []).append(limit)


def _attempts(facts: DesignFacts, workloads: Iterable[str]) -> None:
    """Puts what each workload of one rate sends: that, or as bursts are; that or more where something is sent again."""
    again = sends_again(facts.design)
    for name in workloads:
        workload = facts.design.workload[name]
        path, rate, arrivals = f"{name}.attempts", workload.rate, workload.arrivals
        if rate is None or path in facts.written or (isinstance(arrivals, Randomness) and arrivals.switches):
            continue
        if name in again or workload.burst is not None:
            facts.values.put(path, partial(_sent, facts, workload, again=name in again))
            facts.places[path] = rate.place
        else:
            facts.outputs.put(path, partial(Name, f"{name}.rate"))


def _sent(facts: DesignFacts, workload: Workload, *, again: bool) -> Interval:
    """Returns what a workload sends, as its rate is stated and as loops write it."""
    usual = facts.range(Name(f"{workload.name}.rate"))
    burst = workload.burst.rate if workload.burst is not None else None
    high = None if again or usual.high is None else max(usual.high, burst.high if burst is not None else usual.high)
    low = min(usual.low, burst.low) if burst is not None and usual.low is not None else usual.low
    return Interval(low, high)


def _component(facts: DesignFacts, component: Component) -> None:
    inside = names.scope(component, facts.design)
    stated: dict[str, object] = {**component.constants, **(component.takes or {})}
    stated |= {"copies": component.copies, "count": component.count}
    if isinstance(component.runs_on, Hosting):
        stated["runs_on.devices"] = component.runs_on.devices
    if facts.design.tiers:
        stated |= {f"needs.{resource}": need for resource, need in needed(component).items()}
    for key, given in stated.items():
        path = f"{component.name}.{key}"
        if isinstance(given, Quantity):
            facts.put(path, given)
        elif isinstance(given, Formula):
            facts.outputs.put(path, partial(_inside, given, inside))


def _inside(given: Formula, inside: Mapping[str, str]) -> Tree:
    """Returns the tree of a component's own expression, with full paths."""
    return rename(given.tree, lambda name: inside.get(name, name))


def _constants(facts: DesignFacts, name: str, stated: Mapping[str, object]) -> None:
    for key, given in stated.items():
        if isinstance(given, Quantity):
            facts.put(f"{name}.{key}", given)


def _written(facts: DesignFacts, path: str, path_writers: list[Writer]) -> None:
    """Puts the interval of a written signal: what its writers write and what it begins with; ignored reads as 0."""
    if all(writer.kind in ("unset", "ignore") for writer in path_writers):
        return
    everything = facts.values.put(path, lambda: hull(_ranges(facts, path, path_writers)))
    facts.outputs.pop(path, None)
    facts.quantities.pop(path, None)
    if everything.low is None and everything.high is None:
        facts.values.pop(path)
    else:
        facts.places[path] = path_writers[0].place


def _ranges(facts: DesignFacts, path: str, path_writers: list[Writer]) -> list[Interval]:
    """Returns the intervals that a written signal stays in: what it is set to, and where it begins."""
    ranges = [_values(facts, writer) for writer in path_writers if writer.kind not in ("unset", "ignore")]
    ranges += [interval(first) for writer in path_writers if (first := initial(writer)) is not None]
    ranges += [facts.values[path]] if path in facts.values else _begins(path_writers)
    return ranges + ([point(0)] if any(writer.kind == "ignore" for writer in path_writers) else [])


def _begins(path_writers: list[Writer]) -> list[Interval]:
    """Returns where a signal may stand before it is written: set under conditions alone, anywhere in the bounds."""
    if any(initial(writer) is not None or writer.condition is None for writer in path_writers):
        return []
    if not all(writer.kind in ("set", "unset") for writer in path_writers):
        return []
    return [interval_of(writer.loop.actuation) for writer in path_writers if writer.loop.actuation is not None]


def _values(facts: DesignFacts, writer: Writer) -> Interval:
    """Returns what a loop may write; of crossed bounds nothing is known, and `vacuous-design` says so."""
    low, high = writer.values.low, writer.values.high
    if low is not None and high is not None and low > high:
        return EVERYTHING
    if writer.to is None or isinstance(writer.loop.actuation and writer.loop.actuation.to, Quantity):
        return writer.values
    written = facts.range(writer.to)
    low = writer.values.clip(written.low) if written.low is not None else writer.values.low
    high = writer.values.clip(written.high) if written.high is not None else writer.values.high
    return Interval(low, high)


def _copies(facts: DesignFacts, thing: str, written: Mapping[str, list[Writer]]) -> None:
    """Puts the number of members of a thing: what its autoscalers choose, where its signals are `written` by any."""
    chosen = [path for path in wanted(written, thing) if path in written and path in facts.values]
    if chosen:
        every = [writer for path in chosen for writer in written[path] if writer.kind not in ("unset", "ignore")]
        lasting = [writer for writer in every if writer.mode not in TRANSIENT] or every
        stays = _stays(facts, thing, lasting)
        facts.values.put(f"{thing}.copies", lambda: hull([*(_values(facts, writer) for writer in lasting), *stays]))
        facts.places[f"{thing}.copies"] = facts.places[chosen[0]]
        facts.quantities.pop(f"{thing}.copies", None)


def _stays(facts: DesignFacts, thing: str, lasting: list[Writer]) -> list[Interval]:
    """Returns the stated starts where the loops may never act: they step, or write under a condition alone."""
    if not all(writer.kind == "step" or writer.condition is not None for writer in lasting):
        return []
    component = facts.design.components.get(thing)
    declared = component.copies if component is not None else None
    starts = [first for writer in lasting if (first := initial(writer)) is not None]
    starts += [declared] if not starts and isinstance(declared, Quantity) else []
    return [interval(start) for start in starts]


def copies(facts: DesignFacts, thing: str) -> Interval | None:
    """Returns how many members a thing may have, within the limits on them; None where the design does not say."""
    row = facts.queries.rows.get(known)
    if row is None or row.value is not facts:
        return _copies_within_caps(facts, thing)  # other facts about the design: nothing is known of these
    members: Interval | None = facts.queries.get((copies, thing), lambda: _copies_within_caps(facts, thing))
    return members


def _copies_within_caps(facts: DesignFacts, thing: str) -> Interval | None:
    members, begins = facts.range(Name(f"{thing}.copies")), _begins_at(facts, thing)
    for word in COPIES:
        path = f"{thing}.{word}"
        if has_caps(facts.design, path, begins, [members]):
            members = capped(facts.design, path, members)
    return members if members.low is not None or members.high is not None else None


def _begins_at(facts: DesignFacts, thing: str) -> Interval | None:
    """Returns where the number of members begins that loops write; None where nothing states it."""
    starts = [first for writer in scaling(facts, thing) if (first := initial(writer)) is not None]
    component = facts.design.components.get(thing)
    starts += [component.copies] if component is not None and isinstance(component.copies, Quantity) else []
    return hull([interval(start) for start in starts]) if starts else None


def wanted(written: Mapping[str, list[Writer]], thing: str) -> list[str]:
    """Returns the paths that say how many members of a thing there are to be: those understood by name, or by use.

    `written`: the signals that loops write, at least those of the thing.
    """
    named = [f"{thing}.{word}" for word in COPIES]
    if any(path in written for path in named):
        return named
    own = [path for path in written if path.partition(".")[0] == thing]
    return [*named, *(path for path in own if any(map(_shared_by_members, written[path])))]


def _shared_by_members(writer: Writer) -> bool:
    """Decides whether what a proportional loop writes is a number of members: its target is a mean or a sum of them."""
    target = writer.loop.target
    of_members = target is not None and target.kind is not None and target.kind.text in ("utilization", "average")
    return of_members and writer.kind == "scale" and writer.integer


def scaling(facts: DesignFacts, thing: str) -> list[Writer]:
    """Returns the loops that choose how many members of a thing there are, as writers."""
    return [writer for path in wanted(facts.written, thing) for writer in facts.written.get(path, ())]


def scalers(facts: DesignFacts, thing: str) -> list[str]:
    """Returns the loops that write how many members of a thing there are."""
    return [writer.name for writer in scaling(facts, thing)]


PLACED = "each of {} finds a place"
STARTED = "each new member of {} is ready some day"


def as_many(facts: DesignFacts, thing: str, most: int) -> tuple[str, ...]:
    """Returns what a proof takes for granted that counts the most members of a thing whose number loops write."""
    loops = scalers(facts, thing)
    return (f"{thing} has the {most} members that {' and '.join(loops)} may give it",) if loops else ()


def things(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yields (thing, signal) of each dotted name."""
    from coherence.language.expressions import names as used

    for path in used(tree):
        thing, _, signal = path.partition(".")
        if signal:
            yield thing, signal
