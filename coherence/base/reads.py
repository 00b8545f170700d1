"""Notes which values of a document were read while something was computed.

A value that notes its readers (`notes_reading`) tells whatever is being computed where it stands.  What is computed
once and taken many times (a row of a query table) keeps its reads, and whoever takes it has read the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ContextDecorator
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar, cast

from coherence.base.places import Place

T = TypeVar("T")


class ValueReads:
    """The values that a computation has read, by their places, and the results of others that it has taken."""

    __slots__ = ("known", "places", "taken")

    def __init__(self) -> None:
        self.places: dict[int, Place] = {}  # by identity: a place takes long to hash
        self.taken: dict[int, ValueReads] = {}
        self.known: tuple[int, int, frozenset[Place]] | None = None  # all of it, while there were so many of both

    def take(self, other: ValueReads) -> None:
        """Counts as read whatever another computation has read."""
        if other.places or other.taken:
            self.taken[id(other)] = other

    def all(self) -> frozenset[Place]:
        """Returns the places of everything that was read, directly or through what was taken."""
        if self.known is not None and self.known[:2] == (len(self.places), len(self.taken)):
            return self.known[2]
        seen, waiting = {id(self): self}, [self]
        while waiting:
            for identity, other in waiting.pop().taken.items():
                if identity not in seen:
                    seen[identity] = other
                    waiting.append(other)
        places = {identity: place for reads in seen.values() for identity, place in reads.places.items()}
        every = frozenset(places.values())
        self.known = len(self.places), len(self.taken), every
        return every


_ACTIVE: list[ValueReads] = []  # the computations that are going on, the innermost last


class recorded:  # noqa: N801  (written like a function of contextlib)
    """Collects what is read while it lasts; whoever is computing around it has read the same."""

    __slots__ = ("reads",)

    def __enter__(self) -> ValueReads:
        self.reads = ValueReads()
        _ACTIVE.append(self.reads)
        return self.reads

    def __exit__(self, *_raised: object) -> None:
        _ACTIVE.pop()
        note(self.reads)


class unnoted(ContextDecorator):  # noqa: N801  (written like a function of contextlib)
    """Keeps from counting as read what is only walked over: names that are looked up, parts that are laid out."""

    __slots__ = ()

    def __enter__(self) -> None:
        _ACTIVE.append(ValueReads())

    def __exit__(self, *_raised: object) -> None:
        _ACTIVE.pop()


def note(reads: ValueReads) -> None:
    """Notes as read what another computation has read."""
    if _ACTIVE:
        _ACTIVE[-1].take(reads)


def note_places(places: Iterable[Place]) -> None:
    """Notes as read what a computation in another process, or in an earlier one, has read."""
    if _ACTIVE:
        _ACTIVE[-1].places.update((id(place), place) for place in places)


class _NotedAttribute:
    """An attribute of a value with a place: reading it notes the place, and those `also` of what it comes from."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: Any, _owner: type | None = None) -> Any:
        if value is None:
            return self
        own = value.__dict__
        if _ACTIVE:
            places, place = _ACTIVE[-1].places, own["place"]
            places[id(place)] = place
            if "also" in own:
                places.update((id(also), also) for also in own["also"])
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


def apart(compute: Callable[[], T]) -> tuple[T, ValueReads]:
    """Returns a result and what it was computed from, which nobody else has read yet."""
    with unnoted(), recorded() as reads:
        result = compute()
    return result, reads


def answered(compute: Callable[[], T]) -> T:
    """Returns a result; where it is empty nobody has read anything, for no answer came of it."""
    result, reads = apart(compute)
    if result:
        note(reads)
    return result


BASIS = " reads"  # where what is built keeps the reads of its attributes: no attribute begins with a space
KEPT = " kept"  # where it keeps properties with their reads


class _BuiltAttribute:
    """An attribute of something built from values: whoever takes it has read what it was computed from."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, _owner: type | None = None) -> Any:
        if instance is None:
            return self
        own = instance.__dict__
        if _ACTIVE:
            reads = own.get(BASIS, {}).get(self.name)
            if reads is not None:
                _ACTIVE[-1].take(reads)
        return own[self.name]

    def __set__(self, instance: Any, content: Any) -> None:
        instance.__dict__[self.name] = content  # by the constructor alone: the class is frozen


def keeps_reads(cls: type[T]) -> type[T]:
    """Decorates a frozen dataclass that is `built` from values of a document."""
    for name in cls.__dataclass_fields__:  # type: ignore[attr-defined]
        setattr(cls, name, _BuiltAttribute(name))
    return cls


def built(cls: Callable[..., T], **attributes: Callable[[], Any]) -> T:
    """Returns an instance whose attributes keep what each was computed from."""
    parts = {name: apart(compute) for name, compute in attributes.items()}
    instance = cls(**{name: content for name, (content, _) in parts.items()})
    instance.__dict__[BASIS] = {name: reads for name, (_, reads) in parts.items()}
    return instance


def rebuilt(instance: T, **attributes: Callable[[], Any]) -> T:
    """Returns a copy of what was built, with some attributes computed anew; the others keep what they were made of."""
    parts = {name: apart(compute) for name, compute in attributes.items()}
    with unnoted():
        copy = replace(cast("Any", instance), **{name: content for name, (content, _) in parts.items()})
    copy.__dict__[BASIS] = {**instance.__dict__.get(BASIS, {}), **{name: reads for name, (_, reads) in parts.items()}}
    return cast("T", copy)


def with_changes(instance: T, **attributes: Any) -> T:
    """Returns a copy of what was built, with some attributes that are known; the others are not read with that."""
    return rebuilt(instance, **{name: partial(_same, content) for name, content in attributes.items()})


def _same(content: T) -> T:
    return content


class kept_property(Generic[T]):  # noqa: N801  (written like `property`)
    """A property that is computed once; whoever takes it has read what it was computed from."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, _owner: type | None = None) -> T:
        computed = instance.__dict__.setdefault(KEPT, {})
        if self.name not in computed:
            computed[self.name] = apart(lambda: self.compute(instance))
        content, reads = computed[self.name]
        note(reads)
        return cast("T", content)


class ReadTable(dict[str, T]):
    """A mapping whose entries keep what they were computed from: who takes an entry has read the same."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: dict[str, ValueReads] = {}

    def put(self, name: str, compute: Callable[[], T]) -> T:
        """Puts what is computed, with what it was computed from, and returns it."""
        entry, self.reads[name] = apart(compute)
        self[name] = entry
        return entry

    def __getitem__(self, name: str) -> T:
        self._take(name)
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # stands here so that a copy of the mapping takes each entry by its name

    def get(self, name: str, default: Any = None) -> Any:
        """Returns an entry, or the default."""
        self._take(name)
        return super().get(name, default)

    def items(self) -> Any:
        """Returns all entries, which are read with that."""
        for name in self:
            self._take(name)
        return super().items()

    def values(self) -> Any:
        """Returns all entries, which are read with that."""
        self.items()
        return super().values()

    def _take(self, name: str) -> None:
        if _ACTIVE and name in self.reads:
            _ACTIVE[-1].take(self.reads[name])
