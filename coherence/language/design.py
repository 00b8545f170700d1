"""Declares the vocabulary of a design: what the YAML says, typed and in SI, every value with its place.

Each class of this folder lists its keys; `key(kind, means=..., without=...)` states what a key may hold, what it says
and what holds without it.
"""

from __future__ import annotations

from typing import Any

from coherence.base.places import Place
from coherence.base.queries import note_readers
from coherence.base.records import Record, plain
from coherence.base.units import ONE
from coherence.language.calls import Call, Pause
from coherence.language.components import Component
from coherence.language.infrastructure import Boundary, Infrastructure, Tier
from coherence.language.jobs import Job, Order, needed
from coherence.language.limits import Limit
from coherence.language.loops import Actuation, Loop, Rate, Relay, Target
from coherence.language.schema_kinds import Formula, Quantity, Word, key, listing, mapping, named, record
from coherence.language.sentences import PLACEMENT, PROMISE, PlacementRule, Promise
from coherence.language.timers import Timer
from coherence.language.value_kinds import ENVIRONMENTS, FORMULA, TEXT, VALUE, quantity, word
from coherence.language.words import NOTE
from coherence.language.workloads import Workload


class Design(Record):
    """A whole design.  `part_of` maps the place of a value that a part supplied to its source text."""

    version: Quantity | None = key(
        quantity(ONE), "coherence", means="the version of the language: 1", required=True, for_people=True
    )
    system: Word | None = key(TEXT, also="name title", means="the name of the system", for_people=True)
    summary: Word | None = key(TEXT, also="description", means="what the system is, in a sentence", for_people=True)
    note: Word | None = key(TEXT, means=NOTE, for_people=True)
    overlays: Word | None = key(
        word("manifests"),
        also="overlay",
        means="the document completes the manifests beside it", without="it is a design of its own",
        for_people=True,
    )  # fmt: skip
    workload: dict[str, Workload] = key(
        named(Workload), table=True,
        also="workloads traffic load clients demand requests",
        means="what arrives, by name: rates, bursts, sizes of requests",
        without="nothing is known of the load, and what rests on it is asked for",
    )  # fmt: skip
    infrastructure: Infrastructure | None = key(
        record(Infrastructure),
        also="hardware topology accelerators",
        means="tiers of accelerators, the links between them, and boundaries around them",
        without="members run anywhere, and commands and readings cross nothing",
    )  # fmt: skip
    components: dict[str, Component] = key(
        named(Component), table=True,
        also="things services nodes servers plants plant signals",
        means="the things that loops act on, by name",
        without="a name before a dot is a thing outside, whose signals may take any value",
    )  # fmt: skip
    claims: dict[str, Formula] = key(
        mapping(FORMULA, paths=True), table=True,
        means="for a tier, a capacity or a value of a thing (`db.connections`), what shares it: a sum that promises to "
        "stay within its count, or within that value",
        without="what runs on a tier claims it with the devices of its members",
    )  # fmt: skip
    loops: dict[str, Loop] = key(
        named(Loop),
        table=True,
        also="controllers autoscalers policies control_loops",
        means="control loops, by name: who reads what, when, and writes what",
        without="none act",
    )
    calls: tuple[Call, ...] = key(
        listing(record(Call)), many=True,
        also="edges rpcs dependencies call",
        means="the edges of the call tree, with deadlines and retries",
        without="nobody calls",
    )  # fmt: skip
    timers: dict[str, Timer] = key(
        named(Timer),
        table=True,
        also="probes leases watchdogs timeouts",
        means="probes, leases, watchdogs, graces and cool-downs, by name",
        without="none run",
    )
    limits: dict[str, Limit] = key(
        named(Limit),
        table=True,
        also="quotas caps rate_limits budgets limit throttles",
        means="caps and floors on what is counted, by name",
        without="nothing is limited",
    )
    jobs: dict[str, Job] = key(
        named(Job), table=True, also="tasks", means="jobs that wait for resources, by name", without="none wait"
    )
    order: Order | None = key(
        record(Order),
        also="scheduler queue_order",
        means="in which order jobs get resources, and who may take from whom",
        without="any order",
    )
    places: dict[str, dict[str, Any]] = key(
        mapping(mapping(VALUE)), table=True,
        also="zones racks machines",
        means="the nodes on which members stand, by name: their `count`, their labels (`zone: a`), what they hold, "
        "how many may go at once (`lost: 1`, `drained: 1`)",
        without="members stand anywhere",
    )  # fmt: skip
    placement: dict[str, tuple[PlacementRule, ...]] = key(
        mapping(listing(PLACEMENT, or_one=True)), table=True,
        also="affinity constraints",
        means="for a component, where its members may stand: `spread by zone <= 1`, `at most 1 by node`, `prefer "
        "spread by node <= 1 weight 2`, `only on zone a or b`, `not on zone c`, `tolerates gpu`, `ties at random`",
        without="they may stand on any node that has room",
    )  # fmt: skip
    promises: dict[str, Promise] = key(
        mapping(PROMISE), table=True, without="default promises alone are asked: of limits, timers, calls and loops",
        also="invariants slos slo requirements properties guarantees objectives",
        means="what must hold, by name: `c` or `always c`, `never c`, `eventually c`, `eventually_always c`, `x "
        "reaches v`, `after e then f within T`, `a before b` (the latest a precedes the earliest b of the same "
        "occurrence), `attempts(x) per call(y) <= n`",
    )  # fmt: skip
    prices: dict[str, Any] = key(
        mapping(VALUE), table=True,
        also="costs cost price",
        means="what a unit of a tier or of a thing costs (`h100: 2.5 usd/h`)",
        without="no money is computed",
    )  # fmt: skip
    telemetry: dict[str, Word] = key(
        mapping(TEXT, names=False), table=True,
        also="metrics columns",
        means="for a signal, its column in telemetry or its PromQL",
        without="columns are found by the names of signals",
    )  # fmt: skip
    environments: dict[str, Any] = key(
        ENVIRONMENTS, table=True, for_people=True,  # the reader lays them over the rest
        also="regions profiles environment",
        means="where the design runs, by name: values that are added to the rest of it, or stand in their place",
        without="it is the same everywhere",
    )  # fmt: skip
    file: str = ""
    text: str = plain(default="", compare=False)
    comments: tuple[tuple[int, str], ...] = plain(default=(), compare=False)
    sources: dict[str, str] = plain(default=dict, compare=False)
    not_modelled: tuple[tuple[Place, str], ...] = plain(default=(), compare=False)
    environment: str = plain(default="")  # the one in which the design is read, where it has some
    unused: tuple[tuple[Place, str, str], ...] = plain(default=(), compare=False)  # what does not count in that one
    imported: bool = plain(default=False, compare=False)  # of manifests, whose text is not of the language
    spelling: dict[str, str] = plain(default=dict, compare=False)  # our key -> the source's, for repairs

    @property
    def boundaries(self) -> dict[str, Boundary]:
        return (self.infrastructure.boundaries or {}) if self.infrastructure else {}

    @property
    def tiers(self) -> dict[str, Tier]:
        return (self.infrastructure.tiers or {}) if self.infrastructure else {}


note_readers(Design, Design.fields)

__all__ = [
    "Actuation",
    "Call",
    "Component",
    "Design",
    "Job",
    "Limit",
    "Loop",
    "Pause",
    "Rate",
    "Relay",
    "Target",
    "Timer",
    "needed",
]
