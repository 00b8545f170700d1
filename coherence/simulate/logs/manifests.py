"""Reads the manifests of a run: replicas, CPU request, spread constraints, the autoscaler's windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from coherence import importers
from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.language import document
from coherence.language.design import Rate
from coherence.language.document import Document, Items, Node, Scalar, Table
from coherence.simulate.logs.spread import SpreadConstraint
from coherence.simulate.telemetry.bounded_files import whole_file


@dataclass(frozen=True)
class DeploymentManifest:
    """A Deployment: `replicas` and the CPU request of a pod in cores (None: not written)."""

    file: str
    replicas: int | None
    request: Fraction | None
    spreads: tuple[SpreadConstraint, ...]


@dataclass(frozen=True)
class Behavior:
    """A HorizontalPodAutoscaler.  `hold_down` in seconds and `rates` as the language writes them; None, () without
    a `behavior` field."""

    file: str
    hold_down: Fraction | None
    rates: tuple[str, ...] = ()


def read_manifest(path: Path) -> DeploymentManifest | Behavior:
    """Returns the Deployment or HorizontalPodAutoscaler in a file (the first of them).  Raises InputError."""
    documents = document.read(whole_file(path, most=document.MAX_BYTES), path.name, last_key_counts=True)
    for manifest in documents:
        if importers.kind_of(manifest) == "Deployment":
            return _workload(manifest)
        if importers.kind_of(manifest) == "HorizontalPodAutoscaler":
            return _behavior(manifest)
    place = Place(path.name, 1, 1, 1, 1)
    raise InputError([Problem(place, "neither a Deployment nor a HorizontalPodAutoscaler", "name such a manifest")])


def _workload(source: Document) -> DeploymentManifest:
    component = next(iter(importers.design_of([source]).components.values()))
    need = component.needs.get("cpu") if isinstance(component.needs, dict) else None
    stated = at(source.root, "spec", "replicas")
    replicas = int(stated.text) if isinstance(stated, Scalar) else None
    return DeploymentManifest(source.file, replicas, need.low if need else None, tuple(_spreads(source.root)))


def _behavior(source: Document) -> Behavior:
    loop = next(iter(importers.design_of([source]).loops.values()))
    hold = loop.timescale.hold_down if loop.timescale else None
    if at(source.root, "spec", "behavior") is None or hold is None or loop.actuation is None:
        return Behavior(source.file, None)
    return Behavior(source.file, hold.low, tuple(map(_rate, loop.actuation.rate)))


def _rate(rate: Rate) -> str:
    named = (("by", rate.by), ("percent", rate.percent), ("per", rate.per), ("way", rate.way))
    return "{" + ", ".join(f"{key}: {word.text}" for key, word in named if word is not None) + "}"


def _spreads(root: Node) -> Iterator[SpreadConstraint]:
    for one in items(at(root, "spec", "template", "spec", "topologySpreadConstraints")):
        key, skew, when = (at(one, name) for name in ("topologyKey", "maxSkew", "whenUnsatisfiable"))
        if isinstance(key, Scalar) and isinstance(skew, Scalar) and _must(when):
            yield SpreadConstraint(key.text, int(skew.text))


def _must(when: Node | None) -> bool:
    """DoNotSchedule is the default."""
    return not isinstance(when, Scalar) or when.text == "DoNotSchedule"


def at(node: Node | None, *keys: str) -> Node | None:
    """Returns the node below these keys."""
    for key in keys:
        node = node.get(key) if isinstance(node, Table) else None
    return node


def items(node: Node | None) -> Iterator[Node]:
    """Yields the elements of a list; nothing where there is none."""
    if isinstance(node, Items):
        yield from node
