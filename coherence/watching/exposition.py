"""Writes what a watch knows in the text format that a Prometheus scrapes.

SOURCE: Prometheus documentation, Exposition formats, text format 0.0.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.watching.monitor import BLOCK, SystemMonitor, WatchedBlocks
from coherence.watching.rolling import HOUR, RollingIndex, coherence_index, delay_index, hidden_loss, wave_index

PREFIX = "coherence_"
ENDS = ("value", "low", "high")
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = Mapping[str, str]


@dataclass(frozen=True)
class MetricFamily:
    """A metric: its name after the prefix, kind, words, and its samples."""

    name: str
    kind: str
    words: str
    samples: Sequence[tuple[Labels, float]]


def exposition(families: Sequence[MetricFamily]) -> str:
    """Returns the text of all families that have samples."""
    return "".join(line for family in families if family.samples for line in _lines(family))


def _lines(family: MetricFamily) -> Iterator[str]:
    name = PREFIX + family.name
    yield f"# HELP {name} {_escaped(family.words)}\n# TYPE {name} {family.kind}\n"
    for labels, value in family.samples:
        pairs = ",".join(f'{key}="{_quoted(text)}"' for key, text in labels.items())
        yield f"{name}{{{pairs}}} {_number(value)}\n" if pairs else f"{name} {_number(value)}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else repr(float(value))


def rolling_indices(monitor: SystemMonitor) -> Iterator[tuple[str, str, RollingIndex]]:
    """Yields name, workload and value of each index that the last hour gives."""
    for name, own in monitor.blocks.items():
        since = monitor.last - 1.5 * HOUR * BLOCK * monitor.step
        last = [record for record in own.records[-HOUR:] if record.time > since]
        delay = delay_index(last)
        need = own.block.load.need
        indices = {
            "DI": delay, "CI": coherence_index(last, monitor.step), "HCL": hidden_loss(last),
            "WPI": wave_index(own.records, delay, need) if need else None,
        }  # fmt: skip
        yield from ((index, name, value) for index, value in indices.items() if value is not None)


def families(monitor: SystemMonitor, counts: Mapping[str, float]) -> list[MetricFamily]:
    """Returns all metrics of a watch; `counts`: of its runs, by the end of their names."""
    indices = [
        ({"index": index, "workload": load, "end": end}, number)
        for index, load, value in rolling_indices(monitor)
        for end, number in _ends(value)
    ]
    alerts = [({"kind": a.kind, "of": a.of}, 1.0) for a in monitor.alerts.values()]
    evidence = [({"test": key}, d.evidence / d.threshold) for key, d in monitor.detectors.items()]
    totals = [MetricFamily(f"watch_{name}", "counter" if name.endswith("_total") else "gauge", WORDS[name], [({}, n)])
              for name, n in counts.items()]  # fmt: skip
    return [
        MetricFamily("index", "gauge", "An index of the last hour, with the ends of its 95 % interval.", indices),
        *_margins(monitor.blocks),
        MetricFamily("oscillation_period_seconds", "gauge", "The strongest period of a signal.",
                     [({"signal": name}, share.period) for name, share in monitor.periods.items()]),
        MetricFamily("alert", "gauge", "1 while an alert is open.", alerts),
        MetricFamily("alerts_opened_total", "counter", "Alerts that have opened.",
                     [({"kind": kind}, float(count)) for kind, count in monitor.opened.items()]),
        MetricFamily("test_evidence_ratio", "gauge", "Evidence of a test over its threshold; an alert at 1.", evidence),
        MetricFamily("watch_scrapes_total", "counter", "Scrapes that were taken.", [({}, float(monitor.scrapes))]),
        MetricFamily("watch_last_scrape_timestamp_seconds", "gauge", "Time of the last scrape that was taken.",
                     [({}, monitor.last)] if math.isfinite(monitor.last) else []),
        *totals,
    ]  # fmt: skip


WORDS = {
    "errors_total": "Times that the server could not be read.",
    "webhooks_waiting": "Notices that the webhook has not taken yet.",
    "webhooks_dropped_total": "Notices that were given up because too many waited.",
}


def _ends(value: RollingIndex) -> Iterator[tuple[str, float]]:
    bounds = (("value", value.estimate.value), ("low", value.estimate.low), ("high", value.estimate.high))
    yield from ((end, number) for end, number in bounds if math.isfinite(number))


def _margins(blocks: Mapping[str, WatchedBlocks]) -> Iterator[MetricFamily]:
    drifts = [(name, own.drift) for name, own in blocks.items() if own.drift is not None]
    yield MetricFamily("margin_seconds", "gauge", "Deadline less the 99th percentile, at the load of now.",
                       [({"workload": name}, drift.margin) for name, drift in drifts])  # fmt: skip
    yield MetricFamily("margin_slope", "gauge", "Seconds that the margin gains in a second, at equal load.",
                       [({"workload": name, "end": end}, number) for name, drift in drifts
                        for end, number in zip(ENDS, (drift.slope, drift.low, drift.high), strict=True)])  # fmt: skip
    yield MetricFamily("time_to_breach_seconds", "gauge", "Until the margin is gone; +Inf where it does not shrink.",
                       [({"workload": name, "end": end}, number) for name, drift in drifts if drift.shrinks
                        for end, number in zip(ENDS, drift.breach, strict=True)])  # fmt: skip
