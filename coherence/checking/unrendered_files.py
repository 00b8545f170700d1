"""Finds the files that are patches of Kustomize, or templates of a Helm chart: no object stands in them as applied."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from coherence.base.errors import InputError
from coherence.language import document
from coherence.language.document import Items, Node, Scalar, Table

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
LISTS = ("patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "transformers", "configurations")


def patches(paths: Iterable[str]) -> set[str]:
    """Returns the absolute paths of the files that the kustomizations among some files name as patches."""
    return {patch for path in paths if os.path.basename(path) in NAMES for patch in _patches_of(path)}


def _patches_of(path: str) -> Iterator[str]:
    try:
        with open(path, "rb") as file:
            roots = document.read(file.read(), path, last_key_counts=True)
    except (InputError, OSError):
        return  # reading the file itself says what is wrong
    folder = os.path.dirname(os.path.abspath(path))
    tables = [source.root for source in roots if isinstance(source.root, Table)]
    lists = [found for root in tables for key in LISTS if isinstance(found := root.get(key), Items)]
    for item in (item for found in lists for item in found):
        name = _file_name(item)
        if name and "\n" not in name:
            yield os.path.normpath(os.path.join(folder, name))


def _file_name(item: Node) -> str:
    """Returns the file that an entry of a list names; nothing of a patch that is written out."""
    inner = item.get("path") if isinstance(item, Table) else item
    return inner.text if isinstance(inner, Scalar) else ""


def is_chart_template(path: str) -> bool:
    """Returns whether a file lies in the templates of a Helm chart."""
    chart, folder, _ = os.path.abspath(path).rpartition("/templates/")
    return folder != "" and os.path.exists(f"{chart}/Chart.yaml")
