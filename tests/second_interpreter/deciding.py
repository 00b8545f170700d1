"""Decides what one loop does at one of its samples, by the rules of the one model, plainly.

Rule 4: windows are closed.  Rule 6: recommendation, hold windows, rate limits, bounds, cooldown; a value outside its
bounds goes to the bound at once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from coherence.language.design import Loop, Relay
from coherence.language.schema_kinds import Quantity

if TYPE_CHECKING:
    from tests.second_interpreter.runs import SecondRun, World


def decide(run: SecondRun, loop: Loop, seen: World) -> None:
    """Lets the loop read what it sees and write what it may; loops of later ranks see what lands at once."""
    acts, wish = _wish(run, loop, seen)
    run.world[loop.name] = seen[loop.name] = acts
    if wish is None:
        return
    path, value = signal_of(loop), _limited(run, loop, wish)
    if value is None:
        return
    if value != run.commanded[path]:
        run.memory["changed", loop.name] = run.time
    run.commanded[path] = value
    if seconds(loop, "lands"):
        run.flying.append((run.time + seconds(loop, "lands"), path, value))
    else:
        run.world[path] = seen[path] = value


def _wish(run: SecondRun, loop: Loop, seen: World) -> tuple[bool, Any]:
    """Returns whether the loop is triggered, and what its law recommends (None: nothing)."""

    def of(value: Any) -> Any:
        return value.low if isinstance(value, Quantity) else run.value(value.tree, seen, loop.name)

    act = loop.actuation
    assert act is not None
    path = signal_of(loop)
    if loop.rules:
        true = [rule for rule in loop.rules if of(rule.when)]  # all are looked at, the first true one wins
        if not true:
            return False, None
        return True, of(true[0].to) if true[0].to is not None else run.commanded[path] + of(true[0].by)
    if isinstance(loop.trigger, Relay):
        enter, leave = of(loop.trigger.enter), of(loop.trigger.leave)
        on = enter or (run.world[loop.name] and not leave)
    else:
        on = loop.trigger is None or of(loop.trigger)
    if not on or not path:
        return on, None
    if act.to is not None or act.by is not None:
        return on, of(act.to) if act.to is not None else run.commanded[path] + of(act.by)
    assert loop.target is not None
    ratio = Fraction(of(loop.target.signal)) / of(loop.target.setpoint)
    slack = loop.target.tolerance.low if loop.target.tolerance else 0
    current = run.commanded[path] if act.count and act.count.text == "commanded" else run.world[path]
    whole = all(end.low.denominator == 1 for end in act.bounds if isinstance(end, Quantity))
    scaled = current * ratio
    return on, current if 1 - slack <= ratio <= 1 + slack else math.ceil(scaled) if whole else scaled


def _limited(run: SecondRun, loop: Loop, wish: Any) -> Any:
    """Returns the wish after hold windows, rate limits, bounds and cooldown; None where it waits."""
    assert loop.actuation is not None
    now, current = run.time, run.commanded[signal_of(loop)]
    low, high = (end.low for end in loop.actuation.bounds if isinstance(end, Quantity))
    law = not loop.rules and loop.actuation.to is None and loop.actuation.by is None
    wishes: list[Any] = run.memory.setdefault(("wishes", loop.name), [])
    inside = min(max(current, low), high)
    moved = law and inside != current
    if not moved:
        wishes.append((now, wish))
    for key, least in (("hold_down", False), ("hold_up", True)):
        window = seconds(loop, key)
        recent = [v for at, v in wishes if at >= now - window] if window else []
        if window and (wish > current if least else wish < current):
            wish = max(current, min(recent)) if least else min(current, max(recent))
            break
    own: list[Any] = run.memory.setdefault(("own changes", loop.name), [])
    edges = []
    for rate in loop.actuation.rate:
        way = rate.way.text if rate.way else "both"
        if wish != current and way in ("both", "up" if wish > current else "down"):
            assert rate.per is not None
            begin = current - sum(by for at, by in own if at > now - rate.per.low)
            edges.append(begin + (rate.by.low if wish > current else -rate.by.low) if rate.by else begin)
    if edges:
        wish = min(wish, max(current, *edges)) if wish > current else max(wish, min(current, *edges))
    value = min(max(wish, low), high)
    value = inside if moved else value
    changed = run.memory.get(("changed", loop.name))
    waits = loop.timescale is not None and loop.timescale.cooldown is not None
    if waits and changed is not None and value != current and now - changed <= seconds(loop, "cooldown"):
        return None
    own.append((now, value - current))
    return value


def signal_of(loop: Loop) -> str:
    """Returns what the loop writes."""
    return loop.actuation.signal.text if loop.actuation and loop.actuation.signal else ""


def seconds(loop: Loop, name: str) -> Fraction:
    """Returns a time of the loop; 0 where it states none."""
    quantity: Quantity | None = getattr(loop.timescale, name, None)
    return quantity.high if quantity is not None else Fraction(0)
