"""Lays the values of an environment over a design: where it runs decides tiers, links, boundaries, parts and numbers.

`environments: {on_prem: {...}, cloud: {...}}` names sets of values.  Each is written as the design is; what stands in
it is added, or stands in the place of what the rest says.  Calls and links are the same where their ends are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.places import Place
from coherence.language import document
from coherence.language.design import Design
from coherence.language.document import Document, Items, Node, Scalar, Table, plain, type_of
from coherence.language.reading import ENVIRONMENTS, design_of

OF_ALL = ("coherence", "overlays", ENVIRONMENTS)  # what no environment changes
ENDS = {"calls": ("from", "to"), "links": ("ends",)}
Unused = tuple[tuple[Place, str, str], ...]  # values that do not count in an environment, their paths, and why


class _Choice:
    """An environment that designs are to be read in, and whether one was."""

    def __init__(self, name: str) -> None:
        self.name, self.taken = name, False


_CHOSEN: ContextVar[_Choice | None] = ContextVar("environment", default=None)


@contextmanager
def chosen_environment(name: str) -> Iterator[None]:
    """Reads designs in the environment of this name, within.  Raises UsageError where none was read."""
    choice = _Choice(name)
    token = _CHOSEN.set(choice)
    try:
        yield
    finally:
        _CHOSEN.reset(token)
    if not choice.taken:
        raise UsageError(f"--in {name} would have no effect: no design with environments was read")


def chosen_name() -> tuple[str, ...]:
    """Returns the environment that designs are read in, if one was chosen."""
    choice = _CHOSEN.get()
    return () if choice is None else (choice.name,)


def environments_of(root: Table) -> tuple[str, ...]:
    """Returns the environments in which a design is to be read: the chosen one, else all; an empty name without any."""
    choice = _CHOSEN.get()
    names = tuple(_tables(root))
    if choice is None:
        return names or ("",)
    choice.taken = True
    return (choice.name,)


def stated_environments(text: str, file: str) -> tuple[str, ...]:
    """Returns the names of all environments that a design states, chosen or not."""
    root = document_of(text, file).root
    return tuple(_tables(root)) if isinstance(root, Table) else ()


def read_in_environment(text: str, file: str, environment: str) -> Design:
    """Returns the design in a text of one document, as it is in one of its environments.  Raises InputError."""
    return design_in_environment(document_of(text, file), environment)


def document_of(text: str, file: str) -> Document:
    """Returns the one document of a text that is not empty.  Raises InputError."""
    sources = document.read_text(text, file)
    return next((source for source in sources if not _is_null(source.root)), sources[0])


def design_in_environment(source: Document, environment: str, *, alone: bool = True) -> Design:
    """Returns the design in a document, as it is in one of its environments.  Raises InputError.

    Not `alone`: the others are asked about as well, and say themselves what is read in them.
    """
    root = source.root
    if not isinstance(root, Table) or (ENVIRONMENTS not in root and not environment):
        return design_of(source)
    laid, name, unused = in_environment(root, environment, alone=alone)
    return design_of(replace(source, root=laid)).replace(environment=name, unused=unused)


def in_environment(root: Table, name: str, *, alone: bool = True) -> tuple[Table, str, Unused]:
    """Returns the design without its environments, as it is in one of them, the name of that one, and what is unused.

    Without a name it must have one alone.  Raises InputError.
    """
    tables = _tables(root)
    if name and name not in tables:
        remedy = did_you_mean(name, tables) if tables else f"leave the environment out, or state `{ENVIRONMENTS}:`"
        raise InputError([Problem(root.key_place(ENVIRONMENTS), f"this design has no environment '{name}'", remedy)])
    if not name and len(tables) > 1:
        message = f"this design is of {len(tables)} environments: {', '.join(tables)}"
        raise InputError(
            [Problem(root.key_place(ENVIRONMENTS), message, "choose one: `--in NAME`; in Python `environment=`")]
        )
    name = name or next(iter(tables))
    overlay = _Overlay()
    entries = {key: node for key, node in root.entries.items() if key != ENVIRONMENTS}
    laid = overlay.table(Table(entries, root.keys, root.place, root.sources), tables[name], "")
    if overlay.problems:
        raise InputError(overlay.problems)
    own = [(place, path, f"{name} states it itself") for place, path in overlay.overridden]
    if not alone:
        return laid, name, tuple(own)
    used = set(_places(laid))  # an alias stands where its anchor does
    others = [
        (place, f"{ENVIRONMENTS}.{other}", f"it is another environment than {name}")
        for other, table in tables.items()
        if other != name
        for place in _places(table)
        if place not in used
    ]
    return laid, name, (*own, *others)


def _tables(root: Table) -> Mapping[str, Table]:
    """Returns the tables of the environments of a design; of one without any, none.  Raises InputError."""
    if ENVIRONMENTS not in root:
        return {}
    block, place = root.get(ENVIRONMENTS), root.key_place(ENVIRONMENTS)
    if not isinstance(block, Table) or not block.entries:
        message = "environments are a mapping of names"
        raise InputError([Problem(place, message, "write `environments: {cloud: {...}}`")])
    problems, tables = [], {}
    for name, node in block.entries.items():
        if not name:
            problems.append(Problem(block.key_place(name), "an environment without a name", "give it one"))
        table = Table({}, {}, block.key_place(name)) if _is_null(node) else node
        if not isinstance(table, Table):
            message = f"a mapping expected, {type_of[type(table)]} found"
            problems.append(Problem(table.place, message, "write it as the design: `components: {pool: {...}}`"))
            continue
        problems += [
            Problem(table.key_place(key), f"'{key}' is the same in every environment", "state it for all of them")
            for key in OF_ALL
            if key in table
        ]
        tables[name] = table
    if problems:
        raise InputError(problems)
    return tables


class _Overlay:
    """Lays one table over another, and collects what it overrides and what is wrong."""

    def __init__(self) -> None:
        self.overridden: list[tuple[Place, str]] = []
        self.problems: list[Problem] = []

    def table(self, base: Table, over: Table, path: str) -> Table:
        """Returns the entries of both; of one that both have, that of `over`, or both laid over each other."""
        laid = Table(dict(base.entries), {**base.keys, **over.keys}, base.place, dict(base.sources))
        for key, node in over.entries.items():
            below = f"{path}.{key}" if path else key
            laid.entries[key] = self._node(base.get(key), node, below) if key in base else node
        return laid

    def _node(self, base: Node | None, over: Node, path: str) -> Node:
        if isinstance(base, Table) and isinstance(over, Table):
            return self.table(base, over, path)
        listed = path.rpartition(".")[2]
        if isinstance(base, Items) and isinstance(over, Items) and listed in ENDS:
            return self._entries(base, over, path, ENDS[listed])
        if base is not None and _is_null(over) and not _is_null(base):
            if not isinstance(base, Table):
                message = f"an environment takes nothing away, and {path} is stated for all"
                remedy = "state it in the other environments, not in the rest"
                self.problems.append(Problem(over.place, message, remedy))
            return base
        if base is not None and plain(base) != plain(over):
            self.overridden += [(place, path) for place in _places(base)]
        return over

    def _entries(self, base: Items, over: Items, path: str, ends: tuple[str, ...]) -> Items:
        laid, known = list(base.items), set[tuple[str, ...]]()
        for node in over:
            own = _ends(node, ends)
            alike = [n for n, other in enumerate(base) if _ends(other, ends) == own is not None]
            if own in known and alike:
                message = "an environment states what has these ends twice"
                self.problems.append(Problem(node.place, message, "write one entry of both"))
            elif len(alike) > 1:
                message = f"{len(alike)} entries have these ends: which one is meant cannot be said"
                self.problems.append(Problem(node.place, message, "state them in each environment, not in the rest"))
            elif alike:
                laid[alike[0]] = self._node(base.items[alike[0]], node, f"{path}.{alike[0]}")
            else:
                laid.append(node)
            known |= {own} if own else set()
        return Items(laid, base.place)


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null()


def label(node: Node) -> str | None:
    """Returns the ends of a call or a link in words, by which it is known wherever it stands; None of another entry."""
    return next((" -> ".join(ends) for ends in (_ends(node, keys) for keys in ENDS.values()) if ends), None)


def _ends(node: Node, keys: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns the words that an entry of a list is known by; None where it has none."""
    ends = [node.get(key) for key in keys] if isinstance(node, Table) else [None]
    words = [word for end in ends for word in (end if isinstance(end, Items) else (end,))]
    texts = tuple(word.text for word in words if isinstance(word, Scalar))
    return texts if len(texts) == len(words) else None


def _places(node: Node) -> Iterator[Place]:
    """Yields the places of all values below a node."""
    if isinstance(node, Scalar):
        yield node.place
        return
    for inner in node.entries.values() if isinstance(node, Table) else node.items:
        yield from _places(inner)
