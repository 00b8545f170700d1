"""Parts common to the readers of formats of their own: tokens with their places, and values that are written again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.language.document import Items, Node, Scalar, Table


@dataclass(frozen=True)
class Token:
    """A piece of a text, the group of the pattern that it is, and its place."""

    text: str
    place: Place
    kind: str


def tokens(
    text: str, file: str, pattern: re.Pattern[str], wrong: Callable[[str], tuple[str, str]],
    end_of: Callable[[re.Match[str]], int] = re.Match.end,
) -> Iterator[Token]:  # fmt: skip
    """Yields the tokens of a text; what is in no group of the pattern, such as blanks, is none.

    `end_of`: where to go on behind a match.  Raises InputError with what is `wrong` (message and remedy) where nothing
    matches.
    """
    at, line, start = 0, 1, 0  # start: of the line
    while at < len(text):
        match = pattern.match(text, at)
        place = Place(file, line, at - start + 1, line, (match.end() if match else at + 1) - start + 1)
        if match is None:
            raise refused(place, *wrong(text[at : at + 20]))
        if match.lastgroup is not None:
            yield Token(match[0], place, match.lastgroup)
        end = end_of(match)
        line, start = line + text.count("\n", at, end), max(start, text.rfind("\n", at, end) + 1)
        at = end


def refused(place: Place, message: str, remedy: str) -> InputError:
    """Returns the error of one problem."""
    return InputError([Problem(place, message, remedy)])


def joined(words: Sequence[tuple[str, Place]], place: Place) -> Scalar:
    """Returns words as one value, with the place of all of them; without any at a place."""
    if not words:
        return Scalar("", place)
    first, last = words[0][1], words[-1][1]
    whole = Place(first.file, first.line, first.column, last.end_line, last.end_column)
    return Scalar(" ".join(word for word, _ in words), whole)


def put_again(table: Table, name: str, place: Place, value: Node) -> None:
    """Adds a value; one that is written again is a list of all of them."""
    known = table.entries.get(name)
    if known is None:
        table.entries[name], table.keys[name] = value, place
        return
    if not isinstance(known, Items):
        table.entries[name] = known = Items([known], place)
    known.items += value if isinstance(value, Items) else [value]
