"""Finds what takes members of a thing out of service: loops that count them out, timers that unlist or end them.

A removal is driven by load where the trigger of its loop reads how many are out or left, or where its timer runs
from an event that an overloaded member is in (`server slow`, `pods overloaded`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.design import Limit, Loop, Relay, Timer
from coherence.language.entries.actions import acted_on, action_in, lowered_by
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Arithmetic, Call, Held, Logic, Name, Number, Tree, walk
from coherence.language.loops import Rule
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.words import CONDITIONS, COUNTS, STATES
from coherence.model.model import EVERYTHING, Interval
from coherence.verify.facts.design_facts import PLACED, DesignFacts, copies, wanted
from coherence.verify.facts.limits import at_members, cap, floor, is_domain, place_of
from coherence.verify.facts.members_that_stay import unmoved
from coherence.verify.facts.ranges import PAST, Values, enclosure, point, truth, with_ranges
from coherence.verify.facts.writers import Writer
from coherence.verify.timers.firing import action_of

OUT = (*STATES["out of service"], "down", "unavailable", "failed")
GONE = tuple(dict.fromkeys((*OUT, *COUNTS["unavailable"])))
CAPPED = ("ejected", "removed", "unlisted")  # a cap on these alone says that something takes members out
LEFT = ("healthy", "available", "ready", "up", *STATES["left in service"])
FAILING = STATES["failing"]
REMOVING = ("ends", "takes off the list")
HUNG = frozenset(CONDITIONS["hung"])  # of one member, whatever the load
LOADED = frozenset(CONDITIONS["overloaded"])
MOST_OUT = 1_000  # of a thing, for each of which a loop is asked what it writes
TAKES_NONE = "{} takes none of {} out"
ENDS_NONE = "{} ends none of {} meanwhile"


@dataclass(frozen=True)
class Removal:
    """One way out of service for members of `thing`: `out` is the path that counts them, empty for a timer."""

    thing: str
    name: str
    out: str
    place: Place
    trigger: Tree | None
    driven: bool  # an overloaded member is taken out by it
    caps: tuple[Limit, ...] = ()
    bound: Fraction | None = None
    event: str = ""  # the words of an event of which it is not known whether overload brings it about
    to: Tree | None = None  # how many are out once its loop has acted; None where nothing says it
    at_once: bool = False  # its loop decides on what is out as it decides

    @property
    def of(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, *(limit.name for limit in self.caps))))

    @property
    def places(self) -> tuple[Place, ...]:
        stops = (place_of(limit.at_most or limit.at_least, limit).labelled("no more than this") for limit in self.caps)
        return (self.place.labelled(f"{self.name} takes members of {self.thing} out"), *stops)

    def most(self, facts: DesignFacts, members: int) -> int | None:
        """Returns how many of so many members it may take out; None where a cap has no one value."""
        allowances = [members] if self.bound is None else [members, math.floor(self.bound)]
        for limit in self.caps:
            allowed = _allowed(facts, limit, self.thing, members)
            if allowed is None:
                return None
            allowances.append(allowed)
        return max(0, min(allowances))

    def _after(self, facts: DesignFacts, members: Interval, out: int) -> Interval:
        if self.to is None:
            return EVERYTHING
        return enclosure(facts.tree(self.to), self.with_out(facts, members, out))

    def raises(self, facts: DesignFacts, members: Interval, out: int) -> bool:
        """Decides whether more may be out once its loop has acted than before."""
        after = self._after(facts, members, out).high
        return after is None or after > out

    def with_out(self, facts: DesignFacts, members: Interval, out: int) -> Values:
        """Returns the stated values with `out` of `members` out of service."""
        low, high = (None if end is None else end - out for end in (members.low, members.high))
        ranges = {f"{self.thing}.copies": members} | {f"{self.thing}.{word}": Interval(low, high) for word in LEFT}
        return with_ranges(facts.values, ranges | ({self.out: point(out)} if self.out else {}))

    def reach(self, facts: DesignFacts, members: int, most: int) -> int:
        """Returns how many of so many members its loop takes out, `most` or fewer, where its trigger ends it."""
        if self.trigger is None or not self.at_once:
            return most
        of, reached = point(members), 0
        for out in range(most):
            if truth(self.trigger, self.with_out(facts, of, out)) is not False:
                after = self._after(facts, of, out)
                if after.high is None or after.low != after.high or after.high.denominator > 1:
                    return most
                reached = max(reached, min(most, math.floor(after.high)))
        return reached


def _allowed(facts: DesignFacts, limit: Limit, thing: str, members: int) -> int | None:
    """Returns members that a cap on those out, or a floor under those left, lets go."""
    if limit.at_most is not None:
        tree = cap(facts, limit)
        most = at_members(facts, tree, thing, members) if tree is not None else None
        return None if most is None else math.floor(most)
    tree = floor(facts, limit)
    least = at_members(facts, tree, thing, members) if tree is not None else None
    return None if least is None else members - math.ceil(least)


def removals(facts: DesignFacts) -> Iterator[Removal]:
    """Yields every loop and timer of the design that takes members of a component out, and what only a cap tells of."""
    declared = [*_acting(facts)]
    yield from declared
    acting = {removal.thing for removal in declared}
    for path, limits in facts.counted.items():
        thing, _, signal = path.partition(".")
        if thing in facts.design.components and thing not in acting and signal in CAPPED:
            yield from _by_cap(facts, thing, path, limits)


def _acting(facts: DesignFacts) -> Iterator[Removal]:
    for path, writers in facts.written.items():
        thing, _, signal = path.partition(".")
        if thing in facts.design.components and signal in OUT:
            counting = (writer for writer in writers if _adds(writer) and _counts_out(facts, thing, path, writer))
            yield from (_by_loop(facts, thing, path, writer) for writer in counting)
    for timer in facts.design.timers.values():
        yield from _by_timer(facts, timer)


def _by_cap(facts: DesignFacts, thing: str, path: str, limits: list[Limit]) -> Iterator[Removal]:
    """Yields the removal that a cap alone implies, where nothing in the design takes members out."""
    own = next((limit for limit in limits if limit.at_most is not None and limit.during is None), None)
    if own is not None:
        yield Removal(thing, own.name, path, own.place, None, driven=False, caps=tuple(caps_on(facts, thing)))


def _adds(writer: Writer) -> bool:
    return writer.kind in ("step", "set", "scale")


def trigger_of(loop: Loop) -> Tree | None:
    """Returns the condition under which a loop begins to act; None for `always` and where none is stated."""
    stated = loop.trigger.enter if isinstance(loop.trigger, Relay) else loop.trigger
    return stated.tree if isinstance(stated, Formula) and stated.text.strip() != "always" else None


def _by_loop(facts: DesignFacts, thing: str, path: str, writer: Writer) -> Removal:
    trigger = _by_rules(writer.loop) if writer.loop.rules else trigger_of(writer.loop)
    tree = facts.tree(trigger) if trigger is not None else None
    moved = {path, *(f"{thing}.{word}" for word in LEFT)}
    driven = tree is not None and bool(moved & set(used(tree)))
    most, loop = _most_written(facts, writer), writer.loop
    late = loop.timescale is not None and (loop.timescale.lands or loop.timescale.window) is not None
    late = late or (tree is not None and any(map(_looks_back, walk(tree))))
    at_once = not (late or loop.target or isinstance(loop.trigger, Relay) or facts.design.boundaries)
    return Removal(
        thing, writer.name, path, loop.place, tree, driven, tuple(caps_on(facts, thing)), most,
        to=_written(path, writer), at_once=at_once,
    )  # fmt: skip


def _by_rules(loop: Loop) -> Tree | None:
    """Returns the condition under which a rule of a loop that may raise what it writes acts; None where none may."""
    conditions: list[Tree] = []
    for number, rule in enumerate(loop.rules):
        if rule.when is not None and _may_raise(rule):
            before = [Logic("not", (earlier.when.tree,)) for earlier in loop.rules[:number] if earlier.when is not None]
            conditions.append(Logic("and", (*before, rule.when.tree)) if before else rule.when.tree)
    return Logic("or", tuple(conditions)) if len(conditions) > 1 else next(iter(conditions), None)


def _may_raise(rule: Rule) -> bool:
    return not (isinstance(rule.by, Quantity) and rule.by.high <= 0)


def _looks_back(tree: Tree) -> bool:
    return isinstance(tree, Held) or (isinstance(tree, Call) and tree.function in PAST)


def _written(path: str, writer: Writer) -> Tree | None:
    """Returns the number that a loop writes, of what was there before."""
    by = writer.loop.actuation.by if writer.loop.actuation is not None else None
    if writer.loop.rules:
        raising = [rule for rule in writer.loop.rules if _may_raise(rule)]
        steps = {rule.by.high if isinstance(rule.by, Quantity) and rule.by.exact else None for rule in raising}
        step = steps.pop() if len(steps) == 1 else None
        return Arithmetic("+", Name(path), Number(step)) if step is not None else None
    if writer.kind == "step" and isinstance(by, Quantity) and by.exact:
        return Arithmetic("+", Name(path), Number(by.high))
    return writer.to if writer.kind == "set" else None


def caps_on(facts: DesignFacts, thing: str) -> Iterator[Limit]:
    """Yields caps on the members out, and floors under those left, at all times: none in a window, or of a part."""
    return (limit for limit in _always_capping(facts, thing) if limit.per is None)


def caps_of_places(facts: DesignFacts, thing: str) -> Iterator[Limit]:
    """Yields those caps and floors of which there is one for each of some places."""
    every = _always_capping(facts, thing)
    return (limit for limit in every if limit.per is not None and is_domain(facts.design, limit.per.text))


def _always_capping(facts: DesignFacts, thing: str) -> Iterator[Limit]:
    for path, limits in facts.counted.items():
        head, _, signal = path.partition(".")
        for limit in limits if head == thing else ():
            caps_out = signal in OUT and limit.at_most is not None
            holds_left = signal in LEFT and limit.at_least is not None
            if (caps_out or holds_left) and not (limit.window or limit.during or limit.actions):
                yield limit


def _by_timer(facts: DesignFacts, timer: Timer) -> Iterator[Removal]:
    thing, start = taken_out_by(timer), timer.start
    if start is None or start.kind != "outside":
        return
    if thing not in facts.design.components or timer.unless is not None:
        return
    event_words = set(start.text.split())
    driven = thing in event_words and bool(event_words & LOADED)
    caps, event = tuple(caps_on(facts, thing)), "" if driven or event_words & HUNG else start.text
    yield Removal(thing, timer.name, "", timer.place, None, driven, caps, event=event)


def failing(facts: DesignFacts, thing: str) -> Interval | None:
    """Returns how many members fail together, where the design says it; its place is `facts.places[...]`."""
    return next((facts.values[path] for path in paths(thing) if path in facts.values), None)


def paths(thing: str) -> tuple[str, ...]:
    """Returns the paths at which a design may say how many fail together."""
    return tuple(f"{thing}.{word}" for word in FAILING)


@dataclass(frozen=True)
class Departure:
    """What takes members of a thing away.  `certain`: every member goes that way some day, whatever happens to it.

    `most`: how many of them at once, where the design says no more than that.
    """

    name: str
    place: Place
    certain: bool
    most: int | None = None

    def uncounted(self, thing: str) -> str:
        """Returns, in words, that no answer follows how many members of a thing are away at once, or for how long."""
        if self.most is not None:
            return f"for how long {self.name} takes {self.most} of {thing} away is not followed"
        return f"how many of {thing} are away at once by {self.name} is not followed"


def departures(facts: DesignFacts, thing: str) -> Iterator[Departure]:
    """Yields the loops that evict members of a thing, the timers that end or unlist them, and the time to a failure."""
    component = facts.design.components[thing]
    failures = component.constants.get("mtbf")
    if isinstance(failures, Quantity):
        yield Departure(f"{thing}.mtbf", failures.place, certain=True)
    for loop in facts.design.loops.values():
        evicted = loop.actuation.evict if loop.actuation is not None else None
        if evicted is not None and evicted.text == thing:
            yield Departure(loop.name, evicted.place, certain=True)
    for timer in facts.design.timers.values():
        if timer.then is not None and removed_by(timer) == thing:
            start = timer.start
            own = start is not None and (start.kind, start.subject) == ("starts", thing) and timer.unless is None
            yield Departure(timer.name, timer.then.place, certain=own)


def taken_out(facts: DesignFacts, thing: str, spare: int | None = None) -> Iterator[Departure]:
    """Yields the loops that count members of a thing out of service, or set how many are left in it.

    Not those that take out no more than `spare` of all together.  `certain`: it acts whenever none is out, and
    members are out whatever happens to them.
    """
    members, scaled = copies(facts, thing), wanted(facts.written, thing)
    moving: list[tuple[str, Writer]] = []
    for path, writers in facts.written.items():
        head, _, signal = path.partition(".")
        if head == thing and path not in scaled and signal in (*GONE, *LEFT):
            moving += [
                (path, writer)
                for writer in writers
                if _adds(writer) and (signal in LEFT or _counts_out(facts, thing, path, writer))
            ]
    if spare is not None and members is not None and members.high is not None:
        most = math.floor(members.high)
        every = [_by_loop(facts, thing, path, writer).most(facts, most) for path, writer in moving]
        counted = all(path.partition(".")[2] in GONE for path, _ in moving)
        if counted and sum(most if out is None else out for out in every) <= spare:
            return
    for path, writer in moving:
        yield Departure(writer.name, writer.loop.place, certain=_acts_by_itself(facts, thing, path, writer))


def _acts_by_itself(facts: DesignFacts, thing: str, path: str, writer: Writer) -> bool:
    """Decides whether a loop acts for certain while no member is out."""
    trigger, members, rules = trigger_of(writer.loop), copies(facts, thing), writer.loop.rules
    if trigger is None and not rules:
        return True
    if members is None:
        return False
    values = with_ranges(facts.values, {path: point(0), **{f"{thing}.{word}": members for word in LEFT}})
    if trigger is not None:
        return truth(facts.tree(trigger), values) is True
    firsts = ((truth(facts.tree(rule.when.tree), values), rule) for rule in rules if rule.when is not None)
    holds, first = next(((holds, rule) for holds, rule in firsts if holds is not False), (None, None))
    change = None if first is None else first.by if first.by is not None else first.to
    return holds is True and isinstance(change, Quantity) and change.low > 0


def _counts_out(facts: DesignFacts, thing: str, path: str, writer: Writer) -> bool:
    """Decides whether a loop may raise the number of those out above nothing; it may also only bring them back."""
    by = writer.loop.actuation.by if writer.loop.actuation is not None else None
    lowers = writer.kind == "step" and isinstance(by, Quantity) and by.high <= 0
    most, members = _most_written(facts, writer), copies(facts, thing)
    if lowers or (most is not None and most <= 0):
        return False
    if writer.kind != "set" or members is None or members.high is None or members.high > MOST_OUT:
        return True
    removal = _by_loop(facts, thing, path, writer)
    return any(removal.raises(facts, members, out) for out in range(math.floor(members.high)))


def _most_written(facts: DesignFacts, writer: Writer) -> Fraction | None:
    """Returns the largest number that a loop writes: of what it sets and its bounds; None where nothing bounds it."""
    bound, low = writer.values.high, writer.values.low
    stated = facts.range(writer.to).high if writer.to is not None else None
    if stated is None:
        return bound
    most = stated if bound is None else min(bound, stated)
    return most if low is None else max(low, most)


def scaled_down(facts: DesignFacts, thing: str) -> Iterator[Departure]:
    """Yields the timers that leave a thing fewer members, nothing says how many."""
    for timer in facts.design.timers.values():
        if timer.then is not None and lowered_by(timer.then.text) == thing:
            start = timer.start
            own = start is not None and (start.kind, start.subject) == ("starts", thing) and timer.unless is None
            yield Departure(timer.name, timer.then.place, certain=own)


def members_stay(facts: DesignFacts, thing: str, spare: int | None = None) -> tuple[Departure | None, tuple[str, ...]]:
    """Returns what takes members of a thing away some day, and what is assumed where all members are counted.

    A loop that counts members out of service takes none away where so many may be spared.
    """
    gone, out = [*departures(facts, thing)], [*taken_out(facts, thing, spare), *scaled_down(facts, thing)]
    failing = any(facts.range(Name(path)).high != 0 for path in paths(thing) if path in facts.quantities)
    component = facts.design.components[thing]
    placed = component.needs or component.runs_on is not None or thing in facts.design.placement
    stated = ((f"none of {thing} fails", failing or gone), (PLACED.format(thing), placed))
    none = (TAKES_NONE.format(departure.name, thing) for departure in out if not departure.certain)
    assumed = (*(words for words, needed in stated if needed), *unmoved(facts.design, thing), *none)
    return next((departure for departure in (*gone, *out) if departure.certain), None), assumed


def unbounded_departures(facts: DesignFacts, removal: Removal) -> list[Departure]:
    """Returns what takes members of the thing away beside a removal and what shares its caps.

    A floor under those left holds evictions back as well, and no end of a member by itself.
    """
    capped = {other.name for other in removals(facts) if other.thing == removal.thing and other.caps == removal.caps}
    floors = any(limit.at_least is not None for limit in removal.caps)
    evictors = {loop.name for loop in facts.design.loops.values()} if floors else set[str]()
    thing, known = removal.thing, removal.thing in facts.design.components
    every = [*departures(facts, thing), *scaled_down(facts, thing)] if known else []
    return [departure for departure in every if departure.name not in capped | evictors | {removal.name}]


def held_back(facts: DesignFacts, removal: Removal) -> tuple[str, ...]:
    """Returns what a floor under those left does to each loop that evicts members: it holds their evictions back."""
    names = [loop.name for loop in facts.design.loops.values() if loop.evicted == removal.thing]
    floors = [limit.name for limit in removal.caps if limit.at_least is not None]
    return (f"{' and '.join(floors)} holds back what {' and '.join(names)} evicts",) if names and floors else ()


def removed_by(timer: Timer) -> str:
    """Returns the thing that a timer ends or takes off the list; of a grace period, which ends what goes, nothing."""
    waits = timer.start is not None and timer.start.activity and timer.unless is not None
    return taken_out_by(timer) if not waits else ""


def taken_out_by(timer: Timer) -> str:
    """Returns the thing or the activity that a timer ends, or whose members it takes off the list; or nothing."""
    then = timer.then.text if timer.then is not None else ""
    return acted_on(then) if action_in(then) in REMOVING or action_of(timer) in REMOVING else ""
