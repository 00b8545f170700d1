"""Finds which importer reads a document: each public module of the folder says of which kinds it is."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

from coherence.base.errors import InternalError
from coherence.importers._kubernetes import word
from coherence.language.document import Document, Table
from coherence.language.reading import is_overlay


@functools.cache
def importer_modules() -> dict[str, ModuleType]:
    """Kind -> module.  Raises InternalError where two modules claim one kind."""
    modules: dict[str, ModuleType] = {}
    here = pkgutil.iter_modules([str(Path(__file__).parent)])
    for name in sorted(info.name for info in here if not info.name.startswith("_")):
        module = importlib.import_module(f"{__package__}.{name}")
        for kind in (module.KIND,) if hasattr(module, "KIND") else module.KINDS:
            if kind in modules:
                raise InternalError(f"{kind} is claimed by {modules[kind].__name__} and {module.__name__}")
            modules[kind] = module
    return modules


@functools.cache
def object_kinds() -> dict[tuple[str, str], str]:
    """Kind and group of an object -> kind; a module whose kind another product has, too, says its own by `OBJECT`."""
    modules = importer_modules().items()
    return {(getattr(m, "OBJECT", kind), group): kind for kind, m in modules for group in getattr(m, "GROUPS", ())}


def kinds() -> tuple[str, ...]:
    """Returns the kinds of manifest that can be imported."""
    return tuple(sorted(importer_modules()))


def kind_of(source: Document) -> str:
    """Returns the kind of a manifest; empty for anything else."""
    root = source.root
    if not isinstance(root, Table):
        return ""
    return word(root, "kind") if is_object(root) else kind_by_content(root)


def is_object(root: Table) -> bool:
    """Returns whether a document is a Kubernetes object (of a kind that is known here or not), or a list of such."""
    return "kind" in root and "apiVersion" in root


def kind_by_content(root: Table) -> str:
    """Returns the kind of a file in a format of its own; empty where no module recognises it."""
    formats = (module for module in importer_modules().values() if hasattr(module, "recognises"))
    return next((str(module.KIND) for module in formats if module.recognises(root)), "")


def recognises(source: Document) -> bool:
    """Returns whether the document is a Kubernetes object, a file of a known format, or an overlay."""
    root = source.root
    return is_overlay(root) or (isinstance(root, Table) and (is_object(root) or kind_by_content(root) != ""))


def base_of(kind: str, file: str) -> str:
    """Returns the file over which one of a kind is always laid, or the file itself."""
    module = importer_modules().get(kind)
    return str(module.base_of(file)) if module is not None and hasattr(module, "base_of") else file
