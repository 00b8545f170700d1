"""Notes which values of a document were read while something was computed.

A value that notes its readers (`notes_reading`) tells whatever is being computed where it stands.  What is computed
once and taken many times (a row of a query table) keeps its reads, and whoever takes it has read the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from coherence.base.places import Place

T = TypeVar("T")


class ValueReads:
    """The values that a computation has read, by their places, and the results of others that it has taken."""

    __slots__ = ("places", "taken")

    def __init__(self) -> None:
        self.places: dict[int, Place] = {}  # by identity: a place takes long to hash
        self.taken: dict[int, ValueReads] = {}

    def take(self, other: ValueReads) -> None:
        """Counts as read whatever another computation has read."""
        if other.places or other.taken:
            self.taken[id(other)] = other

    def all(self) -> frozenset[Place]:
        """Returns the places of everything that was read, directly or through what was taken."""
        seen, waiting = {id(self): self}, [self]
        while waiting:
            for identity, other in waiting.pop().taken.items():
                if identity not in seen:
                    seen[identity] = other
                    waiting.append(other)
        return frozenset(place for reads in seen.values() for place in reads.places.values())


_ACTIVE: list[ValueReads] = []  # the computations that are going on, the innermost last


@contextmanager
def recorded() -> Iterator[ValueReads]:
    """Collects what is read while it lasts; whoever is computing around it has read the same."""
    reads = ValueReads()
    _ACTIVE.append(reads)
    try:
        yield reads
    finally:
        _ACTIVE.pop()
        note(reads)


@contextmanager
def unnoted() -> Iterator[None]:
    """Keeps from counting as read what is only walked over: names that are looked up, parts that are laid out."""
    _ACTIVE.append(ValueReads())
    try:
        yield
    finally:
        _ACTIVE.pop()


def note(reads: ValueReads) -> None:
    """Notes as read what another computation has read."""
    if _ACTIVE:
        _ACTIVE[-1].take(reads)


class _NotedAttribute:
    """An attribute of a value with a place: reading it notes the place."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: Any, _owner: type | None = None) -> Any:
        if value is None:
            return self
        own = value.__dict__
        if _ACTIVE:
            place = own["place"]
            _ACTIVE[-1].places[id(place)] = place
        return own[self.name]

    def __set__(self, value: Any, content: Any) -> None:
        value.__dict__[self.name] = content  # by the constructor alone: the class is frozen


def notes_reading(*names: str) -> Callable[[type[T]], type[T]]:
    """Decorates a frozen dataclass with a `place`: reading one of these attributes notes that it is read."""

    def decorate(cls: type[T]) -> type[T]:
        for name in names:
            setattr(cls, name, _NotedAttribute(name))
        return cls

    return decorate
