"""Counts the policies that an edit of a design leaves without what they are for.

A call that retried and has one try, where no call before or behind it retries either, a loop that may move within
bounds and has one value left or leaves its stated bounds, a timer that begins with what stops it where no other one
stands for it or that is promised to follow what lifts it in every run, a cap that lets nobody in, a floor that keeps
nobody there, a component of which there are fewer, a load or a time of the world that is another: such an edit removes
a conflict by removing what it is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.language.design import Call, Component, Design, Limit, Loop, Timer
from coherence.language.schema_kinds import Quantity
from coherence.verify.patterns.timers.timer_order import idle_timers


def purposes_lost(before: Design, after: Design) -> int:
    """Returns how many calls, loops and timers do what they are for before the edit, and not after it."""
    return sum(1 for _ in _lost(before, after))


def _lost(before: Design, after: Design) -> Iterator[str]:
    """Yields the names of these policies; one whose name is gone is not looked at."""
    for call, edited in zip(before.calls, after.calls, strict=False):
        if call.name == edited.name and _retries(call) and not _retries(edited) and not _retried(edited, after):
            yield call.name
    for name, loop in before.loops.items():
        if name in after.loops and _within(loop) and not _moves_inside(loop, after.loops[name]):
            yield name
    for name, timer in before.timers.items():
        if name in after.timers and not _stopped_at_start(timer) and _stopped_at_start(after.timers[name]):
            yield from () if _stood_for(timer, after) else (name,)
    yield from _idle(before, after)
    for name, component in before.components.items():
        if name in after.components and _is_less(component, after.components[name]):
            yield name
    for name, load in before.workload.items():  # its patience is a concession
        if name in after.workload and after.workload[name].replace(deadline=load.deadline) != load:
            yield name


def _idle(before: Design, after: Design) -> Iterator[str]:
    """Yields the timers and limits that do nothing of what they are for any more, whatever happens."""
    yield from idle_timers(after) - idle_timers(before)
    for name, limit in before.limits.items():
        edited = after.limits.get(name, limit)
        if (_lets_some(limit) and not _lets_some(edited)) or (_keeps_some(limit) and not _keeps_some(edited)):
            yield name


def leaves_idle(before: Design, after: Design) -> bool:
    """Decides whether an edit leaves a timer or a limit that no longer does what it is for, whatever happens."""
    return any(_idle(before, after))


def _retries(call: Call) -> bool:
    return any(not isinstance(tries, Quantity) or tries.high > 1 for tries in call.tries)


def _retried(call: Call, design: Design) -> bool:
    """Returns whether a call of the same chain, before this one or behind it, retries: one layer is enough."""
    before, behind = _reached(call, design, "callee", "caller"), _reached(call, design, "caller", "callee")
    return any(_retries(other) for other in design.calls if other.name in before | behind)


def _reached(call: Call, design: Design, near: str, far: str) -> frozenset[str]:
    """Returns the calls that follow one another from a call on, each with its `near` end at the `far` end before."""
    names, waiting = set[str](), [call]
    while waiting:
        end = _end(waiting.pop(), far)
        following = [other for other in design.calls if end and _end(other, near) == end and other.name not in names]
        names |= {other.name for other in following}
        waiting += following
    return frozenset(names)


def _end(call: Call, key: str) -> str:
    word = getattr(call, key)
    return word.text if word is not None else ""


def _within(loop: Loop) -> tuple[Quantity, Quantity] | None:
    """Returns the bounds of a loop where they are two numbers and leave it room."""
    bounds = loop.actuation.bounds if loop.actuation is not None else ()
    if len(bounds) != 2 or not isinstance(bounds[0], Quantity) or not isinstance(bounds[1], Quantity):
        return None
    return (bounds[0], bounds[1]) if bounds[0].low < bounds[1].high else None


def _moves_inside(loop: Loop, edited: Loop) -> bool:
    """Returns whether the loop may still move, and only within the bounds that it had."""
    old, new = _within(loop), _within(edited)
    return old is not None and new is not None and old[0].low <= new[0].low and new[1].high <= old[1].high


def _stood_for(timer: Timer, design: Design) -> bool:
    """Returns whether another timer waits for the same event from the same start, and then does the same."""
    return any(
        (other.start, other.unless, other.then) == (timer.start, timer.unless, timer.then)
        for name, other in design.timers.items()
        if name != timer.name
    )


def _lets_some(limit: Limit) -> bool:
    """Returns whether a cap lets anything in; a share of members, or an expression, is taken to."""
    return not isinstance(limit.at_most, Quantity) or limit.at_most.high > 0


def _keeps_some(limit: Limit) -> bool:
    """Returns whether a floor keeps any member there; a share of members, or an expression, is taken to."""
    floor = limit.at_least
    return floor is not None and (not isinstance(floor, Quantity) or floor.high > 0)


def _is_less(component: Component, edited: Component) -> bool:
    """Returns whether there are fewer members, or what the world does with a component is another."""
    ranges = {key: v for key, v in component.constants.items() if isinstance(v, Quantity) and v.low < v.high}
    world = component.takes == edited.takes and all(edited.constants.get(key) == v for key, v in ranges.items())
    return _members(edited) < _members(component) or not world


def _members(component: Component) -> Fraction:
    """Returns the fewest members that a component states; 0 where it states none."""
    return component.copies.low if isinstance(component.copies, Quantity) else Fraction(0)


def _stopped_at_start(timer: Timer) -> bool:
    return timer.start is not None and timer.start == timer.unless
