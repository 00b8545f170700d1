"""Turn manifests into a design, every value with the line that it came from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.places import Place


@click.command("import")
@click.argument("kind")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(kind: str, files: Sequence[Path]) -> int:
    """Print the design that the manifests of KIND in FILES make; KIND `all` takes every known kind."""
    from coherence import importers
    from coherence.language import document
    from coherence.language.reading import read_bytes

    if kind != "all" and kind not in importers.kinds():
        raise UsageError(f"there is no importer for '{kind}': {did_you_mean(kind, importers.kinds())}")
    documents: list[document.Document] = []
    problems: list[Problem] = []
    for path in files:
        try:
            documents += importers.documents_of(document.decode(read_bytes(path, str(path)), str(path)), str(path))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    chosen = [d for d in documents if importers.recognises(d) and kind in ("all", importers.kind_of(d))]
    if not chosen:
        place = documents[0].root.place if documents else Place(str(files[0]), 1, 1, 1, 1)
        nothing = "no known manifest" if kind == "all" else f"no {kind}"
        raise InputError([Problem(place, f"{nothing} in these files", f"known kinds: {', '.join(importers.kinds())}")])
    click.echo(importers.design_yaml(chosen), nl=False)
    return 0
