"""Elaborates loops to their sampled form: law, sensor chain, bounds and rates; and the commands that they write."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.base.units import ONE, Dimension
from coherence.language.design import Loop, Rate, Relay
from coherence.language.expressions.tree import Call, Name, Number, Tree, rename
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model import laws
from coherence.model.draft import ModelDraft
from coherence.model.model import (  # fmt: skip
    EVERYTHING,
    Command,
    Interval,
    RateLimit,
    SampledLoop,
    interval,
)


def sampled_loop(draft: ModelDraft, order: int, loop: Loop) -> SampledLoop | None:
    """Returns the sampled form of a loop, or None with a gap where it cannot run."""
    missing = _missing(loop)
    if missing is None:
        measured, setpoint = _sensed(draft, loop), draft.tree_of(loop.target.setpoint) if loop.target else None
        if laws.law_of(loop) != "proportional" or (measured is not None and setpoint is not None):
            return _sampled(draft, order, loop, measured, setpoint)
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
    return "`law: ignore` in execution" if laws.law_of(loop) == "ignore" else None


def _sampled(
    draft: ModelDraft, order: int, loop: Loop, measured: Tree | None, setpoint: Tree | None
) -> SampledLoop:  # fmt: skip
    actuation, timescale, target = loop.actuation, loop.timescale, loop.target
    assert actuation is not None
    assert timescale is not None
    assert timescale.period is not None
    relay = loop.trigger if isinstance(loop.trigger, Relay) else None
    return SampledLoop(
        name=loop.name,
        period=timescale.period.low,
        phase=timescale.phase.low if timescale.phase else None,
        rank=loop.rank.low if loop.rank else Fraction(1000),
        order=order,
        trigger=_trigger(draft, loop),
        enter=_read(draft, loop, relay.enter.tree) if relay and relay.enter else None,
        leave=_read(draft, loop, relay.leave.tree) if relay and relay.leave else None,
        rules=_rules(draft, loop),
        law=laws.law_of(loop),
        signal=draft.index.get(actuation.signal.text, actuation.signal.text) if actuation.signal else "",
        by=draft.tree_of(actuation.by),
        to=draft.tree_of(actuation.to),
        measured=measured,
        setpoint=setpoint,
        tolerance=target.tolerance.low if target and target.tolerance else Fraction(0),
        bounds=_bounds(loop),
        rates=tuple(_rate(rate) for rate in actuation.rate),
        hold_down=_upper(timescale.hold_down),
        hold_up=_upper(timescale.hold_up),
        cooldown=timescale.cooldown.low if timescale.cooldown else None,
        lands=_upper(timescale.lands),
        mode=actuation.mode.text if actuation.mode else "always",
        counts_commanded=actuation.count is not None and actuation.count.text == "commanded",
        integer=laws.counts_members(loop),
        source=loop,
    )


def _rules(draft: ModelDraft, loop: Loop) -> tuple[tuple[Tree, Tree | None, Tree | None], ...]:
    return tuple(
        (_read(draft, loop, rule.when.tree), draft.tree_of(rule.by), draft.tree_of(rule.to))
        for rule in loop.rules
        if rule.when
    )


def _upper(value: Quantity | None) -> Fraction:
    return value.high if value else Fraction(0)


def _rate(rate: Rate) -> RateLimit:
    way = rate.way.text if rate.way else "both"
    return RateLimit(
        rate.by.low if rate.by else None,
        rate.percent.low if rate.percent else None,
        rate.per.low if rate.per else Fraction(0),
        way in ("up", "both"),
        way in ("down", "both"),
    )


def _bounds(loop: Loop) -> Interval:
    stated = loop.actuation.bounds if loop.actuation else ()
    ends = [b for b in stated if isinstance(b, Quantity)]
    if len(stated) == 1 and len(ends) == 1:
        return interval(ends[0])
    low = stated[0].low if stated and isinstance(stated[0], Quantity) else None
    high = stated[-1].high if stated and isinstance(stated[-1], Quantity) else None
    return Interval(low, high)


def _trigger(draft: ModelDraft, loop: Loop) -> Tree | None:
    if not isinstance(loop.trigger, Formula) or loop.trigger.text.strip() == "always":
        return None
    return _read(draft, loop, loop.trigger.tree)


def _read(draft: ModelDraft, loop: Loop, condition: Tree) -> Tree:
    """Returns a condition of the loop: where it names the target's signal, what the sensor shows of it."""
    condition = draft.resolved(condition)
    signal = draft.resolved(loop.target.signal.tree) if loop.target and loop.target.signal else None
    sensed = _sensed(draft, loop)
    if not isinstance(signal, Name) or sensed is None or sensed == signal:
        return condition
    return rename(condition, lambda path: sensed if path == signal.path else path)


def _sensed(draft: ModelDraft, loop: Loop) -> Tree | None:
    """Returns the target's signal through its sensor chain: samplers become `sampled`, windows `mean_over` etc."""
    if loop.target is None or loop.target.signal is None:
        return None
    tree = draft.resolved(loop.target.signal.tree)
    scrape = None
    for link in loop.target.sensor:
        if link.duration is None:
            continue
        size = Number(link.duration.high, link.duration.dimension)
        if link.kind in ("scrape", "relist"):
            tree = Call("sampled", (tree, size))
            scrape = size if link.kind == "scrape" else scrape
        elif link.kind == "irate" and scrape is not None:
            tree = Call("mean_over", (tree, scrape))
        elif link.kind in ("mean", "rate"):
            tree = Call("mean_over", (tree, size))
        elif link.kind == "max":
            tree = Call("max_over", (tree, size))
    return tree


def add_commands(draft: ModelDraft, loops: tuple[SampledLoop, ...]) -> None:
    """Adds each written signal as a command: its initial value from `from:`, else anywhere in the writers' bounds."""
    for loop in (loop for loop in loops if loop.signal):
        if loop.signal in draft.states:
            draft.gap(loop.name, f"writing the state {loop.signal} directly", loop.source.place)
            continue
        if loop.signal in draft.outputs or loop.signal in draft.constants:
            value = draft.constants.pop(loop.signal, None)
            draft.outputs.pop(loop.signal, None)
            if value is not None and loop.signal not in draft.commands:
                draft.commands[loop.signal] = Command(
                    loop.signal, value.range, EVERYTHING, loop.integer, value.dimension, value.place
                )
        known = draft.commands.get(loop.signal)
        start = _initial(loop)
        if known is None:
            known = Command(loop.signal, EVERYTHING, EVERYTHING, loop.integer, _dimension(loop), loop.source.place)
        if start is not None:
            known = replace(known, initial=start)
        draft.commands[loop.signal] = known
    for path, command in draft.commands.items():
        if command.initial == EVERYTHING:
            writers = [loop.bounds for loop in loops if loop.signal == path]
            lows = [b.low for b in writers if b.low is not None]
            highs = [b.high for b in writers if b.high is not None]
            draft.commands[path] = replace(
                command,
                initial=Interval(
                    min(lows) if lows else None, max(highs) if len(highs) == len(writers) and highs else None
                ),
            )


def _initial(loop: SampledLoop) -> Interval | None:
    stated = loop.source.actuation.initial if loop.source.actuation else None
    return interval(stated) if isinstance(stated, Quantity) else None


def _dimension(loop: SampledLoop) -> Dimension:
    ends = [b for b in loop.source.actuation.bounds if isinstance(b, Quantity)] if loop.source.actuation else []
    return ends[0].dimension if ends else ONE
