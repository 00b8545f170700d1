"""Writes what kube-state-metrics shows of an autoscaler as the `telemetry:` of a design: one query for each signal.

SOURCE: kube-state-metrics, docs/metrics/workload/horizontalpodautoscaler-metrics.md: `..._status_desired_replicas`, and
`..._status_target_metric`, in which a utilization counts percent and an average is that of one replica.  KEDA names
the autoscaler that it makes `keda-hpa-` and its own name.  What a trigger of KEDA is called in the status is not
written in its manifest: it has no query.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.importers._kubernetes import Manifest
from coherence.importers._scaling import Autoscaler, Metric
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar, Table

SHOWN = "kube_horizontalpodautoscaler_status_"
MADE_BY = {"HorizontalPodAutoscaler": "", "ScaledObject": "keda-hpa-"}


def add_queries(manifest: Manifest, sketch: Sketch, autoscaler: Autoscaler) -> None:
    """Remembers the queries of what an autoscaler reads and writes."""
    prefix = MADE_BY.get(manifest.kind)
    if prefix is None or not manifest.name.text:
        return
    labels = [_equal("namespace", manifest.namespace)] if manifest.namespace else []
    labels.append(_equal("horizontalpodautoscaler", f"{prefix}{manifest.name.text}"))
    queries = sketch.telemetry.queries
    written = f"{SHOWN}desired_replicas{{{','.join(labels)}}}"
    queries[f"{autoscaler.thing}.replicas"] = Scalar(sketch.concealed(written), autoscaler.target)
    for metric in autoscaler.metrics:
        for query in _of_metric(metric, labels):
            queries[metric.signal.text] = Scalar(sketch.concealed(query), metric.signal.place)


def _of_metric(metric: Metric, labels: list[str]) -> Iterator[str]:
    if metric.is_query and metric.series is not None:
        yield metric.series.text
        return
    if metric.shown is None:
        return
    name, kind = metric.shown
    own_labels = (*labels, _equal("metric_name", name), _equal("metric_target_type", kind))
    series = f"{SHOWN}target_metric{{{','.join(own_labels)}}}"
    if kind == "utilization":
        yield f"{series} / 100"
    elif metric.averaged:  # the signal is the total
        replicas = f"{SHOWN}current_replicas{{{','.join(labels)}}}"
        yield f"{series} * ignoring(metric_name, metric_target_type) {replicas}"
    else:
        yield series


def _equal(label: str, text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'{label}="{escaped}"'


def telemetry_of(sketch: Sketch) -> Table | None:
    """Returns the section `telemetry:` of the whole design; None where nothing has a known query."""
    queries = sketch.telemetry.queries
    return (
        Table(dict(queries), {name: query.place for name, query in queries.items()}, sketch.place) if queries else None
    )
