"""How far apart the looks of a probe are, by what paces them."""

from __future__ import annotations

import pytest

from coherence.language.entries.probes import is_paced_by_reply, longest_spacing
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
