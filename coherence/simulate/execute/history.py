"""Records the instants of a run that still decide its future: those that an expression may look back at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.bisection import Moments
from coherence.simulate.execute.affine import plain

Num = Any
Change = Callable[[str, Num], Num]  # (name of a number, number) -> what stands in its place


@dataclass(frozen=True)
class HistoryEntry:
    """An instant that is remembered: values as sampled, values after it, and the motion from there on.

    `smoothness`: how many derivatives of the motion go through it at least, where only a delayed value changes there.
    """

    time: Fraction
    sampled: dict[str, Num]
    after: dict[str, Num]
    course: Any  # a Course, or what stands in its place in another motion
    smoothness: int = 0


class HistoryMark:
    """What an instant left behind, hashed once; equal to any other with the same content."""

    __slots__ = ("content", "hashed")

    def __init__(self, content: tuple[Any, ...]) -> None:
        self.content, self.hashed = content, hash(content)

    def __hash__(self) -> int:
        return self.hashed

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, HistoryMark) and self.hashed == other.hashed and self.content == other.content
        )


class Landing(tuple[Fraction, str, Num]):  # noqa: SLOT001  (it keeps its mark)
    """A command that is still to land: when, on which signal, and its value.

    `mark`: what is to come with it, hashed once, after the landing `before` it.
    """

    before: Landing | None = None
    mark: HistoryMark | None = None


def landing_key(pending: Sequence[Landing], now: Fraction) -> tuple[Any, ...]:
    """Returns the commands that are still to land, with times relative to now: hashable."""
    marks: list[HistoryMark] = []
    before: Landing | None = None
    for landing in pending:
        if landing.mark is None or landing.before is not before:
            at, path, value = landing
            gap = at - before[0] if before is not None else None
            landing.before, landing.mark = before, HistoryMark((gap, path, *frozen([value])))
        marks.append(landing.mark)
        before = landing
    return (pending[0][0] - now, *marks) if pending else ()


class History:
    """The remembered instants in the order of time.

    `horizon`: how many seconds back an expression may look; None: none looks back, and nothing is remembered.
    """

    __slots__ = ("entries", "horizon", "marks", "moments")

    def __init__(self, horizon: Fraction | None) -> None:
        self.horizon = horizon
        self.entries: list[HistoryEntry] = []
        self.moments = Moments()  # of the entries
        self.marks: list[
            tuple[HistoryMark, HistoryMark] | None
        ] = []  # of each entry: alone, and with the gap before it

    def copy(self) -> History:
        """Returns the same history, to go on from."""
        twin = History(self.horizon)
        twin.entries, twin.marks, twin.moments = list(self.entries), list(self.marks), self.moments.since(0)
        return twin

    def times(self) -> list[Fraction]:
        """Returns the times of the remembered instants."""
        return self.moments.exact

    def entry_at(self, time: Fraction) -> HistoryEntry | None:
        """Returns the last instant at or before a time; None before the run."""
        index = self.moments.until(time) - 1
        return self.entries[index] if index >= 0 and time >= 0 else None

    def entry_of_motion(self, time: Fraction, anchor: Fraction) -> HistoryEntry | None:
        """Returns the instant from which the motion of the anchor goes on; a later one where that has ended by then."""
        following = self.moments.until(anchor)
        if following < len(self.entries) and self.entries[following].time < time:
            return self.entry_at(time)
        return self.entry_at(anchor)

    def remember(
        self, time: Fraction, sampled: dict[str, Num], after: dict[str, Num], course: Any, smoothness: int = 0
    ) -> None:
        """Appends an instant, and drops those that lie beyond the horizon once they are many."""
        if self.horizon is None:
            return
        self.entries.append(HistoryEntry(time, sampled, after, course, smoothness))
        self.moments.append(time)
        self.marks.append(None)
        if len(self.entries) > 64 and self.entries[len(self.entries) // 2].time < time - self.horizon:
            first = self._first(time)
            self.entries, self.marks = self.entries[first:], self.marks[first:]
            self.moments = self.moments.since(first)

    def _first(self, now: Fraction) -> int:
        """Returns where the entries begin that decide the future."""
        if self.horizon is None:
            return len(self.entries)
        return max(self.moments.until(now - self.horizon) - 1, 0)

    def key(self, now: Fraction) -> tuple[Any, ...]:
        """Returns what decides the future, as times and values relative to now: hashable."""
        first = self._first(now)
        if first == len(self.entries):
            return ()
        marks = [self.marks[index] or self._mark(index) for index in range(first, len(self.entries))]
        return (now - self.entries[-1].time, marks[0][0], *(linked for _, linked in marks[1:]))

    def _mark(self, index: int) -> tuple[HistoryMark, HistoryMark]:
        entry = self.entries[index]
        content = (frozen(entry.sampled.values()), frozen(entry.after.values()))
        gap = entry.time - self.entries[index - 1].time if index else None
        pair = self.marks[index] = (HistoryMark(content), HistoryMark((gap, *content)))
        return pair

    def map_numbers(self, now: Fraction, dynamic: set[str], change: Change) -> None:
        """Replaces every remembered rate, and every number of `dynamic`, by `change(its name, number)`."""
        first = self._first(now)
        self.entries = [
            HistoryEntry(
                entry.time,
                _mapped(entry.sampled, f"{n} sampled", dynamic, change),
                _mapped(entry.after, f"{n} after", dynamic, change),
                replace(entry.course, rates={k: change(f"{n} rate {k}", v) for k, v in entry.course.rates.items()}),
            )
            for n, entry in enumerate(self.entries[first:])
        ]
        self.moments = self.moments.since(first)
        self.marks = [None] * len(self.entries)


def _mapped(values: dict[str, Num], name: str, dynamic: set[str], change: Change) -> dict[str, Num]:
    return {k: change(f"{name} {k}", v) if k in dynamic else v for k, v in values.items()}


def frozen(values: Iterable[Num]) -> tuple[Any, ...]:
    """Returns numbers without their gradients, hashable: as ratios, for a Fraction takes long to hash."""
    return tuple([v.as_integer_ratio() if type(v) is Fraction else _comparable(v) for v in values])


def _comparable(value: Num) -> Any:
    """Returns what is equal for equal numbers of any type; a function of a parameter as it is."""
    concrete = plain(value)
    return concrete.as_integer_ratio() if isinstance(concrete, Fraction) else concrete
