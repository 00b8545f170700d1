"""Real configuration files as designs: one module per kind of manifest, found by walking the package.

A module has `KIND`, `GROUPS` (API groups), `SPELLING` (our key -> the manifest's, for repairs) and
`add(manifest, sketch)`.  Every value keeps its place in the manifest; what no importer reads is listed
as not modelled; unknown kinds are listed, never guessed.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType

from coherence import document
from coherence.design import Design
from coherence.document import Document, Items, Node, Scalar, Table
from coherence.errors import InputError, Problem
from coherence.importers._kubernetes import Manifest, manifest_of, objects, word
from coherence.importers._sketch import Sketch
from coherence.places import Place
from coherence.reading import design_from_table
from coherence.shape import Reading

NOT_CONTROL = frozenset({"apiVersion", "kind", "metadata", "status"})


@functools.cache
def _modules() -> dict[str, ModuleType]:
    """Kind -> module."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return {module.KIND: module for module in (importlib.import_module(f"{__name__}.{name}") for name in names)}


def kinds() -> tuple[str, ...]:
    """The kinds of manifest that can be imported."""
    return tuple(sorted(_modules()))


def kind_of(source: Document) -> str:
    """The kind of a manifest; empty for anything else."""
    return word(source.root, "kind") if isinstance(source.root, Table) else ""


def recognises(source: Document) -> bool:
    """Is the document an object of Kubernetes' kind (known here or not), or a list of such?"""
    root = source.root
    return isinstance(root, Table) and "kind" in root and "apiVersion" in root


def design_of(documents: Sequence[Document]) -> Design:
    """One design from manifests that are applied together.  Raises InputError with every problem."""
    sketch, manifests = _sketched(documents)
    spelling = {k: v for m in manifests for k, v in _modules()[m.kind].SPELLING.items()}
    text = "\n".join(dict.fromkeys(d.text for d in documents))
    root = _root(sketch, manifests)
    files = tuple(dict.fromkeys(d.file for d in documents))
    return design_from_table(root, file=files[0], text=text, not_modelled=tuple(sketch.not_modelled), spelling=spelling)


def design_from_sources(sources: Mapping[str, str]) -> Design:
    """The same from the texts of the files."""
    documents = [d for file, text in sources.items() for d in document.read_text(text, file, last_key_counts=True)]
    return design_of([d for d in documents if recognises(d)])


def _start(source: Document) -> Place:
    return Place(source.file, 1, 1, 1, 1)


def _manifest(node: Node, file: str, reading: Reading, sketch: Sketch) -> Manifest | None:
    """The object, if its kind is known; else it is listed."""
    if not isinstance(node, Table) or "kind" not in node:
        place = node.place
        sketch.not_modelled.append((place, "a document that is no Kubernetes object"))
        return None
    group = word(node, "apiVersion").partition("/")[0]
    module = _modules().get(word(node, "kind"))
    if module is None or group not in module.GROUPS:
        sketch.not_modelled.append(
            (node.key_place("kind"), f"{word(node, 'kind')} is not about control loops known here")
        )
        return None
    return manifest_of(node, file, reading)


def _finish(sketch: Sketch) -> None:
    from coherence.importers._scaling import separate_totals
    from coherence.importers.deployment import apply_writers

    separate_totals(sketch)
    apply_writers(sketch)


def _unread(manifest: Manifest) -> list[tuple[Place, str]]:
    """The highest keys below which nothing was read."""
    found: list[tuple[Place, str]] = []
    _walk(manifest.root, "", manifest, found)
    return [(place, f"{manifest.title}: {path} is not modelled") for place, path in found]


def _walk(node: Node, path: str, manifest: Manifest, found: list[tuple[Place, str]]) -> None:
    children: Iterable[tuple[str, Node, Place]] = ()
    if isinstance(node, Table):
        children = [(f"{path}.{k}" if path else k, v, node.key_place(k)) for k, v in node.entries.items()]
    elif isinstance(node, Items):
        children = [(f"{path}[{n}]", v, v.place) for n, v in enumerate(node)]
    for name, child, place in children:
        if name in NOT_CONTROL or name in manifest.used:
            continue
        if any(used.startswith((f"{name}.", f"{name}[")) for used in manifest.used):
            _walk(child, name, manifest, found)
        elif not (isinstance(child, Scalar) and child.is_null()):
            found.append((place, name))


def design_yaml(documents: Sequence[Document]) -> str:
    """The design as YAML of the language, each line with the place that it came from."""
    from coherence.importers._writing import written

    return written(design_table(documents))


def design_table(documents: Sequence[Document]) -> Table:
    """The document tree that `design_of` reads."""
    return _root(*_sketched(documents))


def _sketched(documents: Sequence[Document]) -> tuple[Sketch, list[Manifest]]:
    """Every known object added to one sketch, workloads first.  Raises InputError with every problem."""
    if not documents:
        raise InputError([Problem(Place("<manifests>", 1, 1, 1, 1), "no manifest", "name at least one file")])
    reading, sketch = Reading(), Sketch(_start(documents[0]))
    manifests = [m for node, file in objects(tuple(documents)) if (m := _manifest(node, file, reading, sketch))]
    for manifest in sorted(manifests, key=lambda m: (m.kind != "Deployment",)):
        _modules()[manifest.kind].add(manifest, sketch)
        sketch.not_modelled += [*manifest.remarks, *_unread(manifest)]
    _finish(sketch)
    if reading.problems:
        raise InputError(reading.problems)
    return sketch, manifests


def _root(sketch: Sketch, manifests: Sequence[Manifest]) -> Table:
    titles = ", ".join(manifest.title for manifest in manifests)
    return sketch.root(f"manifests: {titles}"[:200] if titles else "manifests")
