"""Reads the syntax of HAProxy: a line is a directive, and some words begin a section.

A section is a mapping with its keyword and its words; a directive is the text of its words under its name, which for
`timeout`, `option`, `stats` and the like has two words; written several times it is a list.  Nothing is joined over
lines.  Conditional blocks (`.if`) and what stands in them are listed as they are.

SOURCE: HAProxy configuration manual 3.5, sections 2.2 Quoting and escaping, 4 Proxies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.importers._syntax import joined, put_again, refused
from coherence.language.document import Document, Items, Scalar, Table

ROOT = "haproxy"
SECTION, WORDS = "section", "of"
PROXIES = ("defaults", "frontend", "backend", "listen")
SECTIONS = (
    *PROXIES, "global", "peers", "resolvers", "cache", "userlist", "program", "ring", "mailers", "http-errors",
    "fcgi-app", "log-forward", "log-profile", "traces", "crt-store", "acme",
)  # fmt: skip
FAMILIES = ("timeout", "option", "stats", "no", "compression", "http-check", "tcp-check")
_TOKEN = re.compile(r"""\s+|(?P<comment>\#.*)|(?P<word>(?:\\.|"(?:\\.|[^"\\])*"|'[^']*'|[^\s\\"'\#])+)""")
_PIECE = re.compile(r"""\\(?P<escaped>.)|"(?P<weak>(?:\\.|[^"\\])*)"|'(?P<strong>[^']*)'|(?P<plain>.)""")

Word = tuple[str, Place]


def read(text: str, file: str) -> Document:
    """Returns the document of a configuration.  Raises InputError where a line is in no section or a quote is open."""
    sections = Items([], Place(file, 1, 1, 1, 1))
    for number, line in enumerate(text.splitlines(), 1):
        words = list(_words(line, file, number))
        if words and words[0][0] in SECTIONS:
            sections.items.append(_section(words))
        elif words and not sections.items:
            place = words[0][1]
            problem = f"'{shorten(words[0][0])}' stands in no section"
            raise refused(place, problem, "begin with a section such as defaults or backend")
        elif words:
            section = sections.items[-1]
            assert isinstance(section, Table)
            _put(section, words)
    return Document(Table({ROOT: sections}, {ROOT: sections.place}, sections.place), file, text)


def _words(line: str, file: str, number: int) -> Iterator[Word]:
    at = 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            place = Place(file, number, at + 1, number, len(line) + 1)
            raise refused(place, "a quote or an escape does not end", "close it on this line")
        if match["word"]:
            plain = "".join(next(filter(None, piece.groups()), "") for piece in _PIECE.finditer(match["word"]))
            yield plain, Place(file, number, at + 1, number, match.end() + 1)
        at = match.end()


def _section(words: list[Word]) -> Table:
    (keyword, place), rest = words[0], words[1:]
    section = Table({SECTION: Scalar(keyword, place)}, {SECTION: place}, place)
    if rest:
        section.entries[WORDS], section.keys[WORDS] = joined(rest, place), rest[0][1]
    return section


def _put(section: Table, words: list[Word]) -> None:
    size = 2 if words[0][0] in FAMILIES and len(words) > 1 else 1
    if words[0][0] == "no" and len(words) > 2:
        size = 3
    name, place = " ".join(word for word, _ in words[:size]), words[0][1]
    put_again(section, name, place, joined(words[size:], place))
