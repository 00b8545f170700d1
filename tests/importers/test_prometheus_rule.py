"""PrometheusRule: recorded series with how often they are evaluated, and alerts, which are counted."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError

HEAD = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r}\n"


def listed(rules: str, group: str = "name: g") -> list[str]:
    text = f"{HEAD}spec: {{groups: [{{{group}, rules: [{rules}]}}]}}\n"
    return [words for _, words in importers.design_from_sources({"r.yaml": text}).not_modelled]


def test_recorded_series_that_nobody_reads_are_counted() -> None:
    (words,) = listed("{record: 'a:b', expr: 'rate(c[5m])'}, {record: 'd:e', expr: c}", "name: g, interval: 1m")
    assert "spec.groups[0].rules (2 metrics: no autoscaler among these files reads a metric of it)" in words


def test_alerts_are_counted_and_their_templates_stop_nothing() -> None:
    alert = "{alert: Slow, expr: 'a > 1', for: 5m, annotations: {x: '{{ $value }}'}}"
    (words,) = listed(f"{alert}, {alert}")
    assert "2 alerts: nothing in the design acts on them" in words


@pytest.mark.parametrize(
    ("rules", "group", "message"),
    [
        ("{record: a}", "name: g", "expr is missing"),
        ("{expr: a}", "name: g", "record is missing"),
        ("", "interval: never", "interval is no duration"),
    ],
)
def test_what_is_broken_is_refused(rules: str, group: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        listed(rules, group)
