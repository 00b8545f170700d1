"""Reads the syntax of slurm.conf: `Key=Value` on each line, and lines of several pairs for nodes and partitions.

Keys have no case and become small letters; a key that is written again counts as written last.  A line that begins with
`NodeName`, `PartitionName` or the like is an entry of a list under that name.  `#` begins a comment; a backslash at the
end of a line joins it with the next.

SOURCE: Slurm documentation, slurm.conf, Description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.language.document import Document, Items, Scalar, Table

ROOT = "slurm"
LISTS = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname", "slurmctldhost", "name")
SIGNS = re.compile(
    r"^[ \t]*(?:SlurmctldHost|SlurmctldPort|SlurmdSpoolDir|SlurmdPort|SlurmUser|PartitionName|NodeName|AutoDetect|"
    r"ControlMachine)[ \t]*=", re.IGNORECASE | re.MULTILINE
)  # fmt: skip
_PAIR = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s#\"']*)")
_INCLUDE = re.compile(r"\s*include\s+(\S+)\s*", re.IGNORECASE)
Pair = tuple[str, Place, Scalar]


def is_text(text: str) -> bool:
    """Returns whether a text is a configuration of Slurm."""
    return SIGNS.search(text) is not None


def read(text: str, file: str) -> Document:
    """Returns the document of a configuration.  Raises InputError where a line is no pairs of key and value."""
    whole = Place(file, 1, 1, 1, 1)
    root = Table({}, {}, whole)
    for number, line in _lines(text):
        pairs = list(_pairs(line, file, number))
        if pairs and pairs[0][0] in LISTS:
            _add(root, pairs)
        else:
            for key, place, value in pairs:
                root.entries[key], root.keys[key] = value, place
    return Document(Table({ROOT: root}, {ROOT: whole}, whole), file, text)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yields the number and the text of each line that says something; joined lines have the number of the first."""
    joined, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        plain = line.partition("#")[0] if "\\#" not in line else line
        joined, first = f"{joined}{plain}", first or number
        if plain.rstrip().endswith("\\"):
            joined = joined.rstrip()[:-1] + " "
            continue
        if joined.strip():
            yield first, joined
        joined, first = "", 0
    if joined.strip():
        yield first, joined


def _pairs(line: str, file: str, number: int) -> Iterator[Pair]:
    included = _INCLUDE.fullmatch(line)
    if included is not None:
        place = Place(file, number, 1, number, len(line) + 1)
        yield "include", place, Scalar(included[1], place)
        return
    at = 0
    while line[at:].strip():
        match = _PAIR.match(line, at)
        if match is None:
            column = at + 1 + len(line[at:]) - len(line[at:].lstrip())
            place, rest = Place(file, number, column, number, len(line) + 1), shorten(line[at:].strip())
            is_template = "{{" in line or "{%" in line
            words = "is a template" if is_template else "is no `Key=Value`"
            remedy = "render it first" if is_template else "write `Key=Value` without spaces in the value, or quote it"
            raise InputError([Problem(place, f"'{rest}' {words}", remedy)])
        start, end = match.start(2), match.end(2)
        name = Place(file, number, match.start(1) + 1, number, match.end(1) + 1)
        where = Place(file, number, start + 1, number, max(end, start + 1) + 1)
        yield match[1].lower(), name, Scalar(match[2].strip("\"'"), where)
        at = end


def _add(root: Table, pairs: list[Pair]) -> None:
    """Adds a line of several pairs to the list under its first key."""
    key, place, _ = pairs[0]
    known = root.entries.setdefault(key, Items([], place))
    root.keys.setdefault(key, place)
    entry = Table({name: value for name, _, value in pairs}, {name: where for name, where, _ in pairs}, place)
    if isinstance(known, Items):
        known.items.append(entry)
