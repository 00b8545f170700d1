"""Finds and reads the designs under some paths: files, folders, standard input, or a text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from coherence.base.errors import InputError, Problem, UsageError
from coherence.base.places import Place
from coherence.checking.input_files import OTHERS, foreign, input_files, refuse_near_miss, refuse_nothing
from coherence.checking.unrendered_files import is_chart_template, patches
from coherence.findings.finding import InputFile, SkippedFile
from coherence.language import document
from coherence.language.design import Design
from coherence.language.document import Document
from coherence.language.environments.overlay import design_in_environment, environments_of, read_in_environment
from coherence.language.reading import is_design, is_overlay, read_bytes
from coherence.model.independent_parts import SECTIONS, entries_of

if TYPE_CHECKING:
    from pathlib import Path  # 5 ms of a policy check: os.path serves the hot path

    from coherence.findings.edited_designs import Rebuild
    from coherence.importers import ObjectName

PIPE = "-"  # the path of standard input


@dataclass(frozen=True)
class Entry:
    """One design to be checked, the texts it came from, and how to read it again after an edit."""

    design: Design
    sources: dict[str, str]
    rebuild: Rebuild


class Workspace:
    """All designs under some paths, and the files that were read."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.inputs: list[InputFile] = []
        self.sources: dict[str, str] = {}
        self.notes: list[tuple[Place, str]] = []  # keys that were written twice
        self.skipped: list[SkippedFile] = []  # what was not read, and why
        self.refused: dict[ObjectName, Problem] = {}  # objects of manifests that were meant to be read, and why not

    def one_entry(self, name: str) -> Entry:
        """Returns the one design, of what is called so.  Raises UsageError for several, or several environments."""
        if len(self.entries) == 1:
            return self.entries[0]
        names = [entry.design.environment for entry in self.entries]
        if all(names) and len({entry.design.file for entry in self.entries}) == 1:
            raise UsageError(f"{name} is of {len(names)} environments: choose one, by `--in`: {', '.join(names)}")
        raise UsageError(f"{name} holds {len(names)} designs: name one file")


def open_workspace(
    paths: Iterable[str | Path], *, root: Path | None = None, together: bool = False, without_file: str = ""
) -> Workspace:
    """Returns what stands in the files, named relative to `root`.

    `together`: all manifests are one design, as with an overlay beside them.  `without_file`: what is not read.
    Raises InputError with the problems of all at once, and where there is nothing to look at.
    """
    workspace, chosen = Workspace(), list(paths)
    problems: list[Problem] = []
    inputs = input_files(chosen)
    workspace.skipped += inputs.skipped
    manifests = _read_files(workspace, inputs.explicit, root, without_file, problems)
    if manifests:
        try:
            named = {_name(path, root) for path, own in inputs.explicit.items() if own}
            workspace.entries += [
                _imported(own, workspace, named) for own in _apart(manifests, named, together=together)
            ]
        except InputError as error:
            problems += error.problems
    if not any(entries_of(entry.design, section) for entry in workspace.entries for section in SECTIONS):
        problems += workspace.refused.values()
    if problems:
        raise InputError(problems)
    if not workspace.entries:
        refuse_nothing(chosen, workspace.skipped)
    return workspace


def open_text(text: str | bytes, name: str) -> Workspace:
    """Returns the design, or the manifests, in a text.  Raises InputError."""
    workspace = Workspace()
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    manifests = _add_bytes(workspace, data, name, name, explicit=True)
    if manifests:
        workspace.entries.append(_imported(manifests, workspace, {name}))
    return workspace


def _read_files(
    workspace: Workspace, files: Mapping[str, bool], root: Path | None, without: str, problems: list[Problem]
) -> list[Document]:
    """Adds the designs of the files to the workspace, and returns the manifests; what is wrong is put to problems."""
    patched, manifests = patches(files), list[Document]()
    left_out = os.path.abspath(without) if without else ""
    for path, explicit in files.items():
        if os.path.abspath(path) == left_out:
            continue
        if not explicit and os.path.abspath(path) in patched:
            workspace.skipped.append(SkippedFile(path, "patch of Kustomize", "render it first (`kustomize build`)"))
            continue
        try:
            manifests += _add(workspace, path, _name(path, root), explicit=explicit)
        except InputError as error:
            problems += error.problems
    return manifests


def _add(workspace: Workspace, path: str, name: str, *, explicit: bool) -> list[Document]:
    """Adds a design to the workspace, or returns the manifests of the file."""
    data = input_bytes(path, name)
    return _add_bytes(workspace, data, path, name, explicit=explicit)


def input_bytes(path: str, name: str) -> bytes:
    """Returns the bytes of a file, or of standard input where it is called `-`.  Raises InputError."""
    return _standard_input() if path == PIPE else read_bytes(path, name)


def _name(path: str, root: Path | None) -> str:
    """Returns what places in a file are called: its path relative to the root, or `<stdin>`."""
    if path == PIPE:
        return "<stdin>"
    return os.path.relpath(path, root) if root else path


@cache
def _standard_input() -> bytes:
    """Returns the bytes of standard input, which can be read once."""
    return sys.stdin.buffer.read(document.MAX_BYTES + 1)


def _add_bytes(workspace: Workspace, data: bytes, path: str, name: str, *, explicit: bool) -> list[Document]:
    """Adds the design in the bytes of a file to the workspace, or returns the manifests in them."""
    if not explicit and b"{{" in data and is_chart_template(path):
        workspace.skipped.append(SkippedFile(name, "template", "render it first (`helm template`)"))
        return []
    documents = _documents(workspace, data, name, explicit=explicit)
    if documents is None:
        return []
    roots = [d for d in documents if not (isinstance(d.root, document.Scalar) and d.root.is_null())]
    text = roots[0].text if roots else ""
    designs = [d for d in roots if is_design(d.root)]
    if designs and not is_overlay(designs[0].root):
        if len(roots) > 1:
            raise InputError([_second_document(roots)])
        workspace.entries += _designs(designs[0], {name: text})
        _remember(workspace, name, text, data)
        return []
    from coherence import importers

    if any(importers.recognises(d) for d in roots):
        _remember(workspace, name, text, data)
        return roots
    for root in roots:
        refuse_near_miss(root.root)
    if explicit:
        raise InputError([_unknown_kind(roots, name)])
    workspace.skipped.append(foreign(roots[0].root if roots else None, name))
    return []


def _designs(source: Document, texts: dict[str, str]) -> list[Entry]:
    """Returns the design in a document, once for each environment in which it is to be read.  Raises InputError."""
    assert isinstance(source.root, document.Table)
    entries, problems = list[Entry](), list[Problem]()
    environments = environments_of(source.root)
    for environment in environments:
        try:
            design = design_in_environment(source, environment, alone=len(environments) == 1)
            entries.append(Entry(design, texts, partial(_read_again, source.file, environment)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(dict.fromkeys(problems))
    return entries


def _read_again(name: str, environment: str, sources: Mapping[str, str]) -> Design:
    return read_in_environment(sources[name], name, environment)


def _second_document(roots: Sequence[Document]) -> Problem:
    place = roots[1].root.place
    return Problem(place, f"{len(roots)} documents in one file", "a design is one document: remove the `---` lines")


def _unknown_kind(roots: Sequence[Document], name: str) -> Problem:
    from coherence import importers

    place = roots[0].root.place if roots else Place(name, 1, 1, 1, 1)
    remedy = f"begin a design with `coherence: 1`; known manifests: {', '.join(importers.kinds())}"
    return Problem(place, "this is neither a design nor a known manifest", remedy)


def _documents(workspace: Workspace, data: bytes, name: str, *, explicit: bool) -> list[Document] | None:
    """Returns the documents of a file, None of one of a folder that cannot be read.  A manifest may repeat a key."""
    if name.endswith(OTHERS):
        return _of_other_syntax(workspace, data, name, explicit=explicit)
    try:
        return _yaml(data, name)
    except InputError as error:
        if b"coherence:" in data[:4000]:
            raise
        try:
            again = _yaml(data, name, last_key_counts=True)
        except InputError:
            _skip(workspace, name, "file that is no YAML", error, explicit=explicit)
            return None
        workspace.notes += [note for d in again[:1] for note in d.notes]
        return again


def _yaml(data: bytes, name: str, *, last_key_counts: bool = False) -> list[Document]:
    if b"CustomResourceDefinition" not in data:
        return document.read(data, name, last_key_counts=last_key_counts)
    from coherence.importers import read_without_schemas

    return read_without_schemas(document.decode(data, name), name, last_key_counts=last_key_counts)


def _of_other_syntax(workspace: Workspace, data: bytes, name: str, *, explicit: bool) -> list[Document] | None:
    from coherence import importers

    try:
        return importers.documents_of(document.decode(data, name), name)
    except InputError as error:
        _skip(workspace, name, "file of another syntax", error, explicit=explicit)
        return None


def _skip(workspace: Workspace, name: str, kind: str, error: InputError, *, explicit: bool) -> None:
    """Notes why a file of a folder is not read.  Raises the error of one that was named itself."""
    if explicit:
        raise error from None
    workspace.skipped.append(SkippedFile(name, kind, str(error.problems[0]).partition("\n")[0]))


def _remember(workspace: Workspace, name: str, text: str, data: bytes) -> None:
    workspace.sources[name] = text
    workspace.inputs.append(InputFile(name, data))


def _apart(manifests: Sequence[Document], named: set[str], *, together: bool) -> list[Sequence[Document]]:
    """Returns the manifests of each design: all of them where an overlay joins them."""
    from coherence.checking.applied_together import applied_together

    if together or any(is_overlay(source.root) for source in manifests):
        return [manifests]
    return [*applied_together(manifests, named=any(source.file in named for source in manifests))]


def _imported(manifests: Sequence[Document], workspace: Workspace, named: set[str]) -> Entry:
    """Returns the design in manifests.  An object that is refused is noted, and raised if its file was named itself."""
    from coherence import importers

    own = {d.file: workspace.sources[d.file] for d in manifests}
    refused: dict[ObjectName, Problem] = {}
    design = None
    while design is None:
        try:
            design = importers.design_of(manifests, without=refused)
        except InputError as error:
            more = importers.refused_objects(error.problems, manifests)
            if not more.keys() - refused or any(file in named for file, *_ in more):
                raise
            refused |= more
    workspace.refused |= refused
    rebuild = partial(importers.design_from_sources, without=frozenset(refused)) if refused else None
    return Entry(design, own, rebuild or importers.design_from_sources)
