"""Turns manifests into a design of the language, from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.places import Place
from coherence.door.result import VerbResult, head, listed
from coherence.language.design import Design

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coherence.language.document import Document


@dataclass(frozen=True, repr=False)
class ImportResult(VerbResult):
    """The design that manifests make: `text` in the language, `design` read from it.

    `to_frame()` has a row for each setting that no importer models.
    """

    text: str
    design: Design = field(compare=False)
    columns: ClassVar[tuple[str, ...]] = ("file", "line", "setting")

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        yield from self.data["not_modelled"]

    def _lines(self) -> Sequence[str]:
        design = self.design
        policies = len(design.loops) + len(design.calls) + len(design.timers) + len(design.limits)
        return (
            f"ImportResult: {policies} policies, {len(design.components)} components",
            f"  {len(self.data['not_modelled'])} settings not modelled",
            f"  from {listed(self.data['files'], 'nothing')}",
        )


def import_design(*paths: str | Path, kind: str = "all") -> ImportResult:
    """Returns the design that the manifests in files make.

    kind: a kind of manifest (`HorizontalPodAutoscaler`), or all that are known.  Raises InputError and UsageError.
    """
    from coherence import importers
    from coherence.language.reading import read_text

    if not paths:
        raise UsageError("name at least one file of manifests")
    chosen = chosen_documents(paths, kind)
    text = importers.design_yaml(chosen)
    lines = importers.design_of(chosen).not_modelled
    rows = [{"file": place.file, "line": place.line, "setting": setting} for place, setting in lines]
    data = {**head("import"), "files": [str(path) for path in paths], "design": text, "not_modelled": rows}
    return ImportResult(data, text, read_text(text))


def chosen_documents(paths: Sequence[str | Path], kind: str) -> list[Document]:
    """Returns the manifests of a kind in files.  Raises InputError with every problem, UsageError for no kind."""
    from coherence import importers
    from coherence.checking.workspace import PIPE, input_bytes
    from coherence.language import document

    if kind != "all" and kind not in importers.kinds():
        raise UsageError(f"there is no importer for '{kind}': {did_you_mean(kind, importers.kinds())}")
    documents: list[Document] = []
    problems: list[Problem] = []
    for path in map(str, paths):
        name = "<stdin>" if path == PIPE else path
        try:
            documents += importers.documents_of(document.decode(input_bytes(path, name), name), name)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    chosen = [d for d in documents if importers.recognises(d) and kind in ("all", importers.kind_of(d))]
    if not chosen:
        place = documents[0].root.place if documents else Place(str(paths[0]), 1, 1, 1, 1)
        nothing = "no known manifest" if kind == "all" else f"no {kind}"
        raise InputError([Problem(place, f"{nothing} in these files", f"known kinds: {', '.join(importers.kinds())}")])
    return chosen
