"""Finds the objects that documents state: of known kinds, also in a ConfigMap, the last of a name, over its base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType

from coherence.base.errors import InputError
from coherence.base.units import shorten
from coherence.importers._embedded import embedded, moved
from coherence.importers._jobs import note_other
from coherence.importers._kubernetes import Manifest, word
from coherence.importers._merging import laid_over
from coherence.importers._names import agree
from coherence.importers._quantities import respelled
from coherence.importers._registry import base_of, importer_modules, is_object, kind_by_content, object_kinds
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Node, Scalar, Table
from coherence.language.schema_kinds import Reading


def stated_manifests(node: Node, file: str, reading: Reading, sketch: Sketch) -> Iterator[Manifest]:
    """Yields the object, if its kind is known, and the objects that it states."""
    manifest = _manifest(node, file, reading, sketch)
    if manifest is None:
        return
    yield manifest
    states = getattr(importer_modules()[manifest.kind], "states", None)
    for inner in states(manifest) if states is not None else ():
        yield from stated_manifests(inner, file, reading, sketch)
    yield from _in_config_map(manifest) if manifest.kind == "ConfigMap" else ()


def _manifest(node: Node, file: str, reading: Reading, sketch: Sketch) -> Manifest | None:
    """Returns the object, if its kind is known; else it is listed."""
    if isinstance(node, Table) and not is_object(node) and (kind := kind_by_content(node)):
        return Manifest(node, file, reading, kind)
    if not isinstance(node, Table) or "kind" not in node:
        what = "a list" if isinstance(node, Items) else "a document"
        sketch.not_modelled.append((node.place, f"{what} that is no Kubernetes object"))
        return None
    kind = object_kinds().get((word(node, "kind"), word(node, "apiVersion").partition("/")[0]), "")
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
    for module in importer_modules().values():
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


def number_alike(manifests: Sequence[Manifest]) -> None:
    """Gives objects whose names are made when they are created a number each, where several have one name."""
    counts: dict[tuple[str, str], int] = {}
    for manifest in manifests:
        if "generateName" in manifest.metadata and "name" not in manifest.metadata:
            key = manifest.kind, manifest.name.text
            counts[key] = counts.get(key, 0) + 1
            if counts[key] > 1:
                manifest.name = respelled(manifest.name, f"{manifest.name.text}-{counts[key]}")


def with_overlaid_files(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Returns the objects, and one for all files of a folder that are laid over one another: the base comes first."""
    whole: list[Manifest] = []
    bases: dict[tuple[str, str], Manifest] = {}
    for manifest in sorted(manifests, key=lambda it: base_of(it.kind, it.file) != it.file):
        folder = manifest.kind, manifest.file.rpartition("/")[0]
        base = bases.get(folder)
        if base is None or manifest.outer is not None or base.file == manifest.file:
            whole.append(manifest)
            if hasattr(importer_modules().get(manifest.kind), "base_of") and manifest.outer is None:
                bases.setdefault(folder, manifest)
        else:
            base.root = laid_over(base.root, manifest.root)
    return sorted(whole, key=manifests.index)


def lasting(manifests: Sequence[Manifest], sketch: Sketch) -> Iterator[Manifest]:
    """Objects that are not written again further on: applied one after another, the last of a name stays.

    A kind with `VARIANTS` keeps all of one name, for each can be looked at by itself.
    """
    named: dict[tuple[str, str], list[Manifest]] = {}
    lasting: list[Manifest] = []
    for manifest in reversed(manifests):
        same = named.setdefault((manifest.kind, manifest.name.text), [])
        later = next((other for other in same if agree(manifest.namespace, other.namespace)), None)
        if later is None or "name" not in manifest.metadata or hasattr(importer_modules()[manifest.kind], "VARIANTS"):
            same.append(manifest)
            lasting.append(manifest)
        else:
            words = f"{shorten(manifest.title)} (written again at {later.name.place}, which replaces it)"
            sketch.not_modelled.append((manifest.name.place, words))
    yield from reversed(lasting)
