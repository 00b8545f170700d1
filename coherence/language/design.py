"""Declares the vocabulary of a design: what the YAML says, typed and in SI, every value with its place.

Each class lists its keys; `key(kind)` states what a key may hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coherence.base.places import Place
from coherence.base.queries import note_readers
from coherence.base.records import Record, plain
from coherence.base.units import ONE, SECOND
from coherence.language.breakers import Breaker
from coherence.language.document import Node, Scalar, Table
from coherence.language.infrastructure import Boundary, Hosting, Infrastructure, Tier
from coherence.language.schema_kinds import (  # fmt: skip
    Formula,
    Kind,
    Quantity,
    Reading,
    Word,
    described,
    either,
    key,
    listing,
    mapping,
    named,
    or_word,
    record,
)
from coherence.language.sentences import (
    ADMISSION,
    EVENT,
    LINK,
    PLACEMENT,
    PREEMPTION,
    PROMISE,
    Admission,
    Event,
    PlacementRule,
    Preemption,
    Promise,
    SensorLink,
)
from coherence.language.value_kinds import (  # fmt: skip
    ANY_QUANTITY,
    CARRIES,
    DURATION,
    FORMULA,
    NAME_KIND,
    NEEDS,
    PERIOD,
    TEXT,
    VALUE,
    VIA,
    WHOLE,
    quantity,
    word,
)
from coherence.language.words import (
    ACTIVITIES,
    BREAKER_OF_CALL,
    CASE_OF_CALL,
    CASES_OF_CALLER,
    DISCIPLINE_OF_THING,
    FALLBACK_FOR_CALL,
    HEDGE_OF_CALL,
    STAGE_OF_CALL,
    SUSPENDED,
    render_table,
)
from coherence.language.workloads import Workload

DISCIPLINES = ("fifo", "lifo", "priority", "preemptive", "preemptive repeat")
LAYERS = ("cluster", "orchestration", "runtime", "model", "safety")
CAUSE: Kind[Word] = Kind(TEXT.read, {"type": ["string", "integer"]})  # `timeout`, `503`
UNLIMITED_DURATION = or_word(DURATION, "unlimited", "absent")
ROLE = word(*ACTIVITIES, note=f"what an activity is to a caller; understood by name: {render_table(ACTIVITIES)}")


def _read_renewal(node: Node, reading: Reading) -> Event | Quantity | None:
    if isinstance(node, Table) or (isinstance(node, Scalar) and node.text.lstrip("+- ")[:1].isdecimal()):
        return INTERVAL.read(node, reading)
    return EVENT.read(node, reading)


INTERVAL = quantity(SECOND, positive=True)
RENEWAL: Kind[Event | Quantity] = Kind(_read_renewal, {"anyOf": [dict(EVENT.schema), dict(INTERVAL.schema)]})


class Target(Record):
    """What a loop watches and where it wants it; `sensor` is the chain from the signal to the loop.

    `type`: `utilization`, the mean over the members that are ready; `value`, one number, and the ready ones are
    multiplied; `average`, a total that is shared among all members.
    """

    signal: Formula | None = key(FORMULA, required=True)
    setpoint: Quantity | Formula | None = key(VALUE)
    tolerance: Quantity | None = key(quantity(ONE, low=0))
    kind: Word | None = key(word("utilization", "value", "average"), "type")
    sensor: tuple[SensorLink, ...] = key(listing(LINK, or_one=True), many=True)


class Timescale(Record):
    """When a loop acts.  `lands` = delay from command to effect; holds and cooldown as in model.md rule 4."""

    period: Quantity | None = key(PERIOD)
    phase: Quantity | None = key(DURATION)
    hold_down: Quantity | None = key(DURATION)
    hold_up: Quantity | None = key(DURATION)
    cooldown: Quantity | None = key(DURATION)
    lands: Quantity | None = key(DURATION)


class Relay(Record):
    """A trigger with memory: false at first, `enter` wins over `leave`.  Without a period it switches at crossings."""

    enter: Formula | None = key(FORMULA, required=True)
    leave: Formula | None = key(FORMULA, required=True)


class Rule(Record):
    """One of ordered rules: while `when` holds, change by `by` or set to `to`."""

    exclusive = ("by", "to")

    when: Formula | None = key(FORMULA, required=True)
    by: Quantity | Formula | None = key(VALUE)
    to: Quantity | Formula | None = key(VALUE)


class Rate(Record):
    """At most `by` (absolute) or `percent` of change by this loop itself per `per`."""

    by: Quantity | None = key(ANY_QUANTITY)
    percent: Quantity | None = key(ANY_QUANTITY)
    per: Quantity | None = key(DURATION, required=True)
    way: Word | None = key(word("up", "down", "both"))


class Actuation(Record):
    """What a loop writes, by which law, within which bounds; `off_at`: a value below them at which it does nothing."""

    exclusive = ("by", "to")
    decided_by = "law"

    signal: Word | None = key(NAME_KIND)
    law: Word | None = key(word("proportional", "step", "set", "ignore"))
    by: Quantity | Formula | None = key(VALUE)
    to: Quantity | Formula | Word | None = key(VALUE)
    bounds: tuple[Quantity | Word | Formula, ...] = key(listing(VALUE, or_one=True), many=True)
    rate: tuple[Rate, ...] = key(listing(record(Rate), or_one=True), many=True)
    mode: Word | None = key(word("always", "on change", "once"))
    count: Word | None = key(word("commanded", "landed"))
    initial: Quantity | Formula | None = key(VALUE, "from")
    off_at: Quantity | None = key(ANY_QUANTITY)
    evict: Word | None = key(NAME_KIND)


class Loop(Record):
    """Objective, target, timescale, trigger or ordered rules, actuation, layer and rank; `inside`: where it runs."""

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses")
    layer: Word | None = key(word(*LAYERS), for_people=True)
    objective: Word | None = key(TEXT, for_people=True)
    rank: Quantity | None = key(quantity(ONE))
    inside: tuple[Word, ...] = key(listing(NAME_KIND, or_one=True), many=True)
    target: Target | None = key(record(Target))
    timescale: Timescale | None = key(record(Timescale))
    trigger: Formula | Relay | None = key(either(record(Relay), FORMULA))
    rules: tuple[Rule, ...] = key(listing(record(Rule)), many=True)
    actuation: Actuation | None = key(record(Actuation))
    per: Word | None = key(NAME_KIND)
    contact: Word | None = key(TEXT, for_people=True)
    logs: Any = key(listing(TEXT, or_one=True), for_people=True)
    note: Word | None = key(TEXT, for_people=True)


class Pause(Record):
    """Wait between tries: base * factor^(k-1), at most `cap`; `full` jitter draws from [0, that].

    A share as jitter is how far a wait may be off: `20 %` either way, `-25 % .. 0 %` shorter only.
    """

    place: Place | None = plain(compare=False)
    base: Quantity | None = key(DURATION, required=True)
    cap: Quantity | None = key(DURATION)
    factor: Quantity | None = key(quantity(ONE, low=1))
    jitter: Quantity | Word | None = key(or_word(quantity(ONE, low=-1), "none", "full", "equal", "decorrelated"))


class Call(Record):
    """One edge of the call tree with its deadline and retries.  `tries` counts the first one too."""

    caller: Word | None = key(NAME_KIND, "from", required=True)
    callee: Word | None = key(NAME_KIND, "to", required=True)
    place: Place | None = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses")
    deadline: Quantity | Word | None = key(UNLIMITED_DURATION)
    per_try: Quantity | Word | None = key(UNLIMITED_DURATION)
    tries: tuple[Quantity | Word, ...] = key(listing(or_word(WHOLE, "unlimited"), or_one=True), many=True)
    pause: Pause | Quantity | Word | None = key(either(record(Pause), or_word(DURATION, "from answer")))
    retry_when: tuple[Word, ...] | None = key(listing(CAUSE))
    fails: dict[str, Quantity] | None = key(mapping(DURATION, names=False))
    on_timeout: Word | None = key(word("abandon", "cancel"))
    timeout_kind: Word | None = key(word("total", "first byte", "between bytes", "connect"))
    budget: Word | None = key(NAME_KIND)
    breaker: Breaker | None = key(described(record(Breaker), BREAKER_OF_CALL))
    hedge_after: Quantity | None = key(described(DURATION, HEDGE_OF_CALL))
    stage: Word | None = key(described(NAME_KIND, STAGE_OF_CALL))
    cases: tuple[Word, ...] = key(described(listing(NAME_KIND, or_one=True), CASE_OF_CALL), "case", many=True)
    fallback_for: Word | None = key(described(NAME_KIND, FALLBACK_FOR_CALL))
    carries: Quantity | None = key(CARRIES)
    via: tuple[Word, ...] = key(VIA, many=True)
    layer: Word | None = key(word(*LAYERS), for_people=True)
    objective: Word | None = key(TEXT, for_people=True)
    note: Word | None = key(TEXT, for_people=True)

    @property
    def name(self) -> str:
        return f"{self.caller} -> {self.callee}"


class Timer(Record):
    """From an event: after / first, every, misses, reply_within, renew, unless, then.

    `paced_by`: what the time between two looks is counted from, a clock or the reply to the look before.
    """

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses")
    start: Event | None = key(EVENT, "from")
    after: Quantity | Word | None = key(UNLIMITED_DURATION)
    first: Quantity | None = key(DURATION)
    every: Quantity | None = key(DURATION)
    paced_by: Word | None = key(word("clock", "reply"))
    misses: Quantity | Word | None = key(or_word(quantity(ONE, low=1, whole=True), "unlimited"))
    reply_within: Quantity | None = key(DURATION)
    jitter: Quantity | None = key(quantity(SECOND))
    renew: Event | Quantity | None = key(RENEWAL)
    unless: Event | None = key(EVENT)
    then: Event | None = key(EVENT)
    sees: Word | None = key(TEXT)
    per: Word | None = key(NAME_KIND)
    layer: Word | None = key(word(*LAYERS), for_people=True)
    objective: Word | None = key(TEXT, for_people=True)
    note: Word | None = key(TEXT, for_people=True)


class Limit(Record):
    """A count with a cap or a floor; `when_full` says what happens at the cap."""

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses")
    counts: Formula | None = key(FORMULA)
    at_most: Quantity | Formula | Word | None = key(VALUE)
    at_least: Quantity | Formula | Word | None = key(VALUE)
    but_at_least: Quantity | Formula | Word | None = key(VALUE)
    rounding: Word | None = key(word("up", "down", "exact"))
    window: Quantity | Word | None = key(UNLIMITED_DURATION)
    scope: Word | None = key(TEXT)
    per: Word | None = key(NAME_KIND)
    when_full: Word | None = key(word("wait", "reject", "evict and redo", "fail and lose"))
    refused: Word | None = key(word("count", "do not count", note="whether a window counts what it refuses"))
    during: Word | None = key(TEXT)
    actions: tuple[Word, ...] = key(listing(TEXT, or_one=True), many=True)
    layer: Word | None = key(word(*LAYERS), for_people=True)
    objective: Word | None = key(TEXT, for_people=True)
    intended: Word | None = key(TEXT)
    note: Word | None = key(TEXT, for_people=True)


class Component(Record):
    """A thing that loops act on: members, activities, capacities, an inline plant, constants and outputs.

    `constants` holds every other key: a value, a range, or an expression that is an output.
    """

    name: str
    place: Place = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses")
    copies: Quantity | Formula | None = key(VALUE)
    count: Quantity | None = key(ANY_QUANTITY)
    needs: dict[str, Quantity] | Quantity | None = key(NEEDS)
    returns: Word | None = key(TEXT)
    takes: dict[str, Quantity] | None = key(mapping(DURATION))
    roles: dict[str, Word] | None = key(mapping(ROLE))
    state: Word | None = key(TEXT)
    step: Quantity | None = key(PERIOD)
    initial: Quantity | None = key(ANY_QUANTITY, "from")
    runs_on: Word | Hosting | None = key(either(record(Hosting), NAME_KIND))
    carries: Quantity | None = key(CARRIES)
    via: tuple[Word, ...] = key(VIA, many=True)
    measured_in: Word | None = key(described(NAME_KIND, "the boundary inside which its rates were measured"))
    discipline: Word | None = key(word(*DISCIPLINES, note=DISCIPLINE_OF_THING))
    cases: dict[str, Quantity] | None = key(described(mapping(quantity(ONE, low=0)), CASES_OF_CALLER))
    note: Word | None = key(TEXT, for_people=True)
    constants: dict[str, Quantity | Formula | Word] = key(VALUE, "<constant>", rest=True)


class Job(Record):
    """A job waiting for resources.  `takes: {end: ..}` (or `leaves_after`): how long it holds them once evicted.

    `comes: again`: whenever it has ended, one like it comes.
    """

    name: str
    place: Place = plain(compare=False)
    queue: Word | None = key(NAME_KIND)
    needs: dict[str, Quantity] | Quantity | None = key(NEEDS)
    priority: Quantity | None = key(ANY_QUANTITY)
    age: Quantity | None = key(DURATION)
    comes: Word | None = key(word("once", "again"))
    takes: dict[str, Quantity] | None = key(mapping(DURATION))
    constants: dict[str, Quantity | Formula | Word] = key(VALUE, "<constant>", rest=True)


def needed(owner: Component | Job) -> Mapping[str, Quantity]:
    """Returns resource -> how much one member holds; `needs: 4 cpu` names its resource."""
    needs = owner.needs
    if isinstance(needs, Quantity):
        tags = [tag for tag, _ in needs.dimension.tags.powers]
        return {tags[0]: needs} if len(tags) == 1 else {}
    return needs or {}


class Order(Record):
    """Who is admitted first, who may take from whom, and whether the victim returns: to its place by age, or where the
    order reads `job.waited` to the tail of the queue, or to its head.

    `blocked`: what the first job of the order does to those behind it while it does not fit.
    """

    admit: Admission | None = key(ADMISSION)
    preempt: Preemption | None = key(PREEMPTION)
    victim: Word | None = key(
        word(
            "returns",
            "leaves",
            "returns, no reservation",
            "returns, reservation",
            "leaves, reservation",
            "leaves, no reservation",
            "returns to the head",
            "returns to the head, no reservation",
            "returns to the head, reservation",
            unsaid={"suspends": SUSPENDED, "is suspended": SUSPENDED, "suspended": SUSPENDED},
        )
    )
    blocked: Word | None = key(word("is passed", "is passed, reservation", "holds its queue", "holds all"))


class Design(Record):
    """A whole design.  `part_of` maps the place of a value that a part supplied to its source text."""

    version: Quantity | None = key(quantity(ONE), "coherence", required=True, for_people=True)
    system: Word | None = key(TEXT, for_people=True)
    summary: Word | None = key(TEXT, for_people=True)
    note: Word | None = key(TEXT, for_people=True)
    overlays: Word | None = key(word("manifests", note="completes the manifests beside it"), for_people=True)
    workload: dict[str, Workload] = key(named(Workload), table=True)
    infrastructure: Infrastructure | None = key(record(Infrastructure))
    components: dict[str, Component] = key(named(Component), table=True)
    claims: dict[str, Formula] = key(mapping(FORMULA), table=True)
    loops: dict[str, Loop] = key(named(Loop), table=True)
    calls: tuple[Call, ...] = key(listing(record(Call)), many=True)
    timers: dict[str, Timer] = key(named(Timer), table=True)
    limits: dict[str, Limit] = key(named(Limit), table=True)
    jobs: dict[str, Job] = key(named(Job), table=True)
    order: Order | None = key(record(Order))
    places: dict[str, dict[str, Any]] = key(mapping(mapping(VALUE)), table=True)
    placement: dict[str, tuple[PlacementRule, ...]] = key(mapping(listing(PLACEMENT, or_one=True)), table=True)
    promises: dict[str, Promise] = key(mapping(PROMISE), table=True)
    prices: dict[str, Any] = key(mapping(VALUE), table=True)
    telemetry: dict[str, Word] = key(mapping(TEXT, names=False), table=True)
    file: str = ""
    text: str = plain(default="", compare=False)
    comments: tuple[tuple[int, str], ...] = plain(default=(), compare=False)
    sources: dict[str, str] = plain(default=dict, compare=False)
    not_modelled: tuple[tuple[Place, str], ...] = plain(default=(), compare=False)
    imported: bool = plain(default=False, compare=False)  # of manifests, whose text is not of the language
    spelling: dict[str, str] = plain(default=dict, compare=False)  # our key -> the source's, for repairs

    @property
    def boundaries(self) -> dict[str, Boundary]:
        return (self.infrastructure.boundaries or {}) if self.infrastructure else {}

    @property
    def tiers(self) -> dict[str, Tier]:
        return (self.infrastructure.tiers or {}) if self.infrastructure else {}


note_readers(Design, Design.fields)
