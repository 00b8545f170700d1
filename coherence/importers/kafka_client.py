"""KafkaClient: properties of a client of Kafka (`*.properties`): the tries of a producer, the deadlines of a consumer.

A record is sent again until `delivery.timeout.ms` is over, each time for `request.timeout.ms`.  A consumer that does
not poll again within `max.poll.interval.ms`, or whose heartbeats stay away for `session.timeout.ms`, loses its
partitions, and another one works on the same records again.  How long it works on a batch is `<client>.process_batch`.

SOURCE: Apache Kafka documentation (3.9), Producer Configs: delivery.timeout.ms 120000, request.timeout.ms 30000,
retries 2147483647, retry.backoff.ms 100; Consumer Configs: max.poll.interval.ms 300000, session.timeout.ms 45000,
heartbeat.interval.ms 3000.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import duration_text, integer, respelled, with_first
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Document, Node, Scalar, Table

KIND = "KafkaClient"
VARIANTS = True
LOCAL_NAMES = True
SUFFIX = ".properties"
SPELLING: Mapping[str, str] = {"deadline": "delivery.timeout.ms", "per_try": "request.timeout.ms"}
ROOT = "properties"
PRODUCER = ("delivery.timeout.ms", "linger.ms", "retries", "acks", "batch.size", "max.block.ms")
CONSUMER = ("max.poll.interval.ms", "session.timeout.ms", "heartbeat.interval.ms", "max.poll.records", "group.id")
SERVERS = ("bootstrap.servers", "group.id")
DELIVERY, REQUEST, BACKOFF, POLL, SESSION, HEARTBEAT = 120_000, 30_000, 100, 300_000, 45_000, 3_000
UNLIMITED = 2**31 - 1
WIRING = re.compile(
    r"(key|value)\.(de)?serializer|bootstrap\.servers|group\.id|client\.id|security\..*|ssl\..*|sasl\..*"
)
LINE = re.compile(r"\s*([^\s=:#!][^\s=:]*)\s*[=:\s]\s*(.*?)\s*")


def read(text: str, file: str) -> Document:
    """Returns the properties of a file, each at its line; the last of a name counts."""
    whole = Place(file, 1, 1, 1, 1)
    table = Table({}, {}, whole)
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.fullmatch(line)
        if match is not None:
            table.entries[match[1]] = Scalar(
                match[2], Place(file, number, match.start(2) + 1, number, match.end(2) + 1)
            )
            table.keys[match[1]] = Place(file, number, match.start(1) + 1, number, match.end(1) + 1)
    return Document(Table({ROOT: table}, {ROOT: whole}, whole), file, text)


def recognises(root: Table) -> bool:
    """Returns whether a document holds the properties of a client."""
    table = root.get(ROOT) if root.place.file.endswith(SUFFIX) else None
    keys = table.entries if isinstance(table, Table) else {}
    return any(key in keys for key in SERVERS) and any(key in keys for key in (*PRODUCER, *CONSUMER))


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds what the client is: a producer, a consumer, or both."""
    view = manifest.top.table(ROOT)
    if view is None:
        return
    view.pass_over(*(key for key in view.node.entries if WIRING.fullmatch(key)))
    thing = sketch.names.thing(manifest.name.text, "", "client")
    sketch.mention(thing, manifest.name.place, f"client of Kafka of {manifest.file}")
    if any(key in view for key in PRODUCER):
        _producer(view, thing, sketch)
    if any(key in view for key in CONSUMER):
        _consumer(view, thing, sketch)


def _milliseconds(view: FieldView, key: str, default: int) -> Scalar:
    """Returns a time, as it is written or by its default."""
    stated = view.whole(key)
    number = integer(stated) if stated is not None else default
    return Scalar(duration_text(Fraction(number or 0, 1000)), stated.place if stated is not None else view.node.place)


def _producer(view: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the call to the brokers: what is gathered before (`linger.ms`) is part of the delivery."""
    broker = sketch.names.thing("brokers", "", "Kafka")
    deadline, each = (
        _milliseconds(view, "delivery.timeout.ms", DELIVERY),
        _milliseconds(view, "request.timeout.ms", REQUEST),
    )
    sketch.mention(broker, deadline.place, "brokers of Kafka")
    for key in ("acks", "batch.size", "linger.ms", "max.block.ms", "compression.type", "buffer.memory"):
        view.remark(key, "not modelled")
    retries = view.whole("retries")
    limited = retries is not None and (integer(retries) or 0) < UNLIMITED
    values: dict[str, Node | None] = {
        "from": respelled(deadline, thing),
        "to": respelled(deadline, broker),
        "deadline": deadline,
        "per_try": each,
        "tries": with_first(retries) if retries is not None and limited else respelled(retries or each, "unlimited"),
        "pause": _milliseconds(view, "retry.backoff.ms", BACKOFF),
    }
    sketch.calls.append(entry(deadline.place, values))


def _consumer(view: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds when a consumer loses its partitions: it does not poll, or its heartbeats stay away."""
    for key in ("max.poll.records", "fetch.max.wait.ms", "enable.auto.commit", "auto.commit.interval.ms"):
        view.remark(key, "not modelled")
    poll, session = (
        _milliseconds(view, "max.poll.interval.ms", POLL),
        _milliseconds(view, "session.timeout.ms", SESSION),
    )
    _lease(f"{thing}_max_poll", poll, thing, sketch)
    _lease(f"{thing}_session", session, thing, sketch, renew=_milliseconds(view, "heartbeat.interval.ms", HEARTBEAT))


def _lease(name: str, after: Scalar, thing: str, sketch: Sketch, *, renew: Scalar | None = None) -> None:
    sketch.put_timer(
        name,
        layer="runtime",
        objective="give partitions to a consumer that lives",
        during=f"{thing}.process_batch",
        after=after,
        renew=renew,
        then=f"redeliver {thing}.batch",
    )
