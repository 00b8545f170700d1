"""Asks whether what others hold can lie so on places that a member finds none: enough in sum, too little on each.

Members of several things take room of the same places and come in any order, each to any place that has room for it.
A member of one is refused where the others, as many as there may be of each, fit on the places so that each place
which takes it has too little left.  A solver looks for such a state over whole members.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base import solver
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, arithmetic
from coherence.language.design import Component, Job, needed
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Admittance, Spread
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import PLACED, DesignFacts, copies
from coherence.verify.facts.tier_shares import supplies
from coherence.verify.jobs.capacity import alike
from coherence.verify.jobs.count_ranges import added_places_needed, adders, variants
from coherence.verify.jobs.job_kinds import ALONE, TOGETHER, WAITING, waits_together
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.selectors import NODE_WORDS, OPEN, STAY, admissions_of, text_of
from coherence.verify.jobs.sites import ADDED, cluster
from coherence.verify.patterns.writers._pair import Numbers

QUERY_MS = 5_000
MOST_SPOTS = 64
ANY_PLACE = "members come in any order, each to any place that has room for it"


@dataclass(frozen=True)
class HoldingKind:
    """A thing whose members take room: how many there may be, what one holds, and where one may lie."""

    name: str
    most: int
    holds: Mapping[str, Fraction]
    spots: frozenset[int]
    stated: tuple[Place, ...]
    caps: tuple[tuple[frozenset[int], int], ...] = ()  # at most so many members on these spots together


@dataclass(frozen=True)
class SharedPlaces:
    """The kinds that lie on the same spots, the first one being asked about; each spot by its name and its room."""

    kinds: tuple[HoldingKind, ...]
    names: tuple[str, ...]
    rooms: tuple[Mapping[str, Fraction], ...]
    entries: tuple[str, ...]

    def without(self, entry: str, number: int) -> SharedPlaces:
        """Returns what is left where so many spots of one entry are gone; they are all alike."""
        gone = frozenset([spot for spot, name in enumerate(self.entries) if name == entry][-number:])
        kinds = (
            replace(kind, spots=kind.spots - gone, caps=tuple((spots - gone, most) for spots, most in kind.caps))
            for kind in self.kinds
        )
        return replace(self, kinds=tuple(kinds))

    def takes_one(self, entry: str) -> bool:
        """Decides whether a member of the first kind may lie on a spot of an entry."""
        own = self.kinds[0]
        may = (spot for spot in own.spots if self.entries[spot] == entry)
        return any(all(self.rooms[spot][name] >= need for name, need in own.holds.items()) for spot in may)

    def passed(self) -> bool:
        """Decides whether the members pass what is there in sum, or those of one kind what each spot has (COH211)."""
        sums = dict[str, Fraction]()
        for kind in self.kinds:
            for resource, held in kind.holds.items():
                sums[resource] = sums.get(resource, Fraction(0)) + kind.most * held
        there = {name: sum((room.get(name, Fraction(0)) for room in self.rooms), Fraction(0)) for name in sums}
        return any(sums[name] > there[name] for name in sums) or self._alone() < self.kinds[0].most

    def _alone(self) -> int:
        """Returns how many members of the first kind have a place where no others are."""
        own = self.kinds[0]
        held = {name: need for name, need in own.holds.items() if need > 0}
        return sum(min(self.rooms[spot][name] // need for name, need in held.items()) for spot in own.spots)

    def blocked(self) -> str:
        """Returns an SMT-LIB script, unsat where no state of the others refuses a member of the first kind."""
        own = self.kinds[0]
        limits = [f"(<= {_total(self._members(k))} {kind.most - (k == 0)})" for k, kind in enumerate(self.kinds)]
        full = [self._refuses(spot, own.holds) for spot in sorted(own.spots)]
        return self._script([*limits, *full])

    def packed(self) -> str:
        """Returns an SMT-LIB script, unsat where not all members have a place at once."""
        return self._script([f"(= {_total(self._members(k))} {kind.most})" for k, kind in enumerate(self.kinds)])

    def _script(self, facts: Iterable[str]) -> str:
        names = [name for k in range(len(self.kinds)) for name in self._members(k)]
        fits = (self._fits(spot) for spot in range(len(self.names)))
        keeps = (*(fact for some in fits for fact in some), *self._keeps_caps())
        stated = (*(f"(<= 0 {name})" for name in names), *keeps, *facts)
        return Certificate(dict.fromkeys(names, "Int"), stated, "false").script()

    def _members(self, k: int) -> list[str]:
        return [f"n_{k}_{spot}" for spot in sorted(self.kinds[k].spots)]

    def _held(self, spot: int, resource: str) -> str:
        terms = [
            f"(* {_whole(kind.holds[resource], self._scale(resource))} n_{k}_{spot})"
            for k, kind in enumerate(self.kinds)
            if spot in kind.spots and kind.holds.get(resource)
        ]
        return _total(terms)

    def _fits(self, spot: int) -> Iterator[str]:
        for resource, room in self.rooms[spot].items():
            yield f"(<= {self._held(spot, resource)} {_whole(room, self._scale(resource))})"

    def _keeps_caps(self) -> Iterator[str]:
        for k, kind in enumerate(self.kinds):
            yield from (f"(<= {self._together(k, spots)} {most})" for spots, most in kind.caps)

    def _together(self, k: int, spots: Iterable[int]) -> str:
        return _total([f"n_{k}_{spot}" for spot in sorted(spots)])

    def _refuses(self, spot: int, holds: Mapping[str, Fraction]) -> str:
        short = [
            f"(< {_whole(self.rooms[spot][resource] - held, self._scale(resource))} {self._held(spot, resource)})"
            for resource, held in holds.items()
        ]
        short += [f"(<= {most} {self._together(0, spots)})" for spots, most in self.kinds[0].caps if spot in spots]
        return f"(or {' '.join(short)})" if len(short) > 1 else short[0]

    def _scale(self, resource: str) -> int:
        amounts = [room[resource] for room in self.rooms if resource in room]
        amounts += [kind.holds[resource] for kind in self.kinds if resource in kind.holds]
        return math.lcm(*(amount.denominator for amount in amounts))


@dataclass(frozen=True)
class Spot:
    """One place, or one of the members of a thing on which others lie: of which kind, and what it has."""

    kind: str
    name: str
    has: Mapping[str, object]


def shared_places(facts: DesignFacts, thing: str) -> SharedPlaces | None:
    """Returns the things that take room where members of a thing lie, with the spots; None where it is alone there.

    Of a job it is one member: what other jobs hold they give back.  Raises NeedsError where a number, an amount or a
    place is not stated.
    """
    design = facts.design
    owner = design.components.get(thing) or design.jobs.get(thing)
    resources = {name for name, need in needed(owner).items() if need.high > 0} if owner is not None else set()
    if owner is None or not resources or _come_together(facts, owner):
        return None
    node = _node(facts, owner, resources)
    if node is None:
        return None
    holding = [each for each in design.components.values() if each is not owner and resources & set(needed(each))]
    others = [each for each in holding if _meet(facts, owner, each, node)]
    for name, job in design.jobs.items() if isinstance(owner, Component) else ():
        if resources & set(needed(job)):
            raise NeedsError(f"{name} as a component with copies: where jobs lie is not followed", job.place)
    if not others or (isinstance(owner, Job) and design.order is not None):  # who may take from whom: COH225
        return None
    spots = list(_spots(facts, node))
    kinds = tuple(_kind(facts, each, spots) for each in (owner, *others))
    held = {name for kind in kinds for name in kind.holds}
    rooms = tuple({name: _amount_of(spot, name) for name in held if name in spot.has} for spot in spots)
    shared = SharedPlaces(kinds, tuple(spot.name for spot in spots), rooms, tuple(spot.kind for spot in spots))
    return None if shared.passed() and not _open_number(facts) else shared


def answer(question: Question, facts: DesignFacts, shared: SharedPlaces, where: Iterable[Place]) -> Finding:
    """Returns whether each member of the first kind has a place, wherever the others lie."""
    own, others = shared.kinds[0], [kind.name for kind in shared.kinds[1:]]
    of = (own.name, *others)
    places = tuple(dict.fromkeys((*where, *own.stated, *(each for kind in shared.kinds[1:] for each in kind.stated))))
    assumed = (STAY, ANY_PLACE, *((ADDED,) if _grows(facts) else ()))
    script = shared.blocked()
    decided = solver.unsat(script, timeout_ms=QUERY_MS)
    numbers: Numbers = {f"most of {kind.name}": (kind.most, "") for kind in shared.kinds}
    if decided.unsat:
        message = f"{own.most} of {own.name}: each has a place, wherever {' and '.join(others)} lie"
        evidence = arithmetic(numbers, certificate=script)
        return question.proved(message, places, of, evidence, assumptions=assumed)
    if not decided.model:
        return question.undecided(f"more time to place {' and '.join(of)} on these places", places, of)
    numbers_of = variants(facts)[0] if facts.design.places else None
    loop = adders(facts, cluster(facts, own.name, numbers=numbers_of, soft=False)) if numbers_of is not None else None
    if loop is not None:
        return question.undecided(f"{added_places_needed(loop)}: in some order {own.name} finds no place", places, of)
    packed = solver.unsat(shared.packed(), timeout_ms=QUERY_MS)
    led = led_by(facts, shared)
    if led and not packed.unsat:
        needs = f"where `{led}` leads members is not followed: in some order {own.name} finds no place"
        return question.undecided(needs, places, of)
    if led:
        message = f"not all of {' and '.join(of)} have a place at once, wherever they lie"
        evidence = arithmetic(numbers, certificate=shared.packed())
        return question.conflict(message, places, of, evidence, certain=False, assumptions=assumed).refuting(
            PLACED.format(own.name)
        )
    state, lines = lying(shared, decided.model)
    message = (
        f"one of {own.name} finds no place where others lie before it ({'; '.join(lines)}): "
        f"{'not all have a place at once' if packed.unsat else 'all together would have room'}"
    )
    witness = (*(Step(None, line) for line in lines), *(Step(None, line) for line in _short(shared, state)))
    return question.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=False, assumptions=assumed
    ).refuting(PLACED.format(own.name))


def _open_number(facts: DesignFacts) -> bool:
    counts = (given.get("count") for given in facts.design.places.values())
    return any(isinstance(count, Quantity) and not count.exact for count in counts)


def _grows(facts: DesignFacts) -> bool:
    return any(f"{name}.count" in facts.written for name in facts.design.places)


def lying(shared: SharedPlaces, model: str) -> tuple[dict[str, int], list[str]]:
    """Returns the state of a solver's model, and in words what lies on each spot."""
    state = {name: int(value) for name, value in re.findall(r"(n_\d+_\d+) = (\d+)", model)}
    return state, [f"{spot}: {text}" for spot, text in _lying(shared, state)]


def _lying(shared: SharedPlaces, state: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for spot, name in enumerate(shared.names):
        there = [(state.get(f"n_{k}_{spot}", 0), kind.name) for k, kind in enumerate(shared.kinds)]
        held = " and ".join(f"{many} of {kind}" for many, kind in there if many)
        if held:
            yield name, held


def _short(shared: SharedPlaces, state: Mapping[str, int]) -> Iterator[str]:
    """Yields what each place that takes a member of the first kind has left, and how much that needs."""
    own = shared.kinds[0]
    for spot in sorted(own.spots):
        for resource, need in own.holds.items():
            members = ((state.get(f"n_{k}_{spot}", 0), kind) for k, kind in enumerate(shared.kinds))
            held = sum((many * kind.holds.get(resource, Fraction(0)) for many, kind in members), Fraction(0))
            left = shared.rooms[spot][resource] - held
            if left < need:
                amounts = f"{render_quantity(left)} {resource} left, {own.name} needs {render_quantity(need)}"
                yield f"{shared.names[spot]} has {amounts}"
                break
        else:
            yield f"{shared.names[spot]} takes no more of {own.name}"


def led_by(facts: DesignFacts, shared: SharedPlaces) -> str:
    """Returns a rule of one of the kinds that chooses among places with room; nothing where each may take any."""
    rules = (rule for kind in shared.kinds for rule in facts.design.placement.get(kind.name, ()))
    chooses = (
        rule for rule in rules
        if (isinstance(rule, Spread) and not (rule.capped and rule.must))
        or (isinstance(rule, Admittance) and not rule.must)
    )  # fmt: skip
    return next((rule.text for rule in chooses), "")


def _caps(
    facts: DesignFacts, name: str, spots: list[Spot], opened: Iterable[int]
) -> Iterator[tuple[frozenset[int], int]]:
    """Yields the spots that count together for a rule `at most 1 by zone`, and how many may lie there.

    Raises NeedsError where a spot has no label by which the rule counts.
    """
    for rule in facts.design.placement.get(name, ()):
        if not isinstance(rule, Spread) or not (rule.capped and rule.must):
            continue
        labelled = any(rule.by in spot.has for spot in spots)
        domains: dict[str, set[int]] = {}
        for k in opened:
            spot = spots[k]
            if not (rule.by in spot.has if labelled else _is_node(facts, rule.by)):
                raise NeedsError(f"{rule.by} of {spot.name}", rule.place)
            domains.setdefault(text_of(spot.has[rule.by]) if labelled else spot.name, set()).add(k)
        yield from ((frozenset(together), rule.at_most) for together in domains.values())


def _is_node(facts: DesignFacts, word: str) -> bool:
    return word in NODE_WORDS or word in facts.design.places


def _come_together(facts: DesignFacts, owner: Component | Job) -> bool:
    """Decides whether one member may need others: of a job with several, or where they wait for each other."""
    if isinstance(owner, Job):
        return any(key in owner.constants for key in (ALONE, TOGETHER, *WAITING))
    return waits_together(facts, owner)


def _node(facts: DesignFacts, owner: Component | Job, resources: set[str]) -> str | None:
    """Returns the thing of which each member has what is needed, empty for the places; None where neither has."""
    design = facts.design
    if resources <= {name for given in design.places.values() for name in given}:
        return ""
    if not isinstance(owner, Component):
        return None
    paths = [supplies(facts, owner, resource) for resource in resources]
    names = {path.partition(".")[0] for path in paths}
    things = [name for name in names if all(path and alike(facts, path) is not None for path in paths)]
    return things[0] if len(names) == 1 and things and things[0] in design.components else None


def _meet(facts: DesignFacts, owner: Component | Job, other: Component, node: str) -> bool:
    """Decides whether some place, or the thing on whose members one lies, takes members of both."""
    if node:
        return any(supplies(facts, other, resource).partition(".")[0] == node for resource in needed(other))
    states, of_other = admissions_of(facts.design, owner.name), admissions_of(facts.design, other.name)
    return any(state == OPEN == of_other[place] for place, state in states.items())


def _spots(facts: DesignFacts, node: str) -> Iterator[Spot]:
    """Yields each place of the design one by one, or each member of a thing; the fewest that there may be."""
    number = 0
    thing = facts.design.components.get(node)
    given_by = {node: thing.constants} if thing is not None else facts.design.places
    for name, given in given_by.items():
        many = _number(facts, name, given.get("count")) if thing is None else copies(facts, name)
        if many is None or many.low is None or many.low.denominator != 1:
            raise NeedsError(f"copies of {name} (how many there are)", thing.place if thing is not None else None)
        number += int(many.low)
        if number > MOST_SPOTS:
            raise NeedsError(f"at most {MOST_SPOTS} places on which several things lie")
        yield from (Spot(name, f"{name} {k + 1}" if many.low > 1 else name, given) for k in range(int(many.low)))


def _number(facts: DesignFacts, name: str, count: object) -> Interval:
    """Returns how many places of a kind there are; where a loop adds some to those that are full, all it may add."""
    for writer in facts.written.get(f"{name}.count", ()):
        if writer.values.high is None:
            raise NeedsError(f"bounds of {writer.name}", writer.place)
        return Interval(Fraction(math.floor(writer.values.high)), None)
    if not isinstance(count, Quantity | None):
        raise NeedsError(f"one count of {name}", getattr(count, "place", None))
    return Interval(count.low, count.high) if count is not None else Interval(Fraction(1), Fraction(1))


def _amount_of(spot: Spot, resource: str) -> Fraction:
    amount = spot.has[resource]
    if not isinstance(amount, Quantity) or not amount.exact:
        raise NeedsError(f"one amount of {resource} of {spot.kind}", getattr(amount, "place", None))
    return amount.low


def _kind(facts: DesignFacts, owner: Component | Job, spots: list[Spot]) -> HoldingKind:
    members = copies(facts, owner.name) if isinstance(owner, Component) else Interval(Fraction(1), Fraction(1))
    if members is None or members.high is None:
        raise NeedsError(f"copies of {owner.name} (how many there may be)", owner.place)
    admissions, needs = admissions_of(facts.design, owner.name), needed(owner)
    opened = frozenset(k for k, spot in enumerate(spots) if admissions.get(spot.kind, OPEN) == OPEN)
    holds = dict[str, Fraction]()
    for resource, need in needs.items():
        if not need.exact:
            raise NeedsError(f"one amount of {resource} that {owner.name} needs", need.place)
        missing = next((spots[k].name for k in sorted(opened) if resource not in spots[k].has), None)
        if missing is not None and need.high > 0:
            raise NeedsError(f"{resource} of {missing} (0 where there is none)", need.place)
        holds[resource] = need.low
    stated = tuple(need.place for need in needs.values())
    caps = tuple(_caps(facts, owner.name, spots, sorted(opened)))
    return HoldingKind(owner.name, math.floor(members.high), holds, opened, stated, caps)


def _whole(amount: Fraction, scale: int) -> str:
    value = int(amount * scale)
    return str(value) if value >= 0 else f"(- {-value})"


def _total(terms: list[str]) -> str:
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else next(iter(terms), "0")
