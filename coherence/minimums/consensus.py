"""Decides with a solver whether a few processes can agree after some rounds, by any decision rule."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

View = tuple[object, ...]
Crash = tuple[int, int, frozenset[int]] | None  # who, in which round, whom it still reaches in it


def crashes(processes: int, rounds: int) -> Iterator[Crash]:
    """Yields no crash, and every way in which one process stops."""
    yield None
    for who, when in itertools.product(range(processes), range(rounds)):
        others = [p for p in range(processes) if p != who]
        for count in range(len(others) + 1):
            for reached in itertools.combinations(others, count):
                yield who, when, frozenset(reached)


def views(values: tuple[int, ...], crash: Crash, rounds: int) -> dict[int, View]:
    """Returns what each process that runs to the end knows, if everybody sends all it knows in each round."""
    known: dict[int, View] = {p: (p, value) for p, value in enumerate(values)}
    for turn in range(rounds):
        heard = {p: [known[q] if _sends(q, p, turn, crash) else None for q in known] for p in known}
        known = {p: (p, known[p], *heard[p]) for p in known}
    return {p: view for p, view in known.items() if crash is None or p != crash[0]}


def _sends(sender: int, receiver: int, turn: int, crash: Crash) -> bool:
    if sender == receiver or crash is None or sender != crash[0] or turn < crash[1]:
        return True
    return turn == crash[1] and receiver in crash[2]


def script(processes: int, rounds: int) -> str:
    """Returns, as SMT-LIB, whether each view has a decision so that in every run all agree on a value that was
    proposed."""
    names: dict[View, str] = {}
    claims: list[str] = []
    for values in itertools.product((0, 1), repeat=processes):
        for crash in crashes(processes, rounds):
            seen = [names.setdefault(view, f"v{len(names)}") for view in views(values, crash, rounds).values()]
            claims += [f"(assert (= {a} {b}))" for a, b in itertools.pairwise(seen)]
            if len(set(values)) == 1:
                claims += [f"(assert {one if values[0] else f'(not {one})'})" for one in seen]
    declared = [f"(declare-const {name} Bool)" for name in names.values()]
    return "\n".join(["(set-logic QF_UF)", *declared, *dict.fromkeys(claims), "(check-sat)"]) + "\n"
