"""Multiplies retries along the calls of a design: tries that reach the last callee for one request, worst case."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from coherence.base.sends import product
from coherence.language.design import Call, Design
from coherence.language.words import plain_word
from coherence.verify.calls.retry_policies import copies_of_try, most_tries, tries_again

MOST_PATHS = 20_000


@dataclass(frozen=True)
class Amplified:
    """A path of calls, the tries of each, and the tries that reach its end for one request when all fail by `cause`.

    `tries` None: unlimited somewhere.
    """

    path: tuple[str, ...]
    layers: tuple[int | None, ...]
    tries: int | None
    cause: str


@dataclass(frozen=True)
class AmplifiedPaths:
    """Paths that retry, the strongest first; `complete`: every path of calls was multiplied."""

    paths: tuple[Amplified, ...]
    complete: bool


def amplified(design: Design) -> AmplifiedPaths:
    """Returns paths that retry, the strongest first; a cycle of calls is followed once round."""
    by_caller: dict[str, list[Call]] = {}
    for call in design.calls:
        by_caller.setdefault(call.caller.text if call.caller else "", []).append(call)
    called = {call.callee.text for call in design.calls if call.callee}
    roots = [name for name in by_caller if name not in called] or list(by_caller)
    every = (path for root in roots for path in _paths(by_caller, root, ()))
    chains = [_of(path) for path in itertools.islice(every, MOST_PATHS)]
    retried = [chain for chain in chains if chain.tries is None or chain.tries > 1]
    ordered = sorted(retried, key=lambda chain: (chain.tries is not None, -(chain.tries or 0), chain.path))
    return AmplifiedPaths(tuple(ordered), next(every, None) is None)


def _paths(by_caller: dict[str, list[Call]], name: str, before: tuple[Call, ...]) -> Iterator[tuple[Call, ...]]:
    onward = [call for call in by_caller.get(name, ()) if call not in before]
    if not onward and before:
        yield before
    for call in onward:
        yield from _paths(by_caller, call.callee.text if call.callee else "", (*before, call))


def _of(path: tuple[Call, ...]) -> Amplified:
    """Returns the tries for the cause of failure that most is sent for: a layer that does not retry it counts once."""
    names = (path[0].caller.text if path[0].caller else "", *(call.callee.text if call.callee else "" for call in path))
    causes = dict.fromkeys(word.text for call in path for word in call.retry_when or ()) or {"any failure": None}
    candidates = []
    for cause in causes:
        layers = tuple(_sends(call, plain_word(cause)) for call in path)
        candidates.append(Amplified(names, layers, product(layers), cause))
    return max(candidates, key=lambda chain: (chain.tries is None, chain.tries or 0))


def _sends(call: Call, cause: str) -> int | None:
    """Returns the most sends of one call: its tries, and a second copy of each where one may be due."""
    tries = most_tries(call) if tries_again(call, cause) else 1
    return None if tries is None else tries * copies_of_try(call)
