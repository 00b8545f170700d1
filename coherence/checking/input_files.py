"""Finds the files of a folder that may hold a design or a manifest, and says of every other one why it is not read.

A folder is walked in order of names.  What only looks like a design is a problem and not skipped: it was meant.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.findings.finding import SkippedFile
from coherence.language.design import Design
from coherence.language.document import Node, Scalar, Table

if TYPE_CHECKING:
    from pathlib import Path  # 5 ms of a policy check: os.path serves the hot path

SUFFIXES = (".yaml", ".yml", ".json")
# endings of files that an importer reads
OTHERS = (".conf", ".cfg", ".pbtxt", ".properties", "celeryconfig.py", ".aws/config")
TEMPLATES = (".j2", ".jinja", ".jinja2", ".tmpl", ".tpl", ".gotmpl", ".erb", ".mustache")
EXPECTED = "expected.yaml"
TEMPLATE = "template"
FOREIGN = "neither a design nor a manifest"


@dataclass
class InputFiles:
    """Files to read, by whether each was named itself, and those that are not read."""

    explicit: dict[str, bool] = field(default_factory=dict)
    skipped: list[SkippedFile] = field(default_factory=list)


def input_files(paths: Iterable[str | Path]) -> InputFiles:
    """Returns the files that are named, and those below the folders that are named."""
    files, chosen = InputFiles(), [str(path) for path in paths]
    for path in chosen:
        if not os.path.isdir(path):
            files.explicit[path] = True
    taken = {os.path.abspath(path) for path in files.explicit}
    for folder in filter(os.path.isdir, chosen):
        for inner in sorted(_below(folder, files.skipped)):
            reason, place = _reason(inner), os.path.abspath(inner)
            if reason is None and place not in taken:
                files.explicit[inner] = False
                taken.add(place)
            elif reason:
                files.skipped.append(SkippedFile(inner, *reason))
    return files


def _below(folder: str, skipped: list[SkippedFile]) -> Iterator[str]:
    def unreadable(error: OSError) -> None:
        skipped.append(SkippedFile(str(error.filename), "folder that cannot be read", error.strerror or ""))

    for place, folders, names in os.walk(folder, onerror=unreadable):
        links = [path for name in folders if os.path.islink(path := os.path.join(place, name))]
        skipped += [SkippedFile(path, "link to a folder", "name the folder itself") for path in links]
        yield from (os.path.join(place, name) for name in names)


def _reason(path: str) -> tuple[str, str] | tuple[()] | None:
    """Returns kind and reason of what is not read; None of a file to read, nothing of one of another sort."""
    stem, suffix = os.path.splitext(path.lower())
    if suffix in TEMPLATES and stem.endswith(SUFFIXES):
        return TEMPLATE, "render it first"
    if not path.lower().endswith(SUFFIXES + OTHERS):
        return ()
    if os.path.basename(path) == EXPECTED:
        return "file of expected answers", "`check --expect` compares it"
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return None  # reading it says what is wrong
    return None if stat.S_ISREG(mode) else ("special file", "a pipe would wait for its writer")


def refuse_near_miss(root: Node) -> None:
    """Raises InputError where the document was meant to be a design: its key `coherence` is misspelt."""
    import difflib

    if not isinstance(root, Table):
        return
    for key, value in root.entries.items():
        if isinstance(value, Scalar) and difflib.get_close_matches(key.lower(), ["coherence"], cutoff=0.8):
            message = f"'{key}' is no key of a design, and this file has no other that makes it one"
            raise InputError([Problem(root.key_place(key), message, "did you mean 'coherence'?")])


def foreign(root: Node | None, name: str) -> SkippedFile:
    """Returns why a file that could be read is no design and no manifest."""
    if root is None:
        return SkippedFile(name, "empty file", "it holds no document")
    sections = [key for key in root.entries if key in Design.keys] if isinstance(root, Table) else []
    if isinstance(root, Table) and sections and len(sections) == len(root.entries):
        shown = ", ".join(f"`{key}:`" for key in sections[:3])
        return SkippedFile(name, "design without `coherence: 1`", f"it has {shown}: begin it with `coherence: 1`")
    return SkippedFile(name, FOREIGN, "it has no `coherence: 1`, and no `kind:` with an `apiVersion:`")


def refuse_nothing(paths: Iterable[str | Path], skipped: Iterable[SkippedFile]) -> None:
    """Raises InputError that names the folders in which nothing was to be looked at, and what they hold."""
    folders, by_kind = [str(path) for path in paths], dict[str, list[SkippedFile]]()
    for file in skipped:
        by_kind.setdefault(file.kind, []).append(file)
    most_first = sorted(by_kind.items(), key=lambda entry: -len(entry[1]))
    seen = [f"{len(files)} {kind} ({files[0].path}: {files[0].reason})" for kind, files in most_first]
    holds = f"not read: {'; '.join(seen)}; " if seen else ""
    rendered = ", pipe what a chart renders (`helm template CHART | coherence check -`)" if TEMPLATE in by_kind else ""
    remedy = f"{holds}begin a design with `coherence: 1`{rendered}, or name a folder of manifests"
    message = f"there is no design and no manifest under {', '.join(folders) or 'no path'}: nothing was looked at"
    raise InputError([Problem(Place(folders[0] if folders else "<paths>", 1, 1, 1, 1), message, remedy)])
