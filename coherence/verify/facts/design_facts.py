"""Collects the design facts about numbers: intervals of constants, of members, and of what loops write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from coherence.base.places import Place
from coherence.base.queries import QueryTable
from coherence.findings.question_input import Subject
from coherence.language import names
from coherence.language.design import Component, Design, Limit
from coherence.language.expressions.tree import Name, Tree, rename
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.model import Interval, interval
from coherence.verify.facts.ranges import Values, enclosure, hull, point, unknown
from coherence.verify.facts.writers import TRANSIENT, Writer, initial, interval_of, writers

COPIES = ("desired", "replicas", "copies")  # what an autoscaler writes to choose how many members a thing has


@dataclass(frozen=True)
class Known:
    """`values`: path -> range; `places`: where it stands; `quantities`: the one quantity behind it, for repairs.

    `outputs` are the paths that stand for an expression, `written` those that loops write, `counted`
    those that limits count as they are; `whole` the paths that count members.
    """

    design: Design
    values: dict[str, Interval] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    quantities: dict[str, Quantity] = field(default_factory=dict)
    outputs: dict[str, Tree] = field(default_factory=dict)
    written: dict[str, list[Writer]] = field(default_factory=dict)
    counted: dict[str, list[Limit]] = field(default_factory=dict)
    bare: Mapping[str, str] = field(default_factory=dict)

    @property
    def queries(self) -> QueryTable:
        """The table of what was computed from the design."""
        return self.design.queries

    def put(self, path: str, value: Quantity) -> None:
        self.values[path], self.places[path], self.quantities[path] = interval(value), value.place, value

    @property
    def whole(self) -> frozenset[str]:
        """Paths whose values are whole numbers: members, and what integer laws write."""
        integer = {path for path, found in self.written.items() if all(writer.whole for writer in found)}
        return frozenset(integer | {path for path in self.values if path.endswith(".copies")})

    def tree(self, tree: Tree, inside: frozenset[str] = frozenset()) -> Tree:
        """The tree over constants and commands alone: every output replaced by its expression.

        An output that reads its own past (`inside` are those being replaced) stays a name without a range.
        """

        def inner(path: str) -> str | Tree:
            path = self.bare.get(path, path)
            if path not in self.outputs or path in inside:
                return path
            return self.tree(self.outputs[path], inside | {path})

        return rename(tree, inner)

    def missing(self, tree: Tree) -> tuple[str, ...]:
        """Names of the expanded tree without a range."""
        return unknown(self.tree(tree), self.values)

    def range(self, tree: Tree) -> Interval:
        """An interval that contains every value of the tree."""
        return enclosure(self.tree(tree), self.values)

    def place_of(self, tree: Tree) -> Place | None:
        """The place of the first value that the tree is made of."""
        from coherence.language.expressions import names as used

        return next((self.places[path] for path in used(self.tree(tree)) if path in self.places), None)


def known(subject: Subject) -> Known:
    """Everything that the design states about its numbers; gathered once."""
    return subject.queries.get(known, lambda: _gathered(subject))


def _gathered(subject: Subject) -> Known:
    design = subject.design
    made = Known(design, written=writers(design), bare=names.bare_names(design))
    for component in design.components.values():
        _component(made, component)
    for workload in design.workload.values():
        _constants(made, workload.name, {"rate": workload.rate, **workload.constants})
    for tier in design.tiers.values():
        _constants(made, tier.name, {"count": tier.count, **tier.constants})
    for name, given in design.places.items():
        if "count" not in given:  # what each of several places has is nothing that its members share
            _constants(made, name, {key: one for key, one in given.items() if f"{name}.{key}" not in made.values})
    for path, found in made.written.items():
        _written(made, path, found)
    for thing in dict.fromkeys(path.partition(".")[0] for path in (*made.written, *made.values)):
        _copies(made, thing)
    if any(component.part for component in design.components.values()):
        for path, tree in subject.model.outputs.items():
            if path not in made.values:
                made.outputs.setdefault(path, tree)
    for limit in design.limits.values():
        counts = made.tree(limit.counts.tree) if limit.counts is not None else None
        if isinstance(counts, Name):
            made.counted.setdefault(counts.path, []).append(limit)
    return made


def _component(made: Known, component: Component) -> None:
    inside = names.scope(component, made.design)
    stated: dict[str, object] = {**component.constants, **(component.takes or {})}
    stated |= {"copies": component.copies, "count": component.count}
    for key, given in stated.items():
        path = f"{component.name}.{key}"
        if isinstance(given, Quantity):
            made.put(path, given)
        elif isinstance(given, Formula):
            made.outputs[path] = rename(given.tree, lambda name: inside.get(name, name))


def _constants(made: Known, name: str, stated: Mapping[str, object]) -> None:
    for key, given in stated.items():
        if isinstance(given, Quantity):
            made.put(f"{name}.{key}", given)


def _written(made: Known, path: str, found: list[Writer]) -> None:
    """A written signal takes what its writers write and what it begins with; what is ignored reads as 0."""
    ranges = [_values(made, writer) for writer in found if writer.kind not in ("unset", "ignore")]
    if not ranges:
        return
    ranges += [interval(first) for writer in found if (first := initial(writer)) is not None]
    ranges += [made.values[path]] if path in made.values else _begins(found)
    ranges += [point(0)] if any(writer.kind == "ignore" for writer in found) else []
    for table in (made.values, made.outputs, made.quantities):
        table.pop(path, None)
    everything = hull(ranges)
    if everything.low is not None or everything.high is not None:
        made.values[path], made.places[path] = everything, found[0].place


def _begins(found: list[Writer]) -> list[Interval]:
    """Where a signal may stand before anybody writes it: set under conditions alone, anywhere in the bounds."""
    if any(initial(writer) is not None or writer.condition is None for writer in found):
        return []
    if not all(writer.kind in ("set", "unset") for writer in found):
        return []
    return [interval_of(writer.loop.actuation) for writer in found if writer.loop.actuation is not None]


def _values(made: Known, writer: Writer) -> Interval:
    if writer.to is None or isinstance(writer.loop.actuation and writer.loop.actuation.to, Quantity):
        return writer.values
    found = made.range(writer.to)
    low = writer.values.clip(found.low) if found.low is not None else writer.values.low
    high = writer.values.clip(found.high) if found.high is not None else writer.values.high
    return Interval(low, high)


def _copies(made: Known, thing: str) -> None:
    """How many members a thing has is what its autoscalers choose, where it has any."""
    paths = [f"{thing}.{word}" for word in COPIES]
    chosen = [path for path in paths if path in made.written and path in made.values]
    if chosen:
        every = [writer for path in chosen for writer in made.written[path] if writer.kind not in ("unset", "ignore")]
        lasting = [writer for writer in every if writer.mode not in TRANSIENT] or every
        made.values[f"{thing}.copies"] = hull(_values(made, writer) for writer in lasting)
        made.places[f"{thing}.copies"] = made.places[chosen[0]]
        made.quantities.pop(f"{thing}.copies", None)


def copies(made: Known, thing: str) -> Interval | None:
    """How many members a thing may have; None where the design does not say."""
    found = made.range(Name(f"{thing}.copies"))
    return found if found.low is not None or found.high is not None else None


def things(tree: Tree) -> Iterator[tuple[str, str]]:
    """(thing, signal) of each dotted name."""
    from coherence.language.expressions import names as used

    for path in used(tree):
        thing, _, signal = path.partition(".")
        if signal:
            yield thing, signal


__all__ = ["COPIES", "Known", "Values", "copies", "known", "things"]
