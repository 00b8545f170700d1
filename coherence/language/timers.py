"""Declares the vocabulary of timers: probes, leases, watchdogs, graces, cool-downs."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.base.units import ONE, SECOND
from coherence.language.document import Node, Scalar, Table
from coherence.language.loops import LAYERS
from coherence.language.schema_kinds import Kind, Quantity, Reading, Word, key, or_word
from coherence.language.sentences import EVENT, Event
from coherence.language.value_kinds import DURATION, NAME_KIND, TEXT, UNLIMITED_DURATION, quantity, word
from coherence.language.words import LAYER, NOTE, OBJECTIVE, PART, PER, WHOLE_STANDS_HERE


def _read_renewal(node: Node, reading: Reading) -> Event | Quantity | None:
    if isinstance(node, Table) or (isinstance(node, Scalar) and node.text.lstrip("+- ")[:1].isdecimal()):
        return INTERVAL.read(node, reading)
    return EVENT.read(node, reading)


INTERVAL = quantity(SECOND, positive=True)
RENEWAL: Kind[Event | Quantity] = Kind(
    _read_renewal, {"anyOf": [dict(EVENT.schema), dict(INTERVAL.schema)]}, "an event, or a duration above zero"
)


class Timer(Record):
    """From an event: after / first, every, misses, reply_within, renew, unless, then.

    `paced_by`: what the time between two looks is counted from, a clock or the reply to the look before.
    """

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses", means=PART, without=WHOLE_STANDS_HERE)
    start: Event | None = key(
        EVENT, "from",
        also="start on trigger event",
        means="the event that starts the timer: an activity of a member starts or ends (`pod starts`, "
        "`worker.task ends`), a timer or loop acts (its name), or anything outside (other words: at any time)",
        without="it is asked for where an answer rests on it",
    )  # fmt: skip
    after: Quantity | Word | None = key(
        UNLIMITED_DURATION,
        also="timeout delay ttl lasts wait",
        means="the time from the event until it fires",
        without="`first`, `every` and `misses` say it",
    )
    first: Quantity | None = key(
        DURATION,
        also="initial_delay initial_delay_seconds",
        means="the time from the event to the first look; of looks that come again (`every`) it may come up to one "
        "`every` later, since they keep a clock of their own",
        without="0 s",
    )
    every: Quantity | None = key(
        DURATION,
        also="period period_seconds interval sync_period heartbeat",
        means="the time between two looks",
        without="it fires once",
    )
    paced_by: Word | None = key(
        word("clock", "reply"), means="what `every` is counted from: a clock, or the reply to the look before",
        without="clock",
    )  # fmt: skip
    misses: Quantity | Word | None = key(
        or_word(quantity(ONE, low=1, whole=True), "unlimited"), without="1",
        also="failure_threshold failures threshold attempts max_failures",
        means="after how many looks in a row without an answer it fires",
    )  # fmt: skip
    reply_within: Quantity | None = key(
        DURATION, also="timeout_seconds probe_timeout", means="how long a look waits for its answer", without="0 s"
    )
    jitter: Quantity | None = key(
        quantity(SECOND), without="none",
        means="how much earlier or later it may fire: `2 s` either way, `0 s .. 100 ms` late and never early",
    )  # fmt: skip
    renew: Event | Quantity | None = key(
        RENEWAL,
        also="renewed_by reset_by heartbeat_interval",
        means="the event that starts it anew, or how often that comes",
        without="nothing does",
    )
    unless: Event | None = key(
        EVENT,
        also="until cancelled_by except",
        means="the event that ends the timer before it fires",
        without="nothing ends it",
    )
    then: Event | None = key(
        EVENT,
        also="action does do fires",
        means="what comes of its firing: an event, or a verb and a thing (`restart pod`)",
        without="its firing is an event of its own name, which others may wait for",
    )  # fmt: skip
    sees: Word | None = key(
        TEXT, means="what its looks ask of the member; timers that ask different things have no order",
        without="all look at the same",
    )  # fmt: skip
    per: Word | None = key(NAME_KIND, means=PER, without="there is one")
    layer: Word | None = key(word(*LAYERS), means=LAYER, for_people=True)
    objective: Word | None = key(TEXT, means=OBJECTIVE, for_people=True)
    note: Word | None = key(TEXT, means=NOTE, for_people=True)
