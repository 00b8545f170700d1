"""Names what an edit of a design gives up or buys: a loop taken away, a promise relaxed, more hardware, a higher quota
of a provider, a caller that waits longer, a loop that acts no more.

Such a repair is real and comes last: what was promised to people, and what is paid for, is for people to change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from coherence.base.units import ONE, SECOND
from coherence.language.design import Call, Component, Design, Limit, Loop, Relay
from coherence.language.entries.actions import acted_on
from coherence.language.infrastructure import Link
from coherence.language.roles import send_count
from coherence.language.schema_kinds import Quantity, Word
from coherence.language.sentences import Admittance, PlacementRule, Spread
from coherence.verify.timers.recurrences import counted_timer

HOW_MANY = ("copies", "count")


def concessions(before: Design, after: Design) -> tuple[str, ...]:
    """Returns, in words, what is for people to decide: loops taken away, promises relaxed, hardware added."""
    return (*_taken_away(before, after), *_relaxed(before, after), *_bought(before, after), *_asked_for(before, after))


def patience(before: Design, after: Design) -> tuple[str, ...]:
    """Returns, in words, which callers that nobody calls wait longer than before the edit."""
    called = {call.callee.text for call in before.calls if call.callee is not None}
    return tuple(
        f"{call.caller.text} waits longer"
        for call, edited in zip(before.calls, after.calls, strict=False)
        if call.caller is not None and call.caller.text not in called and _waits(call) < _waits(edited)
    )


def _relaxed(before: Design, after: Design) -> Iterator[str]:
    for name, promise in before.promises.items():
        if name not in after.promises or after.promises[name].text != promise.text:
            yield f"promise {name} is relaxed"
    for name, load in before.workload.items():
        if name in after.workload and _size(load.deadline) < _size(after.workload[name].deadline):
            yield f"{name} waits longer"
    for thing, rules in before.placement.items():
        remaining = [rule.text for rule in _musts(after.placement.get(thing, ()))]
        yield from (f"{thing} may break `{rule.text}`" for rule in _musts(rules) if rule.text not in remaining)


def _musts(rules: Iterable[PlacementRule]) -> Iterator[Spread | Admittance]:
    return (rule for rule in rules if isinstance(rule, Spread | Admittance) and rule.must)


def _taken_away(before: Design, after: Design) -> Iterator[str]:
    for name, loop in before.loops.items():
        if name not in after.loops:
            yield f"{name} is taken away"
        elif _decides(loop) and _is_unset(after.loops[name]) and not _is_unset(loop):
            yield f"{name} leaves {loop.written} alone"


def _decides(loop: Loop) -> bool:
    """Decides whether a loop acts on what it sees; a manifest that is applied again leaves its field to another."""
    return (
        loop.target is not None
        or bool(loop.rules)
        or isinstance(loop.trigger, Relay)
        or (loop.trigger is not None and loop.trigger.text not in ("always", "true"))
    )


def _is_unset(loop: Loop) -> bool:
    to = loop.actuation.to if loop.actuation is not None else None
    return isinstance(to, Word) and to.text == "unset"


def _bought(before: Design, after: Design) -> Iterator[str]:
    for name, tier in before.tiers.items():
        if name in after.tiers and _size(tier.count) < _size(after.tiers[name].count):
            yield f"{name} has more members"
    for link, new in zip(_links(before), _links(after), strict=False):
        if _has_more(link, new):
            yield f"the link {' - '.join(end.text for end in link.ends)} has more of what it is given"
    for name, component in before.components.items():
        if name in after.components and _has_more(component, after.components[name]):
            yield f"{name} has more of what it is given"
    for name, place in before.places.items():
        edited = after.places.get(name, {})
        if any(_size(value) < _size(edited.get(key)) for key, value in place.items()):
            yield f"{name} has more room"


def _asked_for(before: Design, after: Design) -> Iterator[str]:
    """Yields quotas of providers, of whose members the design says nothing, that are higher than before the edit."""
    for name, limit in before.limits.items():
        edited, provider = after.limits.get(name), _provider(before, limit)
        raised = edited is not None and (
            _size(limit.at_most) < _size(edited.at_most)
            or _size(edited.window) < _size(limit.window)
            or (limit.window is None and edited.window is not None)
        )
        if raised and provider is not None:
            yield f"{provider or 'who sets it'} has to grant a higher {name}"


def _provider(design: Design, limit: Limit) -> str | None:
    """Returns whose quota a limit is, "" for one that only its limit tells of; None where it is of the design itself.

    It counts what is sent to a thing in a window, or how often a timer acts on one.
    """
    sent = send_count(design, limit) if limit.window is not None else None
    timer = counted_timer(design, limit)
    if sent is not None:
        thing = sent.callee
    elif timer is not None and timer.then is not None:
        then = timer.then
        thing = then.thing if then.thing in design.components else acted_on(then.text)
    else:
        return None
    component = design.components.get(thing)
    if component is None:
        return thing if sent is not None else ""
    own = component.copies is not None or component.count is not None or component.runs_on is not None
    return None if own or (timer is not None and component.takes) else thing


def _links(design: Design) -> tuple[Link, ...]:
    return design.infrastructure.links if design.infrastructure is not None else ()


def _has_more(owner: Component | Link, edited: Component | Link) -> bool:
    """Returns whether there are more of a thing or a link, or one of its stated numbers that are no times is higher."""
    pairs: list[tuple[object, object]] = [(getattr(owner, key, None), getattr(edited, key, None)) for key in HOW_MANY]
    pairs += [(value, edited.constants.get(key)) for key, value in owner.constants.items()]
    return any(_size(old) < _size(new) for old, new in pairs if getattr(old, "dimension", ONE) != SECOND)


def _size(value: object) -> Fraction:
    return value.high if isinstance(value, Quantity) else Fraction(0)


def _waits(call: Call) -> Fraction:
    return _size(call.deadline)
