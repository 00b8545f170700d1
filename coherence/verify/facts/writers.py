"""Finds who writes a signal, by which map, and how often: the loops of a design as writers of a field."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.queries import cached, carried
from coherence.language import names
from coherence.language.design import Actuation, Design, Loop, Relay
from coherence.language.expressions.tree import Call, Name, Number, Tree
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.laws import counts_members, law_of, stays_whole
from coherence.model.model import EVERYTHING, Interval

TRANSIENT = ("once", "on change")  # modes of writers whose value lasts until another one writes


@dataclass(frozen=True)
class Writer:
    """A loop and the field it writes.  `kind`: unset (leaves it alone), set, scale (proportional), step, ignore.

    `values` is what it may write; `to` the tree it sets; `mode` is empty where the design does not
    say it; `condition` is None where it writes always; `relay` where its trigger has memory.
    `integer`: the law rounds to whole numbers; `whole`: all that it writes is whole.
    """

    loop: Loop
    signal: str
    kind: str
    values: Interval
    place: Place
    mode: str = ""
    to: Tree | None = None
    condition: Tree | None = None
    relay: bool = False
    integer: bool = False
    whole: bool = False

    @property
    def name(self) -> str:
        return self.loop.name

    @property
    def period(self) -> Fraction | None:
        """Returns seconds between two writes, at most; None where the design does not say."""
        timescale = self.loop.timescale
        return timescale.period.high if timescale and timescale.period else None


def are_ranked(one: Writer, other: Writer) -> bool:
    """Decides whether stated ranks say which of two loops has the last word."""
    return one.loop.rank is not None and other.loop.rank is not None and one.loop.rank != other.loop.rank


@carried
@cached
def writers(design: Design) -> dict[str, list[Writer]]:
    """Returns signal -> the loops that write it, in declared order.  A loop with `law: ignore` writes nothing."""
    by_signal: dict[str, list[Writer]] = {}
    for loop in design.loops.values():
        if loop.actuation is not None and loop.actuation.signal is not None:
            writer = _writer(loop, names.resolve(loop.actuation.signal.text, design))
            by_signal.setdefault(writer.signal, []).append(writer)
    return by_signal


@carried
@cached
def writers_by_thing(design: Design) -> dict[str, dict[str, list[Writer]]]:
    """Returns thing -> signal of it -> the loops that write it."""
    by_thing: dict[str, dict[str, list[Writer]]] = {}
    for path, path_writers in writers(design).items():
        by_thing.setdefault(path.partition(".")[0], {})[path] = path_writers
    return by_thing


@cached
def _writer(loop: Loop, signal: str) -> Writer:
    actuation = loop.actuation
    assert actuation is not None
    law, bounds = law_of(loop), interval_of(actuation)
    kind = KINDS.get(law, law)
    place = actuation.to.place if actuation.to is not None and kind in ("set", "unset") else _bounds_place(actuation)
    to = _written(actuation) if kind == "set" else None
    relay = loop.trigger if isinstance(loop.trigger, Relay) else None
    return Writer(
        loop, signal, kind,
        values=_set_values(actuation, bounds) if kind == "set" else bounds,
        place=place,
        mode=_mode(loop, actuation, kind),
        to=to,
        condition=relay.enter.tree if relay and relay.enter else condition_of(loop),
        relay=relay is not None,
        integer=counts_members(loop),
        whole=stays_whole(loop),
    )  # fmt: skip


KINDS = {"rules": "step", "proportional": "scale"}


def _mode(loop: Loop, actuation: Actuation, kind: str) -> str:
    """Returns how often a loop writes: always, with a period, a condition or another law than `set`."""
    if actuation.mode is not None:
        return actuation.mode.text
    periodic = loop.timescale is not None and loop.timescale.period is not None
    return "always" if kind != "set" or periodic or condition_of(loop) is not None else ""


def condition_of(loop: Loop) -> Tree | None:
    """Returns the trigger as a condition; None for `always` and where none is stated."""
    if isinstance(loop.trigger, Formula) and loop.trigger.text.strip() != "always":
        return loop.trigger.tree
    return None


def interval_of(actuation: Actuation) -> Interval:
    """Returns the stated bounds; an end that is no plain quantity is unbounded."""
    ends = actuation.bounds
    if not ends:
        return EVERYTHING
    low, high = ends[0], ends[-1]
    return Interval(low.low if isinstance(low, Quantity) else None, high.high if isinstance(high, Quantity) else None)


def _has_open_bounds(actuation: Actuation) -> bool:
    """Returns whether a bound is an expression, which clips what is written to what nobody knows beforehand."""
    return any(isinstance(bound, Formula) for bound in actuation.bounds)


def _written(actuation: Actuation) -> Tree | None:
    """Returns what is set, within bounds that are expressions too: plain ones clip its range."""
    tree = tree_of(actuation.to)
    if tree is None or not _has_open_bounds(actuation):
        return tree
    low, high = tree_of(actuation.bounds[0]), tree_of(actuation.bounds[-1])
    tree = tree if low is None else Call("max", (tree, low))
    return tree if high is None else Call("min", (tree, high))


def _set_values(actuation: Actuation, bounds: Interval) -> Interval:
    if isinstance(actuation.to, Quantity) and not _has_open_bounds(actuation):
        return Interval(bounds.clip(actuation.to.low), bounds.clip(actuation.to.high))
    return bounds


def _bounds_place(actuation: Actuation) -> Place:
    spans = [bound.place for bound in actuation.bounds]
    if spans and spans[0].file == spans[-1].file:
        first, last = spans[0], spans[-1]
        return Place(first.file, first.line, first.column, last.end_line, last.end_column)
    assert actuation.signal is not None
    return actuation.signal.place


def initial(writer: Writer) -> Quantity | None:
    """Returns what the field begins with, where the loop says it as a plain quantity."""
    stated = writer.loop.actuation.initial if writer.loop.actuation else None
    return stated if isinstance(stated, Quantity) else None


def tree_of(value: object) -> Tree | None:
    """Returns the tree of a stated value: a literal where it is one exact quantity, None for a range or word."""
    if isinstance(value, Formula):
        return value.tree
    if isinstance(value, Quantity) and value.exact:
        return Number(value.low, value.dimension)
    return None


def static_only(found: list[Writer]) -> bool:
    """Decides whether the maps alone decide: not where several loops step, as their chase is dynamics."""
    return sum(writer.kind == "step" for writer in found) < 2


def reads(loop: Loop) -> str:
    """Returns the signal that a loop holds at its setpoint, where that is one name."""
    target = loop.target
    tree = target.signal.tree if target and target.signal else None
    return tree.path if isinstance(tree, Name) else ""
