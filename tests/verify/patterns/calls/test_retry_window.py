"""The last try starts after the pauses and the tries between the first and itself: both ends, to the second."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import retry_window

DESIGN = """coherence: 1
timers: {{cooldown: {{from: limited, after: {after} s, then: list db}}}}
calls:
  - {{from: a, to: db, tries: {tries}, pause: {pause}, retry_when: [limited], fails: {{limited: {fails}}}}}
promises: {{useful: cooldown before last try}}
"""


def answer(after: int, *, tries: int = 4, pause: str = "10 s", fails: str = "5 s") -> Finding:
    text = DESIGN.format(after=after, tries=tries, pause=pause, fails=fails)
    (finding,) = retry_window.ask(Subject(read_text(text, "d.yaml")))
    return finding


@pytest.mark.parametrize(
    ("tries", "pause", "fails", "earliest"),
    [
        (4, "10 s", "5 s", 40),  # 3 pauses, and the 2 tries between the first and the last
        (3, "10 s", "5 s", 25),
        (2, "10 s", "5 s", 10),  # no try lies between
        (4, "10 s .. 12 s", "5 s .. 9 s", 40),
        (4, "{base: 10 s, cap: 15 s}", "0 s", 40),  # 10, 15 and 15 s
    ],
)
def test_a_wait_longer_than_the_earliest_last_try_is_a_conflict(
    tries: int, pause: str, fails: str, earliest: int
) -> None:
    assert answer(earliest - 1, tries=tries, pause=pause, fails=fails).verdict is Verdict.PROVED
    assert answer(earliest, tries=tries, pause=pause, fails=fails).verdict is Verdict.CONFLICT  # both at once
    assert answer(earliest + 1, tries=tries, pause=pause, fails=fails).verdict is Verdict.CONFLICT


@pytest.mark.parametrize(("after", "certainty"), [(41, "possible"), (53, "possible"), (55, "certain")])
def test_a_conflict_is_certain_where_the_latest_last_try_is_early_as_well(after: int, certainty: str) -> None:
    """Between 3 * 10 + 2 * 5 = 40 s and 3 * 12 + 2 * 9 = 54 s."""
    finding = answer(after, pause="10 s .. 12 s", fails="5 s .. 9 s")
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, certainty)
