"""Other words that people write for a key: each names one key of its record, and whoever writes it is told that key."""

from __future__ import annotations

from itertools import chain

import pytest

from coherence import check
from coherence.base.errors import InputError
from coherence.base.records import Record
from coherence.language.pages.reference import declared_keys, keys_named
from coherence.language.schema_kinds import key_said_as

RECORDS = tuple(dict.fromkeys(declared.record for declared in declared_keys()))
CALLS = "coherence: 1\ncalls: [{{from: a, to: b, per_try: 1 s, {}}}]\n"
LOOP = "coherence: 1\nloops: {{hpa: {{{}}}}}\n"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_word_names_one_key_of_a_record_and_is_none_itself(record: type[Record]) -> None:
    words = list(chain.from_iterable(key.also for key in record.keys.values()))
    assert len(words) == len(set(words))
    assert not set(words) & set(record.keys)
    assert all(key_said_as(word, record.keys) is not None for word in words)


@pytest.mark.parametrize("word", ["backoff", "retryBackoff", "retry-backoff"])
def test_the_key_is_told_with_its_words_however_the_other_one_is_spelt(word: str) -> None:
    assert _remedies(CALLS.format(f"{word}: 1 s")) == [
        "write `pause`: the time between a failure and the next try, constant or growing, or as the answer says"
    ]


def test_a_word_of_a_key_that_belongs_one_level_deeper_says_where() -> None:
    assert _remedies(LOOP.format("interval: 15 s")) == [
        "write `timescale: {period: ...}`: the time from one sample of the loop to the next"
    ]


def test_a_near_spelling_is_still_a_near_spelling() -> None:
    assert _remedies(CALLS.format("pausse: 1 s")) == ["did you mean 'pause'?"]


def test_explain_finds_a_key_by_another_word() -> None:
    assert [key.path for key in keys_named("backoff")] == ["calls.pause"]
    assert [key.path for key in keys_named("pause")] == ["calls.pause"]


def _remedies(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        check(text)
    return [problem.remedy for problem in caught.value.problems]
