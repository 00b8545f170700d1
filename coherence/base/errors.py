"""The tree of errors that are raised on purpose: wrong input, wrong use, a missing package, a defect.

CoherenceError
├── InputError          the reader of the message must change an input file (exit code 2)
├── UsageError          the reader must change the command line (exit code 2)
├── MissingExtraError   the reader must install an optional dependency (exit code 2)
└── InternalError       we must fix `coherence` (exit code 3)

An `InputError` carries every problem of the input at once, each with place, value and remedy.  What an error says may
hold text from outside: it is made safe to show here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from coherence.base.outside_text import shown
from coherence.base.places import Place


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in an input: where, what, and what to do about it."""

    place: Place
    message: str
    remedy: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shown(self.message))
        object.__setattr__(self, "remedy", shown(self.remedy))

    def __str__(self) -> str:
        return f"{shown(str(self.place))}: {self.message}" + (f"\n  help: {self.remedy}" if self.remedy else "")


class CoherenceError(Exception):
    """Base of all errors that `coherence` raises on purpose: a message, and details on lines of their own."""

    def __init__(self, message: str = "", details: Iterable[str] = ()) -> None:
        words = message.removesuffix("help: ")  # where there is nothing near, nothing is announced
        super().__init__(words.rstrip(" :;") if words.endswith((": ", "; ")) else words, tuple(details))

    def __str__(self) -> str:
        message, details = self.args
        return "\n  ".join(map(shown, (str(message), *details)))


class InputError(CoherenceError):
    """Raised for one or more problems in the input files."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems, key=lambda p: p.place))
        super().__init__()

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


def line_error(path: Path, line: int, message: str, remedy: str) -> InputError:
    """Returns the error that one line of a file is wrong (the first is 1)."""
    return InputError([Problem(Place(str(path), line, 1, line, 1), message, remedy)])


class UsageError(CoherenceError):
    """Raised for a command line that cannot be carried out."""


class MissingExtraError(CoherenceError):
    """Raised where an optional dependency of a feature is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: pip install 'coherence-engine[{extra}]'")


class InternalError(CoherenceError):
    """Raised where a promise that `coherence` makes to itself does not hold."""


MOST_NAMED = 24
ALIKE = 0.6  # ratio of two words from which one may be meant by the other


def _near_enough(word: str, names: Sequence[str]) -> list[str]:
    """Returns the names of which enough letters are letters of the word: no other has the ratio."""
    letters = set().union(*names)
    between = next(sign for sign in map(chr, count()) if sign not in letters)
    others = str.maketrans("", "", "".join(letters - set(word)))  # in one text: there may be very many names
    shared = between.join(names).translate(others).split(between)
    size = len(word)
    return [name for name, left in zip(names, shared, strict=True) if 2 * len(left) >= ALIKE * (size + len(name))]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns `did you mean 'x'?` for the nearest known word, else the known words, of many those that share a part."""
    import difflib

    names = sorted(set(known))
    near = difflib.get_close_matches(word, _near_enough(word, names), n=1, cutoff=ALIKE) if names else ()
    if near:
        return f"did you mean '{near[0]}'?"
    if len(names) > MOST_NAMED:
        parts = set(word.split("_"))
        names = [name for name in names if parts & set(name.split("_"))]
    return f"known: {', '.join(names)}" if 0 < len(names) <= MOST_NAMED else ""
