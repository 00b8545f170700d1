"""Rules of the Prometheus adapter: names of metrics, in a file of their own and in a ConfigMap."""

from __future__ import annotations

import pytest

from coherence.importers._adapter_rules import add_rules
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch
from coherence.language import document
from coherence.language.document import Table
from coherence.language.schema_kinds import Reading


def metrics(rule: str) -> list[tuple[str, str]]:
    """Returns name and query of each metric that a rule answers for."""
    (source,) = document.read_text(f"rules: [{rule}]\n", "a.yaml")
    assert isinstance(source.root, Table)
    manifest, sketch = Manifest(source.root, "a.yaml", Reading(), "PrometheusAdapter"), Sketch(source.root.place)
    add_rules(manifest.top, sketch)
    return [(rule.metric, rule.query.text) for rule in sketch.telemetry.adapter_rules]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("{seriesQuery: 'a:b', metricsQuery: 'max(<<.Series>>)'}", [("a:b", "max(a:b)")]),
        ("{seriesQuery: a, name: {as: c}, metricsQuery: 'sum(b)'}", [("c", "sum(b)")]),
        ("{seriesQuery: 'a_total{x=\"y\"}', name: {matches: '^(.*)_total$'}, metricsQuery: q}", [("a", "q")]),
        (
            "{seriesQuery: 'a_total', name: {matches: '(.*)_total', as: '${1}_rate'}, metricsQuery: q}",
            [("a_rate", "q")],
        ),
        ("{seriesQuery: 'http_a', name: {matches: '^http_(.*)$', as: '$1'}, metricsQuery: q}", [("a", "q")]),
        ("{seriesQuery: '{__name__=~\"^a_.*\"}', metricsQuery: q}", []),
        ("{seriesQuery: 'a', name: {matches: '([a-z]+)+$', as: '$1x'}, metricsQuery: q}", []),
    ],
)
def test_names_and_queries(rule: str, expected: list[tuple[str, str]]) -> None:
    assert metrics(rule) == expected
