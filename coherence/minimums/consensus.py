"""Decides whether a few processes can agree after some rounds, by any rule: every run is played, every view listed.

A run: what each process proposes, and which of them stop when, each after it has reached some of the others.  All send
all they know.  Views that stand in one run must decide alike; so a rule exists exactly if no chain of such runs leads
from those that must decide 0 to those that must decide 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

View = int  # the number of what a process knows
Stops = Mapping[int, tuple[int, frozenset[int]]]  # who -> (in which round, whom it still reaches in it)
T = TypeVar("T")


def subsets(values: Iterable[T]) -> Iterator[tuple[T, ...]]:
    """Yields every subset, the empty one first."""
    every = list(values)
    for count in range(len(every) + 1):
        yield from itertools.combinations(every, count)


def stops(processes: int, failures: int, rounds: int) -> Iterator[Stops]:
    """Yields every way in which at most so many processes stop."""
    for count in range(failures + 1):
        for gone in itertools.combinations(range(processes), count):
            ways = [
                [(turn, frozenset(reached)) for turn in range(rounds) for reached in subsets(_others(processes, who))]
                for who in gone
            ]
            for chosen in itertools.product(*ways):
                yield dict(zip(gone, chosen, strict=True))


def _others(processes: int, who: int) -> list[int]:
    return [other for other in range(processes) if other != who]


def sends(sender: int, receiver: int, turn: int, stopped: Stops) -> bool:
    """Returns whether what a process sends in a round leaves it."""
    if sender not in stopped or turn < stopped[sender][0]:
        return True
    return turn == stopped[sender][0] and receiver in stopped[sender][1]


@dataclass(frozen=True)
class Agreement:
    """`failures` processes may stop; all that run have decided after `rounds` in runs in which only `actual` do.

    In the other runs they may take longer, up to one round more than may fail.  `silent`: who has decided sends nothing
    more.  `uniform`: also who stops later may not have decided otherwise.
    """

    processes: int
    failures: int
    actual: int
    rounds: int
    silent: bool = False
    uniform: bool = False

    def possible(self) -> bool:
        """Returns whether some rule decides so."""
        names: dict[object, View] = {}
        early: set[View] = set()
        for values, stopped in self._runs(self.actual, self.rounds):
            early.update(self._views(values, stopped, names, early=frozenset())[0].values())
        groups = Groups()
        for values, stopped in self._runs(self.failures, self._last):
            decided = self._decided(values, stopped, names, frozenset(early))
            groups.join([*decided, *(f"all {value}" for value in set(values) if len(set(values)) == 1)])
        return groups.of("all 0") != groups.of("all 1")

    @property
    def _last(self) -> int:
        return max(self.rounds, self.failures + 1)

    def _runs(self, failures: int, rounds: int) -> Iterator[tuple[tuple[int, ...], Stops]]:
        every = itertools.product((0, 1), repeat=self.processes)
        return itertools.product(every, list(stops(self.processes, failures, rounds)))

    def _decided(
        self, values: tuple[int, ...], stopped: Stops, names: dict[object, View], early: frozenset[View]
    ) -> list[View]:
        first, last = self._views(values, stopped, names, early=early)
        soon = [view for who, view in first.items() if view in early and (self.uniform or who not in stopped)]
        return soon + [view for who, view in last.items() if first.get(who) not in early]

    def _views(
        self, values: tuple[int, ...], stopped: Stops, names: dict[object, View], *, early: frozenset[View]
    ) -> tuple[dict[int, View], dict[int, View]]:
        """Returns what those that still run know after `rounds`, and at last."""
        known = {who: names.setdefault((who, value), len(names)) for who, value in enumerate(values)}
        first, quiet = known, frozenset[int]()
        for turn in range(self._last):
            sent = {who: view for who, view in known.items() if who not in quiet}
            running = [who for who in known if who not in stopped or turn < stopped[who][0]]
            known = {who: names.setdefault((turn, self._heard(who, turn, known[who], sent, stopped)), len(names))
                     for who in running}  # fmt: skip
            if turn + 1 == self.rounds:
                first = known
                quiet = frozenset(who for who, view in known.items() if self.silent and view in early)
        return first, known

    def _heard(self, who: int, turn: int, own: View, sent: Mapping[int, View], stopped: Stops) -> tuple[object, ...]:
        came = (sent.get(other) if sends(other, who, turn, stopped) else None for other in _others(self.processes, who))
        return who, own, *came


class Groups:
    """Puts what must be decided alike together (union and find)."""

    def __init__(self) -> None:
        self._above: dict[object, object] = {}

    def of(self, member: object) -> object:
        """Returns what stands for the group of a member."""
        while self._above.setdefault(member, member) != member:
            self._above[member] = self._above[self._above[member]]
            member = self._above[member]
        return member

    def join(self, alike: list[object]) -> None:
        """Puts all of them into one group."""
        for other in alike[1:]:
            self._above[self.of(other)] = self.of(alike[0])


def one_round(processes: int, failures: int, values: int) -> str:
    """Returns, as SMT-LIB, whether a rule leaves at most so many values after one round, each of one that was heard.

    Of what may be proposed it takes the lists in order: where no rule does with these, none does with all.
    """
    names: dict[tuple[int, tuple[int | None, ...]], int] = {}
    together: set[tuple[int, ...]] = set()
    for proposed in itertools.combinations_with_replacement(range(values + 1), processes):
        for stopped in stops(processes, failures, 1):
            seen = [
                names.setdefault((who, tuple(v if sends(o, who, 0, stopped) else None for o, v in enumerate(proposed))),
                                 len(names))
                for who in range(processes) if who not in stopped
            ]  # fmt: skip
            together.update(itertools.combinations(sorted(seen), values + 1))
    heard = {number: sorted({v for v in view if v is not None}) for (_, view), number in names.items()}
    lines = [f"(declare-const d{number}_{v} Bool)" for number, every in heard.items() for v in every]
    lines += [f"(assert (or {' '.join(f'd{number}_{v}' for v in every)} false))" for number, every in heard.items()]
    for views in sorted(together):
        for order in itertools.permutations(range(values + 1)):
            if all(v in heard[number] for number, v in zip(views, order, strict=True)):
                unlike = " ".join(f"d{number}_{v}" for number, v in zip(views, order, strict=True))
                lines.append(f"(assert (not (and {unlike})))")
    return "\n".join(["(set-logic QF_UF)", *lines, "(check-sat)"]) + "\n"
