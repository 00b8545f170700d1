"""Keeps the findings about a design in the user's cache folder, by the content of everything that they depend on.

The key is the SHA-256 of the texts with their names, the options, the files of this package and of its catalogue of
parts (size and time of change), and the versions of Python and of the libraries that decide.  A file of the cache is
its own SHA-256 and JSON, so that one that was cut or changed is seen, and no code is ever read from it.  Whatever goes
wrong, the questions are simply asked: a cache can be slow, not wrong.  Answers that a time limit cut short depend on
the machine and are not kept.

Nothing is written into a folder that is not empty and does not have our marker, and nothing is deleted there that is
not named like a key.

SOURCE: XDG Base Directory Specification 0.8 (XDG_CACHE_HOME; a relative path counts as unset); Cache Directory Tagging
Specification 0.6 (CACHEDIR.TAG).
"""

# pathlib costs 5 ms of a policy check: os.path serves here
# ruff: noqa: PTH103, PTH105, PTH108, PTH111, PTH117, PTH118, PTH120, PTH123, PTH208
from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache as once
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from coherence.base.places import Place
from coherence.checking.reports import ask
from coherence.checking.workspace import Entry
from coherence.findings.design_answers import Answers
from coherence.findings.finding import (
    Accounting,
    Edit,
    Evidence,
    Finding,
    Grade,
    NotRead,
    Repair,
    Severity,
    Step,
    Verdict,
)
from coherence.language import catalogue

FORMAT = "5"
MARKER, SIGNATURE = "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# answers of coherence\n"
OURS = re.compile(r"[0-9a-f]{64}(\.[0-9]+)?")  # an answer, or one that a process was about to write
MOST_FILES = 400
MOST_BYTES = 16_000_000
LIBRARIES = ("z3_solver", "highspy", "numpy", "scipy", "numba", "pyyaml", "PyYAML", "sympy", "control")
_VALUES: dict[str, Any] = {
    one.__name__: one for one in (Answers, Accounting, Finding, Evidence, Step, Repair, Edit, NotRead, Place)
}
_WORDS: dict[str, Any] = {one.__name__: one for one in (Verdict, Severity, Grade)}


class Cache:
    """Answers by key in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def answers(self, entry: Entry, options: Mapping[str, Any]) -> Answers:
        """Returns the stored answers about a design; asks the questions and stores the answers where there are none."""
        key = key_of(entry.sources, {**options, "environment": entry.design.environment})
        known = self.get(key)
        if known is None:
            known = ask(entry, options)
            self.put(key, known)
        return known

    def get(self, key: str) -> Answers | None:
        """Returns the stored answers; None where there are none, or where they cannot be trusted."""
        try:
            with open(os.path.join(self.folder, key), "rb") as file:
                data = file.read(MOST_BYTES + 1)
            digest, _, body = data.partition(b"\n")
            if hashlib.sha256(body).hexdigest().encode() != digest:
                return None
            answers = decoded(json.loads(body))
        except Exception:  # noqa: BLE001  (whatever is there, the questions can be asked)
            return None
        return answers if fits(answers, Answers) else None

    def put(self, key: str, answers: Answers) -> None:
        """Stores the answers, unless a time limit cut them short or they cannot be read back as they are."""
        if answers.cut_short or any(finding.evidence.cut_short for finding in answers.findings):
            return
        with contextlib.suppress(OSError, TypeError, ValueError, RecursionError):
            body = json.dumps(encoded(answers)).encode("ascii")
            if len(body) < MOST_BYTES and decoded(json.loads(body)) == answers:
                self._write(key, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    def _write(self, key: str, content: bytes) -> None:
        if not self._is_ours():
            return
        path = os.path.join(self.folder, key)
        fresh = f"{path}.{os.getpid()}"
        try:
            with open(fresh, "xb") as file:
                file.write(content)
            os.replace(fresh, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(fresh)
            raise
        self._forget()

    def _is_ours(self) -> bool:
        """Returns whether the folder has our marker, which an empty one gets."""
        marker = os.path.join(self.folder, MARKER)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        if not os.listdir(self.folder):
            with open(marker, "w", encoding="ascii") as file:
                file.write(SIGNATURE)
        return os.path.isfile(marker)  # noqa: PTH113

    def _forget(self) -> None:
        """Deletes all but the latest MOST_FILES files of those that are named like ours."""
        with os.scandir(self.folder) as entries:
            files = [
                (entry.stat().st_mtime_ns, entry.path)
                for entry in entries
                if OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            ]
        for _, path in sorted(files)[:-MOST_FILES]:
            with contextlib.suppress(OSError):
                os.unlink(path)


def folder() -> str:
    """Returns the cache folder: `coherence/answers` in XDG_CACHE_HOME, or in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "coherence", "answers")


def key_of(sources: Mapping[str, str], options: Mapping[str, object]) -> str:
    """Returns the key of the answers about these texts, asked with these options."""
    content = [FORMAT, tool(), sorted(sources.items()), sorted(options.items())]
    return hashlib.sha256(json.dumps(content).encode("ascii")).hexdigest()


@once
def tool() -> str:
    """Returns the SHA-256 of all that decides answers: this package, its parts, Python and the libraries."""
    package, parts = os.path.dirname(os.path.dirname(os.path.realpath(__file__))), str(catalogue.shipped("models"))
    components = [sys.version, *sorted(_libraries())]
    for root in (package, parts):
        components += sorted(f"{os.path.relpath(path, root)} {size} {time}" for path, size, time in _files(root))
    return hashlib.sha256("\n".join(components).encode("utf-8", "surrogateescape")).hexdigest()


def _files(root: str) -> Iterator[tuple[str, int, int]]:
    stack = [root]
    while stack:
        with os.scandir(stack.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    stack += [entry.path] if entry.name != "__pycache__" else []
                elif entry.name.endswith((".py", ".yaml")):
                    status = entry.stat()
                    yield entry.path, status.st_size, status.st_mtime_ns


def _libraries() -> Iterator[str]:
    """Yields names and versions of the installed libraries that decide, as their folders tell them."""
    for path in sys.path:
        with contextlib.suppress(OSError):
            yield from (
                name for name in os.listdir(path or ".") if name.endswith(".dist-info") and name.startswith(LIBRARIES)
            )


def encoded(value: Any) -> Any:
    """Returns a value as JSON.  Raises TypeError for what is no part of an answer."""
    kind = type(value)
    if value is None or kind in (str, int, bool):
        return value
    if kind in (tuple, list):
        return [encoded(item) for item in value]
    name = kind.__name__
    if _VALUES.get(name) is kind:
        return {name: [encoded(getattr(value, field)) for field in kind.__dataclass_fields__]}
    if _WORDS.get(name) is kind:
        return {name: str(value)}
    if kind is Fraction:
        return {"Fraction": [str(value.numerator), str(value.denominator)]}
    if kind is float:
        return {"float": value.hex()}
    if kind is dict:
        return {"dict": [[encoded(key), encoded(item)] for key, item in value.items()]}
    raise TypeError(f"{name} is not kept")


def fits(value: Any, kind: Any) -> bool:
    """Returns whether a value is of the type, with everything inside it; lines and columns count from 1."""
    inside = get_args(kind)
    if isinstance(kind, UnionType):
        return any(fits(value, option) for option in inside)
    if get_origin(kind) is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = inside[:1] * len(value) if inside[1:] == (...,) else inside
        return len(value) == len(kinds) and all(map(fits, value, kinds))
    if get_origin(kind) is Mapping:
        return type(value) is dict and all(fits(item, inside) for item in value.items())
    if isinstance(kind, tuple):  # a key and its value
        return fits(value[0], kind[0]) and fits(value[1], kind[1])
    if type(value) is not kind:
        return False
    if kind.__name__ in _VALUES and not all(fits(getattr(value, name), type_) for name, type_ in _types(kind.__name__)):
        return False
    return kind is not Place or min(value.line, value.column, value.end_line, value.end_column) > 0


@once
def _types(name: str) -> tuple[tuple[str, Any], ...]:
    return tuple(get_type_hints(_VALUES[name]).items())


def decoded(data: Any) -> Any:
    """Returns the value that `encoded` made JSON of.  Raises whatever wrong data makes it raise."""
    if isinstance(data, list):
        return tuple(decoded(item) for item in data)
    if not isinstance(data, dict):
        return data
    [(name, inner)] = data.items()
    if name in _VALUES:
        return _VALUES[name](*(decoded(item) for item in inner))
    if name in _WORDS:
        return _WORDS[name](inner)
    if name == "Fraction":
        return Fraction(int(inner[0]), int(inner[1]))
    if name == "float":
        return float.fromhex(inner)
    if name == "dict":
        return {decoded(key): decoded(item) for key, item in inner}
    raise ValueError(f"{name} is unknown")
