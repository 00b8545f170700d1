"""The configuration of the Prometheus adapter as a file of its own."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.language import document


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("rules: [{seriesQuery: a, metricsQuery: 'sum(a)'}]\n", "PrometheusAdapter"),
        ("externalRules: [{seriesQuery: a}]\n", "PrometheusAdapter"),
        ("rules: [{host: a}]\n", ""),
        ("rules: []\n", ""),
    ],
)
def test_it_is_known_by_its_content(text: str, kind: str) -> None:
    (source,) = document.read_text(text, "a.yaml")
    assert importers.kind_of(source) == kind


def test_nothing_of_a_rule_is_left_but_whose_series_they_are() -> None:
    text = "rules: [{seriesQuery: a, resources: {overrides: {}}, metricsQuery: 'sum(a)'}]\n"
    assert [words for _, words in importers.design_from_sources({"a.yaml": text}).not_modelled] == [
        "PrometheusAdapter a: rules (1 metric: no autoscaler among these files reads a metric of it)",
        "PrometheusAdapter a: rules.resources (names, labels and wiring: not about control)",
    ]
