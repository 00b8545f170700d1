"""Reads of a PromQL expression what decides how old its value is: metric names, windows, steps of subqueries, offsets.

A window is told with the function around it.  Everything else (labels, operators, aggregations) says nothing of age.
What is no expression that is understood is None: nothing is said of it.

SOURCE: Prometheus documentation, Querying basics: range vector selectors, subqueries, offset and @ modifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|(?P<name>[A-Za-z_:][A-Za-z0-9_:.]*)"""
    r"""|(?P<number>[0-9.][0-9A-Za-z.]*)|(?P<mark>[-+*/%^=!<>~(){}\[\],@$:])""",
    re.DOTALL,
)
_MILLISECONDS = {
    "ms": 1,
    "s": 1000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
    "y": 31_536_000_000,
}
_DURATION = re.compile(r"(?:[0-9]{1,9}(?:ms|[smhdwy]))+")
OPERATORS = {
    "and", "or", "unless", "bool", "offset", "sum", "min", "max", "avg", "count", "group", "stddev", "stdvar", "topk",
    "bottomk", "quantile", "count_values", "limitk", "limit_ratio", "inf", "nan", "atan2", "start", "end",
}  # fmt: skip
LABELLED = {"by", "without", "on", "ignoring", "group_left", "group_right"}
QUOTES = "\"'`"
DEEPEST = 100


@dataclass(frozen=True)
class Window:
    """A range `[5m]` with the function that reads it; `step` is that of a subquery (0: the default one)."""

    function: str
    length: Fraction
    step: Fraction | None = None


@dataclass(frozen=True)
class Selector:
    """A metric with the windows around it, the innermost first."""

    metric: str
    windows: tuple[Window, ...] = ()
    is_shifted: bool = False  # by an offset or an @


def seconds(text: str) -> Fraction | None:
    """Returns a duration of Prometheus: `5m`, `1h30m`, `1d`."""
    if not _DURATION.fullmatch(text):
        return None
    parts = re.findall(r"([0-9]+)(ms|[smhdwy])", text)
    return Fraction(sum(int(number) * _MILLISECONDS[unit] for number, unit in parts), 1000)


def selectors(text: str) -> tuple[Selector, ...] | None:
    """Returns the selectors of an expression; None where it is not understood."""
    tokens = _tokens(text)
    if tokens is None:
        return None
    reader = _Reader(tokens)
    try:
        read = reader.expression("", depth=0)
    except (IndexError, ValueError):
        return None
    return tuple(read) if reader.at == len(tokens) else None


def _tokens(text: str) -> list[str] | None:
    tokens: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        if match.lastgroup is not None:
            tokens.append(match[0])
        at = match.end()
    return tokens


class _Reader:
    """Reads the tokens one after the other; raises IndexError or ValueError where they make no expression."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def expression(self, function: str, *, depth: int) -> list[Selector]:
        """Returns the selectors up to a closing parenthesis, or to the end."""
        if depth > DEEPEST:
            raise ValueError
        every: list[Selector] = []
        last: list[Selector] = []  # those of the operand before a range or an offset
        while self.peek() not in ("", ")"):
            piece = self.take()
            if piece == "[":
                window = self._window(function)
                every[len(every) - len(last) :] = last = [
                    replace(selector, windows=(*selector.windows, window)) for selector in last
                ]
            elif piece in ("offset", "@"):
                self._shift()
                every[len(every) - len(last) :] = last = [replace(selector, is_shifted=True) for selector in last]
            else:
                last = self._operand(piece, function, depth=depth)
                every += last
        return every

    def _operand(self, piece: str, function: str, *, depth: int) -> list[Selector]:
        if piece == "(":
            return self._closed(function, depth=depth)
        if piece == "{":
            return [Selector(self._labels())]
        if not re.match(r"[A-Za-z_:]", piece):
            if piece in "}]$:":
                raise ValueError
            return []
        if piece.lower() in LABELLED:
            self._skip_labels()
            return []
        return self._named(piece, depth=depth)

    def _named(self, piece: str, *, depth: int) -> list[Selector]:
        """Returns the selectors of a function, an aggregation or a metric."""
        if piece.lower() in OPERATORS and self.peek() not in ("{", "["):
            while self.peek().lower() in ("by", "without"):
                self.take()
                self._skip_labels()
            if self.peek() != "(":
                return []
        if self.peek() == "(":
            self.take()
            inner = piece.lower() if piece.lower() not in OPERATORS else ""
            return self._closed(inner, depth=depth)
        if self.peek() == "{":
            self.take()
            self._labels()
        return [Selector(piece)]

    def _closed(self, function: str, *, depth: int) -> list[Selector]:
        inner = self.expression(function, depth=depth + 1)
        if self.take() != ")":
            raise ValueError
        return inner

    def _labels(self) -> str:
        """Reads the matchers of a selector, and returns the metric that `__name__` names."""
        metric, tokens = "", list(self._until("}"))
        for at, piece in enumerate(tokens[:-2]):
            if piece == "__name__" and tokens[at + 1] == "=" and tokens[at + 2][0] in QUOTES:
                metric = tokens[at + 2].strip(QUOTES)
        return metric

    def _skip_labels(self) -> None:
        if self.peek() == "(":
            self.take()
            list(self._until(")"))

    def _until(self, end: str) -> Iterator[str]:
        while (piece := self.take()) != end:
            yield piece

    def _window(self, function: str) -> Window:
        parts = "".join(self._until("]")).split(":")
        length, step = seconds(parts[0]), seconds(parts[1]) if len(parts) > 1 and parts[1] else None
        if length is None or length == 0 or len(parts) > 2 or (len(parts) > 1 and parts[1] and not step):
            raise ValueError
        return Window(function, length, step if len(parts) < 2 or step else Fraction(0))

    def _shift(self) -> None:
        while self.peek() in ("-", "+"):
            self.take()
        self.take()
        if self.peek() == "(":
            self._skip_labels()
