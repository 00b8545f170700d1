"""Compares two documents value by value, and makes the documents between them: one with some values of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.language.document import Items, Node, Scalar, Table, plain
from coherence.language.environments.overlay import label

Path = tuple[str | int, ...]
LONGEST = 60  # characters of a value that are shown


@dataclass(frozen=True, eq=False)
class Difference:
    """A value, or a whole entry, that two documents do not have alike; None in the one that does not have it."""

    path: Path
    before: Node | None
    after: Node | None

    @property
    def name(self) -> str:
        """Returns the dotted path of the value."""
        return ".".join(map(str, self.path))

    @property
    def place(self) -> Place:
        """Returns where the later document has the value, or the earlier one where that has none."""
        node = self.after or self.before
        assert node is not None
        return node.place

    def __str__(self) -> str:
        if self.before is None or self.after is None:
            how, node = ("added", self.after) if self.before is None else ("removed", self.before)
            return f"{self.name} {how}: {_text(node)}"
        return f"{self.name}: {_text(self.before)} -> {_text(self.after)}"


def differences(before: Table, after: Table, path: Path = ()) -> Iterator[Difference]:
    """Yields every value in which two tables differ, in the order of the first one."""
    for key in dict.fromkeys((*before.entries, *after.entries)):
        yield from _of_node(before.get(key), after.get(key), (*path, key))


def _of_node(before: Node | None, after: Node | None, path: Path) -> Iterator[Difference]:
    if isinstance(before, Table) and isinstance(after, Table):
        yield from differences(before, after, path)
    elif isinstance(before, Items) and isinstance(after, Items) and (both := _by_label(before, after)):
        for name in dict.fromkeys((*both[0], *both[1])):
            yield from _of_node(both[0].get(name), both[1].get(name), (*path, name))
    elif isinstance(before, Items) and isinstance(after, Items) and _pairs_up(before, after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _of_node(old, new, (*path, number))
    elif plain(before) != plain(after):
        yield Difference(path, before, after)


def _by_label(*lists: Items) -> list[dict[str, Node]] | None:
    """Returns the entries of each list by their ends; None where some have none, or two of a list have the same."""
    known = [{name: node for node in items if (name := label(node)) is not None} for items in lists]
    return known if any(lists) and [len(own) for own in known] == [len(items) for items in lists] else None


def _pairs_up(before: Items, after: Items) -> bool:
    """Decides whether two lists are compared entry by entry: lists of tables of one length."""
    return len(before) == len(after) and all(isinstance(node, Table) for node in (*before, *after))


def _text(node: Node | None) -> str:
    if isinstance(node, Scalar):
        return shorten(node.text, LONGEST)
    if isinstance(node, Items):
        return shorten(f"[{', '.join(map(_text, node))}]", LONGEST)
    inner = node.entries.items() if isinstance(node, Table) else ()
    return shorten(f"{{{', '.join(f'{key}: {_text(value)}' for key, value in inner)}}}", LONGEST)


def between(before: Table, chosen: Iterable[Difference]) -> Table:
    """Returns the earlier document with some of the values of the later one."""
    for difference in chosen:
        laid = _put(before, difference.path, difference.after)
        assert isinstance(laid, Table)
        before = laid
    return before


def _put_into(items: Items, first: str | int, rest: Path, value: Node | None) -> Iterator[Node]:
    """Yields the entries of a list, one of them changed, added or left out."""
    numbers = [n for n, entry in enumerate(items) if first in (n, label(entry))]
    for number, entry in enumerate(items):
        if number not in numbers:
            yield entry
        elif rest:
            yield _put(entry, rest, value)
        elif value is not None:
            yield value
    if not numbers and value is not None:
        yield value


def _put(node: Node, path: Path, value: Node | None) -> Node:
    first, *rest = path
    if isinstance(node, Items):
        return Items(list(_put_into(node, first, tuple(rest), value)), node.place)
    assert isinstance(node, Table) and isinstance(first, str)  # noqa: PT018
    entries = dict(node.entries)
    if rest:
        entries[first] = _put(entries[first], tuple(rest), value)
    elif value is None:
        del entries[first]
    else:
        entries[first] = value
    keys = {first: value.place, **node.keys} if value is not None else node.keys
    return Table(entries, keys, node.place, node.sources)
