"""Decides how few messages a commit takes with a bound on delays, by any rule: every pattern and every run is played.

A pattern says who sends to whom, and when, as long as all votes are yes and nothing stops.  Whoever learns otherwise,
by a message or by one that does not come, sends all that it knows to all.  One participant may stop at any time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from coherence.minimums.consensus import Groups, Stops, View, sends, stops

Pattern = frozenset[tuple[int, int, int]]  # (round, sender, receiver)
ROUNDS = 2  # in which a pattern has messages; then all have two rounds more to find out what happened


def patterns(participants: int, messages: int) -> Iterator[Pattern]:
    """Yields every pattern of so many messages, one of those that differ in the numbers of participants alone."""
    pairs = list(itertools.permutations(range(participants), 2))
    seen: set[Pattern] = set()
    for chosen in itertools.combinations([(turn, *pair) for turn in range(ROUNDS) for pair in pairs], messages):
        pattern = frozenset(chosen)
        if pattern not in seen:
            for order in itertools.permutations(range(participants)):
                seen.add(frozenset((turn, order[source], order[target]) for turn, source, target in pattern))
            yield pattern


def commits(participants: int, pattern: Pattern) -> bool:
    """Returns whether some rule commits after the pattern, never against a vote, and all that run decide alike."""
    names: dict[object, View] = {}
    calm = _views(participants, (True,) * participants, {}, pattern, names, None)
    groups = Groups()
    for votes in itertools.product((True, False), repeat=participants):
        for stopped in stops(participants, 1, ROUNDS + 2):
            last = _views(participants, votes, stopped, pattern, names, calm)[-1]
            agreed: list[object] = [view for who, view in last.items() if who not in stopped]
            must = ["abort"] if not all(votes) else ["commit"] if not stopped else []
            groups.join([*agreed, *must])
    return groups.of("commit") != groups.of("abort")


def _views(
    participants: int,
    votes: tuple[bool, ...],
    stopped: Stops,
    pattern: Pattern,
    names: dict[object, View],
    calm: list[dict[int, View]] | None,
) -> list[dict[int, View]]:
    """Returns what each knows before each round and at last.  `calm`: the same of the run without no and stop."""
    known = {who: names.setdefault((who, vote), len(names)) for who, vote in enumerate(votes)}
    run = [known]
    for turn in range(ROUNDS + 2):
        alarmed = {who for who, view in known.items() if calm is not None and view != calm[turn][who]}

        def came(source: int, target: int, now: Mapping[int, View] = known, *, at: int = turn,
                 warned: set[int] = alarmed) -> View | None:  # fmt: skip
            meant = source in warned or (at, source, target) in pattern
            return now.get(source) if meant and sends(source, target, at, stopped) else None

        running = [who for who in known if who not in stopped or turn < stopped[who][0]]
        heard = {who: tuple(came(other, who) for other in range(participants) if other != who) for who in running}
        known = {who: names.setdefault((turn, who, known[who], heard[who]), len(names)) for who in running}
        run.append(known)
    return run


def fewest(participants: int, *, most: int) -> int | None:
    """Returns the fewest messages, up to `most`, after which a commit is possible; None: none of them is enough."""
    counts = range(most + 1)
    return next((c for c in counts if any(commits(participants, p) for p in patterns(participants, c))), None)
