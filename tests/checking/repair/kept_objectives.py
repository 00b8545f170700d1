"""Says what a design wanted before a repair and does not want after it, by plain code that imports no engine.

Every promise, setpoint, bound, guard of another policy, load and time of the world stands as before, or narrower, and
no policy is gone or switched off.  A promise that is relaxed, hardware that is added and a loop that is taken away are
conceded by the repair, in words; candidates are no repairs, and are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base.units import SECOND
from coherence.findings.finding import Edit, Repair
from coherence.language.design import Component, Design, Limit, Loop, Timer
from coherence.language.schema_kinds import Quantity

SECTIONS = ("loops", "timers", "limits", "jobs", "promises", "components", "workload", "tiers", "places")


def written(text: str, edits: tuple[Edit, ...]) -> str:
    """Returns the text after edits, by counting lines and columns."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: (edit.place.line, edit.place.column), reverse=True):
        line, start = lines[edit.place.line - 1], edit.place.column - 1
        assert line[start:].startswith(edit.old)
        lines[edit.place.line - 1] = line[:start] + edit.new + line[start + len(edit.old) :]
    return "\n".join(lines)


def lost(before: Design, after: Design, repair: Repair, of: Sequence[str] = ()) -> Iterator[str]:
    """Yields what the design wanted before the repair of a conflict `of` some policies, and does not want after it."""
    for section in SECTIONS:
        gone = set(getattr(before, section)) - set(getattr(after, section))
        yield from (f"{section}.{name}" for name in gone if f"{name} is taken away" not in repair.concedes)
    if len(before.calls) != len(after.calls):
        yield "calls"
    if not any("is relaxed" in words for words in repair.concedes):
        yield from (name for name, promise in before.promises.items() if after.promises[name].text != promise.text)
    for name, loop in before.loops.items():
        yield from (f"{name}.{what}" for what in _of_loop(loop, after.loops.get(name, loop)))
    for name, timer in before.timers.items():
        yield from (f"{name}.unless" for _ in _switched_off(timer, after, name))
    for name, limit in before.limits.items():
        if name not in of:
            yield from (f"{name}.{end}" for end in _weaker(limit, after.limits[name]))
    for name, load in before.workload.items():
        patience = load.deadline if any("waits longer" in words for words in repair.concedes) else None
        if after.workload[name].replace(deadline=patience) != load.replace(deadline=patience):
            yield f"{name}.rate"
    for name, component in before.components.items():
        yield from (f"{name}.{what}" for what in _of_component(component, after.components[name], repair))


def unmarked(repairs: Sequence[Repair]) -> bool:
    """Decides whether a repair that gives something up stands before one that does not."""
    marked = [bool(repair.concedes) for repair in repairs if repair.proved]
    return marked != sorted(marked)


def _of_loop(loop: Loop, edited: Loop) -> Iterator[str]:
    old, new = _ends(loop), _ends(edited)
    if old is not None and old[0] < old[1] and (new is None or not old[0] <= new[0] < new[1] <= old[1]):
        yield "bounds"
    steps = [rule.by for rule in edited.rules] + ([edited.actuation.by] if edited.actuation else [])
    if any(isinstance(step, Quantity) and step.low == 0 == step.high for step in steps):
        yield "by"
    setpoints = [_high(one.target.setpoint) if one.target else None for one in (loop, edited)]
    if setpoints[0] is not None and setpoints[1] is not None and setpoints[0] < 1 <= setpoints[1]:
        yield "setpoint"  # a share of what is there, that can be no more


def _ends(loop: Loop) -> tuple[Fraction, Fraction] | None:
    bounds = loop.actuation.bounds if loop.actuation is not None else ()
    low, high = (bounds[0], bounds[-1]) if bounds else (None, None)
    return (low.low, high.high) if isinstance(low, Quantity) and isinstance(high, Quantity) else None


def _switched_off(timer: Timer, after: Design, name: str) -> Iterator[Timer]:
    """Yields a timer that begins with what stops it, and that no other one stands for."""
    edited = after.timers[name]
    stands = [
        other
        for other in after.timers.values()
        if (other.start, other.unless, other.then) == (timer.start, timer.unless, timer.then)
    ]
    if edited.start is not None and edited.start == edited.unless and timer.start != timer.unless and not stands:
        yield edited


def _weaker(limit: Limit, edited: Limit) -> Iterator[str]:
    most, least = _pair(limit.at_most, edited.at_most), _pair(limit.at_least, edited.at_least)
    if most is not None and most[0] < most[1]:
        yield "at_most"
    if least is not None and least[0] > least[1]:
        yield "at_least"


def _of_component(component: Component, edited: Component, repair: Repair) -> Iterator[str]:
    if component.takes != edited.takes:
        yield "takes"
    pairs = [("copies", _pair(component.copies, edited.copies))]
    sizes = {k: v for k, v in component.constants.items() if isinstance(v, Quantity) and v.dimension != SECOND}
    pairs += [(key, _pair(old, edited.constants.get(key))) for key, old in sizes.items()]
    for key, pair in pairs:
        if pair is not None and pair[0] < pair[1] and not any("more of" in words for words in repair.concedes):
            yield key
    if pairs[0][1] is not None and pairs[0][1][0] > pairs[0][1][1] and not _narrower(component.copies, edited.copies):
        yield "copies"


def _narrower(old: object, new: object) -> bool:
    """Decides whether a range of members ends lower, and begins where it did."""
    if not (isinstance(old, Quantity) and isinstance(new, Quantity)):
        return False
    return old.low < old.high and old.low == new.low


def _pair(old: object, new: object) -> tuple[Fraction, Fraction] | None:
    low, high = _high(old), _high(new)
    return None if low is None or high is None else (low, high)


def _high(value: object) -> Fraction | None:
    return value.high if isinstance(value, Quantity) else None
