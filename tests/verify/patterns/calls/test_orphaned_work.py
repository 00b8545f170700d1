"""Work that goes on after its caller has left: how long, how many copies, and which repairs; by hand."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import orphaned_work

TEXT = """coherence: 1
components: {{api: {{takes: {{serve: {serve}}}}}}}
calls:
  - {{from: app, to: api, per_try: {per_try}, tries: {tries}, retry_when: [timeout], on_timeout: abandon{more}}}
"""


def answer(*, serve: str = "5 s .. 9 s", per_try: str = "4 s", tries: str = "1", more: str = "") -> tuple[Finding, str]:
    text = TEXT.format(serve=serve, per_try=per_try, tries=tries, more=more)
    (found,) = orphaned_work.ask(Subject(read_text(text, "d"), {"d": text}))
    return found, text


@pytest.mark.parametrize(
    ("serve", "per_try", "certainty", "words"),
    [
        ("5 s .. 9 s", "4 s", "certain", "api works for 5 s more after app -> api has given up"),
        ("4 s .. 9 s", "4 s", "possible", "api may work for 5 s more after"),  # it may just be in time
        ("3 s .. 9 s", "4 s", "possible", "api may work for 5 s more after"),
        ("5 s .. 9 s", "4 s .. 6 s", "possible", "api may work for 5 s more after"),
        ("6 s", "4 s", "certain", "api works for 2 s more after"),
    ],
)
def test_work_that_outlasts_its_caller_is_told_with_its_length(
    serve: str, per_try: str, certainty: str, words: str
) -> None:
    found, _ = answer(serve=serve, per_try=per_try)
    assert (found.verdict, found.certainty) == (Verdict.CONFLICT, certainty)
    assert words in found.message


@pytest.mark.parametrize(
    ("tries", "more", "copies"),
    [
        ("1", "", 1),
        ("2", "", 2),
        ("3", "", 3),  # they start at 0, 4 and 8 s, and the first is at work until 9 s
        ("4", "", 3),
        ("3", ", pause: 1 s", 2),  # 0, 5, 10
        ("3", ", pause: 6 s", 1),  # 0, 10
        ("unlimited", "", 3),
        ("2", ", deadline: 4 s", 1),  # the first one uses it up
        ("3", ", deadline: 8 s", 2),  # 0, 4
        ("3", ", deadline: 4 s .. 8500 ms", 3),
    ],
)
def test_tries_that_start_before_the_first_work_ends_are_copies(tries: str, more: str, copies: int) -> None:
    found, _ = answer(tries=tries, more=more)
    assert found.evidence.numbers["copies at once"][0] == copies
    assert (f"with up to {copies} copies at once" in found.message) is (copies > 1)
    told = [step.text for step in found.evidence.witness]
    assert sum("starts a copy beside it" in text for text in told) == copies - 1
    assert told[0] == "app -> api: try 1 starts; api works on it"
    assert told[-1] == "the work of try 1 ends; nobody reads it"


def test_the_caller_cancels_or_waits_longer() -> None:
    found, text = answer()
    after = []
    for repair in found.repairs:
        changed = apply(repair.edits, {"d": text})
        assert changed is not None
        after.append(changed["d"].split("to: api, ")[1].rstrip("}\n"))
    rest = "tries: 1, retry_when: [timeout], on_timeout:"
    assert after == [f"per_try: 4 s, {rest} cancel", f"per_try: 10 s, {rest} abandon"]
