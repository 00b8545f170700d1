"""Reads the syntax of nginx: directives with words and blocks become a tree whose values keep their places.

A directive is the text of its words; with a block it is a mapping of the directives in it, with its words under `of`;
written several times it is a list.  An `include` is not followed; a block of Lua is skipped, as if it was empty.

SOURCE: nginx documentation, Beginner's Guide, Configuration File's Structure; nginx source, ngx_conf_file.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.importers._syntax import Token, joined, put_again, refused, tokens
from coherence.language.document import Document, Node, Table

ROOT = "nginx"
WORDS = "of"  # what stands between a directive and its block
DEEPEST = 64
_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|(?P<mark>[;{}])|(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<word>(?:\\.|\$\{\w*\}|[^\s;{}"'\\])(?:\\.|\$\{\w*\}|[^\s;{}\\])*)""",
    re.DOTALL,
)
OPEN = ("a quote or an escape does not end", "close it")
LUA = "_by_lua_block"
_LUA_TOKEN = re.compile(
    r"""(?:--)?\[\[(?:.*?\]\]|.*)|--[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?P<brace>[{}])|[^-\["'{}]+|.""",
    re.DOTALL,
)


def read(text: str, file: str) -> Document:
    """Returns the document of a configuration.  Raises InputError where a block or a directive does not end."""
    tokens = list(_tokens(text, file))
    end = tokens[-1].place if tokens else Place(file, 1, 1, 1, 1)
    reader = _Reader(tokens, end)
    block = reader.block(Place(file, 1, 1, 1, 1), depth=0)
    return Document(Table({ROOT: block}, {ROOT: block.place}, block.place), file, text)


class _Lua:
    """Follows the tokens, and says where to go on behind each: a block of Lua is passed over."""

    def __init__(self, text: str) -> None:
        self.text, self.is_next = text, False

    def end_of(self, match: re.Match[str]) -> int:
        """Returns where the next token begins."""
        end = _end_of_lua(self.text, match.end()) if self.is_next and match[0] == "{" else match.end()
        self.is_next = match[0].endswith(LUA) or (self.is_next and not match["mark"])
        return end


def _tokens(text: str, file: str) -> Iterator[Token]:
    """Yields words, those in quotes without them, and marks."""
    for token in tokens(text, file, _TOKEN, lambda _: OPEN, _Lua(text).end_of):
        is_quoted = token.kind == "quoted"
        yield replace(token, text=re.sub(r"\\(.)", r"\1", token.text[1:-1])) if is_quoted else token


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
            raise refused(place, f"more than {DEEPEST} blocks inside each other", "flatten the file")
        block = Table({}, {}, place)
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "mark" and token.text == "}":
                if depth == 0:
                    raise refused(token.place, "this } closes no block", "remove it")
                self.at += 1
                return block
            self._directive(block, depth)
        if depth > 0:
            raise refused(place, "this block does not end", "add a }")
        return block

    def _directive(self, block: Table, depth: int) -> None:
        words: list[Token] = []
        while self.at < len(self.tokens) and self.tokens[self.at].kind != "mark":
            words.append(self.tokens[self.at])
            self.at += 1
        mark = self.tokens[self.at] if self.at < len(self.tokens) else None
        if mark is None or mark.text == "}" or not words:
            place = words[0].place if words else (mark.place if mark else self.end)
            text = f"'{shorten(words[0].text)}' is not ended" if words else "a directive is missing here"
            raise refused(place, text, "end a directive with ;")
        self.at += 1
        value: Node = joined([(word.text, word.place) for word in words[1:]], words[0].place)
        if mark.text == "{":
            inner = self.block(mark.place, depth=depth + 1)
            inner.entries[WORDS], inner.keys[WORDS] = value, value.place
            value = inner
        put_again(block, words[0].text, words[0].place, value)
