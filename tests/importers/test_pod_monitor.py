"""PodMonitor: the intervals at which it scrapes, where it is not broken."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError

HEAD = "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: m, namespace: monitoring}\n"
SCALER = """\
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web}
spec:
  scaleTargetRef: {name: web}
  minReplicaCount: 1
  triggers: [{type: prometheus, metadata: {query: "rate(a[5m])", threshold: '5'}}]
"""


def first(endpoints: str) -> str:
    """Returns the first link of the sensor of an autoscaler beside it; empty where there is none."""
    text = f"{HEAD}spec: {{selector: {{}}, podMetricsEndpoints: [{endpoints}]}}\n{SCALER}"
    loop = importers.design_from_sources({"m.yaml": text}).loops["web_scaledobject"]
    sensor = loop.target.sensor if loop.target is not None else ()
    return f"{sensor[0].kind} {sensor[0].duration.text}" if sensor and sensor[0].duration else ""


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
def test_an_interval_is_the_scrape_of_what_reads_it(endpoints: str, link: str) -> None:
    assert first(endpoints) == link


def test_an_interval_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"podMetricsEndpoints\[0\].interval is no duration"):
        first("{interval: soon}")
