"""Finds which open findings reach each promise, and by which way.

Influences go one way. Calls, tiers, links and boundaries pass both: load on to what is called or run on, delays and
failures back.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.findings.finding import Finding, Verdict
from coherence.findings.promise_answers import promise_answers
from coherence.language.design import Design
from coherence.language.names import bare_names
from coherence.reporting.pictures.design_map import DesignMap

OPEN = (Verdict.CONFLICT, Verdict.UNDECIDED)
WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class PromiseRisk:
    """A promise with its answer, the things that it speaks of, and the ways to them from things with open findings.

    `ways`: the shortest from each such thing, that first and the thing of the promise last.
    """

    promise: str
    answer: Finding | None
    things: tuple[str, ...]
    ways: tuple[tuple[str, ...], ...]


def promise_risks(design: Design, mapped: DesignMap, findings: Sequence[Finding]) -> Iterator[PromiseRisk]:
    """Yields the risk of each promise, in the order of the design."""
    nodes = [node.name for node in mapped.graph.nodes]
    sources = _sources(design, mapped)
    open_ = [name for name in nodes if mapped.state(name) in OPEN]
    answers, bare = promise_answers(design, findings), bare_names(design)
    for name, promise in design.promises.items():
        words = {bare.get(word, word).split(".")[0] for word in WORD.findall(promise.text)}
        things = tuple(node for node in nodes if node in words)
        following = _following(things, sources)
        ways = sorted((_way(node, following) for node in open_ if node in following), key=len)
        yield PromiseRisk(name, answers.get(name), things, tuple(ways))


def _sources(design: Design, mapped: DesignMap) -> Mapping[str, Collection[str]]:
    """Returns what acts on each thing at once."""
    calls = {(str(call.caller), str(call.callee)) for call in design.calls}
    sources: dict[str, dict[str, None]] = {node.name: {} for node in mapped.graph.nodes}
    for edge in mapped.graph.edges:
        sources[edge.target][edge.source] = None
        is_two_way = edge.label.startswith(("link", "around", "runs on"))
        if is_two_way or (edge.source, edge.target) in calls:
            sources[edge.source][edge.target] = None
    return sources


def _following(things: Sequence[str], sources: Mapping[str, Collection[str]]) -> dict[str, str | None]:
    """Returns, of each thing that reaches one of these, the next one on a shortest way; None of themselves."""
    following: dict[str, str | None] = dict.fromkeys(things)
    waiting = deque(things)
    while waiting:
        thing = waiting.popleft()
        for source in sources[thing]:
            if source not in following:
                following[source] = thing
                waiting.append(source)
    return following


def _way(start: str, following: Mapping[str, str | None]) -> tuple[str, ...]:
    way, thing = [start], following[start]
    while thing is not None:
        way.append(thing)
        thing = following[thing]
    return tuple(way)
