"""Label selectors: which pods of the manifests one finds.

SOURCE: Kubernetes documentation, Labels and Selectors: all requirements hold; one that is empty finds everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from coherence.base import units
from coherence.importers._kubernetes import FieldView
from coherence.importers._names import agree
from coherence.importers._sketch import Pods, Sketch
from coherence.language.document import Scalar

OPERATORS: dict[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


def selected(selector: FieldView, sketch: Sketch) -> list[Pods]:
    """Returns the pods of the manifest's namespace that a selector finds."""
    requirements = [*_equal(selector), *_expressions(selector)]
    namespace = selector.manifest.namespace
    near = [pods for pods in _candidates(selector, sketch) if agree(namespace, pods.namespace)]
    return [pods for pods in near if all(holds(pods.labels) for holds in requirements)]


def matches(selector: FieldView, labels: Mapping[str, str]) -> bool:
    """Returns whether a selector finds something that has these labels."""
    return all(holds(labels) for holds in [*_equal(selector), *_expressions(selector)])


def _candidates(selector: FieldView, sketch: Sketch) -> Sequence[Pods]:
    """Returns the pods that have the rarest of the labels; all, where none is named."""
    labels = selector.table("matchLabels")
    entries = labels.node.entries if labels else {}
    values = [(key, value.text) for key, value in entries.items() if isinstance(value, Scalar) and not value.is_null()]
    return min((sketch.labelled.get(value, []) for value in values), key=len, default=sketch.pods)


def _equal(selector: FieldView) -> Iterator[Callable[[Mapping[str, str]], bool]]:
    labels = selector.table("matchLabels")
    for key in labels.node.entries if labels else ():
        assert labels is not None
        value = labels.scalar(key)
        if value is not None:
            yield lambda pod, key=key, text=value.text: pod.get(key) == text  # type: ignore[misc]


def _expressions(selector: FieldView) -> Iterator[Callable[[Mapping[str, str]], bool]]:
    for expression in selector.tables("matchExpressions"):
        key, operator = expression.required("key"), expression.required("operator")
        if key is None or operator is None:
            continue
        if operator.text not in OPERATORS:
            words = f"{expression.at('operator')} is '{units.shorten(operator.text)}'"
            expression.problem(operator.place, words, f"write one of {', '.join(OPERATORS)}")
            continue
        values = [value.text for value in expression.scalars("values")]
        holds = OPERATORS[operator.text]
        yield lambda pod, key=key.text, holds=holds, values=values: holds(pod.get(key), values)  # type: ignore[misc]
