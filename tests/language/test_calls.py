"""What holds without a key of a call, as its words say: the retry policy of one with the default written out."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.design import Call
from coherence.language.reading import read_text
from coherence.verify.calls.retry_policies import RetryPolicy, retry_policy_of


def policy(*keys: str) -> RetryPolicy:
    (call,) = read_text(f"coherence: 1\ncalls: [{{{', '.join(('from: a, to: b', *keys))}}}]", "d").calls
    assert isinstance(call, Call)
    assert call.name == "a -> b"
    return retry_policy_of(call)


@pytest.mark.parametrize(
    ("keys", "written"),
    [
        ((), "deadline: unlimited"),
        ((), "tries: 1"),
        (("tries: 3",), "pause: 0 s"),
        (("deadline: 2 s",), "per_try: 2 s"),
        ((), "timeout_kind: total"),
    ],
)
def test_what_holds_without_a_key_is_what_its_words_say(keys: tuple[str, ...], written: str) -> None:
    plain, stated = policy(*keys), policy(*keys, written)
    for fact in ("tries", "deadline", "limit", "retries", "streams"):
        assert str(getattr(plain, fact)) == str(getattr(stated, fact))
    assert (plain.backoff.base.low, plain.backoff.base.high) == (stated.backoff.base.low, stated.backoff.base.high)


def test_a_pause_doubles_without_a_factor_and_is_exact_without_jitter() -> None:
    plain, stated = (policy("tries: 4", f"pause: {{base: 1 s{more}}}") for more in ("", ", factor: 2, jitter: none"))
    assert plain.backoff.factor.low == stated.backoff.factor.high == 2
    assert plain.backoff.spread == stated.backoff.spread == (Fraction(1), Fraction(1))
