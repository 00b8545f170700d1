"""Reads the small sentences of the language: events, sensor links, promises, admission and preemption."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from coherence.base.places import Place
from coherence.base.reads import notes_reading
from coherence.base.units import SECOND, shorten
from coherence.language.document import Node, Scalar
from coherence.language.expressions.parse import MAX_LENGTH
from coherence.language.expressions.tree import Call, Tree
from coherence.language.schema_kinds import Formula, Kind, Quantity, Reading, scalar
from coherence.language.value_kinds import DURATION, formula_of, parse_quantity
from coherence.language.words import EVENTS

_DOTTED = r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?"
_HAPPENS = {word: kind for kind, words in EVENTS.items() for word in words}
_ELSEWHERE = re.compile(r"\b(?:within|until|unless|implies|whenever|leads to)\b|^(?:never|eventually)(?= .+ before )")
FORMS = (
    "write `c`, `always c`, `never c`, `eventually c`, `eventually_always c`, `x reaches v`, `a before b` (always), "
    "`after e then f within T` or `attempts(x) per call(y) <= n`"
)
_OCCURRENCE = re.compile(rf"(first |last |all of )?({_DOTTED}) ({'|'.join(_HAPPENS)})")


@notes_reading("kind", "subject", "of", "text")
@dataclass(frozen=True)
class Event:
    """Something that happens.  `kind`: starts, ends (of a member or `thing.activity`), waits, outside.

    `of` is `first`, `all`, `last` or nothing.  Outside events with the same words are the same event;
    one whose words are the name of a timer or loop is that timer firing or that loop acting.
    """

    kind: str
    subject: str
    of: str
    text: str
    place: Place = field(compare=False)

    @property
    def thing(self) -> str:
        return self.subject.split(".")[0]

    @property
    def activity(self) -> str:
        return self.subject.partition(".")[2]


def event_of(text: str, place: Place) -> Event:
    """Returns the event of `server starts`, `worker.task ended`, `all of rank.step end`, `last ping` or other words."""
    words = re.sub(rf"^(?:start|launch) ({_DOTTED})$", r"\1 starts", " ".join(text.split()))
    if match := re.fullmatch(r"first ([a-z][a-z0-9_]*) waits", words):
        return Event("waits", match[1], "first", words, place)
    if match := _OCCURRENCE.fullmatch(words):
        which, kind = (match[1] or "").strip(), _HAPPENS[match[3]]
        plain = words if match[3] in (kind, kind.removesuffix("s")) else f"{match[1] or ''}{match[2]} {kind}"
        return Event(kind, match[2], which.removesuffix(" of"), plain, place)
    last = re.fullmatch(r"last (.+)", words)
    return Event("outside", last[1] if last else words, "last" if last else "", words, place)


def _read_event(node: Node, reading: Reading) -> Event | None:
    leaf = scalar(node, reading, "an event")
    return event_of(leaf.text, leaf.place) if leaf else None


EVENT: Kind[Event] = Kind(_read_event, {"type": "string"}, "an event")


@notes_reading("kind", "duration", "what")
@dataclass(frozen=True)
class SensorLink:
    """One link of a sensor chain, in order: a sampler (scrape, relist) or a window (mean, max, rate, irate, last)."""

    kind: str
    duration: Quantity | None
    what: str
    place: Place = field(compare=False)


SENSOR_WORDS = ("scrape", "relist", "mean", "max", "rate", "irate", "last")


def _read_link(node: Node, reading: Reading) -> SensorLink | None:
    leaf = scalar(node, reading, "a sensor link")
    if leaf is None:
        return None
    first, _, rest = leaf.text.strip().partition(" ")
    if first in ("sees", "misses") and rest:
        return SensorLink(first, None, rest.strip(), leaf.place)
    if first not in SENSOR_WORDS or not rest:
        remedy = f"use one of {' T, '.join(SENSOR_WORDS)} T, sees x, misses x"
        if "delay" in first or "lag" in first:
            remedy = "write it as a value of a component (`late: delayed(x, 4 s)`), and that value as the signal"
        reading.problem(leaf.place, f"'{shorten(leaf.text)}' is not a sensor link", remedy)
        return None
    duration = parse_quantity(Scalar(rest, leaf.place), reading, SECOND)
    return SensorLink(first, duration, "", leaf.place) if duration else None


LINK: Kind[SensorLink] = Kind(_read_link, {"type": "string"}, "a link of a sensor chain")


@notes_reading("kind", "text", "condition", "first", "second", "within", "callee", "caller", "after", "then")
@dataclass(frozen=True)
class Promise:
    """What must hold.  `kind`: always, never, eventually, eventually_always, response, before, sends.

    always / never / eventually / eventually_always: `condition`.  response: `first` then `second` within
    `within`; `after` and `then` are those of the two that are conditions.  before: the latest `first` precedes
    the earliest `second` of the same occurrence.  sends: attempts(`callee`) per call(`caller`) compared with
    `limit` (the condition).
    """

    kind: str
    text: str
    place: Place = field(compare=False)
    name: str = ""
    condition: Formula | None = None
    first: Event | None = None
    second: Event | None = None
    within: Quantity | None = None
    callee: str = ""
    caller: str = ""
    after: Formula | None = None
    then: Formula | None = None

    @property
    def conditions(self) -> tuple[Formula, ...]:
        """Returns what must be true or false: its condition, or the sides of a response that are conditions."""
        own = self.condition if self.kind != "sends" else None
        return tuple(f for f in (own, self.after, self.then) if f is not None)

    def named(self, name: str) -> Promise:
        """Returns the promise under the name that the design gives it."""
        return replace(self, name=name)


def _read_promise(node: Node, reading: Reading) -> Promise | None:
    leaf = scalar(node, reading, "a promise")
    if leaf is None:
        return None
    text = " ".join(leaf.text.split())
    if len(text) > MAX_LENGTH:
        reading.problem(leaf.place, f"a promise of {len(text)} characters", f"at most {MAX_LENGTH} are read")
        return None
    if match := re.fullmatch(r"after (.+) then (.+) within (.+)", text):
        return _response(leaf, text, match, reading)
    if match := re.fullmatch(r"(?:always )?((?!never |eventually).+) before (.+)", text):
        first, second = event_of(match[1], leaf.place), event_of(match[2], leaf.place)
        return Promise("before", text, leaf.place, first=first, second=second)
    return _condition_promise(leaf, text, reading)


def _response(leaf: Scalar, text: str, words: re.Match[str], reading: Reading) -> Promise | None:
    within = DURATION.read(Scalar(words[3], leaf.place), reading)
    first, second = event_of(words[1], leaf.place), event_of(words[2], leaf.place)
    after, then = _side(leaf, words[1], reading), _side(leaf, words[2], reading)
    if within is None:
        return None
    return Promise("response", text, leaf.place, first=first, second=second, within=within, after=after, then=then)


def _side(leaf: Scalar, text: str, reading: Reading) -> Formula | None:
    """Returns what compares is a condition, and so is what joins or denies some; other words are an event."""
    compared = re.search(r"[<>=]", text) is not None
    if not compared and not re.search(r"\b(?:and|or|not)\b", text):
        return None
    formula = _formula(leaf, text, reading if compared else Reading())
    if formula is None or may_be_condition(formula.tree):
        return formula
    reading.problem(leaf.place, f"'{shorten(text)}' is not a condition", "compare it with something")
    return None


def _condition_promise(leaf: Scalar, text: str, reading: Reading) -> Promise | None:
    if match := re.fullmatch(rf"attempts\(({_DOTTED})\) per call\(({_DOTTED})\) (.+)", text):
        limit = _formula(leaf, f"sends {match[3]}", reading)
        return Promise("sends", text, leaf.place, condition=limit, callee=match[1], caller=match[2]) if limit else None
    if match := re.fullmatch(r"(.+) reaches (.+)", text):
        goal = _formula(leaf, f"{match[1]} == {match[2]}", reading)
        return Promise("eventually", text, leaf.place, condition=goal) if goal else None
    if other := _ELSEWHERE.search(text):
        reading.problem(leaf.place, f"'{other[0]}' is no word of a promise here", FORMS)
        return None
    kind, _, rest = text.partition(" ")
    if kind not in ("always", "never", "eventually", "eventually_always"):
        kind, rest = "always", text
    condition = _formula(leaf, rest, reading)
    if condition is not None and not may_be_condition(condition.tree):
        reading.problem(
            leaf.place, f"'{shorten(rest)}' is not a condition", "compare it with something, for example `<= 5 %`"
        )
        return None
    return Promise(kind, text, leaf.place, condition=condition) if condition else None


def may_be_condition(tree: Tree) -> bool:
    """Returns a comparison, a logical term, or a name that may be boolean."""
    return not isinstance(tree, Call) and type(tree).__name__ in ("Name", "Compare", "Logic", "Held", "Truth", "Choose")


def _formula(leaf: Scalar, text: str, reading: Reading) -> Formula | None:
    """Returns the expression `text`, placed inside the leaf where the leaf shows it."""
    offset = leaf.text.find(text)
    place = leaf.place
    if offset >= 0 and place.end_column - place.column == len(leaf.text):
        place = Place(place.file, place.line, place.column + offset, place.line, place.column + offset + len(text))
    return formula_of(Scalar(text, place), reading)


PROMISE: Kind[Promise] = Kind(_read_promise, {"type": "string"}, "a promise")


@notes_reading("job", "victim", "condition")
@dataclass(frozen=True)
class Preemption:
    """`for job take victim where condition`."""

    job: str
    victim: str
    condition: Formula
    place: Place = field(compare=False)


def _read_preemption(node: Node, reading: Reading) -> Preemption | None:
    leaf = scalar(node, reading, "a preemption rule")
    match = _TAKES.fullmatch(" ".join(leaf.text.split())) if leaf else None
    if leaf is None or match is None:
        remedy = _of_two(
            leaf, "for {0} take {1} where {0}.priority > {1}.priority", "`for job take job where condition`"
        )
        reading.problem(node.place, "a preemption rule expected", remedy)
        return None
    condition = _formula(leaf, match[3], reading)
    return Preemption(match[1], match[2], condition, leaf.place) if condition else None


PREEMPTION: Kind[Preemption] = Kind(_read_preemption, {"type": "string"}, "a rule of preemption")


@notes_reading("smallest", "by", "then")
@dataclass(frozen=True)
class Admission:
    """`smallest e first` or `largest e first`; `then` decides among those that are equal."""

    smallest: bool
    by: Formula
    place: Place = field(compare=False)
    then: Admission | None = None

    @property
    def keys(self) -> tuple[Admission, ...]:
        """Returns the order's keys, the first that decides in front."""
        return (self, *(self.then.keys if self.then is not None else ()))


def _read_admission(node: Node, reading: Reading) -> Admission | None:
    leaf = scalar(node, reading, "an admission order")
    matches = [_ORDER.fullmatch(part) for part in " ".join(leaf.text.split()).split(", then ")] if leaf else []
    order: Admission | None = None
    for match in reversed(matches):
        if leaf is None or match is None:
            break
        by = _formula(leaf, match[2], reading)
        if by is None:
            return None
        order = Admission(match[1] == "smallest", by, leaf.place, order)
    if order is None or None in matches:
        reading.problem(node.place, "an admission order expected", _of_two(leaf, "largest job.priority first", ORDERS))
        return None
    return order


def _of_two(leaf: Scalar | None, sentence: str, else_: str) -> str:
    """Returns what to write where a sentence only says that one job goes before another (`high before low`)."""
    pair = _TWO_NAMED.fullmatch(" ".join(leaf.text.split())) if leaf is not None else None
    higher = f"write `{sentence}`, and a higher `priority` of {{0}}"
    return higher.format(*pair.groups()) if pair else f"write {else_}"


_TAKES = re.compile(r"for ([a-z][a-z0-9_]*) take ([a-z][a-z0-9_]*) where (.+)")
_ORDER = re.compile(r"(smallest|largest) (.+) first")
_TWO_NAMED = re.compile(r"([a-z][a-z0-9_]*) (?:before|over|above|then|>) ([a-z][a-z0-9_]*)")
ORDERS = "`smallest e first` or `largest e first`, and `largest e first, then smallest f first` for both"


ADMISSION: Kind[Admission] = Kind(_read_admission, {"type": "string"}, "an order")


@notes_reading("by", "at_most", "must", "together", "capped", "weight")
@dataclass(frozen=True)
class Spread:
    """`spread by zone <= 1`: largest minus smallest count; `prefer` in front makes it soft; `together` = one zone.

    `capped`: `at most 1 by zone` bounds each count by itself.
    `weight`: what one member too many counts among the preferences of a thing; None: not stated.
    """

    by: str
    at_most: int
    must: bool
    place: Place = field(compare=False)
    together: bool = False
    stated: bool = True  # is there a `<= n`?
    weight: int | None = None
    capped: bool = False

    @property
    def text(self) -> str:
        """Returns the rule in words, without what it weighs."""
        return (
            f"together by {self.by}" if self.together
            else f"at most {self.at_most} by {self.by}" if self.capped
            else f"spread by {self.by} <= {self.at_most}"
        )  # fmt: skip


@notes_reading("by", "values", "must", "wanted", "weight")
@dataclass(frozen=True)
class Admittance:
    """`only on zone a or b`: places with one of these labels; `not on zone a`: without; `tolerates gpu`: a taint.

    `by` is `taint` for what is tolerated.  `prefer on zone a weight 3` is soft.
    """

    by: str
    values: tuple[str, ...]
    must: bool
    place: Place = field(compare=False)
    wanted: bool = True
    weight: int | None = None

    @property
    def text(self) -> str:
        """Returns the rule in words, without what it weighs."""
        words = "tolerates" if self.by == "taint" else f"{'only' if self.wanted else 'not'} on {self.by}"
        return f"{words} {' or '.join(self.values)}"

    def admits(self, label: str) -> bool:
        """Decides whether a place with this label is one of those that are meant."""
        return (label in self.values) is self.wanted


@notes_reading("at_random")
@dataclass(frozen=True)
class Ties:
    """`ties at random`: of places that its rules leave equal, the placer takes any, each with some chance."""

    at_random: bool
    place: Place = field(compare=False)
    must: bool = False


PlacementRule: TypeAlias = Spread | Admittance | Ties
_NAME, _WEIGHT = "[a-z0-9][a-z0-9_.-]*", r"(?: weight (?P<weight>[1-9]\d{0,5}))?"
_SPREAD = re.compile(rf"(prefer )?(spread|together) by ([a-z][a-z0-9_]*)(?: <= (\d{{1,9}}))?{_WEIGHT}")
_CAP = re.compile(rf"(prefer )?at most ([1-9]\d{{0,8}}) by ([a-z][a-z0-9_]*){_WEIGHT}")
_SELECTS = re.compile(rf"(only|not|prefer|prefer not) on ([a-z][a-z0-9_]*) ({_NAME}(?: or {_NAME})*){_WEIGHT}")
_TOLERATES = re.compile(rf"tolerates ({_NAME})")
PLACEMENT_HELP = (
    "write `spread by zone <= 1`, `at most 1 by node`, `prefer spread by node <= 1 weight 2`, `only on zone a or b`, "
    "`not on zone c`, `tolerates gpu`, or `ties at random`; only what is preferred has a weight"
)


def _read_placement(node: Node, reading: Reading) -> PlacementRule | None:
    leaf = scalar(node, reading, "a placement rule")
    rule = _placement_rule(" ".join(leaf.text.split()), leaf.place) if leaf else None
    if rule is None or (rule.must and not isinstance(rule, Ties) and rule.weight is not None):
        reading.problem(node.place, "a placement rule expected", PLACEMENT_HELP)
        return None
    return rule


def _placement_rule(text: str, place: Place) -> PlacementRule | None:
    if text == "ties at random":
        return Ties(True, place)
    if match := _SPREAD.fullmatch(text):
        weight, together = _weight(match), match[2] == "together"
        return Spread(match[3], int(match[4] or 0), not match[1], place, together, match[4] is not None, weight)
    if match := _CAP.fullmatch(text):
        return Spread(match[3], int(match[2]), not match[1], place, weight=_weight(match), capped=True)
    if match := _SELECTS.fullmatch(text):
        values, wanted = tuple(match[3].split(" or ")), not match[1].endswith("not")
        return Admittance(match[2], values, not match[1].startswith("prefer"), place, wanted, _weight(match))
    match = _TOLERATES.fullmatch(text)
    return Admittance("taint", (match[1],), True, place) if match else None


def _weight(match: re.Match[str]) -> int | None:
    return int(match["weight"]) if match["weight"] else None


PLACEMENT: Kind[PlacementRule] = Kind(_read_placement, {"type": "string"}, "a rule of placement")
