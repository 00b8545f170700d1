"""Breakers of calls: what the language takes."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text

CALL = "coherence: 1\ncalls: [{from: web, to: s, breaker: BREAKER}]\n"


@pytest.mark.parametrize(
    ("breaker", "words"),
    [
        ("{failures: 5}", "open_for"),
        ("{failures: 5, share: 50 %, open_for: 30 s}", "share"),
        ("{failures: 2.5, open_for: 30 s}", "2.5"),
        ("{failures: 5, open_for: -1 s}", "-1 s"),
        ("{failures: 5, opens_for: 1 s}", "opens_for"),
        ("5", "a mapping expected"),
        ("{share: 150 %, last: 100, open_for: 30 s}", "'150 %' is above 1"),
    ],
)
def test_a_breaker_that_is_none_is_refused_at_its_place(breaker: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        read_text(CALL.replace("BREAKER", breaker), "d.yaml")
    assert words in str(refused.value)
    assert "d.yaml:2" in str(refused.value)


def test_a_breaker_keeps_what_is_written() -> None:
    design = read_text(CALL.replace("BREAKER", "{share: 50 %, last: 100, open_for: 10 s, trials: 5}"), "d.yaml")
    (call,) = design.calls
    assert call.breaker is not None
    assert str(call.breaker.share) == "50 %"
    assert call.breaker.failures is None
    assert call.breaker.trials is not None
    assert call.breaker.trials.high == 5
