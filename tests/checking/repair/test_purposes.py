"""Edits that remove a conflict by removing what a policy is for."""

from __future__ import annotations

import pytest

from coherence.checking.repair.purposes import purposes_lost
from coherence.language.reading import read_text

DESIGN = """coherence: 1
calls: [{from: a, to: b, tries: 3, per_try: 1 s, deadline: 5 s}]
timers: {probe: {from: web starts, after: 60 s, unless: web.boot ends, then: restart web}}
loops: {hpa: {trigger: web.queue > 3, actuation: {signal: web.size, law: step, by: 1, bounds: [1, 9]}}}
components: {web: {copies: 4, takes: {boot: 1 min}, work: 2 .. 5}}
limits: {slots: {counts: web.ongoing, at_most: 4, per: replica}, budget: {counts: web.available, at_least: 3}}
workload: {users: {rate: 9 req/s}}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tries: 3", "tries: 1"),
        ("bounds: [1, 9]", "bounds: [4, 4]"),
        ("bounds: [1, 9]", "bounds: [1, 12]"),
        ("from: web starts", "from: web.boot ends"),
        ("copies: 4", "copies: 3"),
        ("boot: 1 min", "boot: 1 s"),
        ("work: 2 .. 5", "work: 2 .. 4"),
        ("rate: 9 req/s", "rate: 8 req/s"),
        ("at_most: 4", "at_most: 0"),
        ("at_least: 3", "at_least: 0"),
    ],
)
def test_a_policy_without_its_purpose_is_counted(old: str, new: str) -> None:
    assert old in DESIGN
    assert purposes_lost(read_text(DESIGN), read_text(DESIGN.replace(old, new))) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tries: 3", "tries: 2"),
        ("bounds: [1, 9]", "bounds: [2, 8]"),
        ("after: 60 s", "after: 90 s"),
        ("at_most: 4", "at_most: 2"),
        ("at_least: 3", "at_least: 1"),
    ],
)
def test_a_policy_that_still_does_what_it_is_for_is_not(old: str, new: str) -> None:
    assert old in DESIGN
    assert purposes_lost(read_text(DESIGN), read_text(DESIGN.replace(old, new))) == 0


def test_a_probe_of_the_start_stands_for_one_that_begins_with_its_end() -> None:
    later = DESIGN.replace("from: web starts", "from: web.boot ends")
    startup = "timers: {startup: {from: web starts, after: 90 s, unless: web.boot ends, then: restart web}, "
    assert purposes_lost(read_text(DESIGN), read_text(later.replace("timers: {", startup))) == 0
    other = startup.replace("restart web}", "unlist web}")
    assert purposes_lost(read_text(DESIGN), read_text(later.replace("timers: {", other))) == 1


def test_retries_of_another_layer_of_the_chain_keep_the_purpose() -> None:
    chain = (
        "coherence: 1\ncalls: [{from: a, to: b, tries: 2}, {from: b, to: c, tries: 3}, {from: x, to: y, tries: 2}]\n"
    )
    for old in ("b, tries: 2", "c, tries: 3"):
        assert purposes_lost(read_text(chain), read_text(chain.replace(old, f"{old[:10]}1"))) == 0
    assert purposes_lost(read_text(chain), read_text(chain.replace("y, tries: 2", "y, tries: 1"))) == 1


@pytest.mark.parametrize(
    ("after", "unless", "lost"), [(150, "two starts", 0), (330, "two starts", 1), (999, "two ends", 0)]
)
def test_a_timer_promised_to_follow_what_always_lifts_it_has_no_purpose(after: int, unless: str, lost: int) -> None:
    text = (
        "coherence: 1\ncomponents: {node: {takes: {one: 4 min, two: 4 min}}}\n"
        "promises: {p: node.two ends before gate}\n"
        "timers:\n  next: {from: node.one ends, after: 10 s .. 5 min, then: node.two starts}\n"
        f"  gate: {{from: node.one ends, after: 60 s, unless: node.{unless}, then: conformance starts}}\n"
    )
    assert purposes_lost(read_text(text), read_text(text.replace("after: 60 s", f"after: {after} s"))) == lost
