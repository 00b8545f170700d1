"""Elaborates loops to their sampled form: law, sensor chain, bounds and rates; and the commands that they write."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import overload

from coherence.base.queries import cached
from coherence.base.reads import built, unnoted, with_changes
from coherence.base.units import ONE, Dimension
from coherence.language.design import Design, Loop, Rate, Relay
from coherence.language.expressions.tree import Compare, Logic, Name, Number, Tree, names
from coherence.language.loops import Timescale
from coherence.language.names import bare_names
from coherence.language.roles import in_role
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model import laws
from coherence.model.boundaries import Sight, command_delays, later, reading_delays
from coherence.model.boundary_gains import add_effects, command_path, make_room, seen_at, written_signal
from coherence.model.caps import within_caps
from coherence.model.draft import ModelDraft
from coherence.model.model import (  # fmt: skip
    EVERYTHING,
    Command,
    Constant,
    Interval,
    RateLimit,
    SampledLoop,
    SampledRule,
    interval,
)
from coherence.model.readings import is_divided, is_made_of, of_each_member, through_sensor


def sampled_loop(draft: ModelDraft, order: int, loop: Loop) -> SampledLoop | None:
    """Returns the sampled form of a loop, or None with a gap where it cannot run."""
    missing = _missing(loop) or _no_number(loop)
    if missing is None:
        measured, setpoint = _measured(draft, loop), draft.tree_of(loop.target.setpoint) if loop.target else None
        if laws.law_of(loop) != "proportional" or (measured is not None and setpoint is not None):
            return _sampled(draft, order, loop)
        missing = f"target signal and setpoint of {loop.name}"
    draft.gap(loop.name, missing, loop.place)
    return None


def _missing(loop: Loop) -> str | None:
    """Returns what a run needs of a loop and the loop does not state."""
    actuation, timescale = loop.actuation, loop.timescale
    if actuation is None or actuation.evict is not None:
        return "an actuation that a run can carry out"
    if timescale is None or timescale.period is None or not timescale.period.exact or timescale.period.low == 0:
        return f"the period of {loop.name} (`timescale: {{period: ...}}`)"
    if actuation.signal is None and any(rule.by is not None or rule.to is not None for rule in loop.rules):
        return f"the signal that the rules of {loop.name} write (`actuation: {{signal: ...}}`)"
    return "`law: ignore` in execution" if laws.law_of(loop) == "ignore" else None


def _no_number(loop: Loop) -> str | None:
    """Returns which number a run needs, where an expression stands for it."""
    actuation = loop.actuation
    assert actuation is not None
    for key, stated in (("from", actuation.initial), *(("bounds", bound) for bound in actuation.bounds)):
        if isinstance(stated, Formula):
            return f"a number for `{key}` of {loop.name}: an expression is not evaluated there"
    return None


def _sampled(draft: ModelDraft, order: int, loop: Loop) -> SampledLoop:
    """Returns the sampled form of a loop; each attribute keeps what it was computed from."""
    actuation, timescale, target = loop.actuation, loop.timescale, loop.target
    assert actuation is not None
    assert timescale is not None
    period = timescale.period
    assert period is not None
    triggered = not loop.rules  # rules decide by themselves
    relay = loop.trigger if triggered and isinstance(loop.trigger, Relay) else None
    return built(
        SampledLoop,
        name=lambda: loop.name,
        period=lambda: period.low,
        phase=lambda: timescale.phase.low if timescale.phase else None,
        rank=lambda: loop.rank.low if loop.rank else Fraction(1000),
        order=lambda: order,
        trigger=lambda: _trigger(draft, loop) if triggered else None,
        enter=lambda: read_by(draft, loop, relay.enter.tree) if relay and relay.enter else None,
        leave=lambda: read_by(draft, loop, relay.leave.tree) if relay and relay.leave else None,
        rules=lambda: _rules(draft, loop),
        law=lambda: laws.law_of(loop),
        signal=lambda: command_path(draft, loop, written_signal(draft, loop)),
        by=lambda: _seen(draft, loop, draft.tree_of(actuation.by)),
        to=lambda: _seen(draft, loop, draft.tree_of(actuation.to)),
        measured=lambda: _measured(draft, loop),
        setpoint=lambda: _seen(draft, loop, draft.tree_of(target.setpoint)) if target else None,
        tolerance=lambda: target.tolerance.low if target and target.tolerance else Fraction(0),
        bounds=lambda: stated_bounds(loop),
        rates=lambda: tuple(_rate(rate) for rate in actuation.rate),
        hold_down=lambda: _window(timescale, timescale.hold_down, period.low),
        hold_up=lambda: _window(timescale, timescale.hold_up, period.low),
        cooldown=lambda: timescale.cooldown.low if timescale.cooldown else None,
        lands=lambda: _upper(timescale.lands) + command_delay(draft, loop),
        mode=lambda: actuation.mode.text if actuation.mode else "always",
        counts_commanded=lambda: actuation.count is not None and actuation.count.text == "commanded",
        integer=lambda: laws.counts_members(loop),
        source=lambda: loop,
        ready=lambda: _multiplied(draft, loop),
        idle=lambda: _has_ready(draft, loop) and idle_going_up(loop),
    )


def _multiplied(draft: ModelDraft, loop: Loop) -> Tree | None:
    """Returns the members that the law multiplies: those that are ready, or what a command has come to; None: all."""
    signal = written_signal(draft, loop)
    ready = _seen(draft, loop, ready_members(draft.outputs, draft.design, loop, signal))
    landed = loop.actuation is None or loop.actuation.count is None or loop.actuation.count.text == "landed"
    changed = landed and laws.law_of(loop) == "proportional" and command_path(draft, loop, signal) != signal
    return Name(signal) if ready is None and changed else ready


def _has_ready(draft: ModelDraft, loop: Loop) -> bool:
    return ready_members(draft.outputs, draft.design, loop, written_signal(draft, loop)) is not None


def _has_type(loop: Loop, *kinds: str) -> bool:
    """Returns whether the target is stated to be of one of these kinds."""
    kind = loop.target.kind if loop.target else None
    return kind is not None and kind.text in kinds


def idle_going_up(loop: Loop) -> bool:
    """Returns whether members that are not ready count as 0 where a law would go up."""
    return not _has_type(loop, "value")


def ready_members(outputs: Collection[str], design: Design, loop: Loop, signal: str) -> Name | None:
    """Returns the ready members of what a loop scales by their own average; None where all are ready at once."""
    if not signal or not _has_type(loop, "utilization", "value"):
        return None
    path = members_ready(outputs, design, signal)
    return Name(path) if path else None


def members_ready(outputs: Collection[str], design: Design, signal: str) -> str:
    """Returns the output that counts the ready members of the pool whose size is a signal.

    Nothing where there is none, or where members are ready at once.
    """
    thing = signal.rpartition(".")[0]
    pool, path = design.components.get(thing), f"{thing}.ready"
    if pool is None or path not in outputs:
        return ""
    at_once = pool.part is not None and not any(span.high > 0 for _, span in in_role(pool, "start"))
    return "" if at_once else path


def _rules(draft: ModelDraft, loop: Loop) -> tuple[SampledRule, ...]:
    return tuple(
        built(
            SampledRule,
            when=partial(lambda when: read_by(draft, loop, when.tree), rule.when),
            by=partial(lambda by: _seen(draft, loop, draft.tree_of(by)), rule.by),
            to=partial(lambda to: _seen(draft, loop, draft.tree_of(to)), rule.to),
        )
        for rule in loop.rules
        if rule.when
    )


def command_delay(draft: ModelDraft, loop: Loop) -> Fraction:
    """Returns how much later the boundaries on the way let a command land (s)."""
    delays = command_delays(draft.design, loop, written_signal(draft, loop))
    return sum((delay.high for _, delay in delays), Fraction(0))


@overload
def _seen(draft: ModelDraft, loop: Loop, tree: Tree) -> Tree: ...
@overload
def _seen(draft: ModelDraft, loop: Loop, tree: None) -> None: ...
@overload
def _seen(draft: ModelDraft, loop: Loop, tree: Tree | None) -> Tree | None: ...
def _seen(draft: ModelDraft, loop: Loop, tree: Tree | None) -> Tree | None:
    """Returns what a loop sees of an expression across boundaries."""
    return later(tree, _sight(draft, loop)) if tree is not None and loop.inside else tree


def _sight(draft: ModelDraft, loop: Loop) -> Sight:
    return Sight(partial(_age, draft, loop), partial(seen_at, draft, loop))


def _is_constant(draft: ModelDraft, path: str) -> bool:
    """Decides whether a name is a constant that neither varies nor is written."""
    known = draft.constants.get(path)
    return (
        known is not None
        and not known.varies
        and not any(written_signal(draft, other) == path for other in draft.design.loops.values())
    )


def _age(draft: ModelDraft, loop: Loop, path: str) -> Fraction:
    """Returns how old the boundaries on the way make what a loop reads of a name (s); constants are what they were."""
    delays = () if _is_constant(draft, path) else reading_delays(draft.design, loop, path)
    return sum((delay.high for _, delay in delays), Fraction(0))


def _upper(value: Quantity | None) -> Fraction:
    return value.high if value else Fraction(0)


def _window(timescale: Timescale, stated: Quantity | None, period: Fraction) -> Fraction:
    """Returns the age of the oldest sample that counts (s): of an open window, the last one that is younger than it."""
    length = _upper(stated)
    return period * (math.ceil(length / period) - 1) if length and has_open_windows(timescale) else length


def has_open_windows(timescale: Timescale) -> bool:
    """Decides whether a recommendation as old as its window of stabilization counts no more."""
    return timescale.window is not None and timescale.window.text == "open"


def _rate(rate: Rate) -> RateLimit:
    way = rate.way.text if rate.way else "both"
    return RateLimit(
        rate.by.low if rate.by else None,
        rate.percent.low if rate.percent else None,
        rate.per.low if rate.per else Fraction(0),
        way in ("up", "both"),
        way in ("down", "both"),
    )


def stated_bounds(loop: Loop) -> Interval:
    """Returns the bounds that a loop states."""
    stated = loop.actuation.bounds if loop.actuation else ()
    ends = [b for b in stated if isinstance(b, Quantity)]
    if len(stated) == 1 and len(ends) == 1:
        return interval(ends[0])
    low = stated[0].low if stated and isinstance(stated[0], Quantity) else None
    high = stated[-1].high if stated and isinstance(stated[-1], Quantity) else None
    return Interval(low, high)


def _trigger(draft: ModelDraft, loop: Loop) -> Tree | None:
    """Returns what lets a loop act: its trigger, and a command other than the one at which it is off."""
    conditions = [tree for tree in (_stated_trigger(draft, loop), _not_off(draft, loop)) if tree is not None]
    return Logic("and", tuple(conditions)) if len(conditions) > 1 else next(iter(conditions), None)


def _not_off(draft: ModelDraft, loop: Loop) -> Tree | None:
    """Returns that the command has not the value at which the loop is off; None where no other loop brings it there."""
    off, low = loop.actuation.off_at if loop.actuation else None, stated_bounds(loop).low
    if off is None or low is None or low <= off.low:
        return None
    signal = written_signal(draft, loop)
    same = writers_of(draft.design).get(signal, ())
    others = [other for other in same if other is not loop and written_signal(draft, other) == signal]
    if not any(_may_write(other, off.low) for other in others):
        return None
    return Compare("!=", later(Name(signal), _sight(draft, loop)), Number(off.low))


@cached
def writers_of(design: Design) -> Mapping[str, list[Loop]]:
    """Returns the loops that write a signal, by its full path: looked up, which reads nothing of them."""
    by_signal: dict[str, list[Loop]] = {}
    with unnoted():
        draft = ModelDraft(design, index=dict(bare_names(design)))
        for loop in design.loops.values():
            by_signal.setdefault(written_signal(draft, loop), []).append(loop)
    return by_signal


def _may_write(loop: Loop, value: Fraction) -> bool:
    """Returns whether a loop may bring its command to a value."""
    actuation, law = loop.actuation, laws.law_of(loop)
    if law == "set" and actuation is not None and isinstance(actuation.to, Quantity):
        return interval(actuation.to).clip(value) == value
    return law not in ("none", "unset", "ignore") and stated_bounds(loop).clip(value) == value


def _stated_trigger(draft: ModelDraft, loop: Loop) -> Tree | None:
    if not isinstance(loop.trigger, Formula) or loop.trigger.text.strip() == "always":
        return None
    return read_by(draft, loop, loop.trigger.tree)


def read_by(draft: ModelDraft, loop: Loop, condition: Tree) -> Tree:
    """Returns a condition of the loop: where it names the target's signal, what the sensor shows of it."""
    condition, seen = draft.resolved(condition), partial(_seen, draft, loop)
    if loop.target is None or loop.target.signal is None or not loop.target.sensor:
        return seen(condition)
    signal = draft.resolved(loop.target.signal.tree)
    if not isinstance(signal, Name) or signal.path not in names(condition):
        return seen(condition)
    sensed = _sensed(draft, loop)
    if sensed is None or sensed == seen(signal):
        return seen(condition)
    return later(condition, _sight(draft, loop), {signal.path: sensed})


def _sensed(draft: ModelDraft, loop: Loop) -> Tree | None:
    """Returns the target's signal through its sensor chain, which shows of what never moves what it is."""
    if loop.target is None or loop.target.signal is None:
        return None
    stated, chain = draft.resolved(loop.target.signal.tree), loop.target.sensor
    still = chain and is_made_of(stated, draft.outputs, partial(_is_constant, draft))
    return through_sensor(_seen(draft, loop, stated), () if still else chain)


def _measured(draft: ModelDraft, loop: Loop) -> Tree | None:
    """Returns what the law compares: what the sensor shows, and of a total that all share the part of one member."""
    sensed, signal = _sensed(draft, loop), written_signal(draft, loop)
    if sensed is None or not signal or not _has_type(loop, "average") or laws.law_of(loop) != "proportional":
        return sensed
    assert loop.target is not None
    assert loop.target.signal is not None
    if is_divided(draft.resolved(loop.target.signal.tree), draft.outputs, signal):
        return sensed
    members = _multiplied(draft, loop) or Name(command_path(draft, loop, signal))
    others = (other for other in draft.design.loops.values() if other is not loop)
    alone = all(written_signal(draft, other) != signal for other in others)  # another may leave none
    return of_each_member(sensed, members, stated_bounds(loop).low if alone else None)


def add_commands(draft: ModelDraft, every: tuple[SampledLoop, ...]) -> tuple[SampledLoop, ...]:
    """Adds each written signal as a command: its initial value from `from:`, else anywhere in the writers' bounds.

    Returns the loops that act: one that sets a state, which changes by a law of its own, is a gap.
    """
    make_room(draft, every)
    for loop in every:
        if loop.signal in draft.states:
            needs = f"an input of the state that {loop.name} writes: it sets {loop.signal}"
            draft.gap(loop.name, needs, loop.source.place)
    loops = tuple(loop for loop in every if loop.signal not in draft.states)
    written: dict[str, list[SampledLoop]] = {}
    for loop in (loop for loop in loops if loop.signal):
        written.setdefault(loop.signal, []).append(loop)
    within: dict[str, SampledLoop] = {}
    for path, writers in written.items():
        known, constant = draft.commands.get(path), draft.constants.pop(path, None)
        draft.outputs.pop(path, None)
        start = _stated_start(known, constant, writers)
        bounded = within_caps(draft.design, writers, start if start != EVERYTHING else None)
        within |= {loop.name: loop for loop in bounded}
        draft.commands[path] = _command(known, constant, bounded)
    loops = tuple(within.get(loop.name, loop) for loop in loops)
    for path, command in draft.commands.items():
        if path not in written and command.initial == EVERYTHING:
            draft.commands[path] = with_changes(command, initial=_bounded(()))
    add_effects(draft, loops)
    return loops


def _command(known: Command | None, constant: Constant | None, writers: Sequence[SampledLoop]) -> Command:
    """Returns a written signal: as a part or a constant declares it, with where its writers let it begin."""
    first = writers[0]
    return built(
        Command,
        path=lambda: first.signal,
        initial=lambda: _begins(known, constant, writers),
        range=lambda: known.range if known else EVERYTHING,
        integer=lambda: known.integer if known else first.integer,
        dimension=lambda: known.dimension if known else constant.dimension if constant else _dimension(first),
        place=lambda: known.place if known else constant.place if constant else first.source.place,
    )


def _begins(known: Command | None, constant: Constant | None, writers: Sequence[SampledLoop]) -> Interval:
    """Returns where a written signal begins: as it is stated, else in all bounds."""
    start = _stated_start(known, constant, writers)
    return _bounded(writers) if start == EVERYTHING else start


def _stated_start(known: Command | None, constant: Constant | None, writers: Sequence[SampledLoop]) -> Interval:
    """Returns where a written signal begins as the last writer states it, else as it is declared."""
    stated = [start for loop in writers if (start := _initial(loop)) is not None]
    declared = known.initial if known else constant.range if constant else EVERYTHING
    return stated[-1] if stated else declared


def _bounded(writers: Sequence[SampledLoop]) -> Interval:
    """Returns the least interval with the bounds of all writers."""
    bounds = [loop.bounds for loop in writers]
    lows = [b.low for b in bounds if b.low is not None]
    highs = [b.high for b in bounds if b.high is not None]
    return Interval(min(lows) if lows else None, max(highs) if len(highs) == len(bounds) and highs else None)


def _initial(loop: SampledLoop) -> Interval | None:
    stated = loop.source.actuation.initial if loop.source.actuation else None
    return interval(stated) if isinstance(stated, Quantity) else None


def _dimension(loop: SampledLoop) -> Dimension:
    ends = [b for b in loop.source.actuation.bounds if isinstance(b, Quantity)] if loop.source.actuation else []
    return ends[0].dimension if ends else ONE
