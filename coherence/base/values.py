"""`@value`: a frozen dataclass without code generated at import.

`@dataclass(frozen=True, slots=True)` writes, compiles and runs five methods and builds the class
twice: one to two milliseconds each, and a policy check meets a hundred of them.  `@value` shares
ordinary methods.  `dataclasses.replace`, `fields` and `is_dataclass` work on values as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T")
_ABSENT: Any = object()


class Field:
    """A declared default: its value or its factory, and whether it takes part in equality."""

    __slots__ = ("compare", "default", "factory")

    def __init__(self, default: Any, factory: Callable[[], Any] | None, *, compare: bool) -> None:
        self.default, self.factory, self.compare = default, factory, compare


def replace(one: T, **changes: Any) -> T:
    """As `dataclasses.replace`, without the import of `dataclasses` (and `inspect`): 14 ms of a policy check."""
    names = getattr(type(one), "__value_names__", None)
    if names is None:
        import dataclasses

        made: Any = one
        return cast("T", dataclasses.replace(made, **changes))
    own = one.__dict__
    return type(one)(**{**{name: own[name] for name in names}, **changes})


def field(*, default: Any = _ABSENT, default_factory: Callable[[], Any] | None = None, compare: bool = True) -> Any:
    """As `dataclasses.field`."""
    return Field(default, default_factory, compare=compare)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Make a class with annotations a frozen value: construction by position or name, equality, hash, repr."""
    names, declared = _declared(cls)
    made: Any = cls
    made.__value_names__ = names
    made.__value_declared__ = declared
    made.__value_compared__ = tuple(n for n in names if n not in declared or declared[n].compare)
    setattr(made, "__match_args__", names)  # noqa: B010  (mypy refuses the plain assignment)
    for name, method in {"__init__": _constructor(names, hasattr(cls, "__post_init__")), **_METHODS}.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    made.__setattr__ = made.__delattr__ = _refuse
    made.__dataclass_fields__ = _LazyFields()
    return cls


@dataclass_transform(frozen_default=True, order_default=True, field_specifiers=(field,))
def ordered_value(cls: type[T]) -> type[T]:
    """A value that sorts by its fields."""
    made: Any = value(cls)
    made.__lt__ = lambda self, other: _compared(self) < _compared(other)
    return cls


def _declared(cls: type) -> tuple[tuple[str, ...], dict[str, Field]]:
    names: list[str] = []
    declared: dict[str, Field] = {}
    for base in reversed(cls.__mro__):
        declared |= base.__dict__.get("__value_declared__", {})
        names += [n for n in base.__dict__.get("__value_names__", ()) if n not in names]
    for name, annotation in cls.__dict__.get("__annotations__", {}).items():  # noqa: RUF063  (inspect costs 10 ms)
        if str(annotation).startswith("ClassVar"):
            continue
        if name not in names:
            names.append(name)
        if name in cls.__dict__:
            found = cls.__dict__[name]
            declared[name] = found if isinstance(found, Field) else Field(found, None, compare=True)
            delattr(cls, name)
    return tuple(names), declared


def _constructor(names: tuple[str, ...], after: bool) -> Callable[..., None]:
    """`__init__` of a class with these fields; `after`: it has a `__post_init__`."""
    count = len(names)

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        own = self.__dict__
        if args:
            own.update(zip(names, args))  # noqa: B905  (the check of lengths below is cheaper)
        if kwargs:
            own.update(kwargs)
        if len(own) != count or len(args) + len(kwargs) != count:
            _complete(self, own, names, args, kwargs)
        if after:
            self.__post_init__()

    return made


def _complete(
    self: Any, own: dict[str, Any], names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Fill in defaults; complain as a function would of what is missing, unknown or given twice."""
    cls = type(self).__name__
    if len(args) > len(names) or (kwargs and (kwargs.keys() - set(names) or kwargs.keys() & set(names[: len(args)]))):
        raise TypeError(f"{cls}() takes {', '.join(names)}; given {len(args)} by position and {', '.join(kwargs)}")
    for name in names:
        if name in own:
            continue
        declared = self.__value_declared__.get(name)
        if declared is None or (declared.factory is None and declared.default is _ABSENT):
            raise TypeError(f"{cls}() needs {name}")
        own[name] = declared.factory() if declared.factory is not None else declared.default


def _compared(self: Any) -> tuple[Any, ...]:
    own = self.__dict__
    return tuple([own[name] for name in self.__value_compared__])


def _eq(self: Any, other: object) -> Any:
    return _compared(self) == _compared(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _repr(self: Any) -> str:
    told = ", ".join(f"{n}={v!r}" for n, v in self.__dict__.items() if n in self.__value_names__)
    return f"{type(self).__name__}({told})"


def _refuse(self: Any, name: str, new: object = None) -> None:
    del new
    raise AttributeError(f"{type(self).__name__}.{name} cannot be assigned: values are frozen")


_METHODS: dict[str, Any] = {"__eq__": _eq, "__hash__": _hash, "__repr__": _repr}


class _LazyFields:
    """`__dataclass_fields__`, made when `dataclasses.replace` or `fields` asks for it."""

    def __get__(self, instance: object, owner: Any) -> dict[str, Any]:
        kept: dict[str, Any] | None = owner.__dict__.get("__value_fields__")
        if kept is not None:
            return kept
        import dataclasses

        made: dict[str, Any] = {}
        for name in owner.__value_names__:
            one: Any = dataclasses.field()
            one.name, one.type = name, owner.__annotations__.get(name)
            one._field_type = dataclasses._FIELD  # type: ignore[attr-defined]  # noqa: SLF001
            made[name] = one
        owner.__value_fields__ = made
        return made
