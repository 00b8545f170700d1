"""What of a design a question looked at: an edit elsewhere cannot change its answer.

A watched design notes which of its fields are read.  What is computed once and kept is kept with the
fields that it was computed from, so that a later reader of it is noted as a reader of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from coherence.language.design import Design

T = TypeVar("T")
_FIELDS = frozenset(Design.fields)
_LOG = " read"  # no field and no key of `once` begins with a space


class Watched(Design):
    """A design that notes its readers' fields; equal in content to the one it was made from."""

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        if name in _FIELDS and _LOG in own:
            own[_LOG][-1].add(name)
        elif name == "__dict__" and _LOG in own:
            own[_LOG][-1].update(_FIELDS)
        return object.__getattribute__(self, name)

    def once(self, key: str, compute: Callable[[], T]) -> T:
        """As a record's; who takes a kept value has read what it was made from."""
        own = object.__getattribute__(self, "__dict__")
        logs = own[_LOG]
        if own.get(key) is None:
            logs.append(set())
            try:
                own[key] = compute()
            finally:
                own[f"{_LOG} {key}"] = made = logs.pop()
                logs[-1].update(made)
        else:
            logs[-1].update(own[f"{_LOG} {key}"])
        found: T = own[key]
        return found

    def but(self, **changes: Any) -> Any:
        """A copy of the whole: all of it has been read.  The copy is not watched."""
        own = object.__getattribute__(self, "__dict__")
        own[_LOG][-1].update(_FIELDS)
        return Design(**{**{name: own[name] for name in _FIELDS}, **changes})


Watched.fields, Watched.keys = Design.fields, Design.keys


def watched(design: Design) -> Watched:
    """The design, watched from now on; nothing that was computed from it before is kept."""
    made = object.__new__(Watched)
    own = object.__getattribute__(made, "__dict__")
    own.update({name: design.__dict__[name] for name in _FIELDS})
    own[_LOG] = [set()]
    return made


def reads(design: Design, act: Callable[[], T]) -> tuple[T, frozenset[str]]:
    """What the act gives, and the fields of the design that it read (all, where the design is not watched)."""
    if not isinstance(design, Watched):
        return act(), _FIELDS
    logs = object.__getattribute__(design, "__dict__")[_LOG]
    logs.append(set())
    try:
        made = act()
    finally:
        read = logs.pop()
        logs[-1].update(read)
    return made, frozenset(read)


def changed(one: Design, other: Design) -> frozenset[str]:
    """The fields of which some entry is another object."""
    mine, others = (object.__getattribute__(design, "__dict__") for design in (one, other))
    return frozenset(name for name in _FIELDS if not same(mine[name], others[name]))


def same(one: Any, other: Any) -> bool:
    """Are two fields one object, or do they have the same objects as entries?"""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(a is b for a, b in zip(one.values(), other.values(), strict=True))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
    return one is other


__all__ = ["Watched", "changed", "reads", "same", "watched"]
