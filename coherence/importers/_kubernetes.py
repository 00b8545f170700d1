"""Kubernetes manifests as cursors: each value is read by its key, and what nobody reads is known in the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.base import units
from coherence.base.places import Place
from coherence.base.units import UnitError
from coherence.importers._quantities import amount, as_amount, duration_text, exact, integer, respelled, value_of
from coherence.language.document import Document, Items, Node, Scalar, Table, type_of
from coherence.language.schema_kinds import Reading

RENDER = "render it first (for example `helm template`), then check the result"


class Manifest:
    """One object: its kind, name and namespace (empty: not said), the paths that were read, remarks on the others.

    `wiring`: paths that are listed in one line, for they are not about control.  `outer`: the ConfigMap in which it
    stands.
    """

    def __init__(
        self, root: Table, file: str, reading: Reading, kind: str = "", outer: Manifest | None = None
    ) -> None:  # fmt: skip
        self.root, self.file, self.reading = root, file, reading
        self.kind = kind or word(root, "kind")
        self.used: set[str] = {"apiVersion", "kind", "metadata.name", "metadata.generateName", "metadata.namespace"}
        self.wiring: set[str] = set()
        self.remarks: list[tuple[Place, str]] = []
        metadata = root.get("metadata")
        self.metadata = metadata if isinstance(metadata, Table) else Table({}, {}, root.key_place("metadata"))
        self.outer = outer
        self.namespace: str = word(self.metadata, "namespace") if outer is None else outer.namespace
        self.name: Scalar = self._name() if outer is None or "kind" in root else outer.name

    def _name(self) -> Scalar:
        node = self.metadata.get("name")
        if not isinstance(node, Scalar) or not node.text:
            prefix = self.metadata.get("generateName")
            if isinstance(prefix, Scalar) and prefix.text.rstrip("-") and "{{" not in prefix.text:
                return Scalar(prefix.text.rstrip("-"), prefix.place)
            stem = self.file.rpartition("/")[2].partition(".")[0]
            return Scalar(self.kind if "kind" in self.root else stem, self.metadata.key_place("name"))
        if "{{" in node.text:
            self.reading.problem(node.place, f"'{units.shorten(node.text)}' is a template", RENDER)
        return node

    @property
    def title(self) -> str:
        """`Deployment web`."""
        return f"{self.kind} {self.name.text}"

    @property
    def top(self) -> FieldView:
        """Returns the cursor on the whole object."""
        return FieldView(self.root, "", self)

    @property
    def spec(self) -> FieldView:
        """Returns the cursor on `spec`; empty where it is absent."""
        return self.top.table("spec") or FieldView(Table({}, {}, self.root.place), "spec", self)

    def annotation(self, key: str) -> str:
        """Returns the text of an annotation, or nothing."""
        found = self.metadata.get("annotations")
        return word(found, key) if isinstance(found, Table) else ""


@dataclass(frozen=True)
class FieldView:
    """A mapping of a manifest.  Reading a key marks it as used; a value of the wrong type is a problem."""

    node: Table
    path: str
    manifest: Manifest

    def __contains__(self, key: str) -> bool:
        child = self.node.get(key)
        return child is not None and not (isinstance(child, Scalar) and child.is_null())

    def at(self, key: str) -> str:
        """Returns the path of a key: `spec.http[0].timeout`."""
        return f"{self.path}.{key}" if self.path else key

    def place(self, key: str) -> Place:
        """Returns the place of the key, or of the nearest thing that could hold it."""
        return self.node.key_place(key)

    def scalar(self, key: str) -> Scalar | None:
        """Returns the value of a key; None where it is absent, null or wrong."""
        node = self._child(key, Scalar)
        if not isinstance(node, Scalar):
            return None
        self.use(key)
        return self._rendered(node)

    def _rendered(self, node: Scalar) -> Scalar | None:
        if "{{" in node.text:
            self.problem(node.place, f"'{units.shorten(node.text)}' is a template", RENDER)
            return None
        return node

    def scalars(self, key: str) -> list[Scalar]:
        """Returns the values of the list under a key."""
        node = self._child(key, Items)
        self.use(key)
        values = []
        for index, item in enumerate(node if isinstance(node, Items) else ()):
            if not isinstance(item, Scalar):
                self.problem(item.place, f"{self.at(key)}[{index}] is {type_of[type(item)]}", "write a value")
            elif (value := self._rendered(item)) is not None:
                values.append(value)
        return values

    def table(self, key: str) -> FieldView | None:
        """Returns the mapping under a key."""
        found = self._child(key, Table)
        return FieldView(found, self.at(key), self.manifest) if isinstance(found, Table) else None

    def inner(self, *keys: str) -> FieldView | None:
        """Returns the mapping under a chain of keys."""
        view: FieldView | None = self
        for key in keys:
            view = view.table(key) if view is not None else None
        return view

    def tables(self, key: str) -> list[FieldView]:
        """Returns the mappings of the list under a key."""
        node = self._child(key, Items)
        views = []
        for index, item in enumerate(node if isinstance(node, Items) else ()):
            if isinstance(item, Table):
                views.append(FieldView(item, f"{self.at(key)}[{index}]", self.manifest))
            else:
                self.problem(item.place, f"{self.at(key)}[{index}] is {type_of[type(item)]}", "write a mapping")
        return views

    def blocks(self, key: str) -> list[FieldView]:
        """Returns the mappings under a key that holds one, or a list of them."""
        if isinstance(self.node.get(key), Items):
            return self.tables(key)
        block = self.table(key)
        return [block] if block is not None else []

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
        """Returns the value of a key that must be there."""
        if key not in self:
            self.problem(self.node.place, f"{self.at(key)} is missing", f"add `{key}: ...`")
        return self.scalar(key)

    def use(self, *keys: str) -> None:
        """Mark keys and all below them as read."""
        self.manifest.used |= {self.at(key) for key in keys if key in self.node}

    def pass_over(self, *keys: str) -> None:
        """Lists keys, if they are there, among the names, labels and wiring that are not about control."""
        self.manifest.wiring |= {self.at(key) for key in keys if key in self.node}

    def remark(self, key: str, why: str) -> None:
        """Say why a key, if it is there, is not modelled."""
        if key in self.node:
            self.use(key)
            remark = (self.place(key), f"{self.manifest.title}: {self.at(key)} ({why})")
            if remark not in self.manifest.remarks:  # several readers may find the same
                self.manifest.remarks.append(remark)

    def remark_all(self, reasons: Mapping[str, str]) -> None:
        """Say of each of these keys that is there why it is not modelled."""
        for key, why in reasons.items():
            self.remark(key, why)

    def whole(self, key: str, *, least: int = 0) -> Scalar | None:
        """Returns a whole number of at least `least`."""
        scalar = self.scalar(key)
        if scalar is None:
            return None
        number = integer(scalar)
        if number is None or number < least:
            words = f"{self.at(key)} is '{units.shorten(scalar.text)}', a whole number of at least {least} expected"
            self.problem(scalar.place, words, f"write for example `{key}: {max(least, 1)}`")
            return None
        return scalar

    def positive(self, key: str) -> Scalar | None:
        """Returns a whole number above zero; zero is the same as absent, as for Kubernetes' defaulted integers."""
        found = self.whole(key)
        return None if found is None or integer(found) == 0 else found

    def seconds(self, key: str, *, zero_is_absent: bool = False) -> Scalar | None:
        """Returns a whole number of seconds, in the language's spelling."""
        found = self.positive(key) if zero_is_absent else self.whole(key)
        return None if found is None else respelled(found, f"{integer(found)} s")

    def decimal_seconds(self, key: str) -> Scalar | None:
        """Returns a number of seconds that need not be whole, in the language's spelling."""
        number = self.quantity(key)
        return respelled(number, duration_text(value_of(number))) if number is not None else None

    def duration(self, key: str) -> Scalar | None:
        """Returns a Go duration, in the language's spelling."""
        scalar = self.scalar(key)
        if scalar is None:
            return None
        try:
            return respelled(scalar, duration_text(units.go_duration(scalar.text)))
        except UnitError as error:
            self.problem(scalar.place, f"{self.at(key)}: {error}", error.remedy)
            return None

    def percent(self, key: str, *, least: int = 0) -> Scalar | None:
        """Returns a whole number of percent, in the language's spelling."""
        found = self.whole(key, least=least)
        return None if found is None else respelled(found, f"{integer(found)} %")

    def quantity(self, key: str) -> Scalar | None:
        """Returns a Kubernetes quantity as a plain number."""
        scalar = self.scalar(key)
        if scalar is None:
            return None
        number = amount(scalar.text)
        if number is None:
            words = f"{self.at(key)} is {_echoed(scalar.text)}, a quantity expected"
            self.problem(scalar.place, words, "write for example 500m, 2 or 10Gi")
            return None
        return respelled(scalar, exact(number))

    def amounts(self) -> dict[str, Scalar]:
        """Returns the quantities of all keys, each as an amount of the resource that its key names."""
        stated = {key: number for key in self.node.entries if (number := self.quantity(key)) is not None}
        return {key: as_amount(number, key) for key, number in stated.items()}


def _echoed(text: str) -> str:
    """Returns a wrong value as a message may show it: what begins like no number may be anything, a secret too."""
    return f"'{units.shorten(text)}'" if text[:1] in "+-.0123456789" else f"a text of {len(text)} characters"


def word(table: Table, key: str) -> str:
    """Returns the text of a key, or nothing."""
    found = table.get(key)
    return found.text if isinstance(found, Scalar) else ""


def texts(table: Table | None) -> dict[str, str]:
    """Returns the keys of a table whose values are texts, such as labels, with these."""
    entries = table.entries if table is not None else {}
    return {key: node.text for key, node in entries.items() if isinstance(node, Scalar)}


def objects(documents: Sequence[Document]) -> Iterator[tuple[Node, str]]:
    """Yields every object of the documents with its file; the items of a `List` are objects of their own."""
    for source in documents:
        root = source.root
        if isinstance(root, Scalar) and root.is_null():
            continue
        items = _listed(root)
        for item in items if items is not None else (root,):
            yield item, source.file


def _listed(root: Node) -> Items | None:
    """Returns the objects of a `List`."""
    items = root.get("items") if isinstance(root, Table) and word(root, "kind").endswith("List") else None
    return items if isinstance(items, Items) else None


def around(documents: Sequence[Document]) -> Iterator[tuple[Place, str]]:
    """Yields the keys that stand around the objects of a `List`, which nobody reads."""
    for source in documents:
        root = source.root
        if isinstance(root, Table) and _listed(root) is not None:
            others = (key for key in root.entries if key not in ("apiVersion", "kind", "items"))
            yield from ((root.key_place(key), f"{units.shorten(word(root, 'kind'))}: {key}") for key in others)
