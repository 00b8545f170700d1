"""Lists what the entries of a design may change: the values and events that a proof which did not read them stands on.

A loop, a timer or a limit is one influence: who has read something of it has read it.  Of a boundary, a link, an
activity or a job each value is one by itself, for each changes something else (`kind`):

- `time`: when something comes to be, or is seen (a delay, a latency, the life of a job);
- `members`: how long a member that is asked for is not there yet, or one that is not is there still;
- `rate`: how fast work is done (a share of a device, a bandwidth);
- `room`: how many there can be (slices of a device, a quota);
- `wait`: how long calls wait for a place among those in flight;
- `order`: whose turn it is where work waits;
- `law`: how a time is spread around its mean;
- `burst`: when a workload leaves its stated rate;
- `end`: how long a job holds what it has once it is evicted;
- `fail`: that tries of a call fail at once, where nothing else is tried in their place;
- `stop`: when a timer ends a member, or takes it off the list;
- `value`: anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.graphs import reached
from coherence.base.places import Place
from coherence.findings.proof_words import (
    RATE_WORDS,
    coming,
    ends_of_calls,
    going,
    leaving,
    signals_in,
    written,
)
from coherence.language.design import Design, Limit
from coherence.language.entries.actions import acted_on, action_in, resized_by
from coherence.language.entries.leaves import DesignLeaf, leaves
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.expressions.tree import Call, Name
from coherence.language.infrastructure import Boundary
from coherence.language.roles import role, time_of, waits_in_window
from coherence.language.schema_kinds import Quantity
from coherence.language.shared_rates import calls_across
from coherence.language.words import STATES
from coherence.model.boundaries import hidden_readings, stands_in, uncrossed

STOPPING = ("ends", "takes off the list")
WHOLE = ("loops", "timers", "limits")
IN_WORK = frozenset({"running", *STATES["in work"]})
TIME, MEMBERS, RATE, ROOM, VALUE = "time", "members", "rate", "room", "value"
WAIT, BURST, STOP = "wait", "burst", "stop"
ORDER, LAW, FAIL, END = "order", "law", "fail", "end"
LAWS = ("service.law", "service.quantiles")  # `service.max` only makes services shorter
RATES = frozenset({"capacity_fraction", "memory_fraction", "bandwidth", "count"})
ROOMS = frozenset({"instances", "quota"})
VARIED = ("burst.rate", "arrivals.switches.rate")  # keys by which a workload leaves its rate
DELAYS = frozenset({"added_delay", "reading_delay"})
ON_THE_WAY = frozenset({"gain", "reading_gain", "granularity", "noise"})  # what commands and readings meet on it
IDENTITY = frozenset({"uses", "kind", "around", "ends"})  # which one it is, not what it does


@dataclass(frozen=True)
class PossibleInfluence:
    """An entry, or one value of it, that may change these signals, events or things.

    `together`: how many of them a proof must be about before it is touched.
    """

    section: str
    name: str
    key: str
    kind: str
    places: tuple[Place, ...]
    words: frozenset[str]
    evicts: str = ""
    together: int = 1

    def touches(self, words: frozenset[str]) -> bool:
        """Returns whether it may change something of what a proof is about."""
        return len(self.words & words) >= self.together or self.evicts in words

    def removes(self, words: frozenset[str]) -> bool:
        """Returns whether it touches these words, and only by taking runs away from them."""
        if self.section == "limits":
            return bool(self.words & words)
        return self.evicts in words and not self.words & words

    @property
    def path(self) -> str:
        """Returns `limits.slots` or `boundaries.wan.added_delay`."""
        return ".".join(word for word in (self.section, self.name, self.key) if word)


Influences = Mapping[str, tuple[PossibleInfluence, ...]]


def influences(design: Design) -> Influences:
    """Returns the influences on each word of a design; gathered once."""
    return design.queries.get(influences, lambda: _by_word(_influences(design)))


def _by_word(every: Iterable[PossibleInfluence]) -> dict[str, tuple[PossibleInfluence, ...]]:
    by_word: dict[str, list[PossibleInfluence]] = {}
    for influence in every:
        for word in (*influence.words, *([influence.evicts] if influence.evicts else [])):
            by_word.setdefault(word, []).append(influence)
    return {word: tuple(own) for word, own in by_word.items()}


def _influences(design: Design) -> Iterator[PossibleInfluence]:
    entries: dict[tuple[str, str], list[DesignLeaf]] = {}
    for leaf in leaves(design):
        entries.setdefault((leaf.section, leaf.entry), []).append(leaf)
    single = {"boundaries": _of_boundary, "links": _of_link, "components": _of_activities, "jobs": _of_job}
    single |= {"workload": _of_workload, "calls": _of_call}
    for (section, name), own in entries.items():
        if section in WHOLE:
            yield _of_entry(design, section, name, tuple(leaf.place for leaf in own))
        elif section in single:
            yield from single[section](design, name, own)


def _of_entry(design: Design, section: str, name: str, places: tuple[Place, ...]) -> PossibleInfluence:
    changed: Callable[[Design, str], Iterator[str]] = {"loops": _set, "timers": _timed_event, "limits": _counted}[
        section
    ]
    evicts = design.loops[name].evicted if section == "loops" else ""
    stops = stopped(design, name) if section == "timers" else ""
    waits = section == "limits" and _makes_wait(design, design.limits[name])
    kind = WAIT if waits else STOP if stops else VALUE
    return PossibleInfluence(section, name, "", kind, places, frozenset(changed(design, name)), evicts or stops)


def _set(design: Design, name: str) -> Iterator[str]:
    """Yields the signal that a loop writes; with it what has a value of that name: an activity of a thing, an entry."""
    valued = {**design.workload, **design.limits, **design.timers}
    for path in written(design, name):
        yield path
        head, _, word = path.partition(".")
        component = design.components.get(head)
        if component is not None and word in (component.takes or {}):
            yield f"{path} ends"
            yield from [head] if role(component, word) != "apart" else []
        elif hasattr(valued.get(head), word):
            yield head


def _makes_wait(design: Design, limit: Limit) -> bool:
    """Decides whether calls wait for a place where a limit of what is in flight, or sent in a window, is full."""
    tree = limit.counts.tree if limit.counts is not None else None
    in_flight = isinstance(tree, Call) and tree.function == "in flight"
    in_work = isinstance(tree, Name) and tree.path.rpartition(".")[2] in IN_WORK
    at_once = (in_flight or in_work) and (limit.when_full is None or limit.when_full.text == "wait")
    return at_once or waits_in_window(design, limit)


def acts_on_the_way(boundary: Boundary) -> bool:
    """Decides whether a boundary does anything to commands or readings that cross it."""
    stated = {key: getattr(boundary, key) for key in DELAYS} | {key: boundary.constants.get(key) for key in ON_THE_WAY}
    return bool(boundary.hides) or any(value is not None and not _neutral(key, value) for key, value in stated.items())


def _of_boundary(design: Design, name: str, own: Sequence[DesignLeaf]) -> Iterator[PossibleInfluence]:
    boundary, words = design.boundaries[name], frozenset((*_around(design, name), *_running_in(design, name)))
    for leaf in own:
        if leaf.key == "hides":
            yield from _of_hiding(design, name, leaf.place)
            continue
        stated = getattr(boundary, leaf.key) if leaf.key in DELAYS else boundary.constants.get(leaf.key)
        idle = leaf.key in ON_THE_WAY and name in uncrossed(design)
        if leaf.key not in IDENTITY and not idle and not _neutral(leaf.key, stated):
            reaches = calls_across(design, name) if leaf.key == "call_delay" else words
            yield PossibleInfluence("boundaries", name, leaf.key, _kind(leaf.key), (leaf.place,), reaches)


def _of_hiding(design: Design, name: str, place: Place) -> Iterator[PossibleInfluence]:
    """Yields what loops do that read what a boundary hides from them, or may."""
    hidden = (h for h in hidden_readings(design) if h.hides.place == place and h.crosses is not False)
    blind = {hiding.loop.name for hiding in hidden}
    words = blind.union(*(written(design, loop) for loop in blind))
    if words:
        yield PossibleInfluence("boundaries", name, "hides", VALUE, (place,), frozenset(words))


def _running_in(design: Design, name: str) -> Iterator[str]:
    """Yields the loops that say that they stand in a boundary, and what they write."""
    for loop in design.loops.values():
        if loop.inside and name in (stands_in(design, loop) or ()):
            yield loop.name
            yield from written(design, loop.name)


def _around(design: Design, name: str) -> Iterator[str]:
    """Yields the things inside a boundary, and inside those that it encloses."""
    waiting, seen = [name], {name}
    while waiting:
        for word in design.boundaries[waiting.pop()].around:
            yield word.text
            if word.text in design.boundaries and word.text not in seen:
                seen.add(word.text)
                waiting.append(word.text)


def _of_link(_design: Design, name: str, own: Sequence[DesignLeaf]) -> Iterator[PossibleInfluence]:
    for leaf in own:
        if leaf.key not in IDENTITY:  # what has one end alone in a proof is no way within it
            kind, ends = _kind(leaf.key), frozenset(name.split(" - "))
            yield PossibleInfluence("links", name, leaf.key, kind, (leaf.place,), ends, together=2)


def _of_activities(design: Design, name: str, own: Sequence[DesignLeaf]) -> Iterator[PossibleInfluence]:
    """Yields the times that members take to come or to go, for whoever chooses how many there are or evicts one.

    An evicted member lies where it is placed while it starts; an activity of which nothing says what it is may be how
    it ends.
    """
    touched = {"start": {coming(name)}, "drain": {leaving(name), going(name)}, "": {going(name)}}
    for leaf in own:
        if leaf.key == "discipline":
            kind = VALUE if leaf.text == "preemptive repeat" else ORDER
            yield PossibleInfluence("components", name, leaf.key, kind, (leaf.place,), frozenset({name}))
        section, _, activity = leaf.key.partition(".")
        words = touched.get(role(design.components[name], activity), set()) if section == "takes" else set()
        if words:
            yield PossibleInfluence("components", name, leaf.key, MEMBERS, (leaf.place,), frozenset(words))


def _of_job(_design: Design, name: str, own: Sequence[DesignLeaf]) -> Iterator[PossibleInfluence]:
    for leaf in own:
        if leaf.key in ("leaves_after", "takes.end"):
            yield PossibleInfluence("jobs", name, leaf.key, END, (leaf.place,), frozenset({name}))
        elif leaf.key.startswith("takes."):
            yield PossibleInfluence("jobs", name, leaf.key, TIME, (leaf.place,), frozenset({name}))


def _of_workload(design: Design, name: str, own: Sequence[DesignLeaf]) -> Iterator[PossibleInfluence]:
    places = {key: tuple(leaf.place for leaf in own if leaf.key == key) for key in VARIED}
    rates = frozenset(f"{name}.{word}" for word in RATE_WORDS)
    for key, stated in places.items():
        if stated:
            yield PossibleInfluence("workload", name, key.removesuffix(".rate"), BURST, stated, rates)
    for leaf in own:
        if leaf.key.startswith(LAWS):
            reaches = frozenset((name, *_behind_caller(design, name)))
            yield PossibleInfluence("workload", name, leaf.key, LAW, (leaf.place,), reaches)


def _of_call(design: Design, name: str, own: Sequence[DesignLeaf]) -> Iterator[PossibleInfluence]:
    """Yields second copies of tries (they are work for the callee and all behind it) and breakers, which fail tries.

    Where no answer comes before its second copy is sent, a workload sends more than its rate.
    """
    caller, callee, *_ = (*ends_of_calls(design).get(name, ()), "", "")
    surely = {f"{caller}.attempts"} if caller in design.workload and _surely_copied(design, name) else set()
    for leaf in own:
        if leaf.key == "hedge_after" or leaf.key.startswith("breaker"):
            words = frozenset({name, callee, *_behind_caller(design, callee)})
            words |= surely if leaf.key == "hedge_after" else frozenset()
            kind = VALUE if leaf.key == "hedge_after" or _tried_else(design) else FAIL
            yield PossibleInfluence("calls", name, leaf.key, kind, (leaf.place,), words)


def _tried_else(design: Design) -> bool:
    """Returns whether something is tried in the place of what fails: then sooner, and perhaps for longer."""
    return any(call.fallback_for for call in design.calls)


def _surely_copied(design: Design, name: str) -> bool:
    """Decides whether each try of a call is still open when its second copy is due."""
    call = next(call for call in design.calls if call.name == name)
    if call.hedge_after is None or call.callee is None:
        return False
    limits = [limit.low for limit in (call.per_try, call.deadline) if isinstance(limit, Quantity)]
    answer = _soonest_answer(design, call.callee.text, frozenset())
    return call.hedge_after.high < min([answer, *limits])


def _soonest_answer(design: Design, thing: str, seen: frozenset[str]) -> Fraction:
    """Returns the least time (s) in which a thing answers: its own, or that of a call which each request makes."""
    own = time_of(design.components.get(thing), "answer")
    times = [own.low if own is not None else Fraction(0)]
    for call in design.calls if thing not in seen else ():
        if call.caller is None or call.callee is None or call.caller.text != thing or call.cases or call.fallback_for:
            continue
        limits = [limit.low for limit in (call.per_try, call.deadline) if isinstance(limit, Quantity)]
        times.append(min([_soonest_answer(design, call.callee.text, seen | {thing}), *limits]))
    return max(times)


def _behind_caller(design: Design, caller: str) -> Iterable[str]:
    """Returns everything that is called from a caller on."""

    def callees(name: str) -> Iterator[str]:
        return (call.callee.text for call in design.calls if call.callee and call.caller and call.caller.text == name)

    return reached(callees(caller), callees)


def _kind(key: str) -> str:
    if key.endswith(("delay", "latency")):
        return TIME
    if key in RATES:
        return RATE
    return ROOM if key in ROOMS else VALUE


def _neutral(key: str, value: object) -> bool:
    """Decides whether a value changes nothing: no delay, a gain or a share of one."""
    if not isinstance(value, Quantity):
        return False
    nothing = Fraction(0) if key.endswith("delay") else Fraction(1)
    return (value.low, value.high) == (nothing, nothing) and key.endswith(("delay", "gain", "fraction"))


def stopped(design: Design, name: str) -> str:
    """Returns the thing whose members, or the job that, a timer ends or takes off the list."""
    then = design.timers[name].then
    thing = acted_on(then.text) if then is not None else ""
    known = thing in design.components or thing in design.jobs
    return thing if known and then is not None and action_in(then.text) in STOPPING else ""


def _timed_event(design: Design, name: str) -> Iterator[str]:
    """Yields the event of a timer, and the signals and ends of activities that its words name (`restart db.sync`).

    `scale down db` changes how many members are wanted of it.
    """
    event = design.timers[name].then
    words = event.text.split() if event is not None and event.kind == "outside" else []
    dotted = [word for word in words if "." in word.strip(".")]
    yield from [event.text] if event is not None else []
    yield from (text for word in dotted for text in (word, f"{word} ends"))
    if event is not None and (thing := resized_by(event.text)) in design.components:
        yield from (f"{thing}.{word}" for word in STATES["wanted"])


def _is_never_reached(design: Design, limit: Limit) -> bool:
    """Decides whether a limit that no loop sets counts what loops alone write, within bounds that it lets through."""
    path = limit.counts.tree.path if limit.counts is not None and isinstance(limit.counts.tree, Name) else ""
    acts = [loop.actuation for loop in design.loops.values() if loop.actuation is not None]
    writers = [act for act in acts if act.signal is not None and act.signal.text == path]
    is_set = any(act.signal is not None and act.signal.text.partition(".")[0] == limit.name for act in acts)
    plain = writers and not is_set and limit.at_least is None and limit.window is None and not limit.actions
    most = most_allowed(design, limit) if plain else None
    begins = [act.initial for act in writers] + ([_stated_at(design, path)] if plain else [])
    tops = [top for act in writers for top in act.bounds[1:2]] + [first for first in begins if first is not None]
    bounded = all(len(act.bounds) == 2 for act in writers) and all(isinstance(top, Quantity) for top in tops)
    return most is not None and bounded and all(isinstance(top, Quantity) and top.high <= most.low for top in tops)


def _stated_at(design: Design, path: str) -> object:
    """Returns what a component states for a signal, which is where it begins; None where it states nothing."""
    head, _, word = path.partition(".")
    component = design.components.get(head)
    stated = component.copies if component is not None and word == "copies" else None
    return component.constants.get(word) if component is not None and stated is None else stated


def _counted(design: Design, name: str) -> Iterator[str]:
    """Yields the signals that a limit counts, and the calls that wait for a place in it."""
    limit = design.limits[name]
    if _is_never_reached(design, limit):
        return
    signals = list(signals_in(design, [limit.counts] if limit.counts is not None else []))
    yield from signals
    things = {signal.partition(".")[0] for signal in signals} if _makes_wait(design, limit) else set()
    yield from (call for call, ends in ends_of_calls(design).items() if not things.isdisjoint(ends))
