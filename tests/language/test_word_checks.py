"""Near misses of activities, roles and causes are errors that name what may be meant."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
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


@pytest.mark.parametrize(("resource", "remedy"), [("gpus", "did you mean 'gpu'?"), ("mig_1g", "add `mig_1g: ...`")])
def test_a_resource_that_nobody_offers_is_an_error(resource: str, remedy: str) -> None:
    text = (
        f"coherence: 1\ncomponents: {{web: {{copies: 7, needs: {{{resource}: 1}}}}}}\n"
        "places: {n1: {zone: a, gpu: 1}, n2: {zone: b}}\nplacement: {web: [spread by zone <= 1]}\n"
    )
    with pytest.raises(InputError, match=f"nothing offers '{resource}'") as caught:
        read_text(text)
    assert remedy in str(caught.value)
    read_text(text.replace(resource, "gpu"))


def test_what_is_needed_where_no_place_offers_anything_is_no_error() -> None:
    read_text("coherence: 1\ncomponents: {web: {copies: 7, needs: {memory: 1 GiB}}}\nplaces: {n1: {zone: a}}\n")
