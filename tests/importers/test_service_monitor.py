"""Monitors of services and of pods: the intervals at which they scrape, where they are not broken."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError
from tests.importers.scaled_objects import scaled_object

LISTS = [("ServiceMonitor", "endpoints"), ("PodMonitor", "podMetricsEndpoints")]


def first(kind: str, key: str, endpoints: str) -> str:
    """Returns the first link of the sensor of an autoscaler beside a monitor; empty where there is none."""
    head = f"apiVersion: monitoring.coreos.com/v1\nkind: {kind}\nmetadata: {{name: m, namespace: monitoring}}\n"
    text = f"{head}spec: {{selector: {{}}, {key}: [{endpoints}]}}\n{scaled_object('rate(a[5m])')}"
    loop = importers.design_from_sources({"m.yaml": text}).loops["web_scaledobject"]
    sensor = loop.target.sensor if loop.target is not None else ()
    return f"{sensor[0].kind} {sensor[0].duration.text}" if sensor and sensor[0].duration else ""


@pytest.mark.parametrize(("kind", "key"), LISTS)
@pytest.mark.parametrize(
    ("endpoints", "link"),
    [
        ("{interval: 15s}", "scrape 15 s"),
        ("{port: http}", "scrape 30 s"),
        ("{interval: 1m}, {interval: 1m}", "scrape 60 s"),
        ("{interval: 15s}, {interval: 1m}", ""),
        ("", ""),
    ],
)
def test_an_interval_is_the_scrape_of_what_reads_it(kind: str, key: str, endpoints: str, link: str) -> None:
    assert first(kind, key, endpoints) == link


@pytest.mark.parametrize(("kind", "key"), LISTS)
def test_an_interval_that_is_none_is_refused(kind: str, key: str) -> None:
    with pytest.raises(InputError, match=rf"{key}\[0\].interval is no duration"):
        first(kind, key, "{interval: soon}")
