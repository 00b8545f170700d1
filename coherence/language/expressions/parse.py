"""Parses text to an expression tree by recursive descent.  Text is never evaluated as code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import units
from coherence.base.units import SECOND, UnitError
from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Number,
    Tree,
    Truth,
    depth,
)

FUNCTIONS = {
    "min": (1, 99), "max": (1, 99), "abs": (1, 1), "floor": (1, 1), "ceil": (1, 1), "exp": (1, 1), "log": (1, 1),
    "delayed": (2, 2), "mean_over": (2, 2), "rate_of": (1, 1), "previous": (1, 1),
    "mean": (1, 1), "quantile": (2, 2), "tail": (2, 2), "attempts": (1, 1), "call": (1, 1),
}  # fmt: skip
KEYWORDS = frozenset(
    {"and", "or", "not", "if", "else", "for", "of", "in", "by", "round", "true", "false", "sum", "count"} | {"per"}
)
IN_QUOTES = "; between { and } a comma ends a value that is not in quotes"
MAX_LENGTH, MAX_NESTING, MAX_DEPTH = 4000, 40, 150  # of the text, of brackets and prefixes in it, of the tree

_TOKEN = re.compile(
    rf"""\s*(?:
    (?P<number>{units.NUMBER})(?:[ \t]*(?P<unit>%|[A-Za-zµ]+(?:[/*][A-Za-zµ]+)*))?
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
    |(?P<op><=|>=|==|!=|\*\*|[-+*/<>(),%])
    )""",
    re.VERBOSE,
)

PER = re.compile(r"[ \t]*/[ \t]*([A-Za-zµ]+)(?![A-Za-z0-9µ_.(])")  # of a unit: `0.1 % / s`, `5 MB / s`


class ExpressionError(ValueError):
    """Raised for a text that is not an expression: message, remedy and the span of the culprit."""

    def __init__(self, message: str, remedy: str = "", span: tuple[int, int] = (0, 0)) -> None:
        super().__init__(message)
        self.remedy, self.span = remedy, span


@dataclass(frozen=True)
class _Token:
    kind: str  # number | name | op | end
    text: str
    unit: str
    start: int
    end: int


def parse(text: str, functions: Mapping[str, tuple[int, int]] = FUNCTIONS) -> Tree:
    """Returns the tree of an expression or condition.  Raises ExpressionError.

    `functions`: name -> (fewest, most) arguments; where `power` is one of them, `x ** y` is read too.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression has {len(text)} characters", f"at most {MAX_LENGTH} are read")
    parser = _Parser(text, _tokens(text), functions)
    tree = parser.choice()
    parser.expect_end()
    if depth(tree) > MAX_DEPTH:
        raise ExpressionError(f"the expression is {depth(tree)} operations deep", f"at most {MAX_DEPTH}: split it")
    return tree


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if not match:
            at = position + len(text[position:]) - len(text[position:].lstrip())
            raise ExpressionError(
                f"'{text[at]}' is not used in expressions", "use names, numbers, + - * / and comparisons", (at, at + 1)
            )
        tokens.append(_token(text, match))
        position = tokens[-1].end
    tokens.append(_Token("end", "", "", len(text), len(text)))
    return tokens


def _token(text: str, match: re.Match[str]) -> _Token:
    kind = match.lastgroup or ""
    if match["number"] is None:
        return _Token(kind, match[kind], "", match.start(kind), match.end(kind))
    unit, end = _unit_of(text, match)
    per = PER.match(text, end) if unit else None
    if per is not None and (size := units.UNITS.get(per[1])) is not None and size[1] == SECOND:
        unit, end = f"{unit}/{per[1]}", per.end()
    return _Token("number", match["number"], unit, match.start("number"), end)


def _unit_of(text: str, match: re.Match[str]) -> tuple[str, int]:
    """Returns the unit that follows a number, cut back to the part that is one (`3 min(x)` has none)."""
    unit = match["unit"] or ""
    while unit and unit != "%":
        end = match.start("unit") + len(unit)
        joined = text[end : end + 1] in (".", "_", "(") or text[end : end + 1].isdigit()
        if not joined and all(part in units.UNITS for part in re.split("[/*]", unit)):
            return unit, end
        cut = max(unit.rfind("/"), unit.rfind("*"))
        if cut < 0:
            break
        unit = unit[:cut]
    return (unit, match.end("unit")) if unit == "%" else ("", match.end("number"))


class _Parser:
    def __init__(self, text: str, tokens: list[_Token], functions: Mapping[str, tuple[int, int]]) -> None:
        self.text, self.tokens, self.at, self.depth, self.functions = text, tokens, 0, 0, functions

    @property
    def now(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.now
        self.at += token.kind != "end"
        return token

    def accept(self, *words: str) -> bool:
        """Takes the words if they stand next, all of them in order."""
        ahead = self.tokens[self.at : self.at + len(words)]
        if [t.text for t in ahead] != list(words) or any(t.kind == "number" for t in ahead):
            return False
        self.at += len(words)
        return True

    def fail(self, wanted: str) -> ExpressionError:
        token = self.now
        seen = f"'{token.text}'" if token.text else "the end"
        remedy = "write one expression, for example `x.load > 70 % for 30 s`"
        if not token.text:
            texts = [one.text for one in self.tokens]
            inside = texts.count("(") > texts.count(")")
            remedy = f"complete the expression{IN_QUOTES if inside else ''}"
        if token.kind == "name" and self.at and self.tokens[self.at - 1].kind == "number":
            amount = self.tokens[self.at - 1].text
            remedy = units.remedy_of_unit(f"{amount} {token.text}", token.text)
            return ExpressionError(f"unknown unit '{token.text}'", remedy, (token.start, token.end))
        if token.text == "=":
            remedy = "compare with =="
        if token.text == "," and self.tokens[self.at - 1].kind == "number":
            remedy = "write a number without commas, for example 1000"
        return ExpressionError(
            f"{wanted} expected, {seen} found", remedy, (token.start, max(token.end, token.start + 1))
        )

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.fail(f"'{text}'")

    def expect_end(self) -> None:
        if self.now.kind != "end":
            raise self.fail("an operator or the end")

    def span(self, start: int) -> tuple[int, int]:
        return (start, self.tokens[self.at - 1].end)

    def nested(self, part: Callable[[], Tree]) -> Tree:
        """Returns the part, one level deeper."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise ExpressionError(f"nested deeper than {MAX_NESTING} levels", "split the expression")
        tree = part()
        self.depth -= 1
        return tree

    def choice(self) -> Tree:
        start = self.now.start
        tree = self.disjunction()
        if self.accept("if"):
            condition = self.disjunction()
            self.expect("else")
            tree = Choose(condition, tree, self.nested(self.choice), self.span(start))
        return tree

    def disjunction(self) -> Tree:
        return self._logic("or", self.conjunction)

    def conjunction(self) -> Tree:
        return self._logic("and", self.negation)

    def _logic(self, word: str, part: Callable[[], Tree]) -> Tree:
        start, terms = self.now.start, [part()]
        while self.accept(word):
            terms.append(part())
        return Logic(word, tuple(terms), self.span(start)) if len(terms) > 1 else terms[0]

    def negation(self) -> Tree:
        start = self.now.start
        if self.accept("not"):
            return Logic("not", (self.nested(self.negation),), self.span(start))
        return self.comparison()

    def comparison(self) -> Tree:
        start = self.now.start
        tree = self.total()
        if self.now.kind == "op" and self.now.text in ("<", "<=", ">", ">=", "==", "!="):
            op = self.take().text
            tree = Compare(op, tree, self.total(), self.span(start))
        if self.accept("for"):
            tree = Held(tree, self.duration(), self.span(start))
        return tree

    def duration(self) -> Fraction:
        token = self.take()
        value = self._number(token) if token.kind == "number" else None
        if value is None or value.dimension != SECOND:
            raise ExpressionError(
                "a duration expected after 'for'", "write for example `for 30 s`", (token.start, token.end)
            )
        return value.value

    def total(self) -> Tree:
        start = self.now.start
        tree = self.product()
        while self.now.kind == "op" and self.now.text in "+-":
            op = self.take().text
            tree = Arithmetic(op, tree, self.product(), self.span(start))
        if self.accept("round", "up"):
            tree = Call("ceil", (tree,), self.span(start))
        elif self.accept("round", "down"):
            tree = Call("floor", (tree,), self.span(start))
        return tree

    def product(self) -> Tree:
        start = self.now.start
        tree = self.factor()
        while self.now.kind == "op" and self.now.text in "*/":
            op = self.take().text
            tree = Arithmetic(op, tree, self.factor(), self.span(start))
        return tree

    def factor(self) -> Tree:
        start = self.now.start
        negative = False
        while self.now.kind == "op" and self.now.text in "+-":
            negative ^= self.take().text == "-"
        tree = self.atom()
        if "power" in self.functions and self.accept("**"):
            tree = Call("power", (tree, self.nested(self.factor)), self.span(start))
        if self.accept("in", "flight"):
            tree = Call("in flight", (tree,), self.span(start))
        if not negative:
            return tree
        if isinstance(tree, Number):
            return Number(-tree.value, tree.dimension, self.span(start))
        return Arithmetic("-", Number(Fraction(0)), tree, self.span(start))

    def atom(self) -> Tree:
        token = self.now
        if token.kind == "number":
            return self.literal()
        if self.accept("("):
            tree = self.nested(self.choice)
            self.expect(")")
            return tree
        if token.kind == "name":
            return self.word()
        raise self.fail("a value")

    def _number(self, token: _Token) -> Number:
        try:
            factor, dimension = units.unit(token.unit) if token.unit else (Fraction(1), units.ONE)
            return Number(units.number(token.text) * factor, dimension, (token.start, token.end))
        except UnitError as error:
            raise ExpressionError(str(error), error.remedy, (token.start, token.end)) from None

    def literal(self) -> Tree:
        start = self.now.start
        tree = self._number(self.take())
        if self.accept("of"):
            return Arithmetic("*", tree, self.nested(self.factor), self.span(start))
        return tree

    def word(self) -> Tree:
        token = self.take()
        following = self.now
        if token.text in ("true", "false"):
            return Truth(token.text == "true", (token.start, token.end))
        if token.text == "sum" and self.accept("of"):
            return Call("sum of", (self.nested(self.total),), self.span(token.start))
        if token.text == "count" and self.accept("of"):
            return self.count(token.start)
        if following.text == "(" and following.kind == "op":
            return self.call(token)
        if token.text in KEYWORDS:
            self.at -= 1
            raise self.fail("a value")
        return Name(token.text, (token.start, token.end))

    def count(self, start: int) -> Tree:
        thing = self.name()
        self.expect("by")
        return Call("count by", (thing, self.name()), self.span(start))

    def name(self) -> Name:
        token = self.take()
        if token.kind != "name" or token.text in KEYWORDS:
            remedy = "write for example `count of web by node`"
            raise ExpressionError("a name expected", remedy, (token.start, token.end))
        return Name(token.text, (token.start, token.end))

    def call(self, token: _Token) -> Tree:
        if token.text not in self.functions:
            from coherence.base.errors import did_you_mean

            conditional = token.text in ("if", "iff", "ifelse", "iif", "where", "select")
            remedy = "write `a if condition else b`" if conditional else did_you_mean(token.text, self.functions)
            raise ExpressionError(f"'{token.text}' is not a function of the language", remedy, (token.start, token.end))
        self.expect("(")
        arguments = [self.nested(self.choice)]
        while self.accept(","):
            arguments.append(self.nested(self.choice))
        self.expect(")")
        least, most = self.functions[token.text]
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"at least {least}"
            raise ExpressionError(
                f"{token.text}() takes {wanted} argument(s), {len(arguments)} given",
                f"write {token.text}({', '.join('xyz'[: max(least, 1)])})",
                self.span(token.start),
            )
        return Call(token.text, tuple(arguments), self.span(token.start))
