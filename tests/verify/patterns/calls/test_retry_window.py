"""The last try starts after the pauses and the tries between the first and itself: both ends, to the second."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(st.integers(2, 6), st.integers(0, 9), st.integers(0, 5), st.integers(1, 40), st.integers(1, 60))
def test_tries_that_a_caller_ends_count_only_while_it_waits(
    tries: int, pause: int, fails: int, after: int, limit: int
) -> None:
    """A run, try by try: the caller begins at 0 s, and cancels what is under way after its limit."""
    text = f"""coherence: 1
timers: {{cooldown: {{from: limited, after: {after} s, then: list db}}}}
calls:
  - {{from: web, to: a, deadline: {limit} s, on_timeout: cancel}}
  - {{from: a, to: db, tries: {tries}, pause: {pause} s, retry_when: [limited], fails: {{limited: {fails} s}}}}
promises: {{useful: cooldown before last try to db}}
"""
    (finding,) = retry_window.ask(Subject(read_text(text, "d.yaml")))
    planned = [k * (pause + fails) for k in range(tries)]
    begun = [start for start in planned if start < limit]
    in_time = begun[-1] > fails + after
    if finding.verdict is Verdict.PROVED:
        assert in_time
        assert begun == planned
    if finding.verdict is Verdict.CONFLICT:
        assert not in_time
