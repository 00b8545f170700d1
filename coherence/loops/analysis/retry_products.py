"""Retries along the calls of a design: how many tries reach the last callee for one request, worst case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.design import Call, Design
from coherence.language.schema_kinds import Quantity
from coherence.loops.waves.retries import worst_case

MOST_PATHS = 2_000


@dataclass(frozen=True)
class Amplified:
    """A path of calls, the tries of each, and the tries that reach its end for one request when all fail by `cause`.

    `tries` None: unlimited somewhere.
    """

    path: tuple[str, ...]
    layers: tuple[int | None, ...]
    tries: Fraction | None
    cause: str


def amplified(design: Design) -> tuple[Amplified, ...]:
    """Paths that retry, the strongest first; a cycle of calls is followed once round."""
    by_caller: dict[str, list[Call]] = {}
    for call in design.calls:
        by_caller.setdefault(call.caller.text if call.caller else "", []).append(call)
    called = {call.callee.text for call in design.calls if call.callee}
    roots = [name for name in by_caller if name not in called] or list(by_caller)
    found = [_of(path) for root in roots for path in _paths(by_caller, root, ())][:MOST_PATHS]
    kept = [one for one in found if one.tries is None or one.tries > 1]
    return tuple(sorted(kept, key=lambda one: (one.tries is not None, -(one.tries or 0), one.path)))


def _paths(by_caller: dict[str, list[Call]], name: str, before: tuple[Call, ...]) -> Iterator[tuple[Call, ...]]:
    onward = [call for call in by_caller.get(name, ()) if call not in before]
    if not onward and before:
        yield before
    for call in onward:
        yield from _paths(by_caller, call.callee.text if call.callee else "", (*before, call))


def _of(path: tuple[Call, ...]) -> Amplified:
    """The cause of failure that most is sent for: a layer that does not retry it counts once."""
    names = (path[0].caller.text if path[0].caller else "", *(call.callee.text if call.callee else "" for call in path))
    causes = dict.fromkeys(word.text for call in path for word in call.retry_when or ()) or {"any failure": None}
    made = []
    for cause in causes:
        layers = tuple(_tries(call) if _retries(call, cause) else 1 for call in path)
        whole = [layer for layer in layers if layer is not None]
        made.append(Amplified(names, layers, worst_case(whole) if len(whole) == len(layers) else None, cause))
    return max(made, key=lambda one: (one.tries is None, one.tries or 0))


def _retries(call: Call, cause: str) -> bool:
    return call.retry_when is None or any(word.text == cause for word in call.retry_when)


def _tries(call: Call) -> int | None:
    """The most; several numbers multiply; None: unlimited."""
    total = 1
    for count in call.tries:
        if not isinstance(count, Quantity):
            return None
        total *= int(count.high)
    return total
