"""Runs a command over a design in this process, and keeps of its output what does not follow the text alone."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

from coherence.base.errors import CoherenceError
from coherence.cli._run import run
from coherence.language import catalogue, document
from coherence.language.document import Table
from coherence.language.entries.leaves import FOREIGN
from coherence.language.reading import read_text
from tests.perturbation.written_leaves import NAME, Texts, WrittenLeaf

MOVING = frozenset({"column", "end_column", "sha256", "fingerprint", "old", "new"})  # follow the text, not its meaning
FOLDER = "<folder>"  # stands for that of the design, which no answer depends on
LONG = ("COH22", "COH30")  # begins of the codes of questions that execute loops

Spot = tuple[str, int, int]
Asked = Callable[[Path], str]


@dataclass(frozen=True)
class Output:
    """What a command printed about a design, without what follows the text alone.

    `answers`: the same without the lines about what is not read; `not_read`: the values that these lines name;
    `pointed`: those at which an answer points; `refused`: it says instead why it cannot take a design that is in order;
    `cut`: a time limit ended something, so that it depends on the machine.
    """

    shown: str
    answers: str
    not_read: frozenset[Spot] = frozenset()
    pointed: frozenset[Spot] = frozenset()
    refused: bool = False

    @property
    def cut(self) -> bool:
        """Decides whether a time limit ended something."""
        return any(words in self.shown for words in ("time limit was reached", "time limit of th"))

    def names(self, leaf: WrittenLeaf) -> bool:
        """Decides whether a line names a value as not read."""
        return _spot(leaf) in self.not_read

    def points_at(self, leaf: WrittenLeaf) -> bool:
        """Decides whether an answer has a value among the places that it stands on."""
        return _spot(leaf) in self.pointed


def _spot(leaf: WrittenLeaf) -> Spot:
    return (leaf.place.file, leaf.place.line, leaf.place.column)


def _checked(path: Path, *, ignore: Sequence[str] = (), select: Sequence[str] = ()) -> str:
    from coherence.checking.reports import report
    from coherence.checking.workspace import open_workspace
    from coherence.reporting import render

    workspace = open_workspace([path])
    return render("json", report(workspace, select=select, ignore=ignore, verify_repairs=False, time_limit=10.0))


def questions(codes: Sequence[str]) -> Asked:
    """Returns what asks the questions of some codes."""
    return partial(_checked, select=codes)


def command_line(*words: str) -> Asked:
    """Returns what runs a command of the command line."""

    def ask(path: Path) -> str:
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = run([words[0], str(path), *words[1:]])
        if code == 2:
            raise CoherenceError(errors.getvalue())
        return out.getvalue()

    return ask


# each command, and before it a quick part of it, of which every difference is one of the command
COMMANDS: dict[str, tuple[Asked, ...]] = {
    "check": (lambda path: _checked(path, ignore=LONG), _checked),
    "analyze": (command_line("analyze", "-o", "json", "--no-retune", "--time-limit", "60"),),
    "simulate": tuple(
        command_line("simulate", "-o", "json", "--for", span, "--runs", "1") for span in ("20 s", "10 min")
    ),
    "bound": (command_line("bound", "-o", "json"),),
}


def output(ask: Asked, texts: Texts, folder: Path) -> Output | None:
    """Returns what a command prints of a design, or None where the design is not in order."""
    path = folder / f"{NAME}.yaml"
    path.write_text(texts[NAME], encoding="utf-8")
    try:
        with _parts(texts):
            printed = json.loads(ask(path).replace(json.dumps(str(folder))[1:-1], FOLDER))
    except CoherenceError as error:
        return Output(str(error), str(error), refused=True) if _in_order(texts) else None
    not_read = [row["place"] for row in _below(printed, "not_read")]
    return Output(
        json.dumps(_still(printed), sort_keys=True),
        json.dumps(_still(printed, MOVING | {"not_read", "counts"}), sort_keys=True),
        frozenset(_spots(not_read)),
        frozenset(_spots(_below(printed, "places"))),
    )


def _in_order(texts: Texts) -> bool:
    """Decides whether a design can be read, whatever a command needs of it."""
    try:
        with _parts(texts):
            read_text(texts[NAME], NAME)
    except CoherenceError:
        return False
    return True


def _spots(rows: Iterable[dict[str, Any]]) -> Iterator[Spot]:
    for row in rows:
        yield NAME if row["file"] == f"{FOLDER}/{NAME}.yaml" else row["file"], row["line"], row["column"]


@contextlib.contextmanager
def _parts(texts: Texts) -> Iterator[None]:
    """Has the parts read from these texts while it lasts."""
    changed = {file: text for file, text in texts.items() if file.startswith(FOREIGN)}
    shipped_part = catalogue.part

    @cache
    def part(folder: str, name: str) -> Table:
        file = f"{FOREIGN}{folder}/{name}.yaml"
        if file not in changed:
            return shipped_part(folder, name)
        root = document.read_text(changed[file], file)[0].root
        assert isinstance(root, Table)
        return root

    with mock.patch.object(catalogue, "part", part) if changed else contextlib.nullcontext():
        yield


def _below(printed: Any, key: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of every list with a key."""
    if isinstance(printed, dict):
        yield from (row for row in printed.get(key) or () if isinstance(row, dict))
        for child in printed.values():
            yield from _below(child, key)
    elif isinstance(printed, list):
        for child in printed:
            yield from _below(child, key)


def _still(node: Any, moving: frozenset[str] = MOVING) -> Any:
    if isinstance(node, dict):
        return {name: _still(child, moving) for name, child in node.items() if name not in moving}
    return [_still(child, moving) for child in node] if isinstance(node, list) else node
