"""Reads the text format of protocol buffers: fields, messages and lists; a field that is written again is a list.

`name: value`, `name { ... }`, `name < ... >`, `name [ ... ]`, an empty block `{ }`, strings that follow each other,
comments from `#` on, and `,` or `;` behind a field.  What a field is, is not known here.

SOURCE: Protocol Buffers documentation, Text Format Language Specification.
"""

from __future__ import annotations

import dataclasses
import re

from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.importers._syntax import Token, put_again, refused, tokens
from coherence.language.document import MAX_DEPTH, Document, Items, Node, Scalar, Table

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>[-+]?[A-Za-z0-9_.][A-Za-z0-9_.+-]*)
    |(?P<mark>[{}\[\]<>:,;/-])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_CLOSES = {"{": "}", "<": ">"}


def read(text: str, file: str) -> Document:
    """Returns the document of a message.  Raises InputError with the place of what is no field."""
    return Document(_MessageReader(text, file).message("", 0), file, text)


class _MessageReader:
    """Reads fields from a list of tokens."""

    def __init__(self, text: str, file: str) -> None:
        self.end = Place(file, text.count("\n") + 1, 1, text.count("\n") + 1, 1)
        self.tokens = [
            dataclasses.replace(it, text=_plain(it.text[1:-1])) if it.kind == "text" else it
            for it in tokens(text, file, _TOKEN, _wrong)
        ]
        self.at = 0

    def message(self, closes: str, depth: int) -> Table:
        """Returns the fields up to a mark; empty: up to the end of the file."""
        place = self._next().place
        if depth > MAX_DEPTH:
            raise refused(place, f"messages are nested more than {MAX_DEPTH} deep", "write it flatter")
        table = Table({}, {}, place)
        while (token := self._next()).text != closes or token.kind == "text":
            if token.kind == "end":
                raise refused(token.place, f"'{closes}' is missing", "close the message")
            self._field(table, depth)
        self.at += 1 if closes else 0
        return table

    def _field(self, table: Table, depth: int) -> None:
        name, place = self._name(), self._next(-1).place
        if self._next().text == ":" and self._next().kind == "mark":
            self.at += 1
        put_again(table, name, place, self._value(depth + 1))
        if self._next().kind == "mark" and self._next().text in (",", ";"):
            self.at += 1

    def _name(self) -> str:
        """Returns the name of a field; that of an extension stands in brackets."""
        token = self._take()
        if token.kind == "word":
            return token.text
        if token.text != "[" or token.kind != "mark":
            raise refused(token.place, f"'{shorten(token.text)}' is no name of a field", "write `name: value`")
        parts = []
        while (token := self._take()).text != "]":
            if token.kind == "end":
                raise refused(token.place, "']' is missing", "close the name of the extension")
            parts.append(token.text)
        return f"[{''.join(parts)}]"

    def _value(self, depth: int) -> Node:
        token = self._take()
        if token.kind == "mark" and token.text in _CLOSES:
            return self.message(_CLOSES[token.text], depth)
        if token.kind == "mark" and token.text == "[":
            return self._list(token.place, depth)
        if token.kind == "mark" and token.text == "-":
            return Scalar(f"-{self._take().text}", token.place)
        if token.kind not in ("word", "text"):
            raise refused(token.place, f"'{shorten(token.text)}' is no value", "write a value, `{ ... }` or `[ ... ]`")
        return self._scalar(token)

    def _scalar(self, token: Token) -> Scalar:
        """Returns a value; strings that follow each other are one."""
        text = token.text
        while token.kind == "text" and self._next().kind == "text":
            text += self._take().text
        return Scalar(text, token.place, quoted=token.kind == "text")

    def _list(self, place: Place, depth: int) -> Items:
        items = Items([], place)
        if depth > MAX_DEPTH:
            raise refused(place, f"lists are nested more than {MAX_DEPTH} deep", "write it flatter")
        while self._next().text != "]" or self._next().kind != "mark":
            items.items.append(self._value(depth + 1))
            if self._next().kind == "mark" and self._next().text == ",":
                self.at += 1
        self.at += 1
        return items

    def _next(self, ahead: int = 0) -> Token:
        at = self.at + ahead
        return self.tokens[at] if 0 <= at < len(self.tokens) else Token("", self.end, "end")

    def _take(self) -> Token:
        token = self._next()
        self.at += 1
        return token


def _wrong(text: str) -> tuple[str, str]:
    return f"'{shorten(text)}' is no text of a message", "write `name: value`"


def _plain(text: str) -> str:
    """Returns a string without its escapes; what they say of bytes is taken as a character."""
    return _ESCAPE.sub(lambda match: _character(*match.groups()), text)


def _character(octal: str | None, hexadecimal: str | None, letter: str | None) -> str:
    if octal is not None or hexadecimal is not None:
        return chr(int(octal, 8) if octal is not None else int(hexadecimal or "0", 16))
    return _LETTERS.get(letter or "", letter or "")
