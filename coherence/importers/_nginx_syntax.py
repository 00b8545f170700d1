"""Reads the syntax of nginx: directives with words and blocks become a tree whose values keep their places.

A directive is the text of its words; with a block it is a mapping of the directives in it, with its words under `of`;
written several times it is a list.  An `include` is not followed; a block of Lua is skipped, as if it was empty.

SOURCE: nginx documentation, Beginner's Guide, Configuration File's Structure; nginx source, ngx_conf_file.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.language.document import Document, Items, Node, Scalar, Table

ROOT = "nginx"
WORDS = "of"  # what stands between a directive and its block
DEEPEST = 64
_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|(?P<mark>[;{}])|(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<word>(?:\\.|\$\{\w*\}|[^\s;{}"'\\])(?:\\.|\$\{\w*\}|[^\s;{}\\])*)""",
    re.DOTALL,
)
LUA = "_by_lua_block"
_LUA_TOKEN = re.compile(
    r"""(?:--)?\[\[(?:.*?\]\]|.*)|--[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?P<brace>[{}])|[^-\["'{}]+|.""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A word, or one of the marks `;`, `{` and `}`."""

    text: str
    place: Place
    is_mark: bool


def read(text: str, file: str) -> Document:
    """Returns the document of a configuration.  Raises InputError where a block or a directive does not end."""
    tokens = list(_tokens(text, file))
    end = tokens[-1].place if tokens else Place(file, 1, 1, 1, 1)
    reader = _Reader(tokens, end)
    block = reader.block(Place(file, 1, 1, 1, 1), depth=0)
    return Document(Table({ROOT: block}, {ROOT: block.place}, block.place), file, text)


def _tokens(text: str, file: str) -> Iterator[Token]:
    at, line, start = 0, 1, 0  # start: of the line
    is_lua = False
    while at < len(text):
        match = _TOKEN.match(text, at)
        place = Place(file, line, at - start + 1, line, (match.end() if match else at + 1) - start + 1)
        if match is None:
            raise InputError([Problem(place, "a quote or an escape does not end", "close it")])
        whole = match[0]
        if match.lastgroup is not None:
            plain = re.sub(r"\\(.)", r"\1", whole[1:-1]) if match["quoted"] else whole
            yield Token(plain, place, match.lastgroup == "mark")
        end = _end_of_lua(text, match.end()) if is_lua and whole == "{" else match.end()
        is_lua = whole.endswith(LUA) or (is_lua and not match["mark"])
        line, start = line + text.count("\n", at, end), max(start, text.rfind("\n", at, end) + 1)
        at = end


def _end_of_lua(text: str, at: int) -> int:
    """Returns where the brace stands that closes a block of Lua: those in its strings and comments close nothing."""
    depth = 0
    for token in _LUA_TOKEN.finditer(text, at):
        if token["brace"]:
            depth += 1 if token[0] == "{" else -1
        if depth < 0:
            return token.start()
    return len(text)


class _Reader:
    """Reads directives from the tokens, one after the other."""

    def __init__(self, tokens: list[Token], end: Place) -> None:
        self.tokens, self.end, self.at = tokens, end, 0

    def block(self, place: Place, *, depth: int) -> Table:
        """Returns the directives up to the end of the block, or of the file outside of every block."""
        if depth > DEEPEST:
            raise InputError([Problem(place, f"more than {DEEPEST} blocks inside each other", "flatten the file")])
        block = Table({}, {}, place)
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.is_mark and token.text == "}":
                if depth == 0:
                    raise InputError([Problem(token.place, "this } closes no block", "remove it")])
                self.at += 1
                return block
            self._directive(block, depth)
        if depth > 0:
            raise InputError([Problem(place, "this block does not end", "add a }")])
        return block

    def _directive(self, block: Table, depth: int) -> None:
        words: list[Token] = []
        while self.at < len(self.tokens) and not self.tokens[self.at].is_mark:
            words.append(self.tokens[self.at])
            self.at += 1
        mark = self.tokens[self.at] if self.at < len(self.tokens) else None
        if mark is None or mark.text == "}" or not words:
            place = words[0].place if words else (mark.place if mark else self.end)
            text = f"'{shorten(words[0].text)}' is not ended" if words else "a directive is missing here"
            raise InputError([Problem(place, text, "end a directive with ;")])
        self.at += 1
        value = _joined(words[1:], words[0].place)
        if mark.text == "{":
            inner = self.block(mark.place, depth=depth + 1)
            inner.entries[WORDS], inner.keys[WORDS] = value, value.place
            _put(block, words[0], inner)
        else:
            _put(block, words[0], value)


def _joined(words: list[Token], place: Place) -> Scalar:
    """Returns the words of a directive, with the place of all of them where they stand on one line."""
    if not words:
        return Scalar("", place)
    first, last = words[0].place, words[-1].place
    whole = Place(first.file, first.line, first.column, last.end_line, last.end_column)
    return Scalar(" ".join(word.text for word in words), whole)


def _put(block: Table, name: Token, value: Node) -> None:
    known = block.entries.get(name.text)
    if known is None:
        block.entries[name.text], block.keys[name.text] = value, name.place
    elif isinstance(known, Items):
        known.items.append(value)
    else:
        block.entries[name.text] = Items([known, value], name.place)
