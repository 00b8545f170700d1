"""Kubernetes manifests as cursors: each value is read by its key, and what nobody reads is known in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from coherence import units
from coherence.document import Document, Items, Node, Scalar, Table, type_of
from coherence.places import Place
from coherence.shape import Reading
from coherence.units import UnitError

SUFFIXES = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1)}
SUFFIXES |= {letter: Fraction(1000) ** power for power, letter in enumerate(("k", "M", "G", "T", "P", "E"), 1)}
SUFFIXES |= {f"{letter}i": Fraction(1024) ** power for power, letter in enumerate(("K", "M", "G", "T", "P", "E"), 1)}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:[eE][-+]?\d{1,2})?)([numkMGTPE]?|[KMGTPE]i)")


@dataclass(slots=True)
class Manifest:
    """One object: its kind, name and namespace, the paths that were read, and remarks on what was not."""

    root: Table
    file: str
    kind: str
    name: Scalar
    namespace: str  # empty: not said
    reading: Reading
    used: set[str] = field(default_factory=set)
    remarks: list[tuple[Place, str]] = field(default_factory=list)

    @property
    def title(self) -> str:
        """`Deployment web`."""
        return f"{self.kind} {self.name.text}"

    @property
    def spec(self) -> View:
        """The cursor on `spec`; empty where it is absent."""
        made = View(self.root, "", self)
        return made.table("spec") or View(Table({}, {}, self.root.place), "spec", self)


@dataclass(frozen=True, slots=True)
class View:
    """A mapping of a manifest.  Reading a key marks it as used; a value of the wrong type is a problem."""

    node: Table
    path: str
    manifest: Manifest

    def __contains__(self, key: str) -> bool:
        child = self.node.get(key)
        return child is not None and not (isinstance(child, Scalar) and child.is_null())

    def at(self, key: str) -> str:
        """The path of a key: `spec.http[0].timeout`."""
        return f"{self.path}.{key}" if self.path else key

    def place(self, key: str) -> Place:
        """The place of the key, or of the nearest thing that could hold it."""
        return self.node.key_place(key)

    def scalar(self, key: str) -> Scalar | None:
        """The value of a key; None where it is absent, null or wrong."""
        found = self._child(key, Scalar)
        if not isinstance(found, Scalar):
            return None
        self.manifest.used.add(self.at(key))
        if "{{" in found.text:
            self.problem(found.place, f"'{units.shorten(found.text)}' is a template", RENDER)
            return None
        return found

    def table(self, key: str) -> View | None:
        """The mapping under a key."""
        found = self._child(key, Table)
        return View(found, self.at(key), self.manifest) if isinstance(found, Table) else None

    def tables(self, key: str) -> list[View]:
        """The mappings of the list under a key."""
        found = self._child(key, Items)
        made = []
        for index, item in enumerate(found if isinstance(found, Items) else ()):
            if isinstance(item, Table):
                made.append(View(item, f"{self.at(key)}[{index}]", self.manifest))
            else:
                self.problem(item.place, f"{self.at(key)}[{index}] is {type_of[type(item)]}", "write a mapping")
        return made

    def _child(self, key: str, wanted: type[Scalar | Items | Table]) -> Node | None:
        child = self.node.get(key)
        if child is None or (isinstance(child, Scalar) and child.is_null()):
            return None
        if not isinstance(child, wanted):
            words = f"{self.at(key)} is {type_of[type(child)]}, {type_of[wanted]} expected"
            self.problem(child.place, words, f"see the reference of {self.manifest.kind}")
            return None
        return child

    def problem(self, place: Place, message: str, remedy: str = "") -> None:
        """Report a problem of the manifest."""
        self.manifest.reading.problem(place, message, remedy)

    def required(self, key: str) -> Scalar | None:
        """The value of a key that must be there."""
        if key not in self:
            self.problem(self.node.place, f"{self.at(key)} is missing", f"add `{key}: ...`")
        return self.scalar(key)

    def use(self, key: str) -> None:
        """Mark a key and all below it as read."""
        self.manifest.used.add(self.at(key))

    def remark(self, key: str, why: str) -> None:
        """Say why a key is not modelled."""
        self.use(key)
        self.manifest.remarks.append((self.place(key), f"{self.at(key)} ({why})"))

    def whole(self, key: str, *, least: int = 0) -> Scalar | None:
        """A whole number of at least `least`."""
        found = self.scalar(key)
        return None if found is None else self.whole_of(key, found, least=least)

    def whole_of(self, key: str, found: Scalar, *, least: int = 0) -> Scalar | None:
        """The scalar if it is a whole number of at least `least`, else a problem."""
        value = integer(found)
        if value is None or value < least:
            words = f"{self.at(key)} is '{units.shorten(found.text)}', a whole number of at least {least} expected"
            self.problem(found.place, words, f"write for example `{key}: {max(least, 1)}`")
            return None
        return found

    def positive(self, key: str) -> Scalar | None:
        """A whole number above zero; zero is the same as absent, as for Kubernetes' defaulted integers."""
        found = self.whole(key)
        return None if found is None or integer(found) == 0 else found

    def seconds(self, key: str, *, zero_is_absent: bool = False) -> Scalar | None:
        """A whole number of seconds, in the language's spelling."""
        found = self.positive(key) if zero_is_absent else self.whole(key)
        return None if found is None else respelled(found, f"{integer(found)} s")

    def duration(self, key: str) -> Scalar | None:
        """A Go duration, in the language's spelling."""
        found = self.scalar(key)
        if found is None:
            return None
        try:
            return respelled(found, duration_text(units.go_duration(found.text)))
        except UnitError as error:
            self.problem(found.place, f"{self.at(key)}: {error}", error.remedy)
            return None

    def percent(self, key: str) -> Scalar | None:
        """A whole number of percent, in the language's spelling."""
        found = self.whole(key)
        return None if found is None else respelled(found, f"{integer(found)} %")

    def quantity(self, key: str) -> Scalar | None:
        """A Kubernetes quantity as a plain number: `100m` is 0.1, `1Ki` is 1024."""
        found = self.scalar(key)
        return None if found is None else self.quantity_of(key, found)

    def quantity_of(self, key: str, found: Scalar) -> Scalar | None:
        """The scalar as a plain number, or a problem."""
        value = amount(found.text)
        if value is None:
            words = f"{self.at(key)} is '{units.shorten(found.text)}', a quantity expected"
            self.problem(found.place, words, "write for example 500m, 2 or 10Gi")
            return None
        return respelled(found, exact(value))


RENDER = "render it first (for example `helm template`), then check the result"


def respelled(found: Scalar, text: str) -> Scalar:
    """Another text at the same place."""
    return Scalar(text, found.place)


def integer(found: Scalar) -> int | None:
    """The whole number that is written, quoted or not."""
    value = Scalar(found.text.strip(), found.place).number()
    return int(value) if value is not None and value.denominator == 1 else None


def amount(text: str) -> Fraction | None:
    """The value of a Kubernetes quantity.  SOURCE: Kubernetes API, resource.Quantity."""
    match = _QUANTITY.fullmatch(text.strip())
    return Fraction(match[1]) * SUFFIXES[match[2]] if match else None


def exact(value: Fraction) -> str:
    """A finite decimal with all its digits; values of this module have denominators 2^a 5^b only."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str(abs(int(value * 10**digits))).rjust(digits + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole)


def duration_text(value: Fraction) -> str:
    """Seconds as the language writes them: `2 s`, `1.5 min`, all digits where rounding would lose some."""
    text = units.seconds(value)
    return text if units.quantity(text)[0] == value else f"{exact(value)} s"


def objects(documents: tuple[Document, ...]) -> Iterator[tuple[Node, str]]:
    """Every object of the documents with its file; the items of a `List` are objects of their own."""
    for document in documents:
        root = document.root
        if isinstance(root, Scalar) and root.is_null():
            continue
        items = root.get("items") if isinstance(root, Table) and word(root, "kind").endswith("List") else None
        for item in items if isinstance(items, Items) else (root,):
            yield item, document.file


def word(table: Table, key: str) -> str:
    """The text of a key, or nothing."""
    found = table.get(key)
    return found.text if isinstance(found, Scalar) else ""


def manifest_of(root: Table, file: str, reading: Reading) -> Manifest:
    """The object with its identity."""
    kind = word(root, "kind")
    metadata = root.get("metadata")
    table = metadata if isinstance(metadata, Table) else Table({}, {}, root.key_place("metadata"))
    name = table.get("name")
    if not isinstance(name, Scalar) or not name.text:
        name = Scalar(kind, table.key_place("name"))
    if "{{" in name.text:
        reading.problem(name.place, f"'{units.shorten(name.text)}' is a template", RENDER)
    return Manifest(root, file, kind, name, word(table, "namespace"), reading)
