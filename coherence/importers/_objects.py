"""Objects of Kubernetes that something else makes: a chart of its values, an operator of its resource.

Their values are those nodes of the source, which counts as read there; what the maker fills in stands where it is made.
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import respelled
from coherence.importers._sketch import entry, listed
from coherence.language.document import Node, Scalar, Table

Values = Mapping[str, Node | None]


def taken(view: FieldView, key: str) -> Node | None:
    """Returns the value of a key, which another object reads; None where it is null."""
    view.use(key)
    return view.node.get(key) if key in view else None


def object_of(version: str, kind: str, name: Scalar, spec: Values) -> Table:
    """Returns an object of Kubernetes."""
    values: dict[str, Node | None] = {
        "apiVersion": respelled(name, version),
        "kind": respelled(name, kind),
        "metadata": entry(name.place, {"name": name}),
        "spec": entry(name.place, spec),
    }
    return entry(name.place, values)


def labels_of(name: Scalar) -> Table:
    """Returns the labels by which the pods of a workload are found."""
    return entry(name.place, {"model": name})


def deployment(name: Scalar, container: Values, **spec: Node | None) -> Table:
    """Returns a Deployment of pods with one container."""
    place = name.place
    template: dict[str, Node | None] = {
        "metadata": entry(place, {"labels": labels_of(name)}),
        "spec": entry(place, {"containers": listed([entry(place, container)], place)}),
    }
    return object_of("apps/v1", "Deployment", name, {**spec, "template": entry(place, template)})


def texts(place: Scalar, values: Mapping[str, str]) -> dict[str, Node | None]:
    """Returns values that are filled in, at one place."""
    return {key: respelled(place, text) for key, text in values.items()}
