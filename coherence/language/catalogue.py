"""Finds the parts in models/ by name, and lays them under the instance that `uses:` them.

A part never names a design.  What it supplies keeps the place in the part's own file, and its
source text is kept beside it (`Table.sources`), so that a finding can point at a default.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

from coherence.base.errors import InternalError, did_you_mean
from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.language import document
from coherence.language.document import Items, Node, Scalar, Table
from coherence.language.schema_kinds import Reading

if TYPE_CHECKING:
    from pathlib import Path  # 5 ms of a policy check: os.path serves the hot path

_DECIMAL = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
FOLDERS = ("loops", "components", "tiers", "links", "boundaries")
BEHAVING = ("loops", "components")  # folders of parts that do something; the others hold numbers
SECTION_FOLDER = {"loops": "loops", "calls": "loops", "timers": "loops", "limits": "loops", "components": "components"}
SECTION_FOLDER |= {"tiers": "tiers", "links": "links", "boundaries": "boundaries"}


def shipped(folder: str) -> Path:
    """Returns the folder `models` or `specs`: inside the installed package, or at the top of the source tree."""
    from pathlib import Path

    return Path(_shipped(folder))


@cache
def _shipped(folder: str) -> str:
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    for place in (os.path.join(package, "_shipped", folder), os.path.join(os.path.dirname(package), folder)):
        if os.path.isdir(place):
            return place
    raise InternalError(f"the folder {folder}/ is neither in the package nor beside it: reinstall coherence-engine")


@cache
def parts(folder: str) -> tuple[str, ...]:
    """Returns the names of the parts in one folder of models/."""
    names = os.listdir(os.path.join(_shipped("models"), folder))
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


@cache
def part(folder: str, name: str) -> Table:
    """Returns the parsed file of a part."""
    path = os.path.join(_shipped("models"), folder, f"{name}.yaml")
    with open(path, "rb") as file:
        root = document.read(file.read(), f"models/{folder}/{name}.yaml")[0].root
    if not isinstance(root, Table):
        raise InternalError(f"{path} is not a mapping")
    return root


def fill(section: str, table: Table, reading: Reading) -> Table:
    """Returns the instance with its part's values laid under its own keys; the table itself where it uses none."""
    uses = table.get("uses")
    if not isinstance(uses, Scalar):
        return table
    folder = SECTION_FOLDER[section]
    if not re.fullmatch(r"[a-z][a-z0-9_]*", uses.text):
        reading.problem(
            uses.place,
            f"'{shorten(uses.text)}' is not the name of a part",
            "a part is named like kubernetes_hpa, never by a path",
        )
        own = {key: node for key, node in table.entries.items() if key != "uses"}
        return Table(own, table.keys, table.place, table.sources)
    if uses.text not in parts(folder):
        reading.problem(
            uses.place, f"there is no part '{uses.text}' in models/{folder}", did_you_mean(uses.text, parts(folder))
        )
        return table
    source = part(folder, uses.text)
    wanted = source.get("section")
    if isinstance(wanted, Scalar) and wanted.text != section:
        reading.problem(
            uses.place,
            f"the part '{uses.text}' belongs under {wanted.text}:, not under {section}:",
            f"move it to {wanted.text}:",
        )
        return table
    return _lay(table, source, reading)


def _lay(table: Table, source: Table, reading: Reading) -> Table:
    filled = Table(dict(table.entries), dict(table.keys), table.place, dict(table.sources))
    gives = source.get("gives")
    if isinstance(gives, Table):
        _under(filled, gives, "")
    for path, where, parameter in _parameters(source):
        default, present = _default(filled, parameter.get("default")), _find(filled, path)
        if present is None and default is not None:
            _put(filled, path, default, where, _text(parameter, "source"))
        elif present is None and _text(parameter, "required") == "true":
            reading.problem(table.place, f"the part '{_text(source, 'part')}' needs '{path}'", f"add `{path}: ...`")
    return filled


def _default(filled: Table, default: Node | None) -> Node | None:
    """Returns the default; `10 x pause.base` is so many times another value of the instance, None where it has none."""
    times = re.fullmatch(r"(\d+) x ([a-z_.]+)", default.text) if isinstance(default, Scalar) else None
    if times is None:
        return default
    other = _find(filled, times[2])
    if not isinstance(other, Scalar):
        return None
    text = re.sub(_DECIMAL, lambda number: f"{Decimal(number[0]) * int(times[1]):f}", other.text)
    return Scalar(text, other.place)


def _parameters(source: Table) -> Iterator[tuple[str, Place, Table]]:
    declared = source.get("parameters")
    if isinstance(declared, Table):
        for path, parameter in declared.entries.items():
            if isinstance(parameter, Table):
                yield path, declared.key_place(path), parameter


def _text(table: Table, name: str) -> str:
    node = table.get(name)
    return node.text if isinstance(node, Scalar) else ""


def _find(table: Table, path: str) -> Node | None:
    node: Node | None = table
    for step in path.split("."):
        node = node.get(step) if isinstance(node, Table) else None
    return node


def _put(table: Table, path: str, value: Node, where: Place, source: str) -> None:
    *parents, last = path.split(".")
    for step in parents:
        child = table.entries.get(step)
        if child is not None and not isinstance(child, Table):
            return  # the instance wrote a short form such as `pause: 2 s`, which says it all
        copy = (
            Table(dict(child.entries), dict(child.keys), child.place, dict(child.sources))
            if child
            else Table({}, {}, where)
        )
        table.entries[step] = copy
        table.keys.setdefault(step, where)
        table = copy
    table.entries[last], table.keys[last] = value, where
    if source:
        table.sources[last] = source


def _under(table: Table, gives: Table, source: str) -> None:
    """Lays `gives` under the instance; where the instance has its own rules or trigger, theirs win."""
    for name, value in gives.entries.items():
        present = table.entries.get(name)
        if present is None:
            _put(table, name, value, gives.key_place(name), source)
        elif isinstance(present, Table) and isinstance(value, Table):
            copy = Table(dict(present.entries), dict(present.keys), present.place, dict(present.sources))
            _under(copy, value, source)
            table.entries[name] = copy


def mathematics(name: str) -> dict[str, Table]:
    """Returns the states, commands, inputs, outputs and parameters of a component part, by block."""
    source = part("components", name)
    blocks = {block: source.get(block) for block in ("parameters", "inputs", "states", "commands", "outputs")}
    return {block: node if isinstance(node, Table) else Table({}, {}, source.place) for block, node in blocks.items()}


@cache
def omissions(section: str, name: str) -> tuple[str, ...]:
    """Returns what a part leaves out of the program that it stands for, and that nothing was compared with it."""
    source = part(SECTION_FOLDER[section], name)
    listed, words = source.get("omits"), []
    if isinstance(listed, Items):
        words = [f"{name} leaves out {', '.join(item.text for item in listed if isinstance(item, Scalar))}"]
    if SECTION_FOLDER[section] in BEHAVING and source.get("compared") is None:
        words.append(f"{name} was not laid beside its original")
    return tuple(words)
