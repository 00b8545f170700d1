"""Whose members a timer stands for, and how far apart it fires, with literal answers."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.events.firing_gaps import firing_gaps, longest_life, owner
from coherence.verify.facts.design_facts import DesignFacts, known

THINGS = "x: {copies: 3, returns: always, takes: {flush: 10 s}}, o: {copies: 1, returns: never}"


def _facts(timers: str) -> DesignFacts:
    text = f"coherence: 1\ncomponents: {{{THINGS}}}\ntimers: {{{timers}}}\n"
    return known(Subject(read_text(text, "d"), {"d": text}))


@pytest.mark.parametrize(
    ("timer", "thing"),
    [
        ("from: x starts, after: 1 s", ("x", True)),
        ("from: x.flush ends, after: 1 s", ("x", True)),
        ("from: all of x.flush end, after: 1 s", ("", True)),
        ("from: x starts, per: key, after: 1 s", ("key", True)),
        ("from: x starts, per: replica, after: 1 s", ("x", True)),
        ("from: other, after: 1 s", ("x", True)),
        ("from: x overloaded, after: 1 s", ("x", False)),
        ("from: file changed, after: 1 s", ("", False)),
    ],
)
def test_a_timer_stands_for_the_members_of_what_it_counts_from(timer: str, thing: tuple[str, bool]) -> None:
    facts = _facts(f"t: {{{timer}, then: tell boss}}, other: {{from: x starts, every: 5 s, then: tell boss}}")
    assert owner(facts.design, facts.design.timers["t"]) == thing


@pytest.mark.parametrize(
    ("timer", "gaps"),
    [
        ("from: x starts, every: 10 s, then: tell boss", (10, 10, 0)),
        ("from: x starts, every: 10 s, unless: x happy, then: tell boss", (10, None, 0)),
        ("from: x starts, first: 4 s, every: 10 s, misses: 3, then: tell boss", (10, None, 24)),
        ("from: x starts, after: 0 s .. 9 s, then: restart x", (0, 9, 0)),
        ("from: other, after: 1 s .. 3 s, then: tell boss", (3, 7, 1)),
        ("from: x starts, after: 3 s, then: tell boss", (None, None, 3)),
        ("from: o starts, after: 3 s, then: evict o", (None, None, 3)),
        ("from: file changed, after: 3 s, then: tell boss", None),
    ],
)
def test_a_timer_fires_again_after_so_long_or_once(timer: str, gaps: tuple[int | None, ...] | None) -> None:
    facts = _facts(f"t: {{{timer}}}, other: {{from: x starts, every: 5 s, then: tell boss}}")
    found = firing_gaps(facts, facts.design.timers["t"])
    apart = found.apart if found is not None else None
    ends = [apart.low, apart.high] if apart is not None else [None, None]
    assert ([*ends, found.first] if found is not None else None) == (list(gaps) if gaps is not None else None)


def test_a_member_lives_until_another_timer_ends_it() -> None:
    facts = _facts("t: {from: x starts, every: 5 s}, kill: {from: x starts, after: 20 s .. 30 s, then: restart x}")
    timer = facts.design.timers["t"]
    assert longest_life(facts, timer) == 30
    assert longest_life(facts, facts.design.timers["kill"]) is None
