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
import importlib
import pkgutil
from collections.abc import Container, Iterator, Mapping, Sequence
from types import ModuleType

from coherence.base.errors import InputError, InternalError, Problem
from coherence.base.outside_text import masked
from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.importers._addresses import note_addresses
from coherence.importers._embedded import embedded, moved
from coherence.importers._envoy_words import put_cluster_limits
from coherence.importers._identities import Identity, identities_of
from coherence.importers._jobs import note_other
from coherence.importers._kubernetes import Manifest, around, objects, word
from coherence.importers._kueue import add_queued_jobs
from coherence.importers._merging import laid_over
from coherence.importers._names import Thing, agree
from coherence.importers._overlay import KEY, lay_over
from coherence.importers._quantities import respelled
from coherence.importers._refusals import ObjectName, object_name, refused_objects
from coherence.importers._scaling import separate_totals
from coherence.importers._schemas import read_without_schemas
from coherence.importers._sketch import Sketch
from coherence.importers._spread import add_spread_rules
from coherence.importers._telemetry import derive_sensors
from coherence.importers._unread import unread
from coherence.importers._volcano import add_gangs
from coherence.language.design import Design
from coherence.language.document import Document, Items, Node, Scalar, Table
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


@functools.cache
def _modules() -> dict[str, ModuleType]:
    """Kind -> module.  Raises InternalError where two modules claim one kind."""
    modules: dict[str, ModuleType] = {}
    for name in sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")):
        module = importlib.import_module(f"{__name__}.{name}")
        for kind in (module.KIND,) if hasattr(module, "KIND") else module.KINDS:
            if kind in modules:
                raise InternalError(f"{kind} is claimed by {modules[kind].__name__} and {module.__name__}")
            modules[kind] = module
    return modules


@functools.cache
def _object_kinds() -> dict[tuple[str, str], str]:
    """Kind and group of an object -> kind; a module whose kind another product has, too, says its own by `OBJECT`."""
    modules = _modules().items()
    return {(getattr(m, "OBJECT", kind), group): kind for kind, m in modules for group in getattr(m, "GROUPS", ())}


def kinds() -> tuple[str, ...]:
    """Returns the kinds of manifest that can be imported."""
    return tuple(sorted(_modules()))


def kind_of(source: Document) -> str:
    """Returns the kind of a manifest; empty for anything else."""
    root = source.root
    if not isinstance(root, Table):
        return ""
    return word(root, "kind") if _is_object(root) else _kind_by_content(root)


def _is_object(root: Table) -> bool:
    """Returns whether a document is a Kubernetes object (of a kind that is known here or not), or a list of such."""
    return "kind" in root and "apiVersion" in root


def _kind_by_content(root: Table) -> str:
    """Returns the kind of a file in a format of its own; empty where no module recognises it."""
    formats = (module for module in _modules().values() if hasattr(module, "recognises"))
    return next((str(module.KIND) for module in formats if module.recognises(root)), "")


def recognises(source: Document) -> bool:
    """Returns whether the document is a Kubernetes object, a file of a known format, or an overlay."""
    root = source.root
    return is_overlay(root) or (isinstance(root, Table) and (_is_object(root) or _kind_by_content(root) != ""))


def documents_of(text: str, file: str) -> list[Document]:
    """Returns the documents of a file, in the syntax that its name shows.  Raises InputError.

    Of a key of YAML that is written twice the last counts, as for Kubernetes.
    """
    formats = [module for module in _modules().values() if file.endswith(getattr(module, "SUFFIX", "/"))]
    known = (module for module in formats if hasattr(module, "is_text") and module.is_text(text))
    own = next(known, next((module for module in formats if not hasattr(module, "is_text")), None))
    return read_without_schemas(text, file, last_key_counts=True) if own is None else [own.read(text, file)]


def identities(documents: Sequence[Document]) -> tuple[frozenset[Identity], frozenset[Identity]]:
    """Returns the objects that documents define, and the workloads that their autoscalers scale.

    A file whose names are known in it alone defines each of them.
    """
    single = {kind for kind, module in _modules().items() if not hasattr(module, "VARIANTS")}
    defined, scaled = identities_of(documents, single.__contains__)
    mergeable = (source for source in documents if _has(source, "base_of"))
    return defined.union(local_names(documents), *map(_names, mergeable)), scaled


def local_names(documents: Sequence[Document]) -> frozenset[Identity]:
    """Returns what documents define of the kinds of which a name is known in its file alone."""
    return frozenset(name for source in documents if _has(source, "LOCAL_NAMES") for name in _names(source))


def _has(source: Document, trait: str) -> bool:
    """Returns whether the module that reads a document has a trait."""
    return hasattr(_modules().get(kind_of(source)), trait)


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
        spelling = {**getattr(_modules()[manifest.kind], "SPELLING", {}), **spelling}
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
    every = [made for node, file in taken for made in _manifests(node, file, reading, sketch)]
    manifests = list(_lasting(_laid_over(every), sketch))
    _number(manifests)
    note_addresses(manifests, sketch)
    for manifest in manifests:
        _modules()[manifest.kind].add(manifest, sketch)
        note_other(manifest, sketch)
    for manifest in manifests:
        link = getattr(_modules()[manifest.kind], "link", None)
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


def _manifests(node: Node, file: str, reading: Reading, sketch: Sketch) -> Iterator[Manifest]:
    """Yields the object, if its kind is known, and the objects that it states."""
    manifest = _manifest(node, file, reading, sketch)
    if manifest is None:
        return
    yield manifest
    states = getattr(_modules()[manifest.kind], "states", None)
    for inner in states(manifest) if states is not None else ():
        yield from _manifests(inner, file, reading, sketch)
    yield from _in_config_map(manifest) if manifest.kind == "ConfigMap" else ()


def _manifest(node: Node, file: str, reading: Reading, sketch: Sketch) -> Manifest | None:
    """Returns the object, if its kind is known; else it is listed."""
    if isinstance(node, Table) and not _is_object(node) and (kind := _kind_by_content(node)):
        return Manifest(node, file, reading, kind)
    if not isinstance(node, Table) or "kind" not in node:
        what = "a list" if isinstance(node, Items) else "a document"
        sketch.not_modelled.append((node.place, f"{what} that is no Kubernetes object"))
        return None
    kind = _object_kinds().get((word(node, "kind"), word(node, "apiVersion").partition("/")[0]), "")
    manifest = Manifest(node, file, reading, kind)
    if not kind:
        note_other(manifest, sketch)
        sketch.not_modelled.append((node.key_place("kind"), f"{shorten(manifest.title)} (this kind is not modelled)"))
        return None
    return manifest


def _in_config_map(outer: Manifest) -> Iterator[Manifest]:
    """Yields the configurations of known programs that stand in a ConfigMap, each as an object of its own."""
    data = outer.top.table("data")
    for key, text in data.node.entries.items() if data is not None else ():
        configuration = _configuration(key, text) if isinstance(text, Scalar) else None
        if data is not None and configuration is not None:
            kind, root = configuration
            data.use(key)
            yield Manifest(root, outer.file, outer.reading, kind, outer)


def _configuration(key: str, text: Scalar) -> tuple[str, Table] | None:
    """Returns the kind and the content of a file of a ConfigMap: by its name, else by a mark that its texts have."""
    for module in _modules().values():
        if key.endswith(getattr(module, "SUFFIX", "/")) and getattr(module, "is_text", _is_any)(text.text):
            root = _in_own_syntax(module, key, text)
            if root is not None:
                return module.KIND, root
        mark = getattr(module, "IN_CONFIG_MAP", "")
        root = embedded(text) if mark and mark in text.text else None
        if root is not None and _is_own(root, module):
            return module.KIND, root
    return None


def _is_any(_: str) -> bool:
    return True


def _in_own_syntax(module: ModuleType, file: str, text: Scalar) -> Table | None:
    """Returns the content of a file whose syntax is the module's own; None where it cannot be read as that."""
    if "{{" in text.text:
        return None
    try:
        root = module.read(text.text, file).root
    except InputError:
        return None
    return moved(root, text.place) if isinstance(root, Table) and _is_own(root, module) else None


def _is_own(root: Table, module: ModuleType) -> bool:
    """Returns whether a mapping is what a module reads."""
    if hasattr(module, "recognises"):
        return bool(module.recognises(root))
    return word(root, "kind") == module.KIND and word(root, "apiVersion").partition("/")[0] in module.GROUPS


def _number(manifests: Sequence[Manifest]) -> None:
    """Gives objects whose names are made when they are created a number each, where several have one name."""
    counts: dict[tuple[str, str], int] = {}
    for manifest in manifests:
        if "generateName" in manifest.metadata and "name" not in manifest.metadata:
            key = manifest.kind, manifest.name.text
            counts[key] = counts.get(key, 0) + 1
            if counts[key] > 1:
                manifest.name = respelled(manifest.name, f"{manifest.name.text}-{counts[key]}")


def _laid_over(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Returns the objects, and one for all files of a folder that are laid over one another: the base comes first."""
    whole: list[Manifest] = []
    bases: dict[tuple[str, str], Manifest] = {}
    for manifest in sorted(manifests, key=lambda it: base_of(it.kind, it.file) != it.file):
        folder = manifest.kind, manifest.file.rpartition("/")[0]
        base = bases.get(folder)
        if base is None or manifest.outer is not None or base.file == manifest.file:
            whole.append(manifest)
            if hasattr(_modules().get(manifest.kind), "base_of") and manifest.outer is None:
                bases.setdefault(folder, manifest)
        else:
            base.root = laid_over(base.root, manifest.root)
    return sorted(whole, key=manifests.index)


def base_of(kind: str, file: str) -> str:
    """Returns the file over which one of a kind is always laid, or the file itself."""
    module = _modules().get(kind)
    return str(module.base_of(file)) if module is not None and hasattr(module, "base_of") else file


def _lasting(manifests: Sequence[Manifest], sketch: Sketch) -> Iterator[Manifest]:
    """Objects that are not written again further on: applied one after another, the last of a name stays.

    A kind with `VARIANTS` keeps all of one name, for each can be looked at by itself.
    """
    named: dict[tuple[str, str], list[Manifest]] = {}
    lasting: list[Manifest] = []
    for manifest in reversed(manifests):
        same = named.setdefault((manifest.kind, manifest.name.text), [])
        later = next((other for other in same if agree(manifest.namespace, other.namespace)), None)
        if later is None or "name" not in manifest.metadata or hasattr(_modules()[manifest.kind], "VARIANTS"):
            same.append(manifest)
            lasting.append(manifest)
        else:
            words = f"{shorten(manifest.title)} (written again at {later.name.place}, which replaces it)"
            sketch.not_modelled.append((manifest.name.place, words))
    yield from reversed(lasting)
