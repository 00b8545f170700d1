"""Reads the jobs of a design as a contest for capacities: kinds of like jobs, admission order, preemption rule.

A kind is some like jobs; a state says of each job what it does (`job_states`), sorted within the kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.reads import answered
from coherence.base.units import Dimension
from coherence.language.design import Component, Design, Job, needed
from coherence.language.expressions.tree import Name, names
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.sentences import Admission, Event, Preemption
from coherence.language.words import ACTIVITIES
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import cap
from coherence.verify.facts.members_that_stay import may_go
from coherence.verify.facts.ranges import Values
from coherence.verify.jobs.capacity import alike, supplies
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.pools import JobPool, open_pools, pools_of
from coherence.verify.jobs.selectors import STAY

Amount: TypeAlias = Fraction | int  # exact; whole amounts as int, which is ten times faster
State: TypeAlias = tuple[tuple[int, ...], ...]  # per kind, per job: members that hold their needs, sorted
MOST_ALIKE = 60
PASSED, RESERVES, HOLDS_QUEUE, HOLDS_ALL = "is passed", "is passed, reservation", "holds its queue", "holds all"
ALONE, TOGETHER, WAITING = "copies", "gang", ("barrier", "ranks")
WAITED = "waited"  # of a job, in an order: the time since it came to the queue, or was evicted
ENDING = ("end", *ACTIVITIES["drain"])  # activities by which an evicted job ends


@dataclass(frozen=True)
class JobKind:
    """Like jobs.  `chunk` members are admitted at once, `barrier` must be there before any makes progress."""

    name: str
    jobs: tuple[str, ...]
    number: int
    queue: str
    needs: Mapping[str, Amount]
    members: int
    chunk: int
    barrier: int
    attributes: Mapping[str, Amount]
    place: Place = field(compare=False)
    barrier_place: Place | None = field(default=None, compare=False)
    leaves: tuple[Fraction, Fraction] | None = None  # how long it holds its needs once it is evicted; None: not stated
    again: bool = False  # whenever one has ended, one like it comes
    pools: tuple[int, ...] = ()  # the pools that it may use, where the contest has some

    @property
    def all_needs(self) -> dict[str, Amount]:
        """Returns what all jobs of the kind hold together."""
        return {resource: need * self.members * self.number for resource, need in self.needs.items()}


@dataclass(frozen=True)
class Contest:
    """Kinds of jobs, what there is of each resource, and the rules.

    `reserved`: what is freed is kept for the taker.  `taken`: what components hold that no job gets.  `head`: a victim
    goes before all that wait.  `lasting`: an eviction of which nothing is stated takes time.  `blocked`: what the first
    job in order does to those behind it while it does not fit; empty where nothing is stated: it is passed.
    """

    kinds: tuple[JobKind, ...]
    capacity: Mapping[str, Amount]
    supply: Mapping[str, str]  # resource -> path of its capacity
    admit: Admission | None
    preempt: Preemption | None
    returns: bool
    reserved: bool
    caps: tuple[tuple[str, object, object], ...]  # (limit, counts, at most) as trees
    constants: Values
    units: Mapping[str, Dimension] = field(default_factory=dict)
    spans: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)  # capacities stated as a range

    taken: Mapping[str, Amount] = field(default_factory=dict)
    head: bool = False
    lasting: bool = False
    blocked: str = ""
    assumed: tuple[str, ...] = ()  # what every answer about it takes for granted
    pools: tuple[JobPool, ...] = ()  # parts of the capacities that not every job may use

    @property
    def queued(self) -> bool:
        """Decides whether the order reads how long jobs have waited, so that a state says who came when."""
        return any(reads_waited(key) for key in (self.admit.keys if self.admit is not None else ()))

    def lasts(self, kind: JobKind) -> bool:
        """Decides whether an evicted job of the kind holds its needs for a while."""
        return kind.leaves[1] > 0 if kind.leaves is not None else self.lasting

    def whole(self, resource: str) -> bool:
        """Decides whether the resource is counted in whole units (no bytes, no watts)."""
        return self.units[resource] == Dimension(((resource, 1),))

    def shown(self, resource: str, amount: Amount) -> str:
        """Returns an amount of a resource with its unit."""
        return render_quantity(amount, self.units[resource])

    def is_too_large(self, kind: JobKind, members: int) -> bool:
        """Decides whether so many members of a kind need more than there is, of all or of each pool that takes them."""
        rooms = [self.pools[number].room for number in kind.pools] or [{}]
        needs = {resource: need * members for resource, need in kind.needs.items()}
        return any(need > self.open(r) for r, need in needs.items()) or all(
            any(need > room.get(r, need) for r, need in needs.items()) for room in rooms
        )

    def where(self, kind: JobKind, pool: int) -> str:
        """Returns on which of its pools a job of the kind lies, in words; empty where it has one."""
        return f" on {self.pools[kind.pools[pool]].name}" if len(kind.pools) > 1 else ""

    @property
    def queues(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kind.queue for kind in self.kinds if kind.queue))

    def total(self, resource: str) -> Amount:
        """Returns what all jobs (and what holds it anyway) need of it together."""
        return sum((kind.all_needs.get(resource, 0) for kind in self.kinds), self.taken.get(resource, 0))

    def open(self, resource: str) -> Amount:
        """Returns what there is for jobs."""
        return self.capacity[resource] - self.taken.get(resource, 0)


def reads_waited(order: Admission) -> bool:
    """Decides whether a key of the order is how long a job has waited."""
    return isinstance(order.by.tree, Name) and order.by.tree.path.rpartition(".")[2] == WAITED


def plain(amount: Fraction) -> Amount:
    """Returns the amount, as an int where it is whole."""
    return int(amount) if amount.denominator == 1 else amount


def contest(facts: DesignFacts, *, components: bool = False, merged: bool = True) -> Contest:
    """Returns the contest of a design's jobs (and of components that hold the same resources).  Raises NeedsError.

    `merged`: jobs alike are one kind, whatever their names.
    """
    design = facts.design
    order = design.order
    kinds = [_job(facts, job) for job in design.jobs.values()]
    if components:
        kinds += [kind for c in design.components.values() if (kind := _component(facts, c)) is not None]
    kinds, pools = _with_pools(facts, kinds)
    kinds = _merged(facts, kinds) if merged else kinds
    supply = {r: _supply(facts, r, kind) for kind in kinds for r in kind.needs}
    victim = order.victim.text if order and order.victim else "returns"
    stated = {r: _span(facts, path) for r, path in supply.items()}
    units = {r: _unit(facts, path, r) for r, path in supply.items()}
    spans = {r: span for r, span in stated.items() if span[0] < span[1]}
    own = {name for kind in kinds for name in kind.jobs}
    jobs = Contest(
        tuple(kinds), {r: plain(low) for r, (low, _) in stated.items()}, supply,
        order.admit if order else None, order.preempt if order else None,
        victim.startswith("returns"), victim.endswith(", reservation"),
        tuple(_caps(facts, _words(kinds, supply))), facts.values, units, spans,
        {r: _taken(facts, r, path, own) for r, path in supply.items()}, "head" in victim,
        blocked=order.blocked.text if order and order.blocked else "", assumed=_pooled(design, supply, pools),
        pools=pools,
    )  # fmt: skip
    _refuse_unread(jobs, order.victim.place if order and order.victim else None)
    return jobs


def _with_pools(facts: DesignFacts, kinds: Sequence[JobKind]) -> tuple[list[JobKind], tuple[JobPool, ...]]:
    """Returns the kinds with the pools that each may use, and these.  Raises NeedsError."""
    resources = list(dict.fromkeys(resource for kind in kinds for resource in kind.needs))
    pools = pools_of(facts, [kind.name for kind in kinds], resources)
    placed = []
    for kind in kinds:
        own = open_pools(facts.design, kind.name, pools)
        own = own if any(set(pools[number].room) & set(kind.needs) for number in own) else own[:1]
        if len(own) > 1 and kind.members > 1:
            raise NeedsError(f"one sort of places for all members of {kind.name} (only on ...)", kind.place)
        placed.append(replace(kind, pools=own))
    return placed, pools


def _pooled(design: Design, resources: Iterable[str], pools: Sequence[JobPool]) -> tuple[str, ...]:
    """Returns what an answer assumes of places that have what jobs need."""
    shared = [resource for resource in resources if any(resource in given for given in design.places.values())]
    alike = " on places that take the same jobs" if pools else ""
    words = (f"all {' and '.join(shared)}{alike} is one pool: on which place a job runs is not counted",)
    return (*(words if shared else ()), *((STAY,) if shared and may_go(design) else ()))


def _refuse_unread(jobs: Contest, victim: Place | None) -> None:
    """Raises NeedsError where the place of a job, in the queue or among pools, is in no state that could be counted."""
    beside = next((resource for resource, amount in jobs.taken.items() if jobs.pools and amount > 0), None)
    if beside is not None:
        raise NeedsError(f"on which places lies what holds {beside} beside the jobs", None)
    if jobs.head and not jobs.queued:
        raise NeedsError("an order by which the head of the queue is first (admit: largest job.waited first)", victim)
    single = next((kind for kind in jobs.kinds if jobs.queued and kind.members > kind.chunk), None)
    if single is not None:
        raise NeedsError(f"all members of {single.name} at once (gang: all), where jobs wait in order", single.place)


def _job(facts: DesignFacts, job: Job) -> JobKind:
    needs, copies = _needs(job, job.place), _count(job, ALONE, 1)
    gang, barrier = _joint(facts, job, copies)
    attributes = {k: v.low for k, v in job.constants.items() if isinstance(v, Quantity) and v.exact}
    attributes |= {k: v.low for k, v in (("priority", job.priority), ("age", job.age)) if v is not None and v.exact}
    place = next((v.place for k in (TOGETHER, *WAITING) if (v := job.constants.get(k)) is not None), None)
    queue, leaves = job.queue.text if job.queue else "", leaving_time(facts, job.name, job)
    again = job.comes is not None and job.comes.text == "again"
    if not (gang or barrier):
        return JobKind(
            job.name, (job.name,), copies, queue, needs, 1, 1, 1, attributes, job.place, leaves=leaves, again=again
        )  # fmt: skip
    members = max(copies, gang, barrier)
    return JobKind(
        job.name, (job.name,), 1, queue, needs, members, gang or 1, max(barrier, gang), attributes, job.place,
        place, leaves, again,
    )  # fmt: skip


def _joint(facts: DesignFacts, job: Job, copies: int) -> tuple[int, int]:
    """Returns how many members are admitted at once, and how many wait for each other; 0 where nothing says so."""
    gang, barrier = _several(job, TOGETHER, copies), max(_several(job, word, copies) for word in WAITING)
    return gang, copies if _waits(facts, job.name) and not barrier else barrier


def together(facts: DesignFacts, job: Job) -> int:
    """Returns how many members of a job hold what they need at once before any makes progress.  Raises NeedsError."""
    return max(1, *_joint(facts, job, _count(job, ALONE, 1)))


def leaving_time(facts: DesignFacts, name: str, job: Job | None) -> tuple[Fraction, Fraction] | None:
    """Returns how long an evicted member holds its needs: `leaves_after` of the job, or the time in which it ends."""
    thing = facts.design.components.get(name)
    takes = {**((thing.takes if thing is not None else None) or {}), **((job.takes if job is not None else None) or {})}
    stated = [job.constants.get("leaves_after") if job is not None else None, *(takes.get(word) for word in ENDING)]
    times = [time for time in stated if isinstance(time, Quantity)]
    return (times[0].low, times[0].high) if times else None


def _count(job: Job, key: str, default: int) -> int:
    value = job.constants.get(key)
    if value is None:
        return default
    if not isinstance(value, Quantity) or not value.exact or value.low.denominator != 1:
        raise NeedsError(f"one whole number for {key} of {job.name}", getattr(value, "place", job.place))
    if value.low > MOST_ALIKE * MOST_ALIKE:
        raise NeedsError(f"fewer {key} of {job.name} than {value.low}", value.place)
    return int(value.low)


def _several(job: Job, key: str, copies: int) -> int:
    """Returns the value of `gang` or `barrier`: a number, or `all` of the copies; 0 where it is not stated."""
    value = job.constants.get(key)
    if isinstance(value, Formula) and value.tree == Name("all"):
        return copies
    return _count(job, key, 0)


def _waits(facts: DesignFacts, name: str) -> bool:
    """Decides whether an event speaks of members of the thing that wait for each other."""
    from coherence.language.names import events_of

    def speaks_of_it(event: Event) -> bool:
        return event.thing == name and (event.kind == "waits" or (event.kind == "ends" and event.of == "all"))

    return any(answered(partial(speaks_of_it, event)) for event in events_of(facts.design, name))


def _needs(thing: Job | Component, place: Place) -> dict[str, Amount]:
    stated = thing.needs
    if isinstance(stated, Quantity):
        tags = [tag for tag, _ in stated.dimension.tags.powers]
        if len(tags) != 1:
            raise NeedsError(f"the resource that {thing.name} needs (needs: {{gpu: 4}})", stated.place)
        stated = {tags[0]: stated}
    if not stated:
        raise NeedsError(f"needs of {thing.name}", place)
    for resource, amount in stated.items():
        if not amount.exact:
            raise NeedsError(f"one value for what {thing.name} needs of {resource}", amount.place)
    return {resource: plain(amount.low) for resource, amount in stated.items() if amount.low > 0}


def waits_together(facts: DesignFacts, component: Component) -> bool:
    """Decides whether the members of a component wait for each other."""
    return _waits(facts, component.name) or bool(component.part and component.part.text == "barrier")


def _component(facts: DesignFacts, component: Component) -> JobKind | None:
    """Returns a component whose members wait for each other and hold something; None for any other."""
    if component.needs is None or not waits_together(facts, component):
        return None
    number, place = _members(facts, component)
    needs = _needs(component, component.place)
    leaves = leaving_time(facts, component.name, None)
    return JobKind(
        component.name, (component.name,), 1, "", needs, number, 1, number, {}, component.place, place, leaves
    )


def _members(facts: DesignFacts, component: Component) -> tuple[int, Place]:
    """Returns how many members it has (`ranks` of a barrier, else copies), and where that stands."""
    path = f"{component.name}.ranks" if f"{component.name}.ranks" in facts.values else f"{component.name}.copies"
    given = facts.quantities.get(path)
    if given is None or not given.exact or given.low.denominator != 1 or not 0 <= given.low <= MOST_ALIKE:
        raise NeedsError(f"one number of copies of {component.name}", component.place)
    return int(given.low), given.place


def _taken(facts: DesignFacts, resource: str, supply: str, own: set[str]) -> Amount:
    """Returns what components that are no contestants hold of a capacity, all of them running."""
    held: Amount = 0
    for component in facts.design.components.values():
        need = needed(component).get(resource) if component.name not in own else None
        if need is not None and supplies(facts, component, resource) == supply:
            held += plain(need.high) * _members(facts, component)[0]
    return held


def _merged(facts: DesignFacts, kinds: list[JobKind]) -> list[JobKind]:
    """Returns jobs alike as one kind, except those that a rule names."""
    order = facts.design.order
    named = {order.preempt.job, order.preempt.victim} if order and order.preempt else set()
    groups: dict[object, list[JobKind]] = {}
    for kind in kinds:
        alike: object = (
            kind.name if kind.name in named or kind.members > 1
            else (
                kind.queue, tuple(sorted(kind.needs.items())), tuple(sorted(kind.attributes.items())), kind.leaves,
                kind.again, kind.pools,
            )
        )  # fmt: skip
        groups.setdefault(alike, []).append(kind)
    return [_merge(group) for group in groups.values()]


def _merge(group: list[JobKind]) -> JobKind:
    first, number = group[0], sum(kind.number for kind in group)
    if number > MOST_ALIKE:
        raise NeedsError(f"fewer jobs like {first.name} than {number}", first.place)
    return replace(first, jobs=tuple(kind.name for kind in group), number=number)


def _supply(facts: DesignFacts, resource: str, kind: JobKind) -> str:
    """Returns the path of the capacity of a resource: a component or tier of its name, or the one thing that has it."""
    own = f"{resource}.count"
    if own in facts.values:
        return own
    having = [f"{name}.{resource}" for name in facts.design.components if name not in kind.jobs]
    supplies_ = [path for path in having if path in facts.values]
    if len(supplies_) != 1:
        raise NeedsError(f"the capacity of {resource} (components: {{{resource}: {{count: ...}}}})", kind.place)
    if alike(facts, supplies_[0]) is not None:
        thing = supplies_[0].partition(".")[0]
        text = f"what all members of {thing} have of {resource} together (components: {{{resource}: {{count: ...}}}})"
        raise NeedsError(text, facts.places[supplies_[0]])
    return supplies_[0]


def _span(facts: DesignFacts, path: str) -> tuple[Fraction, Fraction]:
    interval = facts.values[path]
    if interval.low is None or interval.high is None:
        raise NeedsError(f"bounds of {path}", facts.places.get(path))
    return interval.low, interval.high


def _unit(facts: DesignFacts, path: str, resource: str) -> Dimension:
    """Returns the unit in which amounts of the resource are shown: its own name where they are counted."""
    quantity = facts.quantities.get(path)
    physical = quantity.dimension.physical if quantity else Dimension()
    return physical if physical.powers else Dimension(((resource, 1),))


def _words(kinds: list[JobKind], supply: Mapping[str, str]) -> frozenset[str]:
    """Returns what a limit on jobs speaks of: their queues, their capacities, or jobs by name."""
    owners = (path.partition(".")[0] for path in supply.values())
    return frozenset([*(kind.queue for kind in kinds), *owners, *(name for kind in kinds for name in kind.jobs)])


def _caps(facts: DesignFacts, about: frozenset[str]) -> Iterator[tuple[str, object, object]]:
    """Yields limits on jobs that may hold an admission back: those that wait or reject at their cap."""
    for limit in facts.design.limits.values():
        waits = limit.when_full is None or limit.when_full.text in ("wait", "reject")
        tree = cap(facts, limit)
        if limit.counts is None or not {path.partition(".")[0] for path in names(limit.counts.tree)} & about:
            continue
        if waits and tree is not None and limit.during is None:
            yield limit.name, limit.counts.tree, tree
