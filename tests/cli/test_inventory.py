"""The inventory of a design: one row for each policy, with what it says."""

from __future__ import annotations

from coherence.checking.policy_rows import policy_rows
from coherence.language.reading import read_text


def test_the_row_of_a_call_says_when_it_is_made() -> None:
    calls = (
        "{from: a, to: b, tries: 2, stage: s, case: hit}, {from: a, to: c, fallback_for: b}, {from: a, case: x, to: d}"
    )
    rows = policy_rows(read_text(f"coherence: 1\ncalls: [{calls}]\n"))
    assert [row["actuation"] for row in rows] == [
        "2 tries, stage s, in case hit", "1 tries, fallback for b", "1 tries, in case x",
    ]  # fmt: skip
