"""Frozen records with declared keys: as dataclasses, without code generated at import.

`@dataclass(frozen=True, slots=True)` costs about two milliseconds a class (it writes and compiles
methods); the two dozen classes of the vocabulary would take a fifth of the time of a policy check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, dataclass_transform

from coherence.base.queries import TABLE, QueryTable


class Key:
    """A field of a record: its kind, its key in the document, whether it must stand, what it is when absent.

    `means` is what it says and `without` what holds where it does not stand, in words; `also` are other words that
    people write for it.  `for_people`: it says who and what for (notes, names of people), and no answer has to depend
    on it.
    """

    __slots__ = (
        "absent", "also", "compare", "for_people", "key", "kind", "means", "name", "required", "rest", "without",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913  (the facts of a declaration, each by its name)
        self, kind: Any, key: str, *, required: bool, rest: bool, absent: type | None, compare: bool = True,
        for_people: bool = False, means: str = "", without: str = "", also: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.kind, self.key, self.required, self.rest = kind, key, required, rest
        self.means, self.without, self.also = means, without, also
        self.absent, self.compare, self.for_people = absent, compare, for_people
        self.name = ""


def plain(*, default: Any = None, compare: bool = True) -> Any:
    """Returns a field that no key of the document fills; a type as default makes a new one for each record."""
    is_factory = isinstance(default, type)
    return Key(
        default if not is_factory else None,
        "",
        required=False,
        rest=False,
        absent=default if is_factory else None,
        compare=compare,
    )


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(plain,))
class Record:
    """Base of the vocabulary: keyword construction, equality by fields that compare, no assignment."""

    fields: ClassVar[Mapping[str, Key]] = {}
    keys: ClassVar[Mapping[str, Key]] = {}
    exclusive: ClassVar[tuple[str, ...]] = ()  # keys of which at most one may be given, unless `decided_by` is
    decided_by: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        fields: dict[str, Key] = {}
        for name in cls.__dict__.get("__annotations__", {}):  # noqa: RUF063  (inspect costs 10 ms)
            declared = cls.__dict__.get(name)
            field = (
                declared if isinstance(declared, Key) else Key(declared, "", required=False, rest=False, absent=None)
            )
            field.name = name
            fields[name] = field
            if name in cls.__dict__:
                delattr(cls, name)
        cls.fields = fields
        cls.keys = {
            field.key or name: field
            for name, field in fields.items()
            if field.required or (field.kind is not None and hasattr(field.kind, "read"))
        }

    def __init__(self, **values: Any) -> None:
        own = self.__dict__
        for name, field in self.fields.items():
            own[name] = (
                field.absent() if field.absent is not None else None if hasattr(field.kind, "read") else field.kind
            )
        unknown = values.keys() - own.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        own.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be assigned: records are frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted: records are frozen")

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name, field in self.fields.items() if field.compare)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.__dict__.get("name")))

    def __repr__(self) -> str:
        told = ", ".join(f"{n}={v!r}" for n, v in self.__dict__.items() if n in self.fields and v not in (None, (), {}))
        return f"{type(self).__name__}({told})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != TABLE}

    def replace(self, **changes: Any) -> Self:
        """Returns a copy with some fields changed."""
        return type(self)(**{**{name: getattr(self, name) for name in self.fields}, **changes})

    @property
    def queries(self) -> QueryTable:
        """Returns the table of what was computed from the record."""
        own = self.__dict__
        table: QueryTable | None = own.get(TABLE)
        if table is None:
            table = own[TABLE] = QueryTable()
        return table
