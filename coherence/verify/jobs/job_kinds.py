"""Reads the jobs of a design as kinds of like jobs, with what each holds and waits for.

A state says of each job of a kind what it does (`job_states`), sorted within the kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from coherence.base.places import Place
from coherence.base.reads import answered
from coherence.language.design import Component, Job
from coherence.language.expressions.tree import Name
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.sentences import Event
from coherence.language.words import ACTIVITIES
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.jobs.needs import NeedsError

Amount: TypeAlias = Fraction | int  # exact; whole amounts as int, which is ten times faster
MOST_ALIKE = 60
ALONE, TOGETHER, WAITING = "copies", "gang", ("barrier", "ranks")
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


def plain(amount: Fraction) -> Amount:
    """Returns the amount, as an int where it is whole."""
    return int(amount) if amount.denominator == 1 else amount


def kind_of_job(facts: DesignFacts, job: Job) -> JobKind:
    """Returns a job as a kind: so many jobs of one member each, or one of all members that wait for each other."""
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


def kind_of_component(facts: DesignFacts, component: Component) -> JobKind | None:
    """Returns a component whose members wait for each other and hold something; None for any other."""
    if component.needs is None or not waits_together(facts, component):
        return None
    number, place = members_of(facts, component)
    needs = _needs(component, component.place)
    leaves = leaving_time(facts, component.name, None)
    return JobKind(
        component.name, (component.name,), 1, "", needs, number, 1, number, {}, component.place, place, leaves
    )


def members_of(facts: DesignFacts, component: Component) -> tuple[int, Place]:
    """Returns how many members it has (`ranks` of a barrier, else copies), and where that stands."""
    path = f"{component.name}.ranks" if f"{component.name}.ranks" in facts.values else f"{component.name}.copies"
    given = facts.quantities.get(path)
    if given is None or not given.exact or given.low.denominator != 1 or not 0 <= given.low <= MOST_ALIKE:
        raise NeedsError(f"one number of copies of {component.name}", component.place)
    return int(given.low), given.place


def merged_kinds(facts: DesignFacts, kinds: list[JobKind]) -> list[JobKind]:
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
