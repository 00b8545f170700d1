"""Measures which engines read a key of the language: in some design a change of its value changes their answers.

`python -m tests.perturbation.readers [RECORD.KEY ...]` seeks a witness for each key and engine in the designs of the
tests and of specs/, and writes what it finds to `coherence/language/pages/key_readers.json`, from which `explain`, the
reference page, the schema and editors say it.  What was found before and keys that are not named stay as they are.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from coherence.base.records import Record
from coherence.findings.registry import question_modules
from coherence.language.design import Design
from coherence.language.pages.key_readers import ENGINES, FILE, key_name
from coherence.language.pages.reference import declared_keys, records_in
from tests.case_files import cases
from tests.paths import ROOT, SPECS
from tests.perturbation.changes import changes
from tests.perturbation.outputs import Asked, Output, command_line, output, questions
from tests.perturbation.written_leaves import NAME, WrittenLeaf, edited, leaves

FOLDERS = ("verify", "loops", "causal", "simulate", "minimums", "checking", "model", "language")
ASKED = 12  # designs that an engine is asked about for one key
DESIGNS, LEAVES, CHANGES = 3, 1, 3  # changed, of those of which it reads the key: of each design, of each leaf
SAMPLES = 160
OWN_NAME = "tests/perturbation/designs/"
OWN = ROOT / OWN_NAME  # small ones, of keys that few designs have


class Witness(NamedTuple):
    """A design in which an engine reads a key: another text of one value, and its answers are others."""

    design: str
    leaf: WrittenLeaf
    change: str | None


@cache
def engines() -> Mapping[str, Sequence[Asked]]:
    """Returns what asks each engine."""
    return {
        "verify": [questions(_codes("coherence.verify"))],
        "loops": [command_line("analyze", "-o", "json", "--no-retune"), questions(_codes("coherence.loops"))],
        "simulate": [command_line("simulate", "-o", "json", "--for", "2 min", "--runs", "1")],
        "causal": [_fitted],
        "minimums": [command_line("bound", "-o", "json")],
    }


def _codes(package: str) -> tuple[str, ...]:
    """Returns the codes that an engine answers; those about the text of a design are no engine's."""
    modules = [m for m in question_modules() if m.name.startswith(package) and ".patterns.design." not in m.name]
    return tuple(question.code for module in modules for question in module.questions)


def _fitted(path: Path) -> str:
    """Returns a fit of a design to drawn telemetry of everything that its text names."""
    text = path.read_text(encoding="utf-8")
    names = sorted({*re.findall(r"(?<![\w.])[a-z_]\w*\.[a-z_]\w*(?![\w.])", text), *_stated(text)})
    draw = random.Random(1)  # noqa: S311  (made telemetry)
    common = [draw.gauss(10, 2) for _ in range(SAMPLES)]
    rows = [[15 * t, *(abs(common[t] + draw.gauss(0, 1 + k % 3)) for k, _ in enumerate(names))] for t in range(SAMPLES)]
    file = path.with_suffix(".csv")
    file.write_text("\n".join(",".join(map(str, row)) for row in [["time", *names], *rows]) + "\n", encoding="utf-8")
    return command_line("fit", "--telemetry", str(file), "-o", "json")(path)


def _stated(text: str) -> Iterator[str]:
    """Yields what a design states of its components and workloads, as signals."""
    design = leaves(text)
    yield from {".".join(leaf.path[1:3]) for leaf in design if leaf.path[0] == "components" and len(leaf.path) > 2}
    yield from {f"{leaf.path[1]}.attempts" for leaf in design if leaf.path[0] == "workload"}


@cache
def corpus() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Returns the designs (name, text) that have each key, the shortest first; of incidents where no other has it."""
    return {**_having(_further()), **_having(_designs())}


def _having(designs: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    having: dict[str, list[tuple[str, str]]] = {}
    for name, text in sorted(designs, key=lambda design: len(design[1])):
        for key in {key_of(leaf.path) for leaf in leaves(text)}:
            having.setdefault(key, []).append((name, text))
    return having


def _further() -> Iterator[tuple[str, str]]:
    """Yields designs of incidents, and healthy ones."""
    for case in cases(ROOT / "tests" / "incidents"):
        if not (case.slow or case.manifests or "\nenvironments:" in case.text):
            yield case.name, case.text
    for path in sorted((ROOT / "tests" / "healthy").glob("*.yaml")):
        yield path.name, path.read_text(encoding="utf-8")


def _designs() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for case in cases(ROOT / "tests" / folder):
            if not (case.slow or case.manifests or "\nenvironments:" in case.text):
                yield case.name, case.text
    for path in sorted([*SPECS.glob("*/design.yaml"), *OWN.glob("*.yaml")]):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def key_of(path: Sequence[str]) -> str:
    """Returns the key that a value stands under, `Call.per_try`, from the keys on the way to it."""
    record: type[Record] = Design
    waiting = list(path)
    while True:
        declared = record.keys.get(waiting[0]) or next(key for key in record.keys.values() if key.rest)
        inner = records_in(declared.kind.schema)
        waiting = waiting[1:]
        if waiting and (not inner or waiting[0] not in inner[0].keys or _holds_names(declared.kind.schema)):
            waiting = waiting[1:]  # the name or the number of an entry
        if not inner or not waiting:
            return key_name(record, declared)
        record = inner[0]


def _holds_names(schema: object) -> bool:
    return isinstance(schema, Mapping) and "additionalProperties" in schema


def witness(engine: str, key: str) -> Witness | None:
    """Returns a design in which an engine reads a key, None where none is found."""
    own = sorted(corpus().get(key, ()), key=lambda design: not design[0].startswith((f"{engine}/", "specs/", OWN_NAME)))
    for ask in engines()[engine]:
        moved = (_moves(ask, key, name, text) for name, text in own[:ASKED] if _has(ask, key, text))
        seen = next(filter(None, islice(moved, DESIGNS)), None)
        if seen is not None:
            return seen
    return None


@cache
def _before(ask: Asked, text: str) -> Output | None:
    with TemporaryDirectory() as folder:
        return output(ask, {NAME: text}, Path(folder))


def _has(ask: Asked, key: str, text: str) -> bool:
    """Decides whether an engine answers about a design, and does not say of the key that it is not read."""
    before = _before(ask, text)
    return before is not None and not before.refused and bool(_read_leaves(before, key, text))


def _read_leaves(before: Output, key: str, text: str) -> list[WrittenLeaf]:
    return [leaf for leaf in leaves(text) if key_of(leaf.path) == key and not before.names(leaf)]


def _moves(ask: Asked, key: str, name: str, text: str) -> Witness | None:
    before, every = _before(ask, text), leaves(text)
    assert before is not None
    with TemporaryDirectory() as folder:
        for leaf in _read_leaves(before, key, text)[:LEAVES]:
            for change in islice(changes(leaf, every), CHANGES):
                after = output(ask, edited(text, (leaf, change)), Path(folder))
                if after is not None and not after.refused and after.answers != before.answers:
                    return Witness(name, leaf, change)
    return None


def main(names: Sequence[str]) -> None:
    """Writes which engines read the keys that are named, or all."""
    known: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    every = dict.fromkeys(declared.name for declared in declared_keys() if not declared.key.for_people)
    for key in names or every:
        before = known.get(key, "").split()
        known[key] = " ".join(engine for engine in ENGINES if engine in before or witness(engine, key))
        click.echo(f"{key}: {known[key]}")
        FILE.write_text(json.dumps(dict(sorted(known.items())), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
