"""Lists every policy of a design as a row: objective, target, timescale, trigger and actuation; `?` = not stated."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base.outside_text import visible
from coherence.language.call_cases import render_order
from coherence.language.design import Call, Design, Limit, Loop, Timer

COLUMNS = ("name", "kind", "layer", "objective", "target", "timescale", "trigger", "actuation", "place")


def policy_rows(design: Design) -> Iterator[dict[str, str]]:
    """Yields one row per policy."""
    yield from (_loop(loop) for loop in design.loops.values())
    yield from (_call(call) for call in design.calls)
    yield from (_timer(timer) for timer in design.timers.values())
    yield from (_limit(limit) for limit in design.limits.values())


def _row(*cells: object) -> dict[str, str]:
    return {
        column: visible(str(cell)) if cell not in (None, "", ()) else "?"
        for column, cell in zip(COLUMNS, cells, strict=True)
    }


def _loop(loop: Loop) -> dict[str, str]:
    target, actuation, timescale, trigger = loop.target, loop.actuation, loop.timescale, loop.trigger
    goal = f"{target.signal} -> {target.setpoint}" if target and target.setpoint else target.signal if target else None
    writes = actuation and (actuation.signal or (actuation.evict and f"evict {actuation.evict}"))
    when = (
        "rules"
        if loop.rules
        else trigger
        if trigger is None or hasattr(trigger, "text")
        else f"{trigger.enter} / {trigger.leave}"
    )
    return _row(
        loop.name, "loop", loop.layer, loop.objective, goal, timescale and timescale.period, when, writes, loop.place
    )


def _call(call: Call) -> dict[str, str]:
    tries = " x ".join(str(n) for n in call.tries) or "1"
    clock = ", ".join(
        f"{name} {value}" for name, value in (("deadline", call.deadline), ("per try", call.per_try)) if value
    )
    causes = ", ".join(map(str, call.retry_when)) if call.retry_when is not None else "any failure"
    sends = ", ".join(filter(None, (f"{tries} tries", render_order(call))))
    return _row(call.name, "call", call.layer, call.objective, call.callee, clock, causes, sends, call.place)


def _timer(timer: Timer) -> dict[str, str]:
    parts = (("after", timer.after), ("first", timer.first), ("every", timer.every), ("misses", timer.misses))
    clock = ", ".join(f"{name} {value}" for name, value in parts if value)
    until = (
        f"{timer.start.text}, unless {timer.unless.text}"
        if timer.start and timer.unless
        else timer.start and timer.start.text
    )
    return _row(
        timer.name,
        "timer",
        timer.layer,
        timer.objective,
        timer.sees,
        clock,
        until,
        timer.then and timer.then.text,
        timer.place,
    )


def _limit(limit: Limit) -> dict[str, str]:
    cap = ", ".join(
        f"{name} {value}" for name, value in (("at most", limit.at_most), ("at least", limit.at_least)) if value
    )
    return _row(
        limit.name, "limit", limit.layer, limit.objective, limit.counts, limit.window, cap, limit.when_full, limit.place
    )
