"""Where the ends of calls meet the end of a drain: equality is no safety, and what may take longer is undecided."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import retry_outlives_drain

CONFLICT, UNDECIDED, PROVED = Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.PROVED


def verdict(drain: int, call: str, thing: str = "") -> Verdict:
    text = f"""coherence: 1
components: {{serving: {{takes: {{drain: {drain} s{thing}}}}}}}
calls: [{{from: app, to: serving, {call}}}]
"""
    (finding,) = retry_outlives_drain.ask(Subject(read_text(text), {"<design>": text}))
    return finding.verdict


@pytest.mark.parametrize(
    ("drain", "expected"),
    [(20, CONFLICT), (26, CONFLICT), (27, UNDECIDED), (85, UNDECIDED), (86, UNDECIDED), (87, PROVED)],
)
def test_a_failure_of_unknown_time_takes_from_nothing_to_a_whole_try(drain: int, expected: Verdict) -> None:
    """Three that fail at once, three pauses of 2 s and one that hangs for 20 s are known, 26 s; 86 s are the most."""
    call = "tries: 4, per_try: 20 s, pause: 2 s, retry_when: [unavailable]"
    assert verdict(drain, call) is expected


@pytest.mark.parametrize(("drain", "expected"), [(20, CONFLICT), (21, UNDECIDED), (30, UNDECIDED), (31, PROVED)])
def test_a_limit_of_the_first_byte_ends_what_hangs_and_not_what_streams(drain: int, expected: Verdict) -> None:
    """One that hangs ends after 20 s; one that answers has 30 s to do so."""
    call = "tries: 1, per_try: 20 s, timeout_kind: first byte"
    assert verdict(drain, call, ", serve: 5 s .. 30 s") is expected
