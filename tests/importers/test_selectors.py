"""Label selectors find the pods for which every requirement holds."""

from __future__ import annotations

import pytest

from coherence.base.errors import Problem
from coherence.base.places import Place
from coherence.importers._kubernetes import Manifest
from coherence.importers._selectors import selected
from coherence.importers._sketch import Pods, Sketch
from coherence.language import document
from coherence.language.document import Table
from coherence.language.schema_kinds import Reading


def found(selector: str, *, namespace: str = "prod") -> tuple[list[str], list[Problem]]:
    """Returns the things whose pods are found, among three."""
    text = f"kind: X\napiVersion: v1\nmetadata: {{name: s, namespace: {namespace}}}\nspec: {{selector: {selector}}}\n"
    root, reading = document.read_text(text, "s.yaml")[0].root, Reading()
    assert isinstance(root, Table)
    sketch = Sketch(Place("s.yaml", 1, 1, 1, 1))
    for pods in (
        Pods("web", "prod", {"app": "web", "tier": "front"}),
        Pods("api", "prod", {"app": "api"}),
        Pods("dev", "dev", {"app": "web"}),
    ):
        sketch.add_pods(pods)
    view = Manifest(root, "s.yaml", reading).spec.table("selector")
    assert view is not None
    return [pods.thing for pods in selected(view, sketch)], list(reading.problems)


@pytest.mark.parametrize(
    ("selector", "things"),
    [
        ("{matchLabels: {app: web}}", ["web"]),
        ("{matchLabels: {app: web, tier: back}}", []),
        ("{}", ["web", "api"]),
        ("{matchExpressions: [{key: app, operator: In, values: [web, api]}]}", ["web", "api"]),
        ("{matchExpressions: [{key: tier, operator: NotIn, values: [front]}]}", ["api"]),
        ("{matchExpressions: [{key: tier, operator: Exists}]}", ["web"]),
        ("{matchExpressions: [{key: tier, operator: DoesNotExist}]}", ["api"]),
        ("{matchLabels: {app: web}, matchExpressions: [{key: tier, operator: DoesNotExist}]}", []),
    ],
)
def test_every_requirement_holds(selector: str, things: list[str]) -> None:
    assert found(selector) == (things, [])


def test_namespaces_are_apart() -> None:
    assert found("{matchLabels: {app: web}}", namespace="dev")[0] == ["dev"]


def test_an_operator_that_is_unknown_is_told() -> None:
    _, problems = found("{matchExpressions: [{key: app, operator: Near}]}")
    assert [problem.message for problem in problems] == ["spec.selector.matchExpressions[0].operator is 'Near'"]
