"""The design that importers fill in: tables of the language whose values keep their places in the manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coherence import catalogue
from coherence.document import Items, Node, Scalar, Table
from coherence.errors import InternalError
from coherence.importers._names import Names
from coherence.places import Place

SECTIONS = ("components", "loops", "calls", "timers", "limits")


@dataclass(frozen=True, slots=True)
class Scaling:
    """A loop that writes the replicas of a thing, within these bounds."""

    loop: str
    low: Scalar
    high: Scalar


@dataclass(frozen=True, slots=True)
class Aim:
    """The one signal that a loop compares with its setpoint; `averaged`: a total divided by the replicas."""

    loop: str
    thing: str
    target: Table
    averaged: bool


@dataclass(slots=True)
class Sketch:
    """What all manifests together make."""

    place: Place
    names: Names = field(default_factory=Names)
    sections: dict[str, Table] = field(default_factory=dict)
    calls: list[Table] = field(default_factory=list)
    scaled: dict[str, list[Scaling]] = field(default_factory=dict)
    aims: list[Aim] = field(default_factory=list)
    not_modelled: list[tuple[Place, str]] = field(default_factory=list)

    def section(self, name: str) -> Table:
        """The table of a section."""
        return self.sections.setdefault(name, Table({}, {}, self.place))

    def put(self, section: str, name: str, place: Place, values: Mapping[str, Node | None]) -> None:
        """Add a loop, timer or limit whose own place is `place`."""
        table = self.section(section)
        table.entries[name], table.keys[name] = entry(place, values), place

    def mention(self, name: str, place: Place, note: str) -> None:
        """Declare a thing that a manifest refers to; its own manifest, if there is one, says the rest."""
        components = self.section("components")
        if name not in components:
            self.put("components", name, place, {"note": Scalar(note, place)})

    def declare(self, name: str, place: Place, values: Mapping[str, Node | None]) -> None:
        """Declare a thing by its own manifest."""
        self.put("components", name, place, values)

    def amend(self, name: str, key: str, value: Node) -> None:
        """Set one more key of a declared thing."""
        table = self.section("components").entries[name]
        assert isinstance(table, Table)
        table.entries[key], table.keys[key] = value, value.place

    def root(self, system: str) -> Table:
        """The whole design."""
        values: dict[str, Node | None] = {"coherence": Scalar("1", self.place), "system": Scalar(system, self.place)}
        for name in SECTIONS:
            made: Node = Items([*self.calls], self.place) if name == "calls" else self.section(name)
            values[name] = made if (self.calls if name == "calls" else self.section(name).entries) else None
        return entry(self.place, values)


def entry(place: Place, values: Mapping[str, Node | None]) -> Table:
    """A mapping of the values that are there; each key stands where its value stands."""
    kept = {key: value for key, value in values.items() if value is not None}
    return Table(dict(kept), {key: value.place for key, value in kept.items()}, place)


def listed(values: list[Node], place: Place) -> Items:
    """A list."""
    return Items(values, place)


def default_of(part: str, path: str) -> tuple[Node | None, Place]:
    """The default that a part of models/loops gives for a key, and the place of the parameter."""
    parameters = catalogue.part("loops", part).get("parameters")
    declared = parameters.get(path) if isinstance(parameters, Table) else None
    if not isinstance(parameters, Table) or not isinstance(declared, Table):
        raise InternalError(f"the part {part} has no parameter {path}")
    return declared.get("default"), parameters.key_place(path)


def default_scalar(part: str, path: str) -> Scalar:
    """A default that is one value."""
    found, _ = default_of(part, path)
    if not isinstance(found, Scalar):
        raise InternalError(f"the part {part} has no default for {path}")
    return found
