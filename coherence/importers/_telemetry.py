"""Derives the sensor chain of a loop from how its metric is scraped, recorded and asked for.

An adapter and KEDA ask Prometheus anew for each request, so what makes a value old is the scrape, the windows of the
query, and the evaluations of recorded series.  An adapter knows a metric only where a sample came within its relist
interval: `last` of the chain.  A value without a window is the last sample of 5 min.  Where it is not known how often
something is scraped no chain is derived, and the metric is listed.

SOURCE: Prometheus documentation, Querying basics, Staleness: 5 min; prometheus-operator API, PrometheusSpec:
scrapeInterval and evaluationInterval 30s; prometheus-adapter documentation, Configuration: metrics-relist-interval is
how often available metrics are listed, and at least the scrape interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from coherence.base import units
from coherence.base.places import Place
from coherence.importers._monitoring import MetricReading, MetricSources, Monitor
from coherence.importers._names import agree, sanitised
from coherence.importers._promql import Selector, Window, selectors
from coherence.importers._quantities import duration_text, respelled, value_of
from coherence.importers._selectors import matches
from coherence.importers._sketch import Pods, Sketch, listed
from coherence.language.document import Items, Scalar

KINDS = {
    "rate": "rate", "increase": "rate", "delta": "rate", "deriv": "rate", "irate": "irate", "idelta": "irate",
    "avg_over_time": "mean", "max_over_time": "max", "last_over_time": "last",
}  # fmt: skip
OPERATOR = Fraction(30)  # s
STALE = Fraction(300)  # s
UNUSED = "no autoscaler among these files reads a metric of it"
DEEPEST = 10  # recorded series made of recorded series
Chain = list[Scalar]


def derive_sensors(sketch: Sketch) -> None:
    """Adds a sensor to each target whose chain is known; says of the others why not, and what no sensor is made of."""
    sources = sketch.telemetry
    is_monitored = any((sources.monitors, sources.recorded, sources.adapter_rules))
    for reading in sources.readings if is_monitored else ():
        chain = _chain(reading, sketch)
        if chain:
            own = reading.target.get("sensor")
            links = [*chain, *(own if isinstance(own, Items) else ())]
            reading.target.entries["sensor"] = listed(links, chain[0].place)
            reading.target.keys["sensor"] = chain[0].place
    sketch.not_modelled += _unused(sources)


def _unused(sources: MetricSources) -> Iterator[tuple[Place, str]]:
    """Yields what no sensor of an autoscaler is made of; of rules how many there are."""
    for monitor in sources.monitors:
        owner = monitor.selector.manifest
        if owner.name.place not in sources.used:
            yield owner.name.place, f"{owner.title}: how often it scrapes ({UNUSED})"
    rules = [recorded.rules for recorded in sources.recorded.values() if recorded.expression.place not in sources.used]
    rules += [rule.rules for rule in sources.adapter_rules if rule.query.place not in sources.used]
    for (place, words), count in Counter(rules).items():
        yield place, f"{words} ({count} {'metric' if count == 1 else 'metrics'}: {UNUSED})"
    for stated in (*sources.scrapes, *sources.evaluations, *sources.relists):
        if stated.place not in sources.used:
            yield stated.place, f"how often metrics come, {stated.text} ({UNUSED})"


def _chain(reading: MetricReading, sketch: Sketch) -> Chain | None:
    if reading.is_query:
        return _Derivation(reading, sketch).of(reading.metric, depth=0)
    rule = next((rule for rule in sketch.telemetry.adapter_rules if rule.metric == reading.metric.text), None)
    if rule is None:
        _list(reading, f"no rule of an adapter for {reading.metric.text} is among these files", sketch)
        return None
    sketch.telemetry.used.add(rule.query.place)
    return _Derivation(reading, sketch, adapted=True).of(rule.query, depth=0)


def _list(reading: MetricReading, why: str, sketch: Sketch) -> None:
    sketch.not_modelled.append((reading.metric.place, f"{reading.loop}: the age of what it reads ({why})"))


class _Derivation:
    """Derives the chain of one reading; the first thing that is not known ends it."""

    def __init__(self, reading: MetricReading, sketch: Sketch, *, adapted: bool = False) -> None:
        self.reading, self.sketch, self.adapted = reading, sketch, adapted

    def of(self, query: Scalar, *, depth: int) -> Chain | None:
        """Returns the oldest of the chains of what an expression reads."""
        read = selectors(query.text)
        if not read or depth > DEEPEST:
            self._unknown("its query is not understood" if read is None else "its query reads no series")
            return None
        if any(selector.is_shifted for selector in read):
            self._unknown("its query looks back by an offset")
            return None
        chains = [self._of_selector(selector, query, depth=depth) for selector in dict.fromkeys(read)]
        known = [chain for chain in chains if chain is not None]
        return max(known, key=_age) if known and len(known) == len(chains) else None

    def _unknown(self, why: str) -> None:
        _list(self.reading, why, self.sketch)

    def _of_selector(self, selector: Selector, query: Scalar, *, depth: int) -> Chain | None:
        """Returns the samples of a series and the windows over them."""
        samples = self._samples(selector.metric, depth=depth)
        if samples is None:
            return None
        if not selector.windows or selector.windows[0].step is not None:
            samples = [*samples, respelled(query, f"last {duration_text(STALE)}")]
        return [*samples, *(link for window in selector.windows for link in self._links(window, query))]

    def _links(self, window: Window, query: Scalar) -> Chain:
        kind = KINDS.get(window.function, "mean")
        links = [respelled(query, f"{kind} {duration_text(window.length)}")]
        if window.step is not None:
            step = duration_text(window.step) if window.step else self._evaluation(query, None).text
            links.insert(0, respelled(query, f"relist {step}"))
        return links

    def _samples(self, metric: str, *, depth: int) -> Chain | None:
        """Returns how a series gets its samples: recorded, or scraped."""
        recorded = self.sketch.telemetry.recorded.get(metric)
        if recorded is not None:
            self.sketch.telemetry.used.add(recorded.expression.place)
            chain = self.of(recorded.expression, depth=depth + 1)
            every = self._evaluation(recorded.expression, recorded.interval)
            return [*chain, respelled(every, f"relist {every.text}")] if chain is not None else None
        interval = _scrape(self.reading.thing if depth == 0 else "", self.sketch)  # who records says nothing of whom
        if interval is None:
            self._unknown(f"how often {sanitised(metric)} is scraped is not among these files")
            return None
        relists = self.sketch.telemetry.relists[:1] if self.adapted else []
        self.sketch.telemetry.used |= {relist.place for relist in relists}
        known = [respelled(relist, f"last {relist.text}") for relist in relists]
        return [respelled(interval, f"scrape {interval.text}"), *known]

    def _evaluation(self, place: Scalar, stated: Scalar | None) -> Scalar:
        own = self.sketch.telemetry.evaluations
        self.sketch.telemetry.used |= {every.place for every in own if stated is None}
        return stated or (own[0] if len(own) == 1 else respelled(place, duration_text(OPERATOR)))


def _age(chain: Chain) -> Fraction:
    """Returns how old the oldest part of a value is, roughly: to compare chains."""
    texts = [link.text.partition(" ")[2] for link in chain if not link.text.startswith("last")]
    return sum((units.quantity(text)[0] for text in texts), Fraction(0))


def _scrape(thing: str, sketch: Sketch) -> Scalar | None:
    """Returns how often a metric is scraped: by what monitors its thing, else where all monitors agree."""
    monitors = sketch.telemetry.monitors
    pods = sketch.pods_of(thing) if thing else None
    labels = _service_labels(pods, sketch) if pods is not None else []
    own = [monitor for monitor in monitors if pods is not None and _monitors(monitor, pods, labels)]
    sketch.telemetry.used |= {monitor.selector.manifest.name.place for monitor in own or monitors}
    intervals = [_interval(monitor, stated, sketch) for monitor in own or monitors for stated in monitor.intervals]
    lengths = {interval.text for interval in intervals}
    if not intervals or (not own and len(lengths) > 1):
        return None
    return max(intervals, key=value_of)


def _interval(monitor: Monitor, stated: Scalar | None, sketch: Sketch) -> Scalar:
    own = sketch.telemetry.scrapes
    sketch.telemetry.used |= {every.place for every in own if stated is None}
    default = own[0] if len(own) == 1 else Scalar(duration_text(OPERATOR), monitor.selector.node.place)
    return stated or default


def _monitors(monitor: Monitor, pods: Pods, services: Sequence[Mapping[str, str]]) -> bool:
    """Returns whether a monitor scrapes the pods: directly, or by a Service that selects them."""
    if not any(agree(namespace, pods.namespace) for namespace in monitor.namespaces or ("",)):
        return False
    return any(matches(monitor.selector, labels) for labels in ([pods.labels] if monitor.of_pods else services))


def _service_labels(pods: Pods, sketch: Sketch) -> Sequence[Mapping[str, str]]:
    """Returns the labels of the Services of pods; where none is among the files those of the pods stand for them."""
    near = [endpoint for endpoint in sketch.telemetry.endpoints if agree(endpoint.namespace, pods.namespace)]
    chosen = [endpoint for endpoint in near if endpoint.pods and endpoint.pods.items() <= pods.labels.items()]
    return [endpoint.labels for endpoint in chosen] or [pods.labels]
