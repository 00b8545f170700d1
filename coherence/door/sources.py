"""Reads what the verbs take as a design: a Design, a path, a text, or a mapping."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from coherence.base.errors import UsageError
from coherence.checking.workspace import Entry, Workspace, open_text, open_workspace
from coherence.findings.finding import InputFile
from coherence.language.design import Design
from coherence.language.environments.overlay import chosen_environment, read_in_environment

Source: TypeAlias = Design | str | Path | Mapping[str, Any]
NAME = "<design>"


def read(source: Source, *, name: str = NAME, environment: str = "") -> Design:
    """Returns the design in a file, a text, a mapping, or manifests, as it is in one of its environments.

    source: a path (of a design, a manifest or a folder), a text (a str with a newline), a mapping of the language's
    keys, or a Design, which is returned as it is.  name: what places in a text or a mapping are called.
    Raises InputError with every problem, and UsageError where there are several designs.
    """
    if isinstance(source, Design):
        return read_in_environment(source.text, source.file, environment) if environment else source
    if environment:
        with chosen_environment(environment):
            return entry_of(source, name=name).design
    return entry_of(source, name=name).design


def entry_of(source: Source, *, name: str = NAME) -> Entry:
    """Returns the one design of a source, with its texts.  Raises InputError, and UsageError for several."""
    return workspace_of(source, name=name).one_entry(name_of(source))


def workspace_of(source: Source, *, name: str = NAME) -> Workspace:
    """Returns all designs of a source.  Raises InputError."""
    if isinstance(source, Design):
        return _of_design(source)
    if isinstance(source, Mapping):
        return open_text(_dumped(source), name)
    if isinstance(source, str) and "\n" in source:
        return open_text(source, name)
    return open_workspace([source])


def is_path(source: Source) -> bool:
    """Decides whether a source is a path, and no text or design."""
    return isinstance(source, Path) or (isinstance(source, str) and "\n" not in source)


def name_of(source: Source) -> str:
    """Returns the path of a source, or `<design>`."""
    if isinstance(source, Design):
        return source.file or NAME
    return NAME if isinstance(source, Mapping) or "\n" in str(source) else str(source)


def _of_design(design: Design) -> Workspace:
    """Returns a workspace with a design that is read already; its texts are in it."""
    from coherence import importers

    workspace = Workspace()
    texts = dict(design.sources) if design.imported else {design.file: design.text}
    again = importers.design_from_sources if design.imported else partial(_read_one, design.environment)
    workspace.entries.append(Entry(design, texts, again))
    workspace.inputs += [InputFile(file, text.encode(errors="surrogatepass")) for file, text in texts.items()]
    workspace.sources.update(texts)
    return workspace


def _read_one(environment: str, texts: Mapping[str, str]) -> Design:
    ((file, text),) = texts.items()
    return read_in_environment(text, file, environment)


def _dumped(mapping: Mapping[str, Any]) -> str:
    """Returns a mapping as a text that the reader takes.  Raises UsageError for values that no text stands for."""

    def plain(value: object) -> Any:
        if isinstance(value, Mapping):
            return dict(value)
        if isinstance(value, Fraction):
            return str(value)
        raise UsageError(f"a mapping holds {type(value).__name__} {value!r}: write numbers, texts, lists and mappings")

    return json.dumps(mapping, indent=1, default=plain) + "\n"
