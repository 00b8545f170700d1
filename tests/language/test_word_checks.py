"""Near misses of activities, roles and causes are errors that name what may be meant."""

from __future__ import annotations

import pytest

from coherence.language import word_checks
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Reading
from tests.strategies import problems_in


@pytest.mark.parametrize(
    ("text", "wrong", "meant"),
    [
        ("components: {model: {takes: {decode: 2 s}, roles: {decoed: answer}}}", "'decoed'", "'decode'"),
        ("components: {model: {takes: {decode: 2 s}, roles: {other: answer}}}", "'other'", "takes: {other: ...}"),
        ("components: {model: {takes: {decode: 2 s}, roles: {decode: anser}}}", "'anser'", "'answer'"),
        (
            "components: {model: {takes: {decode: 2 s}}}\ntimers: {t: {from: model.decoed starts, after: 1 s}}",
            "'decoed'",
            "'decode'",
        ),
        ("calls: [{from: a, to: b, tries: 2, retry_when: [timeuot]}]", "'timeuot'", "'timeout'"),
        (
            "calls: [{from: a, to: b, tries: 2, retry_when: [overlaod], fails: {overload: 1 s}}]",
            "'overlaod'",
            "'overload'",
        ),
    ],
)
def test_a_near_miss_is_an_error_with_what_may_be_meant(text: str, wrong: str, meant: str) -> None:
    problem = problems_in(lambda: read_text(f"coherence: 1\n{text}\n"))[0]
    assert wrong in problem.message
    assert meant in problem.remedy


@pytest.mark.parametrize(
    "text",
    [
        "calls: [{from: a, to: b, tries: 2, retry_when: [504, Gateway-Timeout, locked, cancelled]}]",
        "components: {model: {drain: 5 s, takes: {decode: 2 s}}}\ntimers: {t: {from: model.drain starts, after: 1 s}}",
    ],
)
def test_words_far_from_all_that_is_known_are_names_of_their_own(text: str) -> None:
    reading = Reading()
    word_checks.check(read_text(f"coherence: 1\n{text}\n"), reading)
    assert not reading.problems
