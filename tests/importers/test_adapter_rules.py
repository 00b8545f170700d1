"""Rules of the Prometheus adapter: names of metrics, in a file of their own and in a ConfigMap."""

from __future__ import annotations

import pytest

from coherence import importers
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


def test_names_that_are_known_at_run_time_are_listed() -> None:
    text = "rules: [{seriesQuery: '{__name__=~\"^a_.*\"}', metricsQuery: q}]\n"
    design = importers.design_from_sources({"rules.yaml": text})
    assert any("known at run time" in words for _, words in design.not_modelled)


def test_a_config_map_that_looks_like_one_and_is_broken_is_listed() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: 'rules: [{seriesQuery: x'}\n"
    design = importers.design_from_sources({"c.yaml": text})
    assert any("cannot be read as one" in words for _, words in design.not_modelled)
