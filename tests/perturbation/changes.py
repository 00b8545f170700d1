"""Lists ways to change a value of a design: numbers by factors, words and names by others, signs, taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fractions import Fraction
from functools import cache, partial
from typing import Any

from coherence.language.catalogue import FOLDERS, parts
from coherence.language.pages.schema import design_schema
from tests.perturbation.written_leaves import WrittenLeaf

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
QUANTITY = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?: [A-Za-z%][\w/]*)?")
WORD = re.compile(r"(?<![\w.])(?<!\d )[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?")
NEAR = (Fraction(3), Fraction(1, 3))
FAR = (Fraction(1000), Fraction(1, 1000), Fraction(0))
SLIGHT = (Fraction(6, 5), Fraction(4, 5))  # within reach of a tolerance
OPPOSITES = (
    ("<", ">"),
    (">", "<"),
    ("+", "-"),
    ("min(", "max("),
    ("max(", "min("),
    ("smallest", "largest"),
    ("largest", "smallest"),
    ("true", "false"),
)


def changes(leaf: WrittenLeaf, others: Sequence[WrittenLeaf]) -> Iterator[str | None]:
    """Yields each other text that a value is given (None: it is taken out), likely and cheap ones first."""
    yield from dict.fromkeys(new for new in _changes(leaf, others) if new != leaf.text)


def _changes(leaf: WrittenLeaf, others: Sequence[WrittenLeaf]) -> Iterator[str | None]:
    numbers = list(NUMBER.finditer(leaf.text))
    if numbers:
        yield from (scaled(leaf.text, factor) for factor in NEAR)
    if "0" in (match[0] for match in numbers):
        yield re.sub(r"(?<![\w.])0(?![\w.])", "1", leaf.text)
    yield from _words(leaf.text)
    yield from _names(leaf, others)
    yield from (leaf.text.replace(old, new) for old, new in OPPOSITES if old in leaf.text)
    if leaf.path[-1] == "then":
        yield "page oncall"
    if leaf.path[-1] == "trigger":
        yield "1 > 2"
    if leaf.path[-1] == "uses":
        yield from _parts_like(leaf.text)
    yield None
    if numbers:
        yield from (scaled(leaf.text, factor) for factor in FAR)
        yield from (scaled(leaf.text, factor) for factor in SLIGHT)
    if len(numbers) > 1:
        for match in numbers:
            begin, end = match.span()
            for factor in (Fraction(1000), Fraction(1, 1000)):
                yield leaf.text[:begin] + scaled(match[0], factor) + leaf.text[end:]


def scaled(text: str, factor: Fraction) -> str:
    """Returns a text with every number times a factor."""
    return NUMBER.sub(partial(_scaled, factor), text)


def _scaled(factor: Fraction, match: re.Match[str]) -> str:
    """Returns a number in decimals; of a whole number a whole one, where that is another.  0 becomes the factor."""
    number = match[0]
    value = Fraction(number) * factor if Fraction(number) else factor
    if "." not in number and round(value) != Fraction(number) and (round(value) or factor > 1):
        return str(round(value))
    return f"{float(value):.9f}".rstrip("0").rstrip(".") if value else "0"


def _parts_like(name: str) -> list[str]:
    """Returns the two parts of the same folder whose names are the nearest."""
    others = {other for folder in FOLDERS if name in parts(folder) for other in parts(folder)} - {name}
    return get_close_matches(name, sorted(others), 2, 0)


def other_words(old: str, new: str | None) -> bool:
    """Decides whether a text differs from another in more than its numbers."""
    return new is not None and NUMBER.sub("0", new) != NUMBER.sub("0", old)


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word for words in _word_lists() if text in words for word in words if word != text))


@cache
def _word_lists() -> tuple[tuple[str, ...], ...]:
    def walk(node: Any) -> Iterator[tuple[str, ...]]:
        if isinstance(node, dict):
            if "enum" in node:
                yield tuple(node["enum"])
            for child in node.values():
                yield from walk(child)
        elif isinstance(node, list):
            for child in node:
                yield from walk(child)

    return tuple(dict.fromkeys(walk(design_schema())))


def _names(leaf: WrittenLeaf, others: Sequence[WrittenLeaf]) -> Iterator[str]:
    """Yields the text with one name replaced by another name of the document, at most two, or by a number of it."""
    known = dict.fromkeys(name for other in others for name in WORD.findall(other.text) if "." in name)
    entries = dict.fromkeys(other.path[1] for other in others if len(other.path) > 2)
    numbers = sorted(QUANTITY.findall(leaf.text), key=lambda number: " " not in number)  # those with a unit first
    for name in dict.fromkeys(WORD.findall(leaf.text)):
        if name in known or name in entries or numbers:
            same = [word for word in (known if "." in name else entries) if word != name]
            for other in (*same[:2], *numbers[:1]):
                yield re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", other, leaf.text)
