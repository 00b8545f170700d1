"""Keeps what is computed from a frozen record with the record, and notes which fields of it were read.

One table serves every question of the kind "what follows from this record?": the model of a design, its call graph,
the schedule of a call, the findings of a question module.  A record does not change, so that a row never goes stale;
it lives as long as the record.  A record whose class notes its readers (`note_readers`) stands with the fields that
each row was computed from, so that after an edit a row can be carried over where none of them differs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from coherence.base.clock import record_cut, recorded_cuts
from coherence.base.reads import ValueReads, note, recorded

T = TypeVar("T")
P = ParamSpec("P")
CARRIED: dict[Hashable, Callable[[Any, Any], Any]] = {}  # queries that stand after an edit: (value, edited record)
TABLE = " queries"  # where a record keeps its table: no field begins with a space


class KnownValue(NamedTuple):
    """One value, the fields of the record and the values that it was computed from, and whether a time limit cut it."""

    value: Any
    fields: frozenset[str]
    reads: ValueReads
    cut_short: bool


class QueryTable:
    """The values computed from one record, by query: a function, or a tuple of one and its other arguments."""

    __slots__ = ("reading", "rows")

    def __init__(self) -> None:
        self.rows: dict[Hashable, KnownValue] = {}
        self.reading: list[set[str]] = []  # the fields read so far, for each query that is being computed

    def get(self, query: Hashable, compute: Callable[[], T]) -> T:
        """Returns the value of the query, computed where it is not known; an error is not kept."""
        row = self.rows.get(query)
        if row is None:
            self.reading.append(set())
            try:
                with recorded_cuts() as cuts, recorded() as reads:
                    value = compute()
            finally:
                fields = self.reading.pop()
                self._note(fields)
            self.rows[query] = KnownValue(value, frozenset(fields), reads, cuts.happened)
            return value
        self._note(row.fields)
        note(row.reads)
        if row.cut_short:
            record_cut()  # who takes it is cut short as well
        known: T = row.value
        return known

    def carry(self, other: QueryTable, query: Hashable) -> None:
        """Takes over what another table knows of a query that has the same value for both records."""
        row = other.rows.get(query)
        if row is not None:
            self.rows.setdefault(query, row)

    def carry_unchanged(self, other: QueryTable, record: Any, changed: frozenset[str]) -> None:
        """Takes over, from the table of another record, the values of CARRIED queries that read no changed field."""
        for query, of_edited in CARRIED.items():
            row = other.rows.get(query)
            if row is not None and not row.fields & changed and not row.cut_short:
                self.rows.setdefault(query, row._replace(value=of_edited(row.value, record)))

    def _note(self, fields: Iterable[str]) -> None:
        """Notes fields as read by the query that is being computed."""
        if self.reading:
            self.reading[-1].update(fields)


class HasQueries(Protocol):
    """A record, or what stands for one."""

    @property
    def queries(self) -> QueryTable: ...


H = TypeVar("H", bound=HasQueries)


def cached(compute: Callable[Concatenate[H, P], T]) -> Callable[Concatenate[H, P], T]:
    """Decorates a pure function of a record (and hashable arguments by position): its value is kept with the record."""

    @wraps(compute)
    def get(record: H, /, *arguments: P.args, **named: P.kwargs) -> T:
        assert not named, "arguments of a cached function stand by position"
        return record.queries.get((get, *arguments), lambda: compute(record, *arguments, **named))

    return get


def carried(query: Callable[[H], T]) -> Callable[[H], T]:
    """Decorates a cached function of a record whose value names nothing of the record itself.

    It stands after an edit that leaves all fields that it read.
    """
    CARRIED[(query,)] = lambda value, _: value
    return query


class NotedField:
    """ValueReads a field of a record, and notes that the query that is being computed has read it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, _owner: type | None = None) -> Any:
        if record is None:
            return self
        own = record.__dict__
        table = own.get(TABLE)
        if table is not None and table.reading:
            table.reading[-1].add(self.name)
        return own[self.name]

    def __set__(self, record: Any, value: Any) -> None:
        record.__dict__[self.name] = value  # by the constructor alone: the class refuses assignments


def note_readers(cls: type, fields: Iterable[str]) -> None:
    """Lets the records of a class note which of these fields each query reads."""
    for name in fields:
        setattr(cls, name, NotedField(name))
