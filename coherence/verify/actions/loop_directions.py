"""Finds the direction in which a loop moves its signal, and under which condition.

A rule acts only where no earlier one does; a relay acts wherever it may be on; a proportional law moves up
above its setpoint and its tolerance and down below it, within its bounds.  What a loop is doing has its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from coherence.base.places import Place
from coherence.language.design import Actuation, Loop, Relay
from coherence.language.expressions.tree import Call, Compare, Logic, Name, Number, Tree, names, rename
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.laws import above, below, of_either_sign, rounded_below, still_above
from coherence.model.model import Interval
from coherence.model.sampled_loops import idle_going_up, ready_members, stated_bounds
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.satisfiability import both, opposite
from coherence.verify.facts.writers import Writer, tree_of

UP, DOWN = 1, -1
CHAIN = {"scrape": "sampled", "relist": "sampled", "mean": "mean_over", "rate": "mean_over", "irate": "mean_over",
         "max": "max_over", "last": "max_over"}  # fmt: skip


@dataclass(frozen=True)
class Move:
    """A loop moves its signal `way` (+1 up, -1 down) wherever `when` may hold (None: always).

    `enters` is the condition under which it surely acts (a relay that was off).  `by` is the step where
    the move is a plain one, `to` the value that it sets.  `text` says the condition in the design's words.
    """

    writer: Writer
    way: int
    when: Tree | None
    enters: Tree | None
    place: Place
    text: str
    by: Fraction | None = None
    to: Fraction | None = None

    @property
    def name(self) -> str:
        return self.writer.name


def moves(facts: DesignFacts, writer: Writer) -> tuple[Move, ...]:
    """Returns all moves of a writer that can be told; those of unknown direction are left out.

    Where its command has the value at which it is off (`off_at`), it does nothing.
    """
    if writer.loop.actuation is None or writer.kind in ("unset", "ignore"):
        return ()
    directions = _rules(facts, writer) if writer.loop.rules else _plain(facts, writer, writer.loop.actuation)
    off, low = writer.loop.actuation.off_at, stated_bounds(writer.loop).low
    if off is None or low is None or low <= off.low:
        return tuple(directions)
    on = Compare("!=", Name(writer.signal), Number(off.low))
    return tuple(replace(move, when=both(move.when, on), enters=both(move.enters, on)) for move in directions)


def _rules(facts: DesignFacts, writer: Writer) -> Iterator[Move]:
    earlier: tuple[Tree, ...] = ()
    for rule in writer.loop.rules:
        if rule.when is None:
            continue
        when = both(*(opposite(tree) for tree in earlier), seen(facts, writer.loop, rule.when.tree))
        yield from _moved(facts, writer, (rule.by, rule.to), (when, when), (rule.when.place, rule.when.text))
        earlier = (*earlier, seen(facts, writer.loop, rule.when.tree))


def _plain(facts: DesignFacts, writer: Writer, actuation: Actuation) -> Iterator[Move]:
    trigger, loop = loop_trigger(writer.loop), writer.loop
    when, enters = acts(facts, loop)
    place = trigger.place if trigger is not None else loop.place
    text = trigger.text if trigger is not None else "always"
    if writer.kind == "scale":
        yield from _scaled(facts, writer, when, enters)
    elif writer.kind == "step":
        yield from _moved(facts, writer, (actuation.by, None), (when, enters), (place, text))
    elif writer.kind == "set":
        yield from _moved(facts, writer, (None, actuation.to), (when, enters), (place, text))


def loop_trigger(loop: Loop) -> Formula | None:
    """Returns the condition that starts it, as written."""
    if isinstance(loop.trigger, Relay):
        return loop.trigger.enter
    return loop.trigger if isinstance(loop.trigger, Formula) and loop.trigger.text.strip() != "always" else None


def acts(facts: DesignFacts, loop: Loop) -> tuple[Tree | None, Tree | None]:
    """Returns (where the loop may act, where it surely does); its own name is true wherever it acts."""
    if isinstance(loop.trigger, Relay) and loop.trigger.enter and loop.trigger.leave:
        enter, leave = (seen(facts, loop, f.tree) for f in (loop.trigger.enter, loop.trigger.leave))
        return both(Logic("or", (enter, opposite(leave))), Name(loop.name)), both(enter, Name(loop.name))
    trigger = loop_trigger(loop)
    when = both(seen(facts, loop, trigger.tree), Name(loop.name)) if trigger is not None else None
    return when, when


def _moved(
    facts: DesignFacts, writer: Writer, amount: tuple[object, object], holds: tuple[Tree | None, Tree | None],
    origin: tuple[Place, str],
) -> Iterator[Move]:  # fmt: skip
    """Yields the moves of a step, by its sign, and of a value that is set, above or below what it replaces."""
    (by, to), (when, enters), (place, text) = amount, holds, origin
    if by is not None:
        span = _span(facts, by)
        step = span.low if span.exact else None
        if span.low is not None and span.low > 0:
            yield Move(writer, UP, when, enters, place, text, by=step)
        elif span.high is not None and span.high < 0:
            yield Move(writer, DOWN, when, enters, place, text, by=step)
        return
    tree = tree_of(to)
    if tree is None:
        return
    span, here = facts.range(tree), Name(writer.signal)
    for way, op in ((UP, "<"), (DOWN, ">")):
        apart = Compare(op, here, facts.tree(tree))
        yield Move(
            writer, way, both(when, apart), both(enters, apart), place, text, to=span.low if span.exact else None
        )


def _span(facts: DesignFacts, value: object) -> Interval:
    if isinstance(value, Quantity):
        return Interval(value.low, value.high)
    return facts.range(value.tree) if isinstance(value, Formula) else Interval(None, None)


def _scaled(facts: DesignFacts, writer: Writer, when: Tree | None, enters: Tree | None) -> Iterator[Move]:
    """Yields the moves of ceil(x y / s): up where y > s (1 + tolerance), down where y is small."""
    target = writer.loop.target
    if target is None or target.signal is None or target.setpoint is None:
        return
    setpoint = tree_of(target.setpoint)
    if setpoint is None:
        return
    reading, here = seen(facts, writer.loop, target.signal.tree), Name(writer.signal)
    tolerance = target.tolerance.high if target.tolerance else Fraction(0)
    over = of_setpoint(facts, partial(above, tolerance=tolerance), reading, setpoint)
    under = of_setpoint(facts, partial(below, tolerance=tolerance), reading, setpoint)
    if writer.integer and not writer.whole:  # a broken command is rounded up whatever the ratio is
        over = Logic("or", (over, under))
    up, down = _of_commands(here, writer.values.low, over, under)
    ready = ready_members(facts.outputs, facts.design, writer.loop, writer.signal)
    if ready is not None and idle_going_up(writer.loop):
        up = both(up, still_above(here, reading, facts.tree(setpoint), tolerance, facts.tree(ready)))
    if writer.values.high is not None:
        up = both(up, Compare("<", here, Number(writer.values.high)))
    if writer.values.low is not None:
        down = both(down, Compare(">", here, Number(writer.values.low)))
    if writer.integer and writer.whole:
        down = both(down, rounded_below(here, reading, facts.tree(setpoint), ready and facts.tree(ready)))
    place, text = target.setpoint.place, str(target.signal)
    yield Move(writer, UP, both(when, up), both(enters, up), place, f"{text} above its setpoint")
    yield Move(writer, DOWN, both(when, down), both(enters, down), place, f"{text} below its setpoint")


def of_setpoint(facts: DesignFacts, condition: Callable[[Tree, Tree], Tree], reading: Tree, setpoint: Tree) -> Tree:
    """Returns a condition stated for setpoints above 0, for all that this setpoint may be."""
    low, level = facts.range(setpoint).low, facts.tree(setpoint)
    return condition(reading, level) if low is not None and low > 0 else of_either_sign(condition, reading, level)


def _of_commands(here: Name, low: Fraction | None, over: Tree, under: Tree) -> tuple[Tree | None, Tree | None]:
    """Returns (up, down): a command below 0 is scaled the other way."""
    if low is not None and low >= 0:
        return over, under
    positive, negative = (Compare(op, here, Number(Fraction(0))) for op in (">=", "<"))
    up, down = (
        Logic("or", (Logic("and", (positive, one)), Logic("and", (negative, other))))
        for one, other in ((over, under), (under, over))
    )
    return up, down


def seen(facts: DesignFacts, loop: Loop, tree: Tree) -> Tree:
    """Returns the tree over what the design declares; the loop's target as its sensor chain shows it."""
    signal = loop.target.signal.tree if loop.target is not None and loop.target.signal is not None else None
    path = _full(facts, signal.path) if isinstance(signal, Name) else ""
    chain = loop.target.sensor if loop.target is not None else ()
    shown: Tree = Name(path)
    for link in chain:
        if link.duration is not None and link.kind in CHAIN:
            shown = Call(CHAIN[link.kind], (shown, Number(link.duration.high, link.duration.dimension)))
    return facts.tree(rename(tree, lambda name: shown if path and _full(facts, name) == path else _full(facts, name)))


def _full(facts: DesignFacts, path: str) -> str:
    return path if path in facts.design.loops else facts.bare.get(path, path)


def read_by(tree: Tree | None, loops: frozenset[str]) -> frozenset[str]:
    """Returns the signals that a condition depends on, loops' names left out."""
    return frozenset(name for name in names(tree) if name not in loops) if tree is not None else frozenset()
