"""What manifests say of how a metric comes to a loop: who is scraped, what is recorded, what an adapter asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView
from coherence.importers._promql import seconds
from coherence.importers._quantities import duration_text, respelled
from coherence.language.document import Scalar, Table


@dataclass(frozen=True)
class Endpoint:
    """A Service: what selects it, and which pods it selects."""

    namespace: str
    labels: Mapping[str, str]
    pods: Mapping[str, str]


@dataclass(frozen=True)
class Monitor:
    """What is scraped, and how often (None: as often as Prometheus does).  `namespaces`: empty for all."""

    namespaces: Sequence[str]
    selector: FieldView
    intervals: Sequence[Scalar | None]
    of_pods: bool


@dataclass(frozen=True)
class Recorded:
    """The expression of a recorded series, and how often it is evaluated (None: as often as Prometheus does).

    `rules`: the rules among which it stands, and their name in a line about them.
    """

    expression: Scalar
    interval: Scalar | None
    rules: tuple[Place, str]


@dataclass(frozen=True)
class AdapterRule:
    """The query with which an adapter answers for a metric, and the rules among which it stands."""

    metric: str
    query: Scalar
    rules: tuple[Place, str]


@dataclass(frozen=True)
class MetricReading:
    """A target that compares one metric of the monitoring system, with the thing that it is of (empty: not said).

    `metric`: the name that an adapter knows, or, where `is_query`, an expression.
    """

    loop: str
    target: Table
    thing: str
    metric: Scalar
    is_query: bool


@dataclass
class MetricSources:
    """All of it together; `used`: the places of what the sensor of some autoscaler is made of."""

    endpoints: list[Endpoint] = field(default_factory=list)
    monitors: list[Monitor] = field(default_factory=list)
    recorded: dict[str, Recorded] = field(default_factory=dict)
    adapter_rules: list[AdapterRule] = field(default_factory=list)
    readings: list[MetricReading] = field(default_factory=list)
    scrapes: list[Scalar] = field(default_factory=list)  # of Prometheus, where a monitor says nothing
    evaluations: list[Scalar] = field(default_factory=list)
    relists: list[Scalar] = field(default_factory=list)
    used: set[Place] = field(default_factory=set)
    queries: dict[str, Scalar] = field(default_factory=dict)  # of signals, for `telemetry:`


def duration(view: FieldView, key: str) -> Scalar | None:
    """Returns a duration of Prometheus, in the language's spelling."""
    stated = view.scalar(key)
    if stated is None:
        return None
    length = seconds(stated.text.strip())
    if not length:
        view.problem(stated.place, f"{view.at(key)} is no duration above zero", "write for example 30s or 1m")
        return None
    return respelled(stated, duration_text(length))
