"""Real configuration files as designs: one module per kind of manifest, found by walking the package.

A module has `KIND` (or `KINDS`, where it reads several), `GROUPS` (API groups; other formats have `recognises(root)`
instead), `add(manifest, sketch)` and, if it needs to know all others, `link(manifest, sketch)`; where a key of ours has
another name there, `SPELLING` says it (ours -> the manifest's, for repairs).  A file that states objects of other
kinds, such as the values of a chart, has `states(manifest)`, which yields them.  `LOCAL_NAMES`: what a file of this
kind names is known in it alone (the resources of a stack, the jobs of a cluster).  `base_of(file)`: files of one folder
are laid over one another where somebody names them, and a file always over its base (or itself).
Every value keeps its place in the manifest, a default that in the part which supplies it; what no importer reads is
listed as not modelled; unknown kinds are listed, never guessed.  Templates are refused: render them first.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterator, Mapping, Sequence

from coherence.base.errors import InputError, Problem
from coherence.base.outside_text import masked
from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.importers._addresses import note_addresses
from coherence.importers._envoy_words import put_cluster_limits
from coherence.importers._identities import Identity, identities_of
from coherence.importers._jobs import note_other
from coherence.importers._kubernetes import Manifest, around, objects
from coherence.importers._kueue import add_queued_jobs
from coherence.importers._names import Thing
from coherence.importers._overlay import KEY, lay_over
from coherence.importers._refusals import ObjectName, object_name, refused_objects
from coherence.importers._registry import base_of, importer_modules, kind_of, kinds, recognises
from coherence.importers._scaling import separate_totals
from coherence.importers._schemas import read_without_schemas
from coherence.importers._sketch import Sketch
from coherence.importers._spread import add_spread_rules
from coherence.importers._stated_manifests import lasting, number_alike, stated_manifests, with_overlaid_files
from coherence.importers._telemetry import derive_sensors
from coherence.importers._unread import unread
from coherence.importers._volcano import add_gangs
from coherence.language.design import Design
from coherence.language.document import Document, Node, Table
from coherence.language.reading import WITHOUT_MANIFESTS, design_from_table, is_overlay
from coherence.language.schema_kinds import Reading

__all__ = [
    "design_from_sources",
    "design_from_texts",
    "design_of",
    "design_yaml",
    "documents_of",
    "kind_of",
    "kinds",
    "recognises",
]
__all__ += ["Identity", "ObjectName", "base_of", "identities", "local_names", "read_without_schemas", "refused_objects"]

LONGEST_TITLE = 200
MOST_KNOWN = 512  # texts


def documents_of(text: str, file: str) -> list[Document]:
    """Returns the documents of a file, in the syntax that its name shows.  Raises InputError.

    Of a key of YAML that is written twice the last counts, as for Kubernetes.
    """
    formats = [module for module in importer_modules().values() if file.endswith(getattr(module, "SUFFIX", "/"))]
    known = (module for module in formats if hasattr(module, "is_text") and module.is_text(text))
    own = next(known, next((module for module in formats if not hasattr(module, "is_text")), None))
    return read_without_schemas(text, file, last_key_counts=True) if own is None else [own.read(text, file)]


def identities(documents: Sequence[Document]) -> tuple[frozenset[Identity], frozenset[Identity]]:
    """Returns the objects that documents define, and the workloads that their autoscalers scale.

    A file whose names are known in it alone defines each of them.
    """
    single = {kind for kind, module in importer_modules().items() if not hasattr(module, "VARIANTS")}
    defined, scaled = identities_of(documents, single.__contains__)
    mergeable = (source for source in documents if _has(source, "base_of"))
    return defined.union(local_names(documents), *map(_names, mergeable)), scaled


def local_names(documents: Sequence[Document]) -> frozenset[Identity]:
    """Returns what documents define of the kinds of which a name is known in its file alone."""
    return frozenset(name for source in documents if _has(source, "LOCAL_NAMES") for name in _names(source))


def _has(source: Document, trait: str) -> bool:
    """Returns whether the module that reads a document has a trait."""
    return hasattr(importer_modules().get(kind_of(source)), trait)


def _names(source: Document) -> Iterator[Identity]:
    """Yields each name of the design that a document alone becomes."""
    try:
        root, _, _ = _assembled([source])
    except InputError:
        return
    for section in root.entries.values():
        yield from ((kind_of(source), "", name) for name in (section.entries if isinstance(section, Table) else ()))


@functools.lru_cache(maxsize=MOST_KNOWN)
def _known_documents(text: str, file: str) -> tuple[Document, ...]:
    """Returns the same, read once: a repair edits one file of many, and nothing changes a document."""
    return tuple(documents_of(text, file))


def design_of(documents: Sequence[Document], *, without: Container[ObjectName] = ()) -> Design:
    """Returns one design from manifests that are applied together, `without` some.  Raises InputError with every
    problem.
    """
    root, sketch, manifests = _assembled(documents, without)
    spelling: dict[str, str] = {}
    for manifest in manifests:
        spelling = {**getattr(importer_modules()[manifest.kind], "SPELLING", {}), **spelling}
    first, not_modelled = documents[0], tuple(sorted(dict.fromkeys(sketch.not_modelled)))
    return design_from_table(
        root, file=first.file, text=first.text, not_modelled=not_modelled, imported=True, spelling=spelling,
        sources={source.file: source.text for source in documents},
    )  # fmt: skip


def design_from_sources(sources: Mapping[str, str], *, without: Container[ObjectName] = ()) -> Design:
    """Returns the same from the texts of the files, for the check of repairs."""
    documents = [read for file, text in sources.items() for read in _known_documents(text, file)]
    return design_of(documents, without=without)


def design_from_texts(sources: Mapping[str, str], environment: str = "") -> Design:
    """Returns the design of texts by the names of their files: one design (in an environment), or manifests."""
    from coherence.language.environments.overlay import read_in_environment
    from coherence.language.reading import read_text

    if environment:
        ((name, text),) = sources.items()
        return read_in_environment(text, name, environment)
    if len(sources) == 1 and "coherence:" in next(iter(sources.values()))[:4000]:
        name, text = next(iter(sources.items()))
        return read_text(text, name)
    return design_from_sources(sources)


def things_from_sources(sources: Mapping[str, str], *, without: Container[ObjectName] = ()) -> Mapping[str, Thing]:
    """Returns the objects and hosts that the things of the design stand for, by their names in it."""
    documents = [read for file, text in sources.items() for read in _known_documents(text, file)]
    _, sketch, _ = _assembled(documents, without)
    return {thing.name: thing for things in sketch.names.things.values() for thing in things}


def design_yaml(documents: Sequence[Document], *, telemetry: bool = False) -> str:
    """Returns the design as YAML of the language, each value with the place that it came from.

    telemetry: with the queries that ask a Prometheus for what autoscalers read and write.
    """
    from coherence.importers._queries import telemetry_of
    from coherence.importers._writing import written

    root, sketch, _ = _assembled(documents)
    if telemetry and (queries := telemetry_of(sketch)) is not None:
        root.entries["telemetry"], root.keys["telemetry"] = queries, queries.place
    return written(root, sorted(dict.fromkeys(sketch.not_modelled)))


def _assembled(
    documents: Sequence[Document], without: Container[ObjectName] = ()
) -> tuple[Table, Sketch, list[Manifest]]:
    """Returns the document tree of the design, what made it, and the manifests that count."""
    if not documents:
        raise InputError([Problem(Place("<manifests>", 1, 1, 1, 1), "no manifest", "name at least one file")])
    reading, sketch = Reading(), Sketch(Place(documents[0].file, 1, 1, 1, 1))
    overlays = [source.root for source in documents if is_overlay(source.root)]
    sketch.places = next((it for root in overlays if isinstance(it := _places(root), Table)), None)
    given = [source for source in documents if not is_overlay(source.root)]
    sketch.not_modelled += around(given)
    taken = [(node, file) for node, file in objects(given) if object_name(node, file) not in without]
    every = [made for node, file in taken for made in stated_manifests(node, file, reading, sketch)]
    manifests = list(lasting(with_overlaid_files(every), sketch))
    number_alike(manifests)
    note_addresses(manifests, sketch)
    for manifest in manifests:
        importer_modules()[manifest.kind].add(manifest, sketch)
        note_other(manifest, sketch)
    for manifest in manifests:
        link = getattr(importer_modules()[manifest.kind], "link", None)
        if link is not None:
            link(manifest, sketch)
    _join(sketch)
    for manifest in manifests:
        sketch.not_modelled += [*manifest.remarks, *unread(manifest)]
    titles = shorten(", ".join(manifest.title for manifest in manifests), LONGEST_TITLE)
    root = sketch.root(f"manifests: {masked(titles)}" if titles else "manifests")
    for overlay in overlays:
        assert isinstance(overlay, Table)
        if not given:
            reading.problem(overlay.key_place(KEY), *WITHOUT_MANIFESTS)
        lay_over(root, overlay, reading)
    if reading.problems:
        raise InputError(dict.fromkeys(reading.problems))
    return root, sketch, manifests


def _join(sketch: Sketch) -> None:
    """Adds what follows from all manifests together."""
    add_queued_jobs(sketch)
    add_gangs(sketch)
    add_spread_rules(sketch)
    put_cluster_limits(sketch)
    separate_totals(sketch)
    derive_sensors(sketch)
    sketch.tell_routes_apart()


def _places(overlay: Node) -> Node | None:
    return overlay.get("places") if isinstance(overlay, Table) else None
