"""Several evictors beside a placer that chooses at random, held against all runs of members on named nodes.

An opponent chooses who evicts and whom, chance where the member goes.  Members stay on the move with certainty exactly
where the opponent has, in each state of some set, an eviction whose every answer lies in the set.
"""

from __future__ import annotations

import itertools
import random

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Formula
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.eviction import CERTAIN, IDLE, NONE, POSSIBLE, WAITS, Evictor, chase, evictor
from coherence.verify.jobs.sites import cluster

Lying = tuple[int, ...]
Trigger = tuple[str, int]  # evicts while more than so many lie in one node or zone


def counts(zones: str, lying: Lying, by: str) -> dict[str, int]:
    """Returns the members in each domain."""
    names = [zone if by == "zone" else str(node) for node, zone in enumerate(zones)]
    return {name: sum(n for own, n in zip(names, lying, strict=True) if own == name) for name in names}


def evictions(zones: str, lying: Lying, triggers: list[Trigger]) -> list[set[Lying]]:
    """Returns for each member that may be evicted the ways in which members may lie after it: it goes anywhere."""
    answers = []
    for by, above in triggers:
        held = counts(zones, lying, by)
        for node, zone in enumerate(zones):
            own = held[zone if by == "zone" else str(node)]
            if lying[node] and own == max(held.values()) > above:
                left = [n - (i == node) for i, n in enumerate(lying)]
                answers.append({tuple(n + (i == to) for i, n in enumerate(left)) for to in range(len(zones))})
    return answers


def moves_for_ever(zones: str, members: int, triggers: list[Trigger]) -> set[Lying]:
    """Returns the states in which the opponent keeps members on the move whatever is drawn."""
    every = itertools.product(range(members + 1), repeat=len(zones))
    kept = {lying for lying in every if sum(lying) == members}
    while True:
        inside = {s for s in kept if any(answers <= kept for answers in evictions(zones, s, triggers))}
        if inside == kept:
            return kept
        kept = inside


def verdict(zones: str, members: int, triggers: list[Trigger]) -> str:
    places = ", ".join(f"n{i}: {{zone: {zone}}}" for i, zone in enumerate(zones))
    loops = "\n".join(
        f"  e{i}: {{trigger: count of web by {by} > {above}, actuation: {{evict: web}}}}"
        for i, (by, above) in enumerate(triggers)
    )
    text = f"""coherence: 1
components: {{web: {{copies: {members}, returns: always}}}}
places: {{{places}}}
placement: {{web: [ties at random]}}
loops:
{loops}
"""
    facts = known(Subject(read_text(text, "d.yaml"), {"d.yaml": text}))
    evicts = list[Evictor]()
    for loop in facts.design.loops.values():
        assert isinstance(loop.trigger, Formula)
        one = evictor("web", loop.trigger.tree, loop.name)
        assert one is not None
        evicts.append(one)
    there = cluster(facts, "web", by=tuple(dict.fromkeys(by for by, _ in triggers)))
    return chase(evicts, there, members, {}).verdict


@pytest.mark.slow
def test_several_evictors_come_to_rest_by_chance_exactly_where_no_opponent_keeps_them_moving() -> None:
    draw, seen = random.Random(15), dict[str, int]()  # noqa: S311  (reproducible, not secret)
    for _ in range(250):
        zones = "".join(sorted(draw.choice("abc") for _ in range(draw.randint(1, 4))))
        members = draw.randint(1, 5)
        triggers = [(draw.choice(("node", "zone")), draw.randint(0, 4)) for _ in range(draw.randint(2, 3))]
        outcome, moving = verdict(zones, members, triggers), moves_for_ever(zones, members, triggers)
        if outcome in (NONE, IDLE):
            assert not moving, (zones, members, triggers)
        else:
            assert outcome in (CERTAIN, POSSIBLE, WAITS), outcome
            assert moving, (zones, members, triggers, outcome)
        seen[outcome] = seen.get(outcome, 0) + 1
    assert {NONE, IDLE} <= set(seen), seen
    assert seen.keys() & {CERTAIN, POSSIBLE}, seen
