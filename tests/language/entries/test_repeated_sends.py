"""Whose requests may become several sends of one call: by tries, second copies, ranges that reach beyond one try."""

from __future__ import annotations

import pytest

from coherence.language.entries.repeated_sends import sends_again
from coherence.language.reading import read_text


@pytest.mark.parametrize(
    ("call", "again"),
    [
        ("", False),
        ("tries: 1", False),
        ("tries: 2", True),
        ("tries: 1 .. 2", True),
        ("tries: [1, 3]", True),
        ("tries: unlimited", True),
        ("hedge_after: 1 s", True),
        ("per_try: 1 s, retry_when: [timeout]", False),
    ],
)
def test_a_request_is_sent_again_by_tries_and_by_second_copies(call: str, again: bool) -> None:
    text = f"coherence: 1\ncalls: [{{from: a, to: b, {call}}}, {{from: b, to: c}}]\n"
    assert sends_again(read_text(text)) == frozenset({"a"} if again else ())
