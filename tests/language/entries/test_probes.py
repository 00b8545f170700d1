"""How far apart the looks of a probe are, by what paces them."""

from __future__ import annotations

import pytest

from coherence.language.entries.probes import is_answered_by_default, is_paced_by_reply, longest_spacing
from coherence.language.reading import read_text


@pytest.mark.parametrize(
    ("every", "reply", "paced", "spacing"),
    [
        ("2 s", "1 s", "", 2),
        ("2 s", "5 s", "", 5),  # one tick is kept
        ("2 s", "1 s", "clock", 2),
        ("2 s", "1 s", "reply", 3),
        ("1 s .. 2 s", "5 s", "reply", 7),
        ("2 s", "", "reply", 2),
    ],
)
def test_a_look_comes_so_long_after_the_one_before_at_the_most(
    every: str, reply: str, paced: str, spacing: int
) -> None:
    keys = f"every: {every}" + (f", reply_within: {reply}" if reply else "") + (f", paced_by: {paced}" if paced else "")
    timer = read_text(f"coherence: 1\ntimers: {{look: {{from: web hangs, then: kill web, {keys}}}}}\n").timers["look"]
    assert longest_spacing(timer) == spacing
    assert is_paced_by_reply(timer) == (paced == "reply")


@pytest.mark.parametrize(
    ("timers", "answer"),
    [
        ("live: {from: web starts, every: 10 s, misses: 3, then: restart web}", "web.load ends"),
        ("live: {from: web starts, every: 10 s, misses: 3, unless: web.pull ends, then: restart web}", "web.pull ends"),
        ("live: {from: web starts, every: 10 s, then: restart web}", ""),  # not a probe: it counts no misses
        ("live: {from: web hangs, every: 10 s, misses: 3, then: restart web}", ""),
        ("live: {from: web.load starts, every: 10 s, misses: 3, then: restart web}", ""),
        ("live: {from: other starts, every: 10 s, misses: 3, then: restart other}", ""),
        (
            (
                "live: {from: web starts, every: 10 s, misses: 3, then: restart web}, "
                "first: {uses: startup_probe, from: web starts, then: restart web}"
            ),
            "",
        ),
    ],
)
def test_a_probe_that_counts_from_a_start_is_answered_at_its_end(timers: str, answer: str) -> None:
    design = read_text(
        f"coherence: 1\ncomponents: {{web: {{takes: {{pull: 5 s, load: 9 s}}}}}}\ntimers: {{{timers}}}\n"
    )
    unless = design.timers["live"].unless
    assert (unless.text if unless is not None else "") == answer
    assert is_answered_by_default(design.timers["live"]) == (answer == "web.load ends")
