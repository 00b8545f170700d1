"""Reads the jobs of a design as a contest for capacities: kinds of like jobs, admission order, preemption rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.units import Dimension
from coherence.language.design import Design, needed
from coherence.language.expressions.tree import Name, names
from coherence.language.sentences import Admission, Preemption
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import cap
from coherence.verify.facts.members_that_stay import may_go
from coherence.verify.facts.ranges import Values
from coherence.verify.facts.tier_shares import supplies
from coherence.verify.jobs.capacity import alike
from coherence.verify.jobs.job_kinds import (
    Amount,
    JobKind,
    kind_of_component,
    kind_of_job,
    members_of,
    merged_kinds,
    plain,
)
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.selectors import STAY

if TYPE_CHECKING:
    from coherence.verify.jobs.pools import JobPool

State: TypeAlias = tuple[tuple[int, ...], ...]  # per kind, per job: members that hold their needs, sorted
PASSED, RESERVES, HOLDS_QUEUE, HOLDS_ALL = "is passed", "is passed, reservation", "holds its queue", "holds all"
WAITED = "waited"  # of a job, in an order: the time since it came to the queue, or was evicted


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


def contest(facts: DesignFacts, *, components: bool = False, merged: bool = True) -> Contest:
    """Returns the contest of a design's jobs (and of components that hold the same resources).  Raises NeedsError.

    `merged`: jobs alike are one kind, whatever their names.
    """
    design = facts.design
    order = design.order
    kinds = [kind_of_job(facts, job) for job in design.jobs.values()]
    if components:
        kinds += [kind for c in design.components.values() if (kind := kind_of_component(facts, c)) is not None]
    kinds, pools = _with_pools(facts, kinds)
    kinds = merged_kinds(facts, kinds) if merged else kinds
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
    from coherence.verify.jobs.pools import open_pools, pools_of

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


def _taken(facts: DesignFacts, resource: str, supply: str, own: set[str]) -> Amount:
    """Returns what components that are no contestants hold of a capacity, all of them running."""
    held: Amount = 0
    for component in facts.design.components.values():
        need = needed(component).get(resource) if component.name not in own else None
        if need is not None and supplies(facts, component, resource) == supply:
            held += plain(need.high) * members_of(facts, component)[0]
    return held


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
