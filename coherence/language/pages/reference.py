"""Renders what the keys of the language say, from their declarations: for the schema, `explain` and docs."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from coherence.base.records import Key, Record
from coherence.language.design import Design
from coherence.language.pages.key_readers import NOT_SHOWN, key_name, render_readers

HEAD = """# The language, key by key
A design is YAML: `coherence: 1` and the sections below. This page is what `coherence schema -o markdown` prints,
from the declarations that read a design; `coherence explain hold_down` prints the words of one key, `coherence explain
kubernetes_hpa` those of a part. Names that have a meaning by themselves are in [Words](words.md).

Every quantity has its unit, and zero fits any. `a .. b` is one unknown constant, `varies: a .. b` a new value each
time; a duration of something that happens (`takes`, `fails`, `jitter`) is drawn anew each time by nature.
`absent` and `unlimited` are values. A key that an answer did not read is named beside the answer.

In an expression `delayed(x, 5 min)` is the number that `x` was 5 min ago, whichever members it counted:
`min(x, delayed(x, 5 min))` counts members that are ready 5 min after they came, where the newest leave first, and takes
one that is removed and made again within that time for the old one, ready at once.

An engine reads a key (the column `read by`) where another value of it changes its answers about some design of the
tests, and a key that holds others where it reads one of them: verify and loops are the questions of `check` (COH2xx and
the like, COH3xx) with `analyze`, simulate is `simulate`, causal `fit`, minimums `bound`.
`not shown` stands where no such change was found, which does not say that nothing reads it: names of other things
(`tier`, `per`), values that must fit others (`quantiles` their mean), what `report`, `fit` and `watch` lay beside a
design (`prices`, `telemetry`).  Keys whose words are for people have none.
"""
UNKNOWN = "No design of the tests shows which engine reads it"


@dataclass(frozen=True)
class DeclaredKey:
    """A key where it may stand, `loops.timescale.hold_down`, with the record that declares it."""

    path: str
    record: type[Record]
    key: Key

    @property
    def inner(self) -> tuple[type[Record], ...]:
        """Returns the records that the key holds."""
        return records_in(self.key.kind.schema)

    @property
    def name(self) -> str:
        """Returns the key with its record, `Call.per_try`."""
        return key_name(self.record, self.key)


@cache
def declared_keys() -> tuple[DeclaredKey, ...]:
    """Returns every key of the language at every place where it may stand, as declared."""
    return tuple(_below(Design, ""))


def _below(record: type[Record], prefix: str) -> Iterator[DeclaredKey]:
    for name, key in record.keys.items():
        declared = DeclaredKey(prefix + name, record, key)
        yield declared
        for inner in declared.inner:
            yield from _below(inner, f"{declared.path}.")


def records_in(schema: Any) -> tuple[type[Record], ...]:
    """Returns the records that a schema names, each once."""
    return tuple(dict.fromkeys(_records(schema)))


@cache
def _records_of_keys() -> dict[int, type[Record]]:
    """Returns the record that declares every key, by its identity: a key belongs to one record."""
    return {id(declared.key): declared.record for declared in declared_keys()}


def names_within(record: type[Record], key: Key) -> tuple[str, ...]:
    """Returns the name of a key, and those of the keys inside it: who reads one of them reads a part of its value."""
    own = key_name(record, key)
    return (own, *(name for inner in records_in(key.kind.schema) for name in _names_in(inner)))


def _names_in(record: type[Record]) -> tuple[str, ...]:
    return tuple(name for key in record.keys.values() if not key.for_people for name in names_within(record, key))


def _records(schema: Any) -> Iterator[type[Record]]:
    """Yields the records that a schema names."""
    if isinstance(schema, Mapping):
        if "record" in schema:
            yield schema["record"]
        schema = list(schema.values())
    for inner in schema if isinstance(schema, list) else ():
        yield from _records(inner)


@cache
def key_examples() -> Mapping[tuple[str, str], str]:
    """Returns a value of each key as it is written, by the name of its record and its own."""
    examples, record = dict[tuple[str, str], str](), ""
    for line in files(__package__).joinpath("examples.yaml").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            name, _, value = line.strip().partition(": ")
            examples[record, name.strip("'")] = value
        else:
            record = line.rstrip(":")
    return examples


def _example(record: type[Record], name: str) -> str:
    """Returns a key with a value, as a line of a design."""
    return f"{name}: {key_examples()[record.__name__, name]}"


def key_words(key: Key) -> str:
    """Returns what a key says, what holds where it does not stand, and which engines read it, as sentences."""
    record = _records_of_keys().get(id(key))
    engines = render_readers(names_within(record, key) if record else (), for_people=key.for_people)
    sentences = [key.means, *([f"Without it: {key.without}"] if key.without else [])]
    sentences += [UNKNOWN if engines == NOT_SHOWN else f"Read by {engines}"] if engines else []
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences)


def keys_named(name: str) -> tuple[DeclaredKey, ...]:
    """Returns the keys of a name, or of the end of a path: `hold_down`, `timescale.hold_down`; else of another word."""
    named = tuple(key for key in declared_keys() if f".{key.path}".endswith(f".{name}"))
    return named or tuple(key for key in declared_keys() if name in key.key.also)


def render_keys(keys: Iterable[DeclaredKey]) -> str:
    """Returns the words of some keys, each with its places and the keys inside."""
    places: dict[tuple[type[Record], str], list[DeclaredKey]] = {}
    for declared in keys:
        places.setdefault((declared.record, declared.key.name), []).append(declared)
    return "\n\n".join(_entry(alike) for alike in places.values())


def _entry(alike: list[DeclaredKey]) -> str:
    first = alike[0]
    needed = "; it must stand" if first.key.required else ""
    lines = [", ".join(key.path for key in alike), f"  {first.key.kind.holds}{needed}", f"  {key_words(first.key)}"]
    name = first.path.rpartition(".")[2]
    lines.append(f"  For example: {_example(first.record, name)}")
    for inner in first.inner:
        width = max(map(len, inner.keys))
        lines += ["", f"  {_summary(inner)}", *(f"    {n:<{width}}  {k.means}" for n, k in inner.keys.items())]
    return "\n".join(lines)


def _summary(record: type[Record]) -> str:
    return " ".join(inspect.cleandoc(record.__doc__ or "").split("\n\n", maxsplit=1)[0].split())


def language_page() -> str:
    """Returns the reference of the whole language as Markdown: a table for each record, once."""
    places: dict[type[Record], list[str]] = {Design: []}
    for declared in declared_keys():
        for inner in declared.inner:
            places.setdefault(inner, []).append(declared.path)
    return "\n".join([HEAD, *(_section(record, paths) for record, paths in places.items())])


def _section(record: type[Record], paths: list[str]) -> str:
    title = ", ".join(f"`{path}`" for path in paths) or "A design"
    rows = [
        f"| `{name}` | {key.kind.holds}{' (must stand)' if key.required else ''} | {key.means} | {key.without} "
        f"| {render_readers(names_within(record, key), for_people=key.for_people)} | `{_example(record, name)}` |"
        for name, key in record.keys.items()
    ]
    table = ["| key | holds | says | without it | read by | for example |", "|---|---|---|---|---|---|", *rows]
    return "\n".join([f"## {title}", _summary(record), "", *table, ""])
